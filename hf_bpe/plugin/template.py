"""`SequenceTemplate`: where the special tokens around one text or a pair of texts go (a tokenizer.json's post-processor)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

from hf_bpe.errors import ConversionRefused, FormatError

__all__ = ["PLAIN", "Piece", "Place", "SequenceTemplate", "Trim", "bos_eos_template", "read_template"]


T = TypeVar("T")
Place = tuple[int, int]
"""First and last + 1 character."""


@dataclass(frozen=True)
class Piece:
    """One part of a template: a whole sequence, or ids that are always the same."""

    sequence: Literal["A", "B"] | None
    ids: tuple[int, ...]
    type_id: int


@dataclass(frozen=True)
class Trim:
    """Leaves the spaces that tokens begin and end with out of their offsets.

    prefixes_space: but for a single one that the text may not have had: of a token that stands where the text begins, and of the
    first of a window. behind_token: of the first and the second text, whether a special token stood before that one by then.
    """

    prefixes_space: bool
    behind_token: tuple[bool, bool] = (False, False)


@dataclass(frozen=True)
class SequenceTemplate:
    """How one text (`single`) or two (`pair`) become model input.

    source: what a tokenizer.json says for it; None says that whatever the writer of the rest puts there will do.
    trims: what is done to offsets, one after the other.
    """

    single: tuple[Piece, ...]
    pair: tuple[Piece, ...]
    source: Mapping[str, Any] | None = field(default=None, compare=False)
    trims: tuple[Trim, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        # Without `bare`: `datasets` takes a tokenizer that was used for another one if its pickle changes.
        return SequenceTemplate, (self.single, self.pair, self.source, self.trims)

    @cached_property
    def bare(self) -> SequenceTemplate:
        """The same without special tokens."""
        single, pair = (tuple(piece for piece in pieces if piece.sequence) for pieces in (self.single, self.pair))
        trims = tuple(Trim(trim.prefixes_space) for trim in self.trims)
        return SequenceTemplate(single, pair, trims=trims)

    def pieces(self, is_pair: bool) -> tuple[Piece, ...]:
        """Those for one text, or for two."""
        return self.pair if is_pair else self.single

    def count_added(self, pair: bool) -> int:
        """How many special tokens come with a text, or a pair."""
        return self._added[pair]

    @cached_property
    def _added(self) -> tuple[int, int]:
        of_single, of_pair = (sum(len(piece.ids) for piece in pieces) for pieces in (self.single, self.pair))
        return of_single, of_pair

    def ids(self, first: list[int], second: list[int] | None) -> list[int]:
        """The ids of the whole.

        >>> bos_eos_template(("<s>", 1), None).ids([5, 6], None)
        [1, 5, 6]
        """
        return self._whole(first, second, lambda piece: piece.ids)

    def offsets(self, first: list[Place], second: list[Place] | None) -> list[Place]:
        """The offsets of the whole.

        >>> bos_eos_template(("<s>", 1), None).offsets([(0, 5)], None)
        [(0, 0), (0, 5)]
        """
        return self._whole(first, second, lambda piece: ((0, 0),) * len(piece.ids))

    def _whole(self, first: list[T], second: list[T] | None, around: Callable[[Piece], Iterable[T]]) -> list[T]:
        if second is None and len(self.single) == 1:  # no special tokens: nothing to put together
            return first
        whole: list[T] = []
        for piece in self.pieces(second is not None):
            whole += (first if piece.sequence == "A" else second or []) if piece.sequence else around(piece)
        return whole

    def type_ids(self, first: int, second: int | None) -> list[int]:
        """The token type of each id, for sequences of these lengths."""
        return [piece.type_id for piece, length in self._lengths(first, second) for _ in range(length)]

    def special_mask(self, first: int, second: int | None) -> list[int]:
        """1 for each id that the template adds, 0 for the others, for sequences of these lengths."""
        return [int(piece.sequence is None) for piece, length in self._lengths(first, second) for _ in range(length)]

    def _lengths(self, first: int, second: int | None) -> list[tuple[Piece, int]]:
        lengths = {"A": first, "B": second or 0}
        pieces = self.pieces(second is not None)
        return [(piece, lengths[piece.sequence] if piece.sequence else len(piece.ids)) for piece in pieces]


PLAIN = SequenceTemplate((Piece("A", (), 0),), (Piece("A", (), 0), Piece("B", (), 1)))
"""No special tokens."""


def bos_eos_template(bos: tuple[str, int] | None, eos: tuple[str, int] | None) -> SequenceTemplate:
    """A template with a token (text, id) before and one after each sequence, as stock classes make it.

    >>> bos_eos_template(("<s>", 1), ("</s>", 2)).ids([5], [6])
    [1, 5, 2, 1, 6, 2]
    """
    if bos is None and eos is None:
        return PLAIN

    def around(sequence: str, type_id: int) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = [{"Sequence": {"id": sequence, "type_id": type_id}}]
        before = [] if bos is None else [{"SpecialToken": {"id": bos[0], "type_id": type_id}}]
        after = [] if eos is None else [{"SpecialToken": {"id": eos[0], "type_id": type_id}}]
        return [*before, *parts, *after]

    tokens = {text: {"id": text, "ids": [i], "tokens": [text]} for text, i in filter(None, (bos, eos))}
    single, second = around("A", 0), around("B", 1)
    source = {"type": "TemplateProcessing", "single": single, "pair": [*single, *second], "special_tokens": tokens}
    return read_template(source, "bos and eos")


def read_template(data: Mapping[str, Any] | None, where: str) -> SequenceTemplate:
    """Read the `post_processor` of a tokenizer.json.

    Raises `ConversionRefused` for a kind that cannot be run, `FormatError` for one that is not well formed.
    """
    if data is None:
        return PLAIN
    if not isinstance(data, Mapping) or not isinstance(data.get("type"), str):
        raise FormatError(f"{where}: post_processor must be an object with a type, not {data!r:.80}")
    parts = _parts(data, where)
    templates = [part for part in parts if part["type"] != "ByteLevel"]  # that one changes offsets, not ids
    kinds = [part["type"] for part in templates]
    if len(kinds) > 1 or not _KINDS.keys() >= set(kinds):
        raise ConversionRefused(
            f"{where}: the post_processor is {' + '.join(kinds)}; only ByteLevel and one of {', '.join(_KINDS)} can be run exactly"
        )
    trims = _trims(parts)
    if not templates:
        return SequenceTemplate(PLAIN.single, PLAIN.pair, data, trims)
    try:
        single, pair = _KINDS[kinds[0]](templates[0])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise FormatError(f"{where}: the {kinds[0]} post_processor is not well formed: {error!r}") from None
    return SequenceTemplate(single, pair, data, trims)


def _trims(parts: Sequence[Mapping[str, Any]]) -> tuple[Trim, ...]:
    """Those of the post-processors that trim. BERT's and RoBERTa's join their tokens with the text, a template does not."""
    trims: list[Trim] = []
    behind_token = (False, False)
    for part in parts:
        if part["type"] in ("ByteLevel", "RobertaProcessing") and part.get("trim_offsets", True):
            trims.append(Trim(bool(part.get("add_prefix_space", True)), behind_token))
        behind_token = _JOINED_BEFORE.get(part["type"], behind_token)
    return tuple(trims)


def _parts(data: Mapping[str, Any], where: str) -> Sequence[Mapping[str, Any]]:
    if data["type"] != "Sequence":
        return [data]
    parts = data.get("processors")
    if not isinstance(parts, list) or not all(isinstance(part, Mapping) and "type" in part for part in parts):
        raise FormatError(f"{where}: a Sequence post_processor must list its processors")
    return parts


_Pieces: TypeAlias = tuple[Piece, ...]


def _as_stated(part: Mapping[str, Any]) -> tuple[_Pieces, _Pieces]:
    tokens = {name: tuple(entry["ids"]) for name, entry in part["special_tokens"].items()}
    single, pair = (tuple(_piece(piece, tokens) for piece in part[key]) for key in ("single", "pair"))
    return single, pair


def _as_bert(part: Mapping[str, Any]) -> tuple[_Pieces, _Pieces]:
    """Cls A sep, and cls A sep B sep: the second text and its sep are of type 1."""
    start, stop = _fixed(part["cls"], 0), _fixed(part["sep"], 0)
    single = (start, Piece("A", (), 0), stop)
    return single, (*single, Piece("B", (), 1), _fixed(part["sep"], 1))


def _as_roberta(part: Mapping[str, Any]) -> tuple[_Pieces, _Pieces]:
    """Cls A sep, and cls A sep sep B sep: all of type 0."""
    start, stop = _fixed(part["cls"], 0), _fixed(part["sep"], 0)
    single = (start, Piece("A", (), 0), stop)
    return single, (*single, stop, Piece("B", (), 0), stop)


_JOINED_BEFORE = {"BertProcessing": (True, False), "RobertaProcessing": (True, True)}
"""Whether a special token is put before the first and the second text."""
_KINDS = {"TemplateProcessing": _as_stated, "BertProcessing": _as_bert, "RobertaProcessing": _as_roberta}


def _fixed(token: Sequence[Any], type_id: int) -> Piece:
    content, token_id = token
    if not isinstance(content, str) or not isinstance(token_id, int):
        raise TypeError(f"{token!r} is not a token and its id")
    return Piece(None, (token_id,), type_id)


def _piece(part: Mapping[str, Any], tokens: Mapping[str, tuple[int, ...]]) -> Piece:
    if "SpecialToken" in part:
        special = part["SpecialToken"]
        return Piece(None, tokens[special["id"]], int(special["type_id"]))
    sequence = part["Sequence"]
    if sequence["id"] not in ("A", "B"):
        raise ValueError(f"sequence {sequence['id']!r} is neither 'A' nor 'B'")
    return Piece(sequence["id"], (), int(sequence["type_id"]))
