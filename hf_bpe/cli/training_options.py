"""The options of `hf-bpe train`, in the groups that its help shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hf_bpe.cli.options import PATTERN_NAMES
from hf_bpe.training.rules import NAMED_RULES
from hf_bpe.training.sentencepiece_settings import PRESETS
from hf_bpe.training.ties import TIE_BREAKS

_TEXT, _SPLIT, _VOCABULARY = "What is read", "How text is split", "What is in the vocabulary"
_LEARNT, _SUPERWORDS, _SENTENCEPIECE, _REPORT = "What is learnt", "Superwords", "SentencePiece", "Reports"


def _option(panel: str, *names: str, help: str, **more: Any) -> Any:  # noqa: A002  # typer's own name for it
    return typer.Option(*names, help=help, rich_help_panel=panel, **({"show_default": False} | more))


Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILES...",
        show_default=False,
        help="Text, .jsonl or .parquet; text and .jsonl also .gz or .zst. A folder is all files in it; patterns are expanded; - is "
        "standard input.",
    ),
]
Counts = Annotated[
    list[Path] | None,
    _option(
        _TEXT,
        help="Word counts (`hf-bpe counts make`) instead of FILES; how they were made decides how text is split (repeatable).",
    ),
]
Sources = Annotated[
    list[str] | None,
    _option(
        _TEXT,
        "--source",
        metavar="NAME=FILE",
        help="Instead of FILES: a file, folder or pattern of a named source (repeatable).",
    ),
]
Weights = Annotated[
    list[str] | None,
    _option(_TEXT, "--weight", metavar="NAME=NUMBER", help="How many times each word of a source counts (repeatable)."),
]
Shares = Annotated[
    list[str] | None,
    _option(
        _TEXT, "--share", metavar="NAME=NUMBER", help="Instead: a source's share of all bytes learnt from, whatever its size."
    ),
]
Sample = Annotated[
    list[str] | None,
    _option(
        _TEXT, "--sample", metavar="NAME=NUMBER", help="Read only such a share of a source's documents, or lines of text files."
    ),
]
Seed = Annotated[int, _option(_TEXT, help="Which documents a sample has.", show_default=True)]
TextField = Annotated[
    str | None, _option(_TEXT, show_default="text", help="The field or column of JSON lines and Parquet that holds the text.")
]
MemoryLimit = Annotated[
    str | None, _option(_TEXT, show_default="2GB", help="Words that do not fit are put aside on disk while counting.")
]
SkipBadFiles = Annotated[
    bool, _option(_TEXT, "--skip-bad-files", help="Leave out files that are damaged, and name them at the end.")
]

Pattern = Annotated[
    str | None, _option(_SPLIT, show_default="cl100k", help=f"How text is split: {PATTERN_NAMES}, or a regular expression.")
]
Normalizer = Annotated[list[str] | None, _option(_SPLIT, help="What is done to text first, such as NFC (repeatable).")]
Digits = Annotated[
    Literal["single", "up-to-three", "right-aligned"] | None,
    _option(_SPLIT, help="Group digits otherwise than the pattern does."),
]

SpecialTokens = Annotated[
    list[str] | None, _option(_VOCABULARY, "--special-token", help="Text to keep whole; gets the last ids (repeatable).")
]
ReservedTokens = Annotated[int | None, _option(_VOCABULARY, help="So many special tokens <|reserved_0|>, ... for later use.")]
InitialAlphabet = Annotated[str | None, _option(_VOCABULARY, help="Characters that are tokens before anything is learnt.")]
SpaceRuns = Annotated[
    int | None, _option(_VOCABULARY, help="Make tokens of runs of 2 to so many spaces before anything is learnt.")
]
ForcedTokens = Annotated[
    list[str] | None,
    _option(_VOCABULARY, "--forced-token", help="Text that is a token before anything is learnt (repeatable)."),
]
Shortfall = Annotated[
    Literal["warn", "error", "reserve"] | None,
    _option(
        _VOCABULARY, show_default="warn", help="Where the text yields too few tokens; reserve fills up with reserved tokens."
    ),
]
Like = Annotated[
    Path | None,
    _option(
        _VOCABULARY,
        metavar="TOKENIZER",
        help="Take split, special tokens and settings from this tokenizer; options override them.",
    ),
]

MinFrequency = Annotated[int | None, _option(_LEARNT, show_default="2", help="Merge only pairs seen this often.")]
MaxTokenLength = Annotated[int | None, _option(_LEARNT, help="Longest token, in bytes.")]
TieBreak = Annotated[
    str | None,
    _option(_LEARNT, show_default="lowest-ids", help=f"Which of equally frequent pairs is merged: {', '.join(TIE_BREAKS)}."),
]
ForbiddenTokens = Annotated[
    list[str] | None, _option(_LEARNT, "--forbid-token", help="Text that never becomes a token (repeatable).")
]
ForbiddenPatterns = Annotated[
    list[str] | None,
    _option(
        _LEARNT,
        "--forbid-pattern",
        help=f"No token in which this is found: {', '.join(NAMED_RULES)}, or a regular expression (repeatable).",
    ),
]
ForbiddenMerges = Annotated[
    list[str] | None,
    _option(
        _LEARNT,
        "--forbid-merge",
        metavar="'LEFT RIGHT'",
        help="A pair not to merge, written as in merges.txt: a space is Ġ (repeatable).",
    ),
]

Superwords = Annotated[
    str | None,
    _option(
        _SUPERWORDS,
        help="A second stage that merges across white space: lines, sentences, or a regular expression to split by.",
    ),
]
SuperwordsFrom = Annotated[
    int | None, _option(_SUPERWORDS, show_default="nine tenths", help="The size of the vocabulary at which it begins.")
]
SuperwordMaxWords = Annotated[int | None, _option(_SUPERWORDS, help="Most words in a token.")]

Preset = Annotated[str | None, _option(_SENTENCEPIECE, help=f"Settings by name: {', '.join(PRESETS)}.")]
Settings = Annotated[
    list[str] | None,
    _option(
        _SENTENCEPIECE,
        "--set",
        metavar="NAME=VALUE",
        help="A setting by sentencepiece's own name, such as byte_fallback=true (repeatable).",
    ),
]

Report = Annotated[
    Path | None,
    _option(_REPORT, help="Write compression at every size, what merges buy, and more: a name that ends in .html or .json."),
]
HeldOut = Annotated[
    list[str] | None,
    _option(
        _REPORT,
        metavar="[NAME=]FILE",
        help="Other text to measure for the report; or a file, folder or pattern by name (repeatable).",
    ),
]
ShowMerges = Annotated[int | None, _option(_REPORT, min=1, help="Show the first so many merges, and how often each was done.")]
