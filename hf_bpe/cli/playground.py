"""`hf-bpe playground`."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from hf_bpe.cli.console import err, out
from hf_bpe.cli.files import refuse_existing
from hf_bpe.cli.options import Force, LoadedPattern, SourceFormat, SpecialIds, load_options
from hf_bpe.playground import launch
from hf_bpe.playground.serving import DEFAULT_HOST
from hf_bpe.playground.spaces import write_space

__all__ = ["playground"]


def playground(
    tokenizers: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[TOKENIZER]...",
            show_default=False,
            help="Tokenizers: files or folders; default: those that need no file.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen. Another than this machine's own address lets others open the page.")
    ] = DEFAULT_HOST,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, show_default=False, help="Port; default: 7860, or the next that is free.")
    ] = None,
    share: Annotated[
        bool, typer.Option("--share", help="Also under a public address, through gradio's tunnel. Needs gradio.")
    ] = False,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    space: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", show_default=False, help="Start nothing; write the folder of a Hugging Face Space."),
    ] = None,
    pattern: LoadedPattern = None,
    source: SourceFormat = None,
    special_token: SpecialIds = None,
    force: Force = False,
) -> None:
    """Look at text as tokens, on a page of this machine: several tokenizers side by side, in colour. Ctrl-C ends it."""
    options = load_options(pattern, special_token) | ({} if source is None else {"format": source})
    if space is not None:
        refuse_existing(space, force)
        written = write_space(space, tokenizers or (), **options)
        out.print(Text(f"Wrote {len(written)} files. Try it: python {space / 'app.py'}"), soft_wrap=True)
        return

    def ready(address: str) -> None:
        err.print(Text.assemble("The playground is at ", (address, "bold"), " (Ctrl-C ends it)"))
        if browser:
            webbrowser.open(address)

    launch(tokenizers or (), host=host, port=port, share=share, ready=ready, **options)
