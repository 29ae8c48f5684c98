"""Pushes a tokenizer and its model card to the Hub in one commit, and says in this package's own errors what went wrong."""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import CommitInfo, CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import (
    HfHubHTTPError,
    HFValidationError,
    HTTPError,  # of whichever HTTP library it uses
    LocalTokenNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from hf_bpe.errors import HubAccessDenied, HubConflict, HubError, HubNotFound, HubUnreachable
from hf_bpe.plugin import model_card
from hf_bpe.plugin.model_types import drift_warning
from hf_bpe.plugin.remote_code import CODE_FILE
from hf_bpe.plugin.saving import Record, is_superseded

__all__ = ["push"]

CARD_FILE = "README.md"
_MODEL_CONFIG = "config.json"


def push(
    record: Record,
    files: Mapping[str, bytes],
    repo_id: str,
    *,
    private: bool | None = None,
    revision: str | None = None,
    create_pr: bool = False,
    commit_message: str | None = None,
    commit_description: str | None = None,
    token: str | bool | None = None,
    tags: Iterable[str] | None = None,
    license: str | None = None,  # noqa: A002
    language: str | list[str] | None = None,
    corpus: Mapping[str, str] | None = None,
    card: str | None = None,
    plot: bool = False,
    overwrite_card: bool = False,
    **ignored: Any,
) -> CommitInfo:
    """Commit the rendered files of a tokenizer, with a model card, to a repository that is made if missing.

    All goes into one commit on top of what was found there, so a push that fails leaves no half of it. A repository or branch
    that was made for it stays, empty: deleting is left to you.

    private: None leaves it to the namespace, or as it is; a repository that is there and is otherwise is refused. revision: a branch, made if missing.
    create_pr: propose the commit as a pull request instead. token: default: the one of `hf auth login`.
    tags, license, language: for the card's metadata. corpus: name -> text to measure bytes per token on instead of the built-in
    samples. card: your own README.md instead of the one made here (one made here earlier is made anew). plot: put a plot of bytes per token into the card made here; needs matplotlib. overwrite_card: replace a README.md that this package
    did not write or that was edited since; it is kept otherwise, with a warning.
    ignored: what other `push_to_hub` methods take and a tokenizer has no use for (`max_shard_size`).

    Raises `HubAccessDenied`, `HubNotFound`, `HubConflict`, `HubUnreachable`, or `HubError` for the rest.
    """
    ignored.pop("max_shard_size", None)
    if ignored:
        raise TypeError(f"push_to_hub takes no argument {', '.join(map(repr, ignored))}")
    api = HfApi(token=token)
    with _reported(repo_id, "before anything was sent"):
        repo_id = api.create_repo(repo_id, private=private, exist_ok=True).repo_id
        if revision is not None and not revision.startswith("refs/pr/"):
            _make_branch(api, repo_id, revision, create_pr)
        found = api.model_info(repo_id, revision=revision)
        _check_visibility(found.private, private, repo_id)
        present = {entry.rfilename for entry in found.siblings or ()}
        theirs = _files(api, repo_id, found.sha, present & {CARD_FILE, _MODEL_CONFIG})
    _warn_of_drift(theirs, files, repo_id)
    rendered = model_card.render(
        record, files, repo_id, tags=tags, license=license, language=language, corpus=corpus, card=card, plotted=plot
    )
    with_card = overwrite_card or _may_go(theirs.get(CARD_FILE), rendered)
    additions = {**files, CARD_FILE: rendered.encode()} if with_card else dict(files)
    if with_card and plot and rendered != card:
        additions[model_card.PLOT_FILE] = model_card.plot(record, corpus)
    operations = [CommitOperationAdd(name, content) for name, content in additions.items()]
    stale = [CommitOperationDelete(name) for name in sorted(present) if is_superseded(name, files)]
    with _reported(repo_id, "while the files were sent, which are either all there now or none; push again to be sure"):
        done = api.create_commit(
            repo_id,
            [*operations, *stale],
            commit_message=commit_message or "Upload tokenizer",
            commit_description=commit_description,
            revision=revision,
            create_pr=create_pr,
            parent_commit=found.sha,
        )
    if not with_card:
        warnings.warn(
            f"{repo_id}: its {CARD_FILE} was written or edited by somebody and is kept; overwrite_card=True replaces it",
            RuntimeWarning,
            stacklevel=3,
        )
    return done


def _check_visibility(is_private: bool | None, private: bool | None, repo_id: str) -> None:
    if private is not None and is_private is not None and is_private != private:
        raise HubError(
            f"{repo_id} is {'private' if is_private else 'public'} and private={private} was asked for, so nothing was sent; change "
            "that in its settings on the Hub, or push without private"
        )


def _make_branch(api: HfApi, repo_id: str, revision: str, create_pr: bool) -> None:
    try:
        api.create_branch(repo_id, branch=revision, exist_ok=True)
    except HfHubHTTPError as error:  # who may only propose changes cannot make branches; the commit tells whether it is there
        if not (create_pr and error.response.status_code == 403):
            raise


def _files(api: HfApi, repo_id: str, revision: str | None, names: Iterable[str]) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory(prefix="hf-bpe-") as folder:
        return {
            name: Path(api.hf_hub_download(repo_id, name, revision=revision, cache_dir=folder)).read_bytes() for name in names
        }


def _may_go(present: bytes | None, card: str) -> bool:
    """Whether the card that is there may be replaced without asking."""
    return present is None or present == card.encode() or model_card.is_unedited(present.decode("utf-8", "replace"))


def _warn_of_drift(theirs: Mapping[str, bytes], files: Mapping[str, bytes], repo_id: str) -> None:
    drift = drift_warning(theirs.get(_MODEL_CONFIG), repo_id) if CODE_FILE not in files else None
    if drift is not None:
        warnings.warn(drift, RuntimeWarning, stacklevel=4)


@contextlib.contextmanager
def _reported(repo_id: str, when: str) -> Iterator[None]:
    """Turn what `huggingface_hub` raises into errors of this package. when: what had happened by then."""
    try:
        yield
    except (LocalTokenNotFoundError, RepositoryNotFoundError, RevisionNotFoundError, HFValidationError) as error:
        raise _of_known(error, repo_id) from error
    except HfHubHTTPError as error:
        raise _of_status(error, repo_id, when) from error
    except (HTTPError, OfflineModeIsEnabled, ConnectionError, TimeoutError) as error:
        raise HubUnreachable(f"{repo_id}: no connection to the Hub, {when}: {error}") from error
    except RuntimeError as error:  # of a large file, which is sent beside the commit; the cause says what happened
        with _reported(repo_id, when):
            raise error.__cause__ or HubError(f"{repo_id}: {error}") from None
    except ValueError as error:  # a card whose metadata the Hub does not accept, a commit message that is empty
        raise HubError(f"{repo_id}: {error}") from error


def _of_known(error: Exception, repo_id: str) -> HubError:
    if isinstance(error, LocalTokenNotFoundError):
        return HubAccessDenied(f"{repo_id}: there is no token; run `hf auth login`, set HF_TOKEN, or pass token=")
    if isinstance(error, HFValidationError):
        return HubError(f"{repo_id!r} cannot be the name of a repository: {error}")
    if isinstance(error, RevisionNotFoundError):
        return HubNotFound(f"{repo_id}: there is no such revision: {_said(error)}")
    return HubNotFound(f"{repo_id}: there is no such repository, or the token does not let you see it: {_said(error)}")


def _of_status(error: HfHubHTTPError, repo_id: str, when: str) -> HubError:
    status, said = error.response.status_code, _said(error)
    if status == 401:
        return HubAccessDenied(
            f"{repo_id}: the Hub knows no such token; run `hf auth login`, set HF_TOKEN, or pass token=: {said}"
        )
    if status == 403:
        return HubAccessDenied(
            f"{repo_id}: this token may not write there; take one that may, push under your own name, or propose the change with "
            f"create_pr=True: {said}"
        )
    if status == 404:
        return HubNotFound(f"{repo_id}: {said}")
    if status in (409, 412):
        return HubConflict(
            f"{repo_id}: it was changed meanwhile, or the name is taken by something else; look, then push again: {said}"
        )
    if status == 429 or status >= 500:
        return HubUnreachable(f"{repo_id}: the Hub is in trouble (status {status}), {when}; try again later: {said}")
    return HubError(f"{repo_id}: the Hub refused (status {status}): {said}")


def _said(error: Exception) -> str:
    return " ".join(str(getattr(error, "server_message", None) or error).split())
