"""The vocabulary of a file as it stands there, contradictions included: what the lints about ids, bytes and merges look at.

The readers of `conversion` refuse a file at its first contradiction. Here each is kept, so that all are found at once.
"""

from __future__ import annotations

import base64
import binascii
import mmap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import conversion
from conversion.gguf.llama_cpp import looks_up_pieces
from conversion.gguf.metadata import parse_metadata
from conversion.gpt2 import find_pair
from conversion.huggingface import TOKENIZER_FILE
from conversion.json_shapes import content_of, dicts_in, is_id, list_at, object_at, text_at
from conversion.json_text import parse_json
from conversion.merges import last_pair, recover_merges
from conversion.sentencepiece.piece_merges import merges_of
from hf_bpe.byte_level import bytes_to_token, token_to_bytes
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.files import read_bytes, read_text

__all__ = ["Pair", "RawVocabulary", "is_byte_level", "read_metadata", "read_vocabulary"]

Pair = tuple[str, str]
_SPECIAL_LOOK = ("<", "["), (">", "]")


@dataclass(frozen=True)
class RawVocabulary:
    """One vocabulary.

    file: its name. place: where the tokens stand, for messages.
    spelling: "bytes": the printable byte alphabet of GPT-2 (rank files are put into it); "pieces": text.
    entries: (token, id) in the order of the file. bad_ids: those whose id is none.
    merges: None where the ranks imply them. bad_merges: (place, what stands there) of what is no pair.
    whole_lookup: a piece of text that is a token gets its id without merging.
    apart: tokens that merging need not make: added tokens, control pieces, byte pieces.
    never_made: the tokens that merging cannot make, where the file tells by other means than merges.
    byte_fallback: characters that are no token become byte tokens.
    """

    file: str
    place: str
    spelling: Literal["bytes", "pieces"]
    entries: tuple[tuple[str, int], ...]
    bad_ids: tuple[tuple[str, object], ...] = ()
    merges: tuple[Pair, ...] | None = None
    bad_merges: tuple[tuple[int, object], ...] = ()
    merges_place: str = ""
    whole_lookup: bool = False
    apart: frozenset[str] = frozenset()
    never_made: tuple[str, ...] | None = None
    byte_fallback: bool = False

    @cached_property
    def tokens(self) -> dict[str, int]:
        """Token -> id; of a token that stands twice the last."""
        return dict(self.entries)

    @cached_property
    def unmade(self) -> list[str]:
        """The tokens that merging their own characters or bytes does not arrive at, which then no merging anywhere makes."""
        if self.never_made is not None:
            return list(self.never_made)
        by_rank = self._unmade_by_rank() if self.spelling == "bytes" else None
        if by_rank is not None:
            return by_rank
        candidates = [token for token in self.tokens if len(token) > 1 and token not in self.apart]
        rank_of = {pair: rank for rank, pair in enumerate(self.merges or ())}
        return [token for token in candidates if last_pair(token, lambda *pair: rank_of.get(pair)) not in rank_of]

    def _unmade_by_rank(self) -> list[str] | None:
        """The same where merging goes by the order of the ids, as in most files: a tenth of the time. None where it does not."""
        tokens = filter(None, self.tokens.keys() - self.apart)
        try:
            table = [token_to_bytes(token) for token in sorted(tokens, key=self.tokens.__getitem__)]
        except ValueError:
            return None  # a token that is no spelling of bytes
        implied, unreachable = recover_merges(table)
        if self.merges is not None and self.merges != tuple((bytes_to_token(a), bytes_to_token(b)) for a, b in implied):
            return None
        return [bytes_to_token(token) for token in unreachable]


def read_vocabulary(path: Path, format_name: str, document: Mapping[str, Any] | None = None) -> RawVocabulary | None:
    """The vocabulary of a file of that format; None where it has none that is BPE.

    document: what a tokenizer.json holds, if it was read already. Raises `FormatError` for a file in which nothing can be found.
    """
    reader = _READERS.get(format_name)
    if reader is not None:
        return reader(path)
    if format_name in ("huggingface", "tokenizer.json"):
        return _tokenizer_json(document if document is not None else _object(path))
    if format_name in ("gpt2", "vocab-merges"):
        return _pair(path, format_name)
    return None


