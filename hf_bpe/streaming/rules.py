"""What a stream has to know of a tokenizer to make text of its ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any, Literal, Protocol, TypeAlias
from weakref import WeakKeyDictionary

from hf_bpe.charsmap import Charsmap
from hf_bpe.engine import Encoder
from hf_bpe.engine.pieces_reference import surface_of
from hf_bpe.errors import UnknownTokenError
from hf_bpe.pieces import SentencePieceRules

__all__ = ["DecodingRules", "DecodingSource", "decoding_rules", "its_encoder", "table_look_up"]

Leading: TypeAlias = Literal["stay", "one piece's", "all pieces'", "one character"]


@dataclass(frozen=True)
class DecodingRules:
    """How ids become text.

    bytes_of: the bytes behind ids, joined. Raises `UnknownTokenError`.
    special_ids: what `skip_special_tokens` leaves out.
    is_sentencepiece: each byte that is no part of a character is one U+FFFD; and what follows matters.
    breaks: ids that keep the bytes before them from making a character with those behind.
    leading: which spaces go where the text begins: those that pieces in `spaced` begin with, one or all; or one, whatever it
        comes from.
    denormaliser: replaces parts of the text in the end.
    texts: of each way to decode, the text of ids that streams have met where nothing was pending; shared by all of them.
    """

    bytes_of: Callable[[Sequence[int]], bytes]
    special_ids: frozenset[int]
    is_sentencepiece: bool = False
    breaks: frozenset[int] = frozenset()
    leading: Leading = "stay"
    spaced: frozenset[int] = frozenset()
    denormaliser: Charsmap | None = None
    texts: dict[tuple[bool, str], dict[int, str]] = field(default_factory=dict, compare=False)


class DecodingSource(Protocol):
    """A tokenizer that says itself how it decodes, as `HfBpeTokenizer` does."""

    def decoding_rules(self) -> DecodingRules:
        """How ids become text."""


_KNOWN: WeakKeyDictionary[Encoder, DecodingRules] = WeakKeyDictionary()


def decoding_rules(source: Encoder | DecodingSource) -> DecodingRules:
    """The rules of a tokenizer. Those of an encoder are made once: a table of 32,000 pieces takes 50 ms.

    >>> from hf_bpe import TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> decoding_rules(Encoder(spec)).bytes_of([104, 105])
    b'hi'
    """
    if not isinstance(source, Encoder):
        made: Any = getattr(source, "decoding_rules", None)
        if made is None:
            raise TypeError(
                f"a stream decodes with an Encoder or a HfBpeTokenizer, not with a {type(source).__name__}{its_encoder(source)}"
            )
        rules: DecodingRules = made()
        return rules
    known = _KNOWN.get(source)
    if known is None:
        known = _KNOWN[source] = _rules_of(source)
    return known


def its_encoder(source: object) -> str:
    """What to add to an error about what is no encoder but has one, as an `Encoding` of `hf_bpe.tiktoken` does.

    >>> its_encoder("gpt2")
    ''
    """
    return "; pass its .encoder" if isinstance(getattr(source, "encoder", None), Encoder) else ""


def _rules_of(encoder: Encoder) -> DecodingRules:
    special_ids = frozenset(encoder.spec.special_tokens.values())
    rules = encoder.spec.sentencepiece
    if rules is None:
        return DecodingRules(encoder.decode_bytes, special_ids)
    surfaces = [surface_of(piece, rules) for piece in rules.pieces]
    table = {token.id: token.content.encode() for token in encoder.spec.added_tokens}
    table.update((number, surface.content) for number, surface in enumerate(surfaces))
    return DecodingRules(
        table_look_up(table),
        special_ids,
        is_sentencepiece=True,
        breaks=frozenset(number for number, surface in enumerate(surfaces) if not surface.content),
        leading=_leading(rules),
        spaced=frozenset(number for number, surface in enumerate(surfaces) if surface.has_space),
        denormaliser=Charsmap(rules.denormalizer_charsmap) if rules.denormalizer_charsmap else None,
    )


def _leading(rules: SentencePieceRules) -> Leading:
    if rules.remove_extra_whitespaces:
        return "all pieces'"
    return "stay" if rules.prepend_scheme == "never" else "one piece's"


def table_look_up(table: Mapping[int, bytes]) -> Callable[[Iterable[int]], bytes]:
    """What joins the bytes of ids.

    >>> table_look_up({0: b"a", 1: b"b"})([1, 0])
    b'ba'
    """

    def bytes_of(ids: Iterable[int]) -> bytes:
        try:
            return b"".join([table[token_id] for token_id in map(index, ids)])
        except KeyError as error:
            raise UnknownTokenError(f"id {error} is not in the vocabulary") from None

    return bytes_of
