"""`hf-bpe push`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from hf_bpe.cli.console import err, out, print_json
from hf_bpe.cli.options import Json, LoadedPattern, SpecialIds, load_options
from hf_bpe.files import read_text

__all__ = ["push"]


def push(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False, help="A tokenizer: a folder or a file.")],
    repository: Annotated[str, typer.Argument(metavar="REPO", show_default=False, help="Where to: NAME, or OWNER/NAME.")],
    private: Annotated[
        bool | None, typer.Option("--private/--public", show_default=False, help="For a repository that is made now.")
    ] = None,
    revision: Annotated[str | None, typer.Option(show_default=False, help="Branch to push to, made if missing.")] = None,
    create_pr: Annotated[bool, typer.Option("--create-pr", help="Propose it as a pull request.")] = False,
    message: Annotated[str, typer.Option("--message", "-m", help="Commit message.")] = "Upload tokenizer",
    token: Annotated[
        str | None, typer.Option(show_default=False, help="Access token; default: HF_TOKEN, or that of `hf auth login`.")
    ] = None,
    auto: Annotated[
        Literal["marker", "class-name", "remote-code"] | None,
        typer.Option(
            show_default=False, help="How AutoTokenizer is told of our class; default: as in the folder, else marker."
        ),
    ] = None,
    license: Annotated[str | None, typer.Option(show_default=False, help="For the card, such as apache-2.0.")] = None,  # noqa: A002
    language: Annotated[
        list[str] | None, typer.Option(show_default=False, help="For the card, such as en (repeatable).")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(show_default=False, help="For the card (repeatable).")] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(show_default=False, help="Text file to measure bytes per token on, a row each (repeatable)."),
    ] = None,
    plot: Annotated[
        bool, typer.Option("--plot", help="Put a plot of bytes per token into the card; needs matplotlib.")
    ] = False,
    overwrite_card: Annotated[
        bool, typer.Option("--overwrite-card", help="Replace a README.md there even if somebody wrote or edited it.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the model card and send nothing.")] = False,
    pattern: LoadedPattern = None,
    special_token: SpecialIds = None,
    as_json: Json = False,
) -> None:
    """Push a tokenizer with a model card to the Hugging Face Hub, in one commit. A README.md in the folder is the card instead."""
    from hf_bpe.plugin import HfBpeTokenizer  # imports transformers, which takes seconds

    tokenizer = HfBpeTokenizer.from_pretrained(folder, **load_options(pattern, special_token))
    own_card = folder / "README.md"
    about = {
        "license": license,
        "language": language,
        "tags": tag,
        "corpus": {path.stem: read_text(path) for path in corpus or ()},
        "card": read_text(own_card) if own_card.is_file() else None,
    }
    if dry_run:
        out.print(tokenizer.model_card(repository, auto=auto, plotted=plot, **about), markup=False, soft_wrap=True)
        return
    done = tokenizer.push_to_hub(
        repository,
        auto=auto,
        private=private,
        revision=revision,
        create_pr=create_pr,
        commit_message=message,
        token=token,
        plot=plot,
        overwrite_card=overwrite_card,
        **about,
    )
    if as_json:
        print_json({"commit": done.commit_url, "pull_request": done.pr_url, "repository": done.repo_url.repo_id})
    else:
        err.print(f"pushed to {done.pr_url or done.commit_url}")