def is_byte_level(document: Mapping[str, Any]) -> bool:
    """Whether a tokenizer.json spells tokens in the byte alphabet.

    >>> is_byte_level({"decoder": {"type": "ByteLevel"}}), is_byte_level({"decoder": {"type": "Fuse"}})
    (True, False)
    """
    parts = [document.get(key) for key in ("pre_tokenizer", "decoder")]
    inner = [step for part in parts for key in ("pretokenizers", "decoders") for step in dicts_in(object_at(part).get(key))]
    return any(object_at(part).get("type") == "ByteLevel" for part in (*parts, *inner))


def _object(path: Path) -> dict[str, Any]:
    data = parse_json(read_text(path), str(path), [])
    if not isinstance(data, dict):
        raise FormatError(f"{path}: must hold a JSON object, not a {type(data).__name__}; is it the right file?")
    return data


def _sorted_out(pairs: Iterable[tuple[str, object]]) -> dict[str, Any]:
    """The fields of a vocabulary: what has an id, and what has something else in its place."""
    listed = list(pairs)
    return {
        "entries": tuple(pair for pair in listed if is_id(pair[1])),
        "bad_ids": tuple(pair for pair in listed if not is_id(pair[1])),
    }


def _merges_of_list(raw: Iterable[object], place: str) -> dict[str, Any]:
    good, bad = [], []
    for number, entry in enumerate(raw):
        pair = entry.split(" ") if isinstance(entry, str) else entry
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) and part for part in pair):
            good.append((pair[0], pair[1]))
        else:
            bad.append((number, entry))
    return {"merges": tuple(good), "bad_merges": tuple(bad), "merges_place": place}


# ---------------------------------------------------------------------------------------------------------------------
# One function for each format


def _tokenizer_json(data: Mapping[str, Any]) -> RawVocabulary | None:
    model = object_at(data, "model")
    if model.get("type", "BPE") != "BPE" or not isinstance(model.get("vocab"), dict):
        return None
    added = {content for token in list_at(data, "added_tokens") if (content := content_of(token)) is not None}
    byte_fallback = model.get("byte_fallback") is True
    unknown = text_at(model, "unk_token")
    apart = added | ({unknown} if unknown else set()) | (_BYTE_PIECES if byte_fallback else set())
    # With an affix a merge is no concatenation, and merging does not start from single characters: nothing is said of merges.
    affixed = any(model.get(key) for key in ("continuing_subword_prefix", "end_of_word_suffix"))
    merges = {} if affixed else _merges_of_list(list_at(model, "merges"), f"{TOKENIZER_FILE}: $.model.merges")
    return RawVocabulary(
        file=TOKENIZER_FILE,
        place=f"{TOKENIZER_FILE}: $.model.vocab",
        spelling="bytes" if is_byte_level(data) else "pieces",
        **_sorted_out(model["vocab"].items()),
        **merges,
        never_made=() if affixed else None,
        whole_lookup=model.get("ignore_merges") is True,
        apart=frozenset(apart),
        byte_fallback=byte_fallback,
    )


_BYTE_PIECES = {f"<0x{byte:02X}>" for byte in range(256)}


def _pair(path: Path, format_name: str) -> RawVocabulary:
    pair = find_pair(path, format_name) or (path, path)
    vocab = _object(pair[0])
    first, *lines = read_text(pair[1]).replace("\r\n", "\n").split("\n")
    if not first.startswith("#version"):
        lines.insert(0, first)
    merges = _merges_of_list(lines[:-1] if lines and not lines[-1] else lines, pair[1].name)
    mentioned = {part for left, right in merges["merges"] for part in (left, right, left + right)}
    starts, ends = _SPECIAL_LOOK
    # These files do not say which tokens are special; what is in no merge and looks like one will be.
    special = {token for token in vocab if token not in mentioned and token.startswith(starts) and token.endswith(ends)}
    return RawVocabulary(
        file=pair[0].name,
        place=f"{pair[0].name}: $",
        spelling="bytes",
        **_sorted_out(vocab.items()),
        **merges,
        apart=frozenset(special),
    )


