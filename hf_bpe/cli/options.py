"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import conversion
from hf_bpe.errors import FormatError
from hf_bpe.files import path_of
from hf_bpe.patterns import NAMED_PATTERNS
from hf_bpe.spec import TokenizerSpec

__all__ = [
    "DryRun",
    "Force",
    "Json",
    "LoadedPattern",
    "Quiet",
    "Ray",
    "SourceFormat",
    "SpecialIds",
    "Target",
    "TargetFormat",
    "TextField",
    "Texts",
    "Tokenizer",
    "Yes",
    "given_path",
    "load",
    "load_options",
    "old_and_new",
]

FORMAT_NAMES = ", ".join(conversion.formats())
PATTERN_NAMES = ", ".join(NAMED_PATTERNS)


def given_path(given: str) -> Path:
    """What parses a path. To `Path` an empty one is the current folder; here it is a variable that nobody set."""
    try:
        return path_of(given)
    except FormatError as error:
        raise typer.BadParameter(str(error)) from None


Tokenizer = Annotated[
    Path, typer.Argument(metavar="TOKENIZER", parser=given_path, show_default=False, help="Tokenizer: a file or a folder.")
]
LoadedPattern = Annotated[
    str | None,
    typer.Option(
        "--pattern",
        show_default=False,
        help=f"How text is split, for files that do not say it: {PATTERN_NAMES}, or a regular expression.",
    ),
]
SourceFormat = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        show_default=False,
        help=f"Its format, instead of looking at it: {FORMAT_NAMES}.",
    ),
]
SpecialIds = Annotated[
    list[str] | None,
    typer.Option(
        "--special-token",
        metavar="NAME=ID",
        show_default=False,
        help="A special token and its id, for files that do not say it (repeatable).",
    ),
]
Target = Annotated[
    Path, typer.Argument(metavar="TARGET", parser=given_path, show_default=False, help="What to write: a file or a folder.")
]
TargetFormat = Annotated[
    str | None,
    typer.Option("--to", metavar="FORMAT", show_default=False, help="Format to write; default: what TARGET's name says."),
]
Texts = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus", show_default=False, help="Text, .jsonl or .parquet: what is learnt from, and counted (repeatable)."
    ),
]
TextField = Annotated[str, typer.Option(help="The field or column that holds the text.")]
EmbeddingTensors = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", show_default=False, help="The tensor of the embedding, if its name is not known (repeatable)."
    ),
]
HeadTensors = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", show_default=False, help="The tensor of the head, if its name is not known (repeatable)."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan, and write nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; only on a terminal anybody is asked.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No plan, no question, no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Write JSON.")]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        show_default=False,
        help="Work on a Ray cluster: its address; auto for the one this machine is part of; local to start one here. Files must have the "
        "same paths on all its machines, and --num-threads is for each task (default: 1).",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Write even where there is something already.")]


def load_options(pattern: str | None, special_tokens: Sequence[str] | None) -> dict[str, Any]:
    """The options as `conversion.load` takes them; what was not given is left to the file."""
    given: dict[str, Any] = {} if pattern is None else {"pattern": pattern}
    pairs = list(map(_name_and_id, special_tokens or ()))
    twice = next((name for number, (name, _) in enumerate(pairs) if name in dict(pairs[:number])), None)
    if twice is not None:
        raise typer.BadParameter(f"{twice!r} is named twice; give it one id", param_hint="--special-token")
    return given | ({"special_tokens": dict(pairs)} if pairs else {})


def load(path: Path, source: str | None, pattern: str | None, special_tokens: Sequence[str] | None) -> TokenizerSpec:
    """The tokenizer at a path; where nothing is there, the one of that name that needs no file (`example_named`)."""
    options = load_options(pattern, special_tokens)
    if path.exists():
        return conversion.load(path, format=source, **options)
    from hf_bpe.analysis.loaded import example_named  # nearly always there is a file

    example = example_named(str(path))
    if options or source is not None:
        raise typer.BadParameter(f"{path} is whole without a file: leave out --from, --pattern and --special-token")
    return example.load()


def _name_and_id(given: str) -> tuple[str, int]:
    name, _, number = given.rpartition("=")
    if not name or not number.isdecimal():
        raise typer.BadParameter(f"{given!r} is not NAME=ID, such as '<|endoftext|>=50256'", param_hint="--special-token")
    return name, int(number)


def old_and_new(given: Sequence[str]) -> dict[str, str]:
    """`OLD=NEW` options as a mapping. OLD may begin with =, and holds no other.

    >>> old_and_new(["<|reserved_0|>=<|tool|>", "==x"])
    {'<|reserved_0|>': '<|tool|>', '=': 'x'}
    """
    found: dict[str, str] = {}
    for pair in given:
        place = pair.find("=", 1)
        if place < 0 or place == len(pair) - 1:
            raise typer.BadParameter(f"{pair!r} is not OLD=NEW, such as '<|reserved_0|>=<|tool|>'", param_hint="--token")
        old, new = pair[:place], pair[place + 1 :]
        if old in found:
            raise typer.BadParameter(f"{old!r} is named twice; give it one new text", param_hint="--token")
        found[old] = new
    return found
