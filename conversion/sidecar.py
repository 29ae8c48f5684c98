"""The file beside a file: what the format itself cannot say.

Rank files say nothing of how text is split or which tokens are special; GPT-2's pair of files says hardly more. A sidecar
carries it, for every format alike: `x.tiktoken` has `x.tiktoken.hf_bpe.json`, a folder of GPT-2 files has `hf_bpe.json`.

    {
      "format": "hf_bpe sidecar",
      "version": 1,
      "files": {"x.tiktoken": "<sha256 of that file>"},      one entry for each file it belongs to
      "pattern": "...",                                      `regex` syntax, or null: the whole text is one piece
      "unmatched": "keep",                                   or "drop"
      "stages": ["..."],                                     patterns that split the pieces further; only where there are some
      "ignore_merges": false,
      "normalizer": {"type": "NFC"},                         as in tokenizer.json; only where there is one
      "add_prefix_space": true,                              only where it is so
      "added_tokens": [{"content": "<s>", "id": 1, "special": true, "single_word": false, "lstrip": false,
                        "rstrip": false, "normalized": false}],
      "in_vocab": [],                                        ids of added tokens that splitting and merging give as well
      "merges": [[97, 98]]                                   pairs of ids; only where the file does not imply them
    }

A sidecar whose hashes do not match is refused: it describes another tokenizer.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from conversion.equality import first_difference, usable_vocab
from conversion.json_text import check_id, field, read_json
from conversion.normalizers import read_normalizer, write_normalizer
from conversion.verdict import Checks
from hf_bpe.errors import FormatError, PatternError, SpecError
from hf_bpe.normalizers import NormalizerStep
from hf_bpe.patterns import check_pattern
from hf_bpe.spec import MAX_TOKEN_ID, AddedToken, TokenizerSpec

__all__ = [
    "FOLDER_SIDECAR",
    "Sidecar",
    "as_sidecar_says",
    "file_sidecar",
    "parse_added_token",
    "read_sidecar",
    "with_sidecar_where_needed",
    "write_sidecar",
]

FOLDER_SIDECAR = "hf_bpe.json"
_FORMAT, _VERSION = "hf_bpe sidecar", 1
_FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")
_FIELDS = ("content", "id", *_FLAGS)
_TYPES = [str, int, *(bool for _ in _FLAGS)]


def file_sidecar(main_file: str) -> str:
    """The name of the sidecar of a single file.

    >>> file_sidecar("x.tiktoken")
    'x.tiktoken.hf_bpe.json'
    """
    return f"{main_file}.{FOLDER_SIDECAR}"


@dataclass(frozen=True)
class Sidecar:
    """What a sidecar says. `merges`: pairs of ids, or None where the main file implies them."""

    pattern: str | None
    unmatched: Literal["keep", "drop"]
    ignore_merges: bool
    added_tokens: tuple[AddedToken, ...]
    in_vocab: frozenset[int]
    merges: tuple[tuple[int, int], ...] | None
    stages: tuple[str, ...] = ()
    normalizer: tuple[NormalizerStep, ...] = ()
    add_prefix_space: bool = False

    @property
    def split(self) -> dict[str, Any]:
        """How text is split, as fields of a spec."""
        return {"pattern": self.pattern, "unmatched": self.unmatched, "stages": self.stages}

    @property
    def normalisation(self) -> dict[str, Any]:
        """What is done to text before it is split, as fields of a spec."""
        return {"normalizer": self.normalizer, "add_prefix_space": self.add_prefix_space}

    def only_added(self, tokens: Collection[bytes]) -> set[bytes]:
        """Those of the added tokens (given as bytes) that are in no vocabulary."""
        return set(tokens) - {token.content.encode() for token in self.added_tokens if token.id in self.in_vocab}

    def merged_tokens(self, vocab: Mapping[bytes, int], where: str) -> tuple[tuple[bytes, bytes], ...] | None:
        """The merges as pairs of tokens."""
        if self.merges is None:
            return None
        token_of = {token_id: token for token, token_id in vocab.items()}
        try:
            return tuple((token_of[left], token_of[right]) for left, right in self.merges)
        except KeyError as error:
            raise FormatError(f"{where}: its sidecar merges id {error.args[0]}, which the vocabulary does not hold") from None


def write_sidecar(spec: TokenizerSpec, main_files: Mapping[str, bytes], *, with_merges: bool) -> bytes:
    """The sidecar of files (name -> content) that were written from a spec."""
    vocab = usable_vocab(spec)
    data: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "files": {name: _sha256(content) for name, content in main_files.items()},
        "pattern": spec.pattern,
        "unmatched": spec.unmatched,
        **({"stages": list(spec.stages)} if spec.stages else {}),
        "ignore_merges": spec.ignore_merges,
        **({"normalizer": write_normalizer(spec.normalizer)} if spec.normalizer else {}),
        **({"add_prefix_space": True} if spec.add_prefix_space else {}),
        "added_tokens": [asdict(token) for token in spec.added_tokens],
        "in_vocab": [token.id for token in spec.added_tokens if token.content.encode() in vocab],
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in data.items()]
    if with_merges:
        lines.append(f'  "merges": {json.dumps([[spec.vocab[left], spec.vocab[right]] for left, right in spec.merges])}')
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def with_sidecar_where_needed(
    spec: TokenizerSpec, name: str, content: bytes, found: TokenizerSpec | None, checks: Checks
) -> dict[str, bytes]:
    """A file, and its sidecar if the file alone reads back as another tokenizer (`found`), or not at all (None)."""
    main = {name: content}
    if found is not None and first_difference(spec, found) is None:
        checks.read_back = True
        return main
    other_merges = found is None or found.merges != spec.merges
    return main | {file_sidecar(name): write_sidecar(spec, main, with_merges=other_merges)}


def as_sidecar_says(spec: TokenizerSpec, sidecar: Sidecar | None, where: str) -> TokenizerSpec:
    """What a file says, corrected by its sidecar."""
    if sidecar is None:
        return spec
    merges = sidecar.merged_tokens(spec.vocab, where)
    try:
        return spec.replace(
            merges=spec.merges if merges is None else merges,
            ignore_merges=sidecar.ignore_merges,
            **sidecar.split,
            **sidecar.normalisation,
            added_tokens=sidecar.added_tokens,
        )
    except SpecError as error:
        raise FormatError(f"{where}: its sidecar does not fit it: {'; '.join(error.defects)}") from None


def read_sidecar(path: Path, main_files: Mapping[str, bytes]) -> Sidecar | None:
    """The sidecar at a path, or None if there is no such file. Raises `FormatError` if it belongs to other files."""
    if not path.exists():
        return None
    where = f"{path}: $"
    data = read_json(path)
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise FormatError(
            f'{path}: not a sidecar of this package ("format" is not {_FORMAT!r}); move it away, or load with format='
        )
    if type(data.get("version")) is not int or data["version"] != _VERSION:
        raise FormatError(f"{path}: sidecar version {data.get('version')!r} is not {_VERSION}; update hf-bpe to read it")
    _check_hashes(path, field(data, "files", dict, where), main_files)
    return _parse(data, where)


def _check_hashes(path: Path, stated: dict[str, Any], main_files: Mapping[str, bytes]) -> None:
    for name, content in main_files.items():
        found = _sha256(content)
        if name not in stated and found in stated.values():
            continue  # both were renamed
        if stated.get(name) != found:
            written_for = (
                f"another {name} (sha256 {str(stated[name])[:12]}"
                if name in stated
                else f"{', '.join(stated) or 'no file'} (not {name}"
            )
            raise FormatError(
                f"{path}: stale: it was written for {written_for}; the file has {found[:12]}). Save both together again, or move the sidecar away and pass pattern= and special_tokens="
            )


def _parse(data: dict[str, Any], where: str) -> Sidecar:
    pattern = (
        None if data.get("pattern", 0) is None else _checked_pattern(field(data, "pattern", str, where), f"{where}.pattern")
    )
    unmatched = field(data, "unmatched", str, where)
    if unmatched not in ("keep", "drop"):
        raise FormatError(f"{where}.unmatched must be 'keep' or 'drop', not {unmatched!r}")
    tokens = field(data, "added_tokens", list, where)
    merges = field(data, "merges", list, where) if "merges" in data else None
    stages = field(data, "stages", list, where) if "stages" in data else []
    return Sidecar(
        pattern=pattern,
        unmatched=unmatched,  # type: ignore[arg-type]
        stages=tuple(_stage(stage, f"{where}.stages[{n}]") for n, stage in enumerate(stages)),
        ignore_merges=field(data, "ignore_merges", bool, where),
        added_tokens=tuple(parse_added_token(token, f"{where}.added_tokens[{n}]") for n, token in enumerate(tokens)),
        in_vocab=frozenset(check_id(i, f"{where}.in_vocab[{n}]") for n, i in enumerate(field(data, "in_vocab", list, where))),
        normalizer=read_normalizer(data.get("normalizer"), f"{where}.normalizer"),
        add_prefix_space=field(data, "add_prefix_space", bool, where) if "add_prefix_space" in data else False,
        merges=None if merges is None else tuple(_id_pair(pair, f"{where}.merges[{n}]") for n, pair in enumerate(merges)),
    )


def _checked_pattern(pattern: str, where: str) -> str:
    try:
        check_pattern(pattern)
    except PatternError as error:
        raise FormatError(f"{where}: {error}") from None
    return pattern


def _stage(data: object, where: str) -> str:
    if not isinstance(data, str):
        raise FormatError(f"{where} must be a pattern, not {data!r:.60}")
    return _checked_pattern(data, where)


def parse_added_token(data: object, where: str) -> AddedToken:
    """An added token as JSON spells it, here and in tokenizer.json. All flags must be there."""
    # Thousands are read one by one, so what is right is found in one go, in a fifth of the time.
    values: list[Any] = [data.get(name) for name in _FIELDS] if type(data) is dict else []
    if list(map(type, values)) == _TYPES and values[0] and 0 <= values[1] <= MAX_TOKEN_ID:
        return AddedToken(*values)
    if not isinstance(data, dict):
        raise FormatError(f"{where} must be an object, not {data!r}")
    content = field(data, "content", str, where)
    if not content:
        raise FormatError(f"{where}.content is empty, which would match everywhere; remove this added token")
    flags = {flag: field(data, flag, bool, where) for flag in _FLAGS}
    return AddedToken(content=content, id=check_id(field(data, "id", int, where), f"{where}.id"), **flags)


def _id_pair(data: object, where: str) -> tuple[int, int]:
    if not isinstance(data, list) or len(data) != 2:
        raise FormatError(f"{where} must be a pair of ids, not {data!r}")
    return check_id(data[0], where), check_id(data[1], where)


def _sha256(content: bytes) -> str:
    import hashlib  # brings in OpenSSL, which reading a file without a sidecar does not need

    return hashlib.sha256(content).hexdigest()
