"""Where a tokenizer is loaded from when there is no tokenizer.json: a folder, or a repository on the Hub."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import EllipsisType
from typing import Any

import conversion
from conversion.class_beside import CONFIG_FILES, class_beside
from conversion.format import Given
from hf_bpe.errors import FormatError, HubError, HubNotFound, HubUnreachable
from hf_bpe.spec import TokenizerSpec

__all__ = ["Origin", "check_name", "why_missing"]

_STOCK_PAIR = ("vocab.json", "merges.txt")
_PAIRS = (("encoder.json", "vocab.bpe"), _STOCK_PAIR)
_SINGLE = ("tekken.json", "tiktoken.model")
_RANKS = ".tiktoken"
_CONFIG_FILE = CONFIG_FILES[0]
_HUB_OPTIONS = ("cache_dir", "force_download", "local_files_only", "proxies", "revision", "subfolder", "token")


@dataclass(frozen=True)
class Origin:
    """A folder or a repository, how it is reached, and what the caller says that its files do not.

    hub: arguments of `from_pretrained` that say how to download. settings: its other arguments.
    """

    name: str
    given: Given = field(default_factory=Given)
    hub: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str | os.PathLike[str],
        options: Mapping[str, Any],
        pattern: str | EllipsisType | None,
        special_tokens: Mapping[str, int] | None,
    ) -> Origin:
        """For the arguments of `from_pretrained`."""
        hub = {key: options[key] for key in _HUB_OPTIONS if key in options}
        settings = {key: value for key, value in options.items() if key not in hub}
        return cls(os.fspath(name), Given(pattern, special_tokens), hub, settings)

    def class_for(self, file: Path) -> str | None:
        """The class of transformers that alone knows how a pair of files is run; None where the files, a sidecar or the caller say it."""
        from conversion.sidecar import FOLDER_SIDECAR  # most folders hold a tokenizer.json, which needs none of this

        is_said = self.given != Given() or not file.is_dir() or (file / FOLDER_SIDECAR).exists()
        return None if is_said or not all((file / name).exists() for name in _STOCK_PAIR) else class_beside(file)

    def read(self, file: Path) -> TokenizerSpec:
        """Read a file, or a folder that holds a pair of them, with what the caller says.

        Raises `FormatError` for a rank file of which nobody says how text is split or which tokens are special.
        """
        from conversion.registry import format_for_reading
        from conversion.sidecar import file_sidecar
        from conversion.tiktoken import FORMAT as TIKTOKEN

        said: dict[str, Any] = {} if self.given.pattern is ... else {"pattern": self.given.pattern}
        special = self.given.special_tokens
        if special is None and format_for_reading(file) is TIKTOKEN and not file.with_name(file_sidecar(file.name)).exists():
            special = self._special_tokens_beside(file)
        if special is not None:
            said["special_tokens"] = special
        return conversion.load(file, **said)

    def _special_tokens_beside(self, file: Path) -> dict[str, int] | None:
        """What tokenizer_config.json lists with ids. A rank file that expands a SentencePiece model says its own: None."""
        from conversion.sentencepiece.expansion import read_expansion

        if read_expansion(file, file.read_bytes()) is not None:
            return None
        config = file.with_name(_CONFIG_FILE)
        if config.is_file():
            listed = json.loads(config.read_bytes()).get("added_tokens_decoder")
            if isinstance(listed, Mapping):
                return {entry["content"]: int(token_id) for token_id, entry in listed.items()}
        raise FormatError(
            f"{file}: a rank file does not say which tokens are special, and no {_CONFIG_FILE} beside it lists them with their ids; "
            "pass special_tokens= a dict of text and id, which is {} if there are none"
        )

    def other_file(self) -> Path:
        """What holds the tokenizer, downloaded if need be. Raises `FormatError` where there is nothing, or several."""
        from conversion.sidecar import FOLDER_SIDECAR, file_sidecar

        folder = Path(self.name, self.hub.get("subfolder") or "")
        names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else self._names_on_the_hub()
        pair = next((pair for pair in _PAIRS if set(pair) <= set(names)), None)
        if pair is not None:
            return self._fetch([*pair, FOLDER_SIDECAR, *CONFIG_FILES], names).parent
        found = [name for name in names if name in _SINGLE or name.endswith(_RANKS)]
        if len(found) == 1:
            return self._fetch([found[0], file_sidecar(found[0]), _CONFIG_FILE], names)
        held = ", ".join(names) or "nothing"
        if found:
            raise FormatError(f"{self.name}: holds several tokenizers, {', '.join(found)}; give the path of one of them")
        raise FormatError(
            f"{self.name}: no tokenizer.json, no tokenizer.model, and no other file of a tokenizer that this class can load; it holds {held}"
        )

    def _names_on_the_hub(self) -> list[str]:
        from huggingface_hub import HfApi, is_offline_mode, snapshot_download

        if not self.name or Path(self.name).is_file():
            return []
        reached = {key: self.hub[key] for key in ("revision", "token") if key in self.hub}
        below = f"{self.hub['subfolder']}/" if self.hub.get("subfolder") else ""
        if self.hub.get("local_files_only") or is_offline_mode():
            cached = Path(
                snapshot_download(self.name, cache_dir=self.hub.get("cache_dir"), local_files_only=True, **reached), below
            )
            return sorted(path.name for path in cached.iterdir())
        listed = HfApi().list_repo_files(self.name, **reached)
        return sorted(name.removeprefix(below) for name in listed if name.startswith(below))

    def _fetch(self, wanted: Iterable[str], names: Iterable[str]) -> Path:
        """The first of these files; the others that exist stand beside it."""
        from transformers.utils import cached_file

        paths = [cached_file(self.name, name, **self.hub) for name in wanted if name in set(names)]
        return Path(str(paths[0]))


def check_name(name: str | os.PathLike[str]) -> None:
    """Raise `HubNotFound` for what is not here and is no repository either, before anybody asks the Hub for one of that name."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    name = os.fspath(name)
    if not name:
        raise HubNotFound("the name is empty; pass a folder, a file, or the name of a repository")
    path = Path(name)
    if path.exists():
        return
    try:
        validate_repo_id(name)
    except HFValidationError:
        raise HubNotFound(
            f"{name!r}: there is no such folder or file here, and no repository can have that name; check the path"
        ) from None
    if path.suffix in (".json", ".model", _RANKS):
        raise HubNotFound(f"{name!r}: there is no such folder or file here; check the path")


def why_missing(name: str | os.PathLike[str], error: Exception) -> HubError | None:
    """What to say of a place where nothing was found; None where the error says it. It speaks of the Hub also for a mistyped path."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    name = os.fspath(name)
    if isinstance(error, LocalEntryNotFoundError) and not Path(name).exists():
        return HubUnreachable(
            f"{name!r}: there is no such folder or file here, the cache holds no repository of that name, and the Hub was not asked "
            "(offline mode, or local_files_only=True); check the path, or download it first"
        )
    if not isinstance(error, OSError):  # of whichever library asks the Hub: no OSError, as transformers makes of it
        return HubUnreachable(
            f"{name!r}: there is no such folder or file here, and the Hub does not answer; check the path: {error}"
        )
    return None
