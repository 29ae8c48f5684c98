"""Lints about the model beside the tokenizer: rows of the embedding, and ids in its configuration."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from conversion.json_shapes import is_id, quoted
from hf_bpe.doctor.finding import Problem, lint
from hf_bpe.doctor.folder import GENERATION, MODEL_CONFIG, WEIGHTS, Folder
from hf_bpe.doctor.lints.configuration import text_config
from hf_bpe.errors import FormatError
from hf_bpe.model_files.safetensors_header import tensor_entries
from hf_bpe.model_files.tensor_names import has_row_for_each_id

_FLOATS = ("F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2")


@lint("error")
def too_few_rows(folder: Folder) -> Iterator[Problem]:
    """An embedding with fewer rows than the tokenizer has ids."""
    for file, name, rows in _matrices(folder):
        if rows < folder.ids_needed:
            yield Problem(
                f"{file}: {name}",
                f"It has {rows} rows, and the tokenizer gives ids up to {folder.ids_needed - 1}. The first text with such an id ends in "
                "'index out of range' on a CPU and in a device-side assert on a GPU",
                f"Resize the embedding to {folder.ids_needed} rows or more (more is fine), or use the tokenizer that the model was trained with.",
            )


@lint("error")
def rows_against_config(folder: Folder) -> Iterator[Problem]:
    """An embedding of another size than config.json says."""
    size = text_config(folder).get("vocab_size")
    for file, name, rows in _matrices(folder):
        if is_id(size) and rows != size:
            yield Problem(
                f"{file}: {name}",
                f"It has {rows} rows, and vocab_size in {MODEL_CONFIG} is {size}: from_pretrained fails with 'size mismatch'",
                f"Set vocab_size to {rows}.",
            )


@lint("error")
def vocab_size(folder: Folder) -> Iterator[Problem]:
    """A vocab_size in config.json that is smaller than the tokenizer."""
    size = text_config(folder).get("vocab_size")
    if is_id(size) and size < folder.ids_needed:
        yield Problem(
            f"{MODEL_CONFIG}: $.vocab_size",
            f"It is {size}, and the tokenizer gives ids up to {folder.ids_needed - 1}. A model made from this configuration has no rows for them",
            f"Set it to {folder.ids_needed} or more and resize the embedding; rows beyond the tokenizer do no harm.",
        )


@lint("warning")
def special_id(folder: Folder) -> Iterator[Problem]:
    """A bos, eos or pad id in a model's configuration that is not the tokenizer's."""
    for name in (MODEL_CONFIG, GENERATION):
        config = text_config(folder) if name == MODEL_CONFIG else folder.json(name)
        for role in ("bos_token", "eos_token", "pad_token"):
            stated = config.get(f"{role}_id")
            ids = [
                number
                for number in (stated if isinstance(stated, list) else [stated])
                if isinstance(number, int) and is_id(number)
            ]
            content = folder.roles.get(role, ("", ""))[0]
            own = folder.token_ids.get(content)
            if ids and own is not None and own not in ids:
                yield Problem(
                    f"{name}: $.{role}_id",
                    f"It is {quoted(stated)}, and the tokenizer's {role} {quoted(content)} is {own}. {_EFFECTS[role]}",
                    f"Write {own}, or name the other token in tokenizer_config.json: what the model was trained with decides.",
                )
            beyond = [number for number in ids if folder.token_ids and number >= folder.ids_needed]
            if beyond:
                yield Problem(
                    f"{name}: $.{role}_id",
                    f"{beyond[0]} is beyond the tokenizer's last id, {folder.ids_needed - 1}: no text gives it and it decodes to nothing",
                    "Write the id of the token that is meant.",
                )


_EFFECTS = {
    "bos_token": "generate() without a prompt begins with another token than the tokenizer puts before texts",
    "eos_token": "generate() and servers do not stop where the tokenizer says that a text ends",
    "pad_token": "Batches are padded with one id, and the model masks or ignores another",
}


@lint("error")
def damaged_weights(folder: Folder) -> Iterator[Problem]:
    """A .safetensors file whose header cannot be read."""
    for path in _weights(folder):
        problem = _shapes(path, path.stat().st_mtime_ns)[1]
        if problem is not None:
            yield Problem(path.name, f"The weights do not load: {problem}", "Fetch the file again.")


def _weights(folder: Folder) -> list[Path]:
    return [path for name, path in folder.files.items() if name.endswith(WEIGHTS)]


def _matrices(folder: Folder) -> Iterator[tuple[str, str, int]]:
    """(file, tensor, rows) of every matrix that has a row for each id."""
    for path in _weights(folder) if folder.token_ids else ():
        for name, rows in _shapes(path, path.stat().st_mtime_ns)[0].items():
            yield path.name, name, rows


@lru_cache(maxsize=256)
def _shapes(path: Path, changed: int) -> tuple[dict[str, int], str | None]:
    """Tensor -> rows, and why the header could not be read."""
    try:
        entries = tensor_entries(path)
    except FormatError as error:
        return {}, str(error).removeprefix(f"{path}: ")
    rows = {}
    for name, entry in entries.items():
        shape = entry.get("shape") if isinstance(entry, dict) else None
        if (
            isinstance(shape, list)
            and len(shape) == 2
            and all(map(is_id, shape))
            and entry.get("dtype") in _FLOATS
            and has_row_for_each_id(name)
        ):
            rows[name] = shape[0]
    return rows, None
