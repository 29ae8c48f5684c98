"""`index.json`: what a folder of encoded documents holds, from what it was made, and how far that has got."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hf_bpe.corpus.documents import Place
from hf_bpe.encoding.staged import explained
from hf_bpe.errors import FormatError, ResumeRefused
from hf_bpe.files import read_bytes, read_text, write_atomically

__all__ = ["HEADER_BYTES", "INDEX", "End", "Index", "Settings", "Shard", "is_ours"]

INDEX = "index.json"
_FORMAT = "hf-bpe encoded corpus"
_VERSION = 1
_SHOWN = 5


@dataclass(frozen=True)
class Settings:
    """All that decides which bytes are written.

    tokenizer: fingerprint of the `TokenizerSpec`. eos: id. sources: path, format, size and mtime_ns of each file. part_bytes: so many
    bytes of files were encoded by themselves, into a folder of their own; None: all in one go.
    """

    tokenizer: str
    n_vocab: int
    dtype: str
    eos: int | None
    text_field: str
    separator: str | None
    on_bad: str
    shard_tokens: int
    sources: tuple[dict[str, Any], ...]
    part_bytes: int | None = None

    def refuse_other(self, other: Settings, folder: Path) -> None:
        """Raise `ResumeRefused` if `other`, the settings of the run in `folder`, are not these."""
        mine, theirs = asdict(self), asdict(other)
        now, then = mine.pop("sources"), theirs.pop("sources")
        lines = [f"{name}: {theirs[name]!r} there, {mine[name]!r} now" for name in mine if mine[name] != theirs[name]]
        lines += _changed_sources(then, now)
        if lines:
            more = [f"and {len(lines) - _SHOWN} more differences"] if len(lines) > _SHOWN else []
            raise ResumeRefused(
                f"{folder} holds the output of another run; going on would mix the two:\n"
                + "\n".join(f"  - {line}" for line in lines[:_SHOWN] + more)
                + "\nChoose another folder, or pass overwrite=True (--force) to replace what is there"
            )


def is_ours(folder: Path) -> bool:
    """Whether the index in a folder, damaged or not, was written here."""
    return _FORMAT.encode() in read_bytes(folder / INDEX)


def _changed_sources(then: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[str]:
    if [source["path"] for source in then] != [source["path"] for source in now]:
        old, new = {source["path"] for source in then}, {source["path"] for source in now}
        lines = [f"{path}: read there, not now" for path in sorted(old - new)]
        lines += [f"{path}: not read there" for path in sorted(new - old)]
        return lines or ["the files are the same, in another order"]
    return [
        f"{a['path']}: changed since: "
        + ", ".join(f"{key} {a.get(key)} there, {b.get(key)} now" for key in b if a.get(key) != b[key])
        for a, b in zip(then, now, strict=True)
        if a != b
    ]


@dataclass(frozen=True)
class End:
    """Where the last document of a shard ended: which source, which `Place` in it, how many documents were skipped so far."""

    source: int
    place: Place
    skipped: int


@dataclass(frozen=True)
class Shard:
    """One pair of files: ids, flat; offsets of its documents into them, int64, one more than there are documents."""

    ids: str
    offsets: str
    tokens: int
    documents: int
    ids_crc32: str
    offsets_crc32: str
    end: End


@dataclass(frozen=True)
class Index:
    """What is in the folder. `skipped` is final where `complete`."""

    settings: Settings
    shards: tuple[Shard, ...] = ()
    skipped: int = 0
    complete: bool = False

    @property
    def tokens(self) -> int:
        """Ids in all shards."""
        return sum(shard.tokens for shard in self.shards)

    @property
    def documents(self) -> int:
        """Documents in all shards."""
        return sum(shard.documents for shard in self.shards)

    def with_shard(self, shard: Shard) -> Index:
        """The index with one more shard."""
        return replace(self, shards=(*self.shards, shard), skipped=shard.end.skipped)

    def save(self, folder: Path) -> None:
        """Write it in place of an older one."""
        settings = asdict(self.settings)
        sources = settings.pop("sources")
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "complete": self.complete,
            "tokens": self.tokens,
            "documents": self.documents,
            "skipped": self.skipped,
            **settings,
            "sources": sources,
            "shards": [asdict(shard) for shard in self.shards],
        }
        with explained(folder / INDEX):
            write_atomically(folder, {INDEX: (json.dumps(content, indent=1) + "\n").encode()})

    @staticmethod
    def load(folder: Path) -> Index:
        """Read it, and check it against the files. Raises `FormatError`."""
        path = folder / INDEX
        text = read_text(path)
        try:
            content = json.loads(text)
            if content["format"] != _FORMAT:
                raise FormatError(f"{path}: is not the index of an encoded corpus")
            if content["version"] != _VERSION:
                raise FormatError(f"{path}: has version {content['version']!r}, this hf-bpe reads {_VERSION}; use a newer one")
            settings = {name: content[name] for name in Settings.__dataclass_fields__}
            index = Index(
                Settings(**{**settings, "sources": tuple(settings["sources"])}),
                tuple(_shard(shard) for shard in content["shards"]),
                content["skipped"],
                content["complete"],
            )
        except (json.JSONDecodeError, LookupError, TypeError, AttributeError) as error:
            raise FormatError(
                f"{path}: damaged ({type(error).__name__}: {error}); restore it, or encode again with overwrite=True (--force)"
            ) from None
        index._check_files(folder)
        return index

    def _check_files(self, folder: Path) -> None:
        item = int(self.settings.dtype[-1:]) if self.settings.dtype in ("<u2", "<u4") else 0
        if not item:
            raise FormatError(f"{folder / INDEX}: dtype {self.settings.dtype!r} is not known; it must be '<u2' or '<u4'")
        for shard in self.shards:
            for name, size in ((shard.ids, shard.tokens * item), (shard.offsets, HEADER_BYTES + 8 * (shard.documents + 1))):
                path = folder / name
                try:
                    found = path.stat().st_size
                except OSError as error:
                    raise FormatError(
                        f"{path}: cannot be read: {error.strerror or error}; restore it, or encode again"
                    ) from error
                if found != size:
                    raise FormatError(f"{path}: has {found} bytes instead of {size}; restore it, or encode again")


HEADER_BYTES = 128
"""What numpy puts before an array of one dimension in a .npy file."""


def _shard(fields: dict[str, Any]) -> Shard:
    end = fields["end"]
    return Shard(**{**fields, "end": End(end["source"], Place(**end["place"]), end["skipped"])})
