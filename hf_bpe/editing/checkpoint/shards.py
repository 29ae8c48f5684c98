"""The files of a checkpoint: one, or several with an index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conversion.json_shapes import object_at
from conversion.json_text import read_json
from hf_bpe.errors import EditError, FormatError, some
from hf_bpe.model_files.safetensors_header import Header, Tensor, read_header

__all__ = ["INDEX", "Checkpoint", "open_checkpoint"]

INDEX = "model.safetensors.index.json"
_SINGLE = "model.safetensors"
_ENDING = ".safetensors"


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint whose files are all there, whole, and agree with each other.

    shards: file name -> its header. index: what model.safetensors.index.json says; None for a single file.
    """

    folder: Path
    shards: Mapping[str, Header]
    index: Mapping[str, Any] | None

    @property
    def tensors(self) -> dict[str, tuple[str, Tensor]]:
        """Name -> (file, tensor)."""
        return {tensor.name: (file, tensor) for file, header in self.shards.items() for tensor in header.tensors}


def open_checkpoint(folder: Path) -> Checkpoint:
    """The checkpoint of a folder: the shards of its index, else model.safetensors, else its one .safetensors file.

    Raises `FormatError` for files that are damaged, missing, or contradict each other, `EditError` where there are none.
    """
    if not folder.is_dir():
        raise EditError(f"{folder} is no folder; name the folder of a model, with config.json and .safetensors files")
    index = _index(folder)
    shards = {name: read_header(folder / name) for name in _shard_names(folder, index)}
    checkpoint = Checkpoint(folder, shards, index)
    total = sum(len(header.tensors) for header in shards.values())
    if total > len(checkpoint.tensors):
        raise FormatError(
            f"{folder}: {total - len(checkpoint.tensors)} tensors stand in several shards; fetch the checkpoint again"
        )
    if index is not None:
        _compare(checkpoint, object_at(dict(index), "weight_map"))
    return checkpoint


def _index(folder: Path) -> dict[str, Any] | None:
    path = folder / INDEX
    if not path.exists():
        return None
    index = read_json(path)
    files = object_at(index, "weight_map")
    if not files or not all(isinstance(file, str) and Path(file).name == file for file in files.values()):
        raise FormatError(
            f"{path}: weight_map must map tensors to names of files beside it; the file is damaged: fetch it again"
        )
    return dict(index)


def _shard_names(folder: Path, index: dict[str, Any] | None) -> list[str]:
    if index is not None:
        names = sorted(set(index["weight_map"].values()))
        missing = [name for name in names if not (folder / name).is_file()]
        if missing:
            raise FormatError(f"{folder}: {INDEX} names {some(missing)}, which is not there; fetch the missing shards first")
        return names
    if (folder / _SINGLE).is_file():
        return [_SINGLE]
    found = sorted(path.name for path in folder.iterdir() if path.name.endswith(_ENDING) and path.is_file())
    if len(found) == 1:
        return found
    if not found:
        raise EditError(
            f"{folder} holds no .safetensors files. Save the model in that format first: "
            "AutoModelForCausalLM.from_pretrained(...).save_pretrained(folder)"
        )
    raise EditError(
        f"{folder} holds {some(found)} and no {INDEX} that says which belong together; fetch the index, or keep one file"
    )


def _compare(checkpoint: Checkpoint, said: Mapping[str, str]) -> None:
    tensors = checkpoint.tensors
    missing = [f"{name} in {file}" for name, file in said.items() if name not in tensors or tensors[name][0] != file]
    if missing:
        raise FormatError(
            f"{checkpoint.folder}: {INDEX} names tensors that are not where it says: {some(missing)}; fetch the checkpoint again"
        )
    strangers = [f"{name} in {file}" for name, (file, _) in tensors.items() if name not in said]
    if strangers:
        raise FormatError(f"{checkpoint.folder}: {INDEX} does not name {some(strangers)}; fetch the checkpoint again")
