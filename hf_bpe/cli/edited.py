"""What `extend`, `prune`, `replace` and `rename` do alike: show a plan, ask, write a tokenizer with its id map, and leave a record."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from conversion.json_text import indented
from hf_bpe.cli.console import print_json, show_plan, tell_written
from hf_bpe.cli.corpora import read_texts
from hf_bpe.cli.edited_files import files_of, notes_of, put_in_place
from hf_bpe.cli.files import refuse_existing, target_format
from hf_bpe.cli.interruption import watch
from hf_bpe.editing import Effect, IdMap, effect_on
from hf_bpe.engine import Encoder
from hf_bpe.spec import TokenizerSpec
from hf_bpe.spelling import spelled_vocabulary
from hf_bpe.vocabulary.shown import shown_some

__all__ = ["Edit", "How", "carry_out", "effect_on_corpus"]

_EXAMPLES = 3
_CHARACTERS = 24


@dataclass(frozen=True)
class How:
    """How a command was called: where to, and whether to ask, to show, to write. Made before any work, as it may refuse."""

    target: Path
    format_name: str
    dry_run: bool
    yes: bool
    quiet: bool
    as_json: bool

    @classmethod
    def of(cls, target: Path, to: str | None, *, dry_run: bool, yes: bool, quiet: bool, as_json: bool, force: bool) -> How:
        """Raises `FileExistsError` if something is to be written that is there already, unless forced."""
        target = target.resolve() if target.name in ("", "..") else target  # files go beside it, by its name
        format_name = target_format(target, to)
        for path in () if dry_run else (target, _id_map_file(target), _record_file(target)):
            refuse_existing(path, force)
        return cls(target, format_name, dry_run, yes, quiet, as_json)


@dataclass(frozen=True)
class Edit:
    """An edited tokenizer, and nothing written yet.

    lines: what the command has to say of it, for people. says: the same for programs. renamed: added tokens with other texts.
    notes: what to know before it is written.
    """

    command: str
    source: Path
    before: TokenizerSpec
    after: TokenizerSpec
    id_map: IdMap
    lines: Sequence[str] = ()
    says: Mapping[str, Any] = field(default_factory=dict)
    effect: Effect | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        spelled = spelled_vocabulary(self.before), spelled_vocabulary(self.after)
        return {
            "format": "hf_bpe edit record",
            "version": 1,
            "command": self.command,
            "source": os.fspath(self.source),
            "fingerprints": {"before": self.before.fingerprint, "after": self.after.fingerprint},
            "vocab_size": self.after.vocab_size,
            "tokens": self._counts,
            "removed": {str(token_id): spelled[0][token_id] for token_id in sorted(self.id_map.gone)},
            "added": {str(token_id): spelled[1][token_id] for token_id in sorted(self.id_map.made)},
            **self.says,
            "notes": list(self.notes),
            "effect": None if self.effect is None else self.effect.to_dict(),
        }

    def summary(self) -> Iterator[str]:
        """For people, line by line."""
        count = self._counts
        yield (
            f"tokens: {self.before.vocab_size:,} -> {self.after.vocab_size:,}; {count['kept']:,} kept ({count['moved']:,} with another "
            f"id), {count['gone']:,} gone, {count['new']:,} new"
        )
        for what, spec, ids in (("gone", self.before, self.id_map.gone), ("new", self.after, self.id_map.made)):
            if ids:
                yield f"{what}: {shown_some(spec, sorted(ids))}"
        yield from self.lines
        if self.effect is not None:
            yield f"corpus: {self.effect.summary()}"
            for change in self.effect.examples[:_EXAMPLES]:
                sides = " -> ".join(repr(" | ".join(side)) for side in (change.before, change.after))
                yield f"  {sides} in {change.text[:_CHARACTERS]!r}"
        for note in self.notes:
            yield f"note: {note}"

    @cached_property
    def _counts(self) -> dict[str, int]:
        id_map = self.id_map
        return {"kept": len(id_map.kept), "moved": id_map.moved, "gone": len(id_map.gone), "new": len(id_map.made)}


def carry_out(edit: Edit, how: How) -> None:
    """Show the plan, write it if it is to be written, and say what was done."""
    contents = files_of(edit.after, how.target, how.format_name, edit.source, edit.renamed)
    edit = replace(edit, notes=(*edit.notes, *notes_of(edit.source, how.target, contents)))
    contents[_id_map_file(how.target).name] = edit.id_map.to_bytes()
    files = [{"path": os.fspath(how.target.parent / name), "bytes": len(content)} for name, content in contents.items()]
    record = {**edit.to_dict(), "target": os.fspath(how.target), "target_format": how.format_name, "files": files}
    contents[_record_file(how.target).name] = (indented(record) + "\n").encode()
    if not (how.as_json or how.quiet):
        show_plan(_plan(edit, how, contents), "Write these files?", dry_run=how.dry_run, yes=how.yes)
    watch(how.target.parent / name for name in contents)
    paths = [] if how.dry_run else put_in_place(how.target, how.format_name, contents)
    if how.as_json:
        print_json(record)
    elif not how.quiet:
        tell_written(paths)


def effect_on_corpus(
    paths: Sequence[str] | None,
    text_field: str,
    before: TokenizerSpec,
    after: TokenizerSpec,
    new_ids: Mapping[int, int] | None = None,
    *,
    quiet: bool,
) -> Effect | None:
    """What an edit does to the texts of a corpus, if there is one."""
    if not paths:
        return None
    return effect_on(read_texts(paths, text_field, quiet=quiet, doing="comparing"), Encoder(before), Encoder(after), new_ids)


def _plan(edit: Edit, how: How, contents: Mapping[str, bytes]) -> str:
    lines = [f"{edit.source} -> {how.target} ({how.format_name})", *edit.summary(), "files:"]
    lines += (f"  {how.target.parent / name}: {len(content):,} bytes" for name, content in contents.items())
    return "\n".join(lines)


def _id_map_file(target: Path) -> Path:
    """Where the id map of a tokenizer is put: beside it.

    >>> _id_map_file(Path("models/pruned")).name
    'pruned.id_map.json'
    """
    return target.with_name(f"{target.name}.id_map.json")


def _record_file(target: Path) -> Path:
    return target.with_name(f"{target.name}.record.json")