def _tiktoken(path: Path) -> RawVocabulary:
    entries = []
    for line in read_bytes(path).split(b"\n"):
        spelled, _, rank = line.strip().partition(b" ")
        try:
            entries.append((bytes_to_token(base64.b64decode(spelled, validate=True)), int(rank[:20])))
        except (binascii.Error, ValueError):
            continue  # the reader says what is wrong with it
    return RawVocabulary(path.name, path.name, "bytes", **_sorted_out(entries), whole_lookup=True)


def _tekken(path: Path) -> RawVocabulary:
    data = _object(path)
    config = object_at(data, "config")
    size, reserved = config.get("default_vocab_size"), config.get("default_num_special_tokens")
    if not (is_id(size) and is_id(reserved)):
        raise FormatError(f"{path}: $.config must state default_vocab_size and default_num_special_tokens; the file is damaged")
    entries: list[tuple[str, object]] = []
    for token in list(dicts_in(data.get("vocab")))[: max(size - reserved, 0)]:
        try:
            rank = token.get("rank")
            content = bytes_to_token(base64.b64decode(text_at(token, "token_bytes") or "", validate=True))
            entries.append((content, rank + reserved if type(rank) is int else rank))
        except ValueError:
            continue  # the reader says what is wrong with it
    return RawVocabulary(path.name, f"{path.name}: $.vocab", "bytes", **_sorted_out(entries), whole_lookup=True)


def read_metadata(path: Path) -> dict[str, Any]:
    """The metadata of a GGUF file, without reading the tensors. Raises `FormatError`, `ConversionRefused`."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return parse_metadata(content, str(path))


def _gguf(path: Path) -> RawVocabulary | None:
    metadata = read_metadata(path)
    if metadata.get("tokenizer.ggml.model") != "gpt2":
        return _sentencepiece(path) if metadata.get("tokenizer.ggml.model") == "llama" else None
    tokens = [token for token in list_at(metadata, "tokenizer.ggml.tokens") if isinstance(token, str)]
    kinds = list_at(metadata, "tokenizer.ggml.token_type")
    apart = {token for token, kind in zip(tokens, kinds, strict=False) if kind != 1}
    used = [(token, number) for number, token in enumerate(tokens) if number >= len(kinds) or kinds[number] != 5]
    return RawVocabulary(
        file=path.name,
        place=f"{path.name}: tokenizer.ggml.tokens",
        spelling="bytes",
        **_sorted_out(used),
        **_merges_of_list(list_at(metadata, "tokenizer.ggml.merges"), f"{path.name}: tokenizer.ggml.merges"),
        whole_lookup=looks_up_pieces(str(metadata.get("tokenizer.ggml.pre"))),
        apart=frozenset(apart),
    )


def _sentencepiece(path: Path) -> RawVocabulary | None:
    try:
        spec = conversion.load(path)
    except (FormatError, ConversionRefused):
        return None  # the lint `unreadable` or `refused` says so
    rules = spec.sentencepiece
    if rules is None:
        return None
    merges = merges_of(rules)
    return RawVocabulary(
        file=path.name,
        place=f"{path.name}: pieces",
        spelling="pieces",
        entries=tuple((piece.content, number) for number, piece in enumerate(rules.pieces)),
        merges=merges.pairs,
        merges_place=f"{path.name}: pieces",
        apart=frozenset(piece.content for piece in rules.pieces if piece.kind != "normal"),
        never_made=tuple(p.content for p in rules.pieces if p.kind == "normal" and p.content in merges.unreachable),
        byte_fallback=rules.byte_fallback,
    )


_READERS: dict[str, Callable[[Path], RawVocabulary | None]] = {
    "tiktoken": _tiktoken,
    "tekken": _tekken,
    "gguf": _gguf,
    "sentencepiece": _sentencepiece,
}
