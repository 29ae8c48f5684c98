"""The files of an edited tokenizer: made first, so that a plan can say what they are, and put in their places all at once."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import conversion
from conversion.converting import refuse_others_in_charge, remove_what_is_stale
from conversion.huggingface import FORMAT, as_loaded, deciding_file
from conversion.registry import find_format
from hf_bpe.editing.model_folder import vocabulary_files
from hf_bpe.errors import some
from hf_bpe.files import write_atomically
from hf_bpe.spec import TokenizerSpec

__all__ = ["files_of", "notes_of", "put_in_place"]

_CONFIG = "config.json"


def files_of(
    spec: TokenizerSpec, target: Path, format_name: str, source: Path, renamed: Mapping[str, str] | None = None
) -> dict[str, bytes]:
    """What is to be written of a tokenizer that was made of the one at `source`, by paths beside the target.

    From one Hugging Face folder to another goes what the first says beyond ids: template, roles, settings. Raises what
    `conversion.convert` does; so what cannot be written is refused while it is planned.
    """
    with tempfile.TemporaryDirectory(prefix="hf-bpe-") as folder:
        place = Path(folder, target.name)
        beside = _model_beside(target, place)
        _write(spec, place, format_name, source, renamed)
        found = {
            path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()
        }
    for name in beside:
        del found[name]
    refuse_others_in_charge(target, find_format(format_name), _within(target, found))
    return found


def notes_of(source: Path, target: Path, contents: Mapping[str, bytes]) -> list[str]:
    """What to know of files that name tokens, as tokenizer.model does, and are not written anew."""
    written = _within(target, contents)
    if not written:  # a file, not a folder
        return []
    beside, before = ([name for name in vocabulary_files(folder) if name not in written] for folder in (target, source))
    notes = []
    if beside:
        notes.append(f"{some(beside)} in {target} stays, with the tokens of another vocabulary; remove it")
    missing = [name for name in before if name not in beside]
    if missing:
        notes.append(f"{some(missing)} of {source}, with the old tokens, is not taken over; {some(written)} has the new ones")
    return notes


def put_in_place(target: Path, format_name: str, contents: Mapping[str, bytes]) -> list[Path]:
    """Write these files, the tokenizer's and others beside the target, all at once or none, and return their paths."""
    paths = write_atomically(target.parent, contents)
    chosen = find_format(format_name)
    remove_what_is_stale(target, chosen, _within(target, contents) if chosen.is_folder else contents)
    return paths


def _model_beside(target: Path, place: Path) -> list[str]:
    """Put the config.json of the model in the target beside what is written, as saving warns where they do not go together."""
    if not (target / _CONFIG).is_file():
        return []
    place.mkdir()
    (place / _CONFIG).write_bytes((target / _CONFIG).read_bytes())
    return [f"{target.name}/{_CONFIG}"]


def _write(spec: TokenizerSpec, place: Path, format_name: str, source: Path, renamed: Mapping[str, str] | None) -> None:
    if format_name == FORMAT.name and source.is_dir() and deciding_file(source) is not None:
        from hf_bpe.plugin.retraining import with_spec

        with_spec(as_loaded(source), spec, renamed).save_pretrained(place)
    else:
        conversion.convert(spec, place, format=format_name)


def _within(target: Path, contents: Mapping[str, bytes]) -> list[str]:
    """The files in the target itself, by their paths in it."""
    return [name.removeprefix(f"{target.name}/") for name in contents if name.startswith(f"{target.name}/")]
