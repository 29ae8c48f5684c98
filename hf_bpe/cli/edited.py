"""Writing an edited tokenizer, with what stood beside it, and its id map."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import conversion
from conversion.huggingface import FORMAT, as_loaded, deciding_file
from hf_bpe.cli.files import refuse_existing
from hf_bpe.editing import IdMap
from hf_bpe.spec import TokenizerSpec

__all__ = ["id_map_file", "refuse_targets", "write_edited"]


def id_map_file(target: Path) -> Path:
    """Where the id map of a tokenizer is put: beside it.

    >>> id_map_file(Path("models/pruned")).name
    'pruned.id_map.json'
    """
    return target.with_name(f"{target.name}.id_map.json")


def refuse_targets(target: Path, force: bool) -> None:
    """Raise `FileExistsError` if the target or its id map is there already."""
    for path in (target, id_map_file(target)):
        refuse_existing(path, force)


def write_edited(
    spec: TokenizerSpec,
    target: Path,
    format_name: str,
    source: Path,
    id_map: IdMap | None = None,
    renamed: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write a tokenizer that was made of the one at `source`, and return the paths.

    From one Hugging Face folder to another goes what the first says beyond ids: template, roles, settings.
    """
    if format_name == FORMAT.name and source.is_dir() and deciding_file(source) is not None:
        from hf_bpe.plugin.retraining import with_spec

        tokenizer = with_spec(as_loaded(source), spec, renamed)
        written = [Path(path) for path in tokenizer.save_pretrained(target)]
    else:
        written = list(conversion.convert(spec, target, format=format_name).paths)
    if id_map is not None:
        id_map.save(id_map_file(target))
        written.append(id_map_file(target))
    return written
