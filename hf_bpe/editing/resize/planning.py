"""What it takes to make a model fit another tokenizer, or why it cannot be done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import conversion
from conversion.huggingface import TOKENIZER_FILE
from conversion.json_text import read_json
from hf_bpe.editing.checkpoint.matrices import Matrices, matrices_of_model
from hf_bpe.editing.checkpoint.numbers import FLOATS
from hf_bpe.editing.checkpoint.shards import Checkpoint, open_checkpoint
from hf_bpe.editing.id_map import IdMap
from hf_bpe.editing.matching import id_map_between
from hf_bpe.editing.model_folder import other_weights
from hf_bpe.editing.model_ids import CONFIGURATIONS, Renumbering, roles_of
from hf_bpe.editing.resize.plan import ResizePlan
from hf_bpe.editing.rows import padding_of, plan_rows, rows_after
from hf_bpe.editing.starting_rows import starting_rows
from hf_bpe.errors import ConversionRefused, EditError, FormatError, some
from hf_bpe.files import path_of
from hf_bpe.spec import TokenizerSpec

__all__ = ["plan_resize"]

PathLike: TypeAlias = str | os.PathLike[str]

_REMEDY = "name the tokenizer that the model was trained with as old_tokenizer="


def plan_resize(
    model: PathLike,
    tokenizer: PathLike,
    *,
    old_tokenizer: PathLike | None = None,
    id_map: IdMap | None = None,
    init: str = "mean",
    seed: int = 0,
    pad_to_multiple_of: int | None = None,
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
    pad_to_multiple_of: the number of rows is rounded up to a multiple of it; by default to the one that they were padded to
        (`hf_bpe.editing.rows.padding_of`). shrink: have no more rows than the new tokenizer needs, rounded up only where that is
        asked for; else there are never fewer than before.
    embedding, head: names of the tensors, where they are not known ones.
    output: a new folder; by default the model's own is replaced. link: files that stay the same become hard links.

    Raises `EditError` for what does not fit together, `FormatError` for damaged files, `ConversionRefused` for a tokenizer that
    no Hugging Face folder holds exactly.
    """
    if (pad_to_multiple_of is not None and pad_to_multiple_of < 1) or seed < 0:
        raise EditError("pad_to_multiple_of is 1 or more, and seed 0 or more")
    folder, new_source = path_of(model).resolve(), path_of(tokenizer)
    target = folder if output is None else path_of(output).absolute()
    _check_target(folder, target, output is not None)
    checkpoint = open_checkpoint(folder)
    left_out = _other_weights(folder, checkpoint, replaced=output is None)
    new = conversion.load(new_source)
    _check_can_be_saved(new, new_source)
    old_source = path_of(old_tokenizer) if old_tokenizer is not None else folder
    old = _old_tokenizer(old_source, required=old_tokenizer is not None or id_map is None)
    ids = _checked_map(id_map, old, new)
    matrices = matrices_of_model(checkpoint, ids.old_size, embedding=embedding, head=head, remedy=_REMEDY)
    multiple = (1 if shrink else padding_of(matrices.rows, ids.old_size)) if pad_to_multiple_of is None else pad_to_multiple_of
    after = rows_after(matrices.rows, ids, shrink=shrink, multiple=multiple)
    rows = plan_rows(ids, matrices.rows, after, starting_rows(init, ids, old, new))
    if rows.made:
        _check_can_be_made(matrices)
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
        rows=rows,
        configurations=_configurations(folder, renumbering),
        renumbering=renumbering,
        init=init,
        seed=seed,
        link=link,
        left_out=tuple(left_out),
        has_settings=_has_settings(new_source),
    )


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
    if (source / TOKENIZER_FILE).is_file():
        return  # what was read from such a file can be written to one; that takes seconds to find out, and saving does so again
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
    own = new.used_ids
    mapped = {*given.kept.values(), *given.made}
    if own != mapped:
        odd = sorted(own ^ mapped)
        raise EditError(
            f"ids {some(list(map(str, odd)))} stand only in the id map, or only in the new tokenizer; they do not belong together"
        )
    return given


def _check_can_be_made(matrices: Matrices) -> None:
    odd = next((matrix.tensor for matrix in matrices.found if matrix.tensor.dtype not in FLOATS), None)
    if odd is not None:
        raise EditError(
            f"{odd.name} is {odd.dtype}, of which no rows can be made; known are {', '.join(FLOATS)}. Resize the model before it is "
            "quantised"
        )


def _configurations(folder: Path, renumbering: Renumbering) -> dict[str, Any]:
    present = [name for name in CONFIGURATIONS if (folder / name).is_file()]
    return {name: renumbering.apply(name, read_json(folder / name)) for name in present}


def _has_settings(source: Path) -> bool:
    return any((source / name).is_file() for name in ("tokenizer_config.json", "tokenizer.model"))
