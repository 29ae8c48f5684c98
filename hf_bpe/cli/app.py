"""The command itself: which commands there are, and what becomes of errors, warnings and Ctrl-C."""

from __future__ import annotations

import io
import os
import sys
import warnings
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

import hf_bpe
from hf_bpe.cli.console import err, message_of, print_error, print_warning
from hf_bpe.cli.interruption import forget, told
from hf_bpe.errors import HfBpeError

__all__ = ["app", "main"]


_CODES = {"verify": 2}
"""Exit codes of commands that could not do their work, where 1 is an answer."""


_EDITING = ("extend", "prune", "replace", "rename", "resize", "audit")
"""Commands that somebody who interrupts them wants to know of whether they changed anything."""

_INTERRUPTED = 130
"""The exit code that Ctrl-C has everywhere."""

_COMMANDS = {
    "train": ("train", "hf-bpe train corpus.txt -o my-tokenizer --vocab-size 32000 --special-token '<|endoftext|>'"),
    "counts": ("counts", "hf-bpe counts make 'data/*.jsonl.zst' -o counts.parquet"),
    "encode": ("text", "hf-bpe encode my-tokenizer 'Hello world'"),
    "encode-files": (
        "encode_files",
        "hf-bpe encode-files my-tokenizer 'data/*.jsonl.zst' -o encoded --eos '<|endoftext|>'",
    ),
    "playground": ("playground", "hf-bpe playground my-tokenizer other-tokenizer"),
    "show": ("show", "hf-bpe show my-tokenizer 'Hello world'"),
    "decode": ("text", "hf-bpe encode my-tokenizer 'Hello world' | hf-bpe decode my-tokenizer"),
    "chat": ("chat", "hf-bpe chat my-tokenizer messages.json --template chatml --show"),
    "convert": (
        "convert",
        "hf-bpe convert cl100k_base.tiktoken cl100k --pattern cl100k --special-token '<|endoftext|>=100257'",
    ),
    "verify": ("verify", "hf-bpe verify stock:my-folder tokenizers:my-folder --corpus text.txt"),
    "compare": ("compare", "hf-bpe compare my-tokenizer gpt2=openai-gpt2 --corpus en=english.txt -o report.html"),
    "doctor": ("doctor", "hf-bpe doctor my-tokenizer"),
    "inspect": ("inspection", "hf-bpe inspect my-tokenizer"),
    "resize": ("resize", "hf-bpe resize my-model --tokenizer my-new-tokenizer --init pieces --dry-run"),
    "extend": ("extend", "hf-bpe extend my-tokenizer extended --corpus greek.txt --tokens 500"),
    "prune": ("prune", "hf-bpe prune my-tokenizer pruned --script Cyrillic --corpus text.txt --vocab-size 24000"),
    "replace": ("replace", "hf-bpe replace my-tokenizer new --token ' SolidGoldMagikarp= Magikarp'"),
    "rename": ("rename", "hf-bpe rename my-tokenizer renamed --token '<|reserved_0|>=<|tool|>'"),
    "audit": ("audit", "hf-bpe audit my-model --model my-model --corpus text.txt"),
    "push": ("push", "hf-bpe push my-tokenizer me/my-tokenizer --private"),
    "quickstart": ("quickstart", "hf-bpe quickstart --output demo"),
}
"""Name -> its module here, and an example. The function, or the group of commands, has the name."""


def _imported(name: str) -> Any:
    module, example = _COMMANDS[name]
    function = getattr(import_module(f"hf_bpe.cli.{module}"), name.replace("-", "_"))
    if isinstance(function, typer.Typer):  # with commands of its own
        return typer.main.get_command(function)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")
    alone.command(name, epilog=f"Example: `{example}`")(function)
    return typer.main.get_command(alone)


class _Commands(TyperGroup):
    """Each command is imported when it is called: all of them take half a second.

    Errors made on purpose, and the operating system's, become one message and exit code 1 (of `verify` 2, as of `diff`).

    Typer itself does the rest: usage errors exit with 2, Ctrl-C with 130, a broken pipe is quiet. Who interrupts an edit is told what is there.
    """

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        not_imported: Any = dict.fromkeys(_COMMANDS)  # the names alone are what suggestions are made of
        self.commands = not_imported

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.commands and self.commands[cmd_name] is None:
            self.commands[cmd_name] = _imported(cmd_name)
        return self.commands.get(cmd_name)

    def invoke(self, ctx: Any) -> Any:
        forget()
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: print_warning(str(message))
            try:
                result = super().invoke(ctx)
                sys.stdout.flush()  # here, where a broken pipe is still handled
            except (HfBpeError, OSError) as error:
                if ctx.params["traceback"] or isinstance(error, BrokenPipeError):
                    raise
                print_error(message_of(error))
                raise typer.Exit(_CODES.get(ctx.invoked_subcommand, 1)) from None
            except (KeyboardInterrupt, typer.Abort):  # the second where a question was open
                if ctx.invoked_subcommand not in (None, *_EDITING):  # None: the command was still being imported
                    raise
                err.print(told(), markup=False)
                raise typer.Exit(_INTERRUPTED) from None
            return result


app = typer.Typer(
    name="hf-bpe",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hf-bpe {hf_bpe.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    traceback: Annotated[bool, typer.Option("--traceback", help="Show where in the program an error arose.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Train, run, convert and check BPE tokenizers.

    A TOKENIZER is a Hugging Face folder, a tokenizer.json, a tiktoken rank file or plugin folder, a folder with GPT-2's two files,
    a SentencePiece .model, a tekken.json, a minbpe .model, a GGUF file, or a folder that holds one of these. Without any file there are
    `small` and `bytes`, and those of installed packages.
    """


def main() -> None:
    """Run the command with the arguments of this process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that is not UTF-8 shows escapes instead of failing
    # "PyTorch was not found" is no news to somebody who works with a tokenizer.
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    app(prog_name="hf-bpe")  # also as `python -m hf_bpe.cli`
