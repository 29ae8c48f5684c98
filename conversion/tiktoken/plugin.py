"""A ready plugin of tiktoken: a folder that `tiktoken.get_encoding(name)` finds on PYTHONPATH, or once it is installed.

    my_encoding/tiktoken_ext/my_encoding.py                         a module with ENCODING_CONSTRUCTORS
    my_encoding/tiktoken_ext/my_encoding.tiktoken                   the rank file that it reads
    my_encoding/tiktoken_ext/my_encoding.tiktoken.hf_bpe.json       the sidecar of both

The name of the folder is the name of the encoding. There is no `__init__.py`: `tiktoken_ext` is a namespace that tiktoken looks
through, in all folders of that name. Reading does not run the module, nor guess at it: the sidecar says the same and tells,
by its hashes, if the module or the rank file were changed since.
"""

from __future__ import annotations

import keyword
from pathlib import Path

from conversion.format import Format, Given
from conversion.sidecar import file_sidecar, read_sidecar, write_sidecar
from conversion.tiktoken import file as rank_file
from conversion.verdict import Checks
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.files import read_bytes
from hf_bpe.spec import TokenizerSpec

__all__ = ["FORMAT"]

_FOLDER = "tiktoken_ext"
# tiktoken refuses every encoding, its own too, once two modules name the same one.
_TAKEN = "openai_public gpt2 r50k_base p50k_base p50k_edit cl100k_base o200k_base o200k_harmony".split()
_NO_MODULE = ("__init__", "__main__")

_MODULE = '''"""The tiktoken encoding {name!r}: `tiktoken.get_encoding({name!r})` with this folder's parent on PYTHONPATH."""

import base64
from pathlib import Path

PAT_STR = {pattern}
SPECIAL_TOKENS = {special_tokens}


def encoding():
    """What `tiktoken.Encoding` is made of."""
    lines = Path(__file__).with_name({ranks_name!r}).read_bytes().splitlines()
    return {{
        "name": {name!r},
        "pat_str": PAT_STR,
        "mergeable_ranks": {{base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}},
        "special_tokens": SPECIAL_TOKENS,
    }}


ENCODING_CONSTRUCTORS = {{{name!r}: encoding}}
'''


def _recognises(path: Path, head: bytes) -> bool:
    return (path / _FOLDER).is_dir()


def _read(path: Path, given: Given) -> TokenizerSpec:
    given.refuse(str(path))
    ranks = _rank_file(path)
    files = {file.name: read_bytes(file) for file in (ranks, ranks.with_suffix(".py"))}
    sidecar = ranks.with_name(file_sidecar(ranks.name))
    if read_sidecar(sidecar, files) is None:
        raise FormatError(
            f"{path}: there is no {sidecar.name} beside {ranks.name}, and the module is a program, which is not run here; load the rank "
            "file itself with pattern= and special_tokens= as the module has them"
        )
    spec = rank_file.FORMAT.read(ranks, given)
    return spec.replace(provenance={"format": FORMAT.name, "file": path.name})


def _rank_file(path: Path) -> Path:
    found = sorted(file for file in (path / _FOLDER).glob("*.tiktoken") if file.with_suffix(".py").is_file())
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise FormatError(
            f"{path}: a plugin of one encoding has one module and its rank file in {_FOLDER}, and here such rank files are: {names}; load "
            "one of them by its own name"
        )
    return found[0]


def _write(spec: TokenizerSpec, name: str, checks: Checks) -> dict[str, bytes]:
    # `__init__.py` would make one package of `tiktoken_ext`, which hides the encodings of all other folders.
    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name) or name in _NO_MODULE:
        raise FormatError(
            f"{name!r} cannot name an encoding: the folder's name becomes the name of a Python module; use letters, digits and "
            "underscores, not beginning with a digit, and no word that Python keeps for itself"
        )
    if name in _TAKEN:
        raise FormatError(
            f"{name!r} is a name that tiktoken has already, and with two of them it would load none at all; choose another"
        )
    if spec.dialect == "sentencepiece":
        raise ConversionRefused(
            "a plugin of tiktoken holds ranks only, and this is a SentencePiece model, which needs a table of ids beside them; "
            "save it with format='tiktoken'"
        )
    ranks_name = f"{name}.tiktoken"
    ranks, with_merges = rank_file.rank_file(spec, checks)
    module = _MODULE.format(
        name=name,
        pattern=ascii(rank_file.tiktoken_pattern(spec)),
        special_tokens=ascii(dict(spec.special_tokens)),
        ranks_name=ranks_name,
    )
    main = {ranks_name: ranks, f"{name}.py": module.encode()}
    files = main | {file_sidecar(ranks_name): write_sidecar(spec, main, with_merges=with_merges)}
    return {f"{_FOLDER}/{file}": content for file, content in files.items()}


FORMAT = Format(
    name="tiktoken-plugin",
    description="folder with a tiktoken_ext module and its rank file, for tiktoken.get_encoding",
    is_folder=True,
    self_contained=True,
    recognises=_recognises,
    in_folder=(f"{_FOLDER}/*.tiktoken",),
    read=_read,
    write=_write,
    as_run=lambda spec, files, name: rank_file.as_run(spec, files[f"{_FOLDER}/{name}.tiktoken"], name),
)
