"""A model made to fit another tokenizer: planned first, which reads headers only, then done beside the original."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tqdm import tqdm

import conversion
from conversion.json_text import read_json
from hf_bpe.editing.checkpoint.matrices import Matrices, Matrix, find_matrices
from hf_bpe.editing.checkpoint.shards import INDEX, Checkpoint, open_checkpoint
from hf_bpe.editing.checkpoint.writing import resized, write_shard
from hf_bpe.editing.folders import carry_over, new_folder
from hf_bpe.editing.id_map import IdMap
from hf_bpe.editing.matching import id_map_between
from hf_bpe.editing.model_folder import FREEZE_LIST, ID_MAP, RECORD, other_weights, unchanged_files
from hf_bpe.editing.model_ids import CONFIG, CONFIGURATIONS, Renumbering, roles_of
from hf_bpe.editing.rows import Rows, plan_rows, rows_after
from hf_bpe.editing.starting_rows import describe, starting_rows
from hf_bpe.errors import ConversionRefused, EditError, FormatError, some
from hf_bpe.files import write_atomically
from hf_bpe.model_files.configuration import text_part
from hf_bpe.spec import TokenizerSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PathLike", "ResizePlan", "plan_resize"]

PathLike: TypeAlias = str | os.PathLike[str]

_ROOM = 1 << 24
"""For the files that are not weights."""


def plan_resize(
    model: PathLike,
    tokenizer: PathLike,
    *,
    old_tokenizer: PathLike | None = None,
    id_map: IdMap | None = None,
    init: str = "mean",
    seed: int = 0,
    pad_to_multiple_of: int = 1,
    shrink: bool = False,
    embedding: Sequence[str] = (),
    head: Sequence[str] = (),
    output: PathLike | None = None,
    link: bool = True,
) -> ResizePlan:
    """What it takes to give a model another tokenizer. Writes nothing; `ResizePlan.apply` does.

    model: a folder with config.json and .safetensors files. tokenizer: the new one, old_tokenizer: the one that the model was
    trained with, by default the one in its folder; each a folder or file that `conversion.load` reads.
    id_map: which id became which; by default tokens of the same text are the same.
    init: how the rows of new tokens are made where the id map does not say it: "mean", "pieces", "zeros", "normal" (with `seed`)
        or "copy:TOKEN"; see `hf_bpe.editing.starting_rows`.
    pad_to_multiple_of: the number of rows is rounded up to a multiple of it. shrink: have no more rows than that; else there are
        never fewer than before.
    embedding, head: names of the tensors, where they are not known ones.
    output: a new folder; by default the model's own is replaced. link: files that stay the same become hard links.

    Raises `EditError` for what does not fit together, `FormatError` for damaged files, `ConversionRefused` for a tokenizer that
    no Hugging Face folder holds exactly.
    """
    if pad_to_multiple_of < 1 or seed < 0:
        raise EditError("pad_to_multiple_of is 1 or more, and seed 0 or more")
    folder, new_source = Path(model).resolve(), Path(tokenizer)
    target = folder if output is None else Path(output).absolute()
    _check_target(folder, target, output is not None)
    checkpoint = open_checkpoint(folder)
    left_out = _other_weights(folder, checkpoint, replaced=output is None)
    new = conversion.load(new_source)
    _check_can_be_saved(new, new_source)
    old_source = Path(old_tokenizer) if old_tokenizer is not None else folder
    old = _old_tokenizer(old_source, required=old_tokenizer is not None or id_map is None)
    ids = _checked_map(id_map, old, new)
    config = read_json(folder / CONFIG) if (folder / CONFIG).is_file() else {}
    matrices = _matrices(checkpoint, config, ids.old_size, embedding, head)
    after = rows_after(matrices.rows, ids, shrink=shrink, multiple=pad_to_multiple_of)
    old_roles = {} if old is None else roles_of(old_source, old)
    renumbering = Renumbering(ids, matrices.rows, after, old_roles, roles_of(new_source, new))
    return ResizePlan(
        model=folder,
        target=target,
        tokenizer=new_source,
        old=old,
        new=new,
        id_map=ids,
        checkpoint=checkpoint,
        matrices=matrices,
        rows=plan_rows(ids, matrices.rows, after, starting_rows(init, ids, old, new)),
        configurations=_configurations(folder, renumbering),
        renumbering=renumbering,
        init=init,
        seed=seed,
        link=link,
        left_out=tuple(left_out),
        has_settings=_has_settings(new_source),
    )


@dataclass(frozen=True, repr=False)
class ResizePlan:
    """All that will be done, decided. Made by `plan_resize`."""

    model: Path
    target: Path
    tokenizer: Path
    old: TokenizerSpec | None
    new: TokenizerSpec
    id_map: IdMap
    checkpoint: Checkpoint
    matrices: Matrices
    rows: Rows
    configurations: Mapping[str, Any]
    renumbering: Renumbering
    init: str
    seed: int
    link: bool
    left_out: tuple[str, ...]
    has_settings: bool

    @cached_property
    def edited(self) -> tuple[Matrix, ...]:
        """The tensors that get other rows; none where every row stays where it is."""
        return () if self.rows.stay else self.matrices.found

    @cached_property
    def shards(self) -> list[str]:
        """The files of weights that are written anew."""
        return sorted({matrix.file for matrix in self.edited})

    @cached_property
    def unchanged(self) -> list[str]:
        """The files that are taken over as they are."""
        return list(unchanged_files(self.model, {*self.shards, *self.left_out, *([INDEX] if self.edited else [])}))

    @property
    def bytes_added(self) -> int:
        """By how much the weights grow; below 0 if they shrink."""
        return sum(resized(matrix, len(self.rows.sources)).nbytes - matrix.tensor.nbytes for matrix in self.edited)

    @property
    def bytes_to_write(self) -> int:
        """Of weights, and of other files where none can be linked."""
        rewritten = sum((self.model / name).stat().st_size for name in self.shards) + self.bytes_added
        return rewritten + (0 if self.link else sum((self.model / name).stat().st_size for name in self.unchanged))

    @property
    def notes(self) -> list[str]:
        """What to know before it is done."""
        notes = list(self.renumbering.notes)
        if not self.has_settings:
            notes.append(
                f"{self.tokenizer} is a tokenizer without settings: roles of special tokens and a chat template are not taken over from "
                "the old one"
            )
        if self.left_out:
            notes.append(f"{some(self.left_out)} would hold the old rows, and is left out")
        if self.matrices.alike:
            notes.append(
                f"{some(self.matrices.alike)} has {self.matrices.rows} rows, too, and is left as it is; name what goes by ids with "
                "--embedding or --head"
            )
        if not self.configurations:
            notes.append(f"there is no {CONFIG} whose vocab_size could be set")
        before, after = self.matrices.rows, len(self.rows.sources)
        multiple = math.gcd(before, 128)
        if after > before > self.id_map.old_size and multiple >= 8 and after % multiple:
            notes.append(
                f"{before} rows were a multiple of {multiple}, and {after} are not; --pad-to-multiple-of {multiple} keeps it so"
            )
        return notes

    def to_dict(self) -> dict[str, Any]:
        """The plan for programs."""
        after = len(self.rows.sources)
        return {
            "model": str(self.model),
            "output": str(self.target),
            "tokens": {
                "kept": len(self.id_map.kept),
                "moved": self.id_map.moved,
                "gone": len(self.id_map.gone),
                "new": len(self.id_map.made),
            },
            "rows": {"before": self.matrices.rows, "after": after, "made": describe(self.rows.made.values())},
            "init": self.init,
            "seed": self.seed,
            "tied": self.matrices.tied,
            "tensors": [
                {
                    "name": matrix.tensor.name,
                    "file": matrix.file,
                    "role": matrix.role,
                    "dtype": matrix.tensor.dtype,
                    "shape_before": list(matrix.tensor.shape),
                    "shape_after": list(matrix.shape_with(after)),
                }
                for matrix in self.matrices.found
            ],
            "configuration": [vars(change) for change in self.renumbering.changes],
            "files": {"weights": self.shards, "unchanged": self.unchanged, "left_out": list(self.left_out)},
            "bytes_to_write": self.bytes_to_write,
            "notes": self.notes,
        }

    def summary(self) -> str:
        """The plan for people."""
        data = self.to_dict()
        tokens, rows = data["tokens"], data["rows"]
        lines = [
            f"{self.model} -> {'itself' if self.target == self.model else self.target}",
            f"tokens: {tokens['kept']:,} kept ({tokens['moved']:,} with another id), {tokens['gone']:,} gone, {tokens['new']:,} new",
            f"rows: {rows['before']:,} -> {rows['after']:,}",
            *(f"  made: {count:,} {way}" for way, count in rows["made"].items()),
            *(
                f"{'changed' if self.edited else 'as it is'}: {tensor['name']} ({tensor['role']}, {tensor['dtype']}) "
                f"{tensor['shape_before']} -> {tensor['shape_after']} in {tensor['file']}"
                for tensor in data["tensors"]
            ),
            *(["the head is the embedding (tied)"] if self.matrices.tied else []),
            *(f"{change.file}: {change.key} {change.before!r} -> {change.after!r}" for change in self.renumbering.changes),
            f"files: {len(self.shards)} of {len(self.checkpoint.shards)} files of weights written anew, {self.bytes_to_write:,} bytes; "
            f"{len(self.unchanged)} files {'linked' if self.link else 'copied'}; the tokenizer's written; {RECORD}, {ID_MAP}, {FREEZE_LIST}",
            *(f"note: {note}" for note in data["notes"]),
        ]
        return "\n".join(lines)

    def apply(self, *, progress: bool = False) -> dict[str, Any]:
        """Do it, and return the record of it, which the new folder holds as resize_record.json.

        All is written beside the target and takes its place in one step. On an error, a full disk or Ctrl-C what was there stays,
        and nothing else. Tensors that are not edited are byte for byte the same, which is checked on what was written.
        """
        self._check_room()
        with new_folder(self.target) as staging:
            conversion.convert(self.new, staging, format="huggingface", source=self.tokenizer)
            for name in self.unchanged:
                (staging / name).parent.mkdir(parents=True, exist_ok=True)
                carry_over(self.model / name, staging / name, link=self.link)
            with _bar(2 * self._bytes_of_weights, shown=progress) as told:
                same = sum(self._write_shard(name, staging, told) for name in self.shards)
            record = self._record(same)
            write_atomically(staging, self._small_files(record))
        return record

    @property
    def _bytes_of_weights(self) -> int:
        return sum(sum(t.nbytes for t in self.checkpoint.shards[name].tensors) for name in self.shards) + self.bytes_added

    def _write_shard(self, name: str, staging: Path, told: Callable[[int], object]) -> int:
        matrices = {matrix.tensor.name: matrix for matrix in self.edited if matrix.file == name}
        header = self.checkpoint.shards[name]
        return write_shard(self.model / name, header, matrices, self.rows, self.seed, staging / name, told)

    def _check_room(self) -> None:
        place = next(folder for folder in (self.target, *self.target.parents) if folder.is_dir())
        free = shutil.disk_usage(place).free
        if free < self.bytes_to_write + _ROOM:
            raise EditError(
                f"{place} has {free:,} bytes left, and {self.bytes_to_write + _ROOM:,} are to be written; make room, or choose another "
                "place with output="
            )

    def _record(self, same: int) -> dict[str, Any]:
        fingerprints = {"old": None if self.old is None else self.old.fingerprint, "new": self.new.fingerprint}
        head = {"format": "hf_bpe resize record", "version": 1, "tokenizers": fingerprints}
        checked = {"tensors_copied_and_compared": same, "id_map": ID_MAP, "freeze_list": FREEZE_LIST}
        return {**head, **self.to_dict(), **checked}

    def _small_files(self, record: dict[str, Any]) -> dict[str, bytes]:
        files = {**self.configurations, RECORD: record, FREEZE_LIST: self.freeze_list()}
        if self.checkpoint.index is not None and self.edited:
            files[INDEX] = self._index()
        return {name: _json(data) for name, data in files.items()} | {ID_MAP: self.id_map.to_bytes()}

    def freeze_list(self) -> dict[str, Any]:
        """Which rows belong to new tokens, for a training of those alone: stretches of rows, the last one not included."""
        stretches: list[list[int]] = []
        for row in self.rows.new_ids:
            if stretches and stretches[-1][1] == row:
                stretches[-1][1] = row + 1
            else:
                stretches.append([row, row + 1])
        tensors = [{"tensor": m.tensor.name, "axis": m.axis, "rows": stretches} for m in self.matrices.found]
        return {"train": tensors if stretches else [], "freeze": "everything else"}

    def _index(self) -> dict[str, Any]:
        index = dict(self.checkpoint.index or {})
        metadata = dict(index.get("metadata") or {})
        added = sum(
            math.prod(matrix.shape_with(len(self.rows.sources))) - math.prod(matrix.tensor.shape) for matrix in self.edited
        )
        for key, more in (("total_size", self.bytes_added), ("total_parameters", added)):
            if isinstance(metadata.get(key), int | float):
                metadata[key] += more
        return {**index, **({"metadata": metadata} if metadata else {})}


def _check_target(model: Path, target: Path, given: bool) -> None:
    if not model.is_dir():
        raise EditError(f"{model} is no folder; name the folder of a model, with config.json and .safetensors files")
    if not given:
        return
    if target.is_relative_to(model) or model.is_relative_to(target.resolve()):
        raise EditError(f"{target} is the model's own folder, or one lies in the other; choose another output")
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise EditError(f"{target} exists; choose another output, which is made")


def _other_weights(folder: Path, checkpoint: Checkpoint, *, replaced: bool) -> list[str]:
    others = other_weights(folder, checkpoint.shards)
    if others and replaced:
        raise EditError(
            f"{folder}: {some(others)} would hold the old rows beside the new ones; move it away first, or pass output=, where it is "
            "left out"
        )
    return others


def _old_tokenizer(source: Path, *, required: bool) -> TokenizerSpec | None:
    try:
        return conversion.load(source)
    except (FormatError, ConversionRefused) as error:
        if not required:
            return None
        raise EditError(
            f"the tokenizer that the model was trained with cannot be read; name it with old_tokenizer=. {error}"
        ) from error


def _check_can_be_saved(spec: TokenizerSpec, source: Path) -> None:
    verdict = conversion.check(spec, "huggingface")
    if verdict.kind in ("lossy", "impossible"):
        raise EditError(f"{source} cannot be saved beside the model:\n{verdict.summary()}")


def _checked_map(given: IdMap | None, old: TokenizerSpec | None, new: TokenizerSpec) -> IdMap:
    if given is None:
        if old is None:
            raise EditError("there is no old tokenizer and no id map, so nobody knows which row is which token's")
        return id_map_between(old, new)
    if old is not None and old.n_vocab != given.old_size:
        raise EditError(
            f"the id map speaks of {given.old_size} old ids, and the old tokenizer has {old.n_vocab}; they do not belong together"
        )
    if new.n_vocab != given.new_size:
        raise EditError(
            f"the id map speaks of {given.new_size} new ids, and the new tokenizer has {new.n_vocab}; they do not belong together"
        )
    own = {*new.vocab.values(), *(token.id for token in new.added_tokens)}
    mapped = {*given.kept.values(), *given.made}
    if own != mapped:
        odd = sorted(own ^ mapped)
        raise EditError(
            f"ids {some(list(map(str, odd)))} stand only in the id map, or only in the new tokenizer; they do not belong together"
        )
    return given


def _matrices(checkpoint: Checkpoint, config: Any, needed: int, embedding: Sequence[str], head: Sequence[str]) -> Matrices:
    if not isinstance(config, dict):
        raise FormatError(f"{checkpoint.folder / CONFIG}: must be a JSON object")
    text = text_part(config)
    stated = text.get("vocab_size")
    tied = config.get("tie_word_embeddings", text.get("tie_word_embeddings"))
    return find_matrices(
        checkpoint,
        needed,
        embedding=embedding,
        head=head,
        stated_rows=stated if type(stated) is int else None,
        tied=tied if isinstance(tied, bool) else None,
    )


def _configurations(folder: Path, renumbering: Renumbering) -> dict[str, Any]:
    present = [name for name in CONFIGURATIONS if (folder / name).is_file()]
    return {name: renumbering.apply(name, read_json(folder / name)) for name in present}


def _has_settings(source: Path) -> bool:
    return any((source / name).is_file() for name in ("tokenizer_config.json", "tokenizer.model"))


def _json(data: Any) -> bytes:
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()


def _bar(total: int, *, shown: bool) -> AbstractContextManager[Callable[[int], object]]:
    @contextmanager
    def bar() -> Iterator[Callable[[int], object]]:
        with tqdm(total=total, desc="writing and reading back", unit="B", unit_scale=True, disable=not shown) as shown_bar:
            yield shown_bar.update

    return bar()
