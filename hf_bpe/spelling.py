"""How the tokens of each dialect are written in files and in lists of tokens, and how they become text again."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from functools import lru_cache
from typing import Protocol

from conversion import printable
from hf_bpe.byte_level import bytes_to_token, token_to_bytes
from hf_bpe.charsmap import Charsmap
from hf_bpe.engine import Encoder
from hf_bpe.pieces import SPACE_SYMBOL, SentencePieceRules, byte_of_piece
from hf_bpe.spec import TokenizerSpec
from hf_bpe.streaming.rules import DecodingRules, Leading, decoding_rules, table_look_up
from hf_bpe.utf8 import ONE_FOR_EACH_BYTE

__all__ = ["Spelling", "spelled_vocabulary", "spelling_of"]


class Spelling(Protocol):
    """What differs between the dialects for those who serve tokens as text."""

    @property
    def matches_normalized(self) -> bool:
        """Whether added tokens may have the flag `normalized`, which has them looked for in the normalised text."""

    def spell(self, token: bytes) -> str:
        """A token of the vocabulary as it is written."""

    def spell_all(self, tokens: Iterable[bytes]) -> list[str]:
        """The same for many."""

    def read(self, text: str) -> bytes | None:
        """The token that is written so; None if none can be."""

    def join(self, tokens: Iterable[str], added: Container[str]) -> str:
        """The text behind written tokens. added: which of them stand for themselves."""

    def decoder(self, encoder: Encoder) -> Callable[[Sequence[int]], str]:
        """What makes text of ids. It raises `UnknownTokenError` or `OverflowError` for one that is not in use."""

    def decoding_rules(self, encoder: Encoder) -> DecodingRules:
        """The same for ids that come bit by bit."""

    def misread(self, added: str) -> bool:
        """Whether other readers of tokenizer.json decode an added token to other text than its own."""


def spelling_of(spec: TokenizerSpec) -> Spelling:
    """The spelling of a spec's dialect."""
    return ByteLevelSpelling() if spec.sentencepiece is None else PieceSpelling(spec.sentencepiece)


def spelled_vocabulary(spec: TokenizerSpec) -> dict[int, str]:
    """Id -> token as tokenizer files show it: `Ġthe` of bytes, `▁the` of SentencePiece pieces, an added token as it is.

    >>> spelled_vocabulary(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()))[32]
    'Ġ'
    """
    spelled = spelling_of(spec).spell_all(spec.vocab)
    return dict(zip(spec.vocab.values(), spelled, strict=True)) | {token.id: token.content for token in spec.added_tokens}


@lru_cache(1 << 18)  # callers ask for the same tokens again and again: 5 times as fast
def _bytes_behind(token: str, is_added: bool) -> bytes:
    """Those that a token is a spelling of, or its own."""
    try:
        return token.encode("utf-8", "replace") if is_added else token_to_bytes(token)
    except ValueError:
        return token.encode("utf-8", "replace")


class ByteLevelSpelling:
    """Every byte is a printable character; a space is `Ġ`."""

    matches_normalized = True

    def spell(self, token: bytes) -> str:
        """A token of the vocabulary as it is written."""
        return bytes_to_token(token)

    def spell_all(self, tokens: Iterable[bytes]) -> list[str]:
        """The same for many, in a tenth of the time."""
        return printable.spell(tokens)

    def read(self, text: str) -> bytes | None:
        """The token that is written so; None where a character spells no byte."""
        try:
            return token_to_bytes(text)
        except ValueError:
            return None

    def join(self, tokens: Iterable[str], added: Container[str]) -> str:
        """The text behind written tokens; what is no spelling stands for itself."""
        return b"".join([_bytes_behind(token, token in added) for token in tokens]).decode("utf-8", "replace")

    def decoder(self, encoder: Encoder) -> Callable[[Sequence[int]], str]:
        """What makes text of ids."""
        return encoder.decode

    def decoding_rules(self, encoder: Encoder) -> DecodingRules:
        """The same for ids that come bit by bit."""
        return decoding_rules(encoder)

    def misread(self, added: str) -> bool:
        """Whether it is also a spelling of other bytes."""
        return self.read(added) not in (None, added.encode())


class PieceSpelling:
    """Pieces are written as they are; a space is `▁`, and `<0x41>` is a byte.

    Text is made as the stock fast class makes it: special tokens are shown, and of the whole text the one space that encoding
    put before it is dropped. `Encoder.decode` gives what SentencePiece does: nothing for control pieces. Bytes that are not
    UTF-8 are read as in SentencePiece, one U+FFFD for each; stock classes turn a whole run of byte pieces into U+FFFD.
    """

    matches_normalized = False  # stock classes would look for the token behind a dummy prefix of its own

    def __init__(self, rules: SentencePieceRules) -> None:
        self._rules = rules
        # What is dropped at the start, even where encoding puts it behind the text, is U+2581 in the piece, as in SentencePiece. Where
        # a plain space is another character than that, only the piece says which of them its space is.
        scheme: Leading = "one character" if rules.escape_whitespaces else "one piece's"
        self._leading: Leading = scheme if rules.prepend_scheme != "never" else "stay"
        self._denormaliser = Charsmap(rules.denormalizer_charsmap) if rules.denormalizer_charsmap else None

    def spell(self, token: bytes) -> str:
        """A piece as it is written."""
        return token.decode()

    def spell_all(self, tokens: Iterable[bytes]) -> list[str]:
        """The same for many."""
        return list(map(self.spell, tokens))

    def read(self, text: str) -> bytes | None:
        """The piece that is written so; None for a lone surrogate."""
        try:
            return text.encode()
        except UnicodeEncodeError:
            return None

    def join(self, tokens: Iterable[str], added: Container[str]) -> str:
        """The text behind pieces; what is no piece stands for itself."""
        listed = list(tokens)
        first = next(filter(None, listed), "")
        content = b"".join([self._bytes_behind(token, token in added) for token in listed])
        return self._text(content, self._leading == "one character" or self._loses_space(first, first in added))

    def decoder(self, encoder: Encoder) -> Callable[[Sequence[int]], str]:
        """What makes text of ids."""
        bytes_of, spaced = self._look_up(encoder), self._spaced(encoder)

        def decode(ids: Sequence[int]) -> str:
            content = bytes_of(ids)  # which names an unknown id
            return self._text(content, next((i for i in ids if bytes_of([i])), None) in spaced)

        return decode if spaced else lambda ids: self._text(bytes_of(ids), self._leading == "one character")

    def decoding_rules(self, encoder: Encoder) -> DecodingRules:
        """The same for ids that come bit by bit."""
        return DecodingRules(
            self._look_up(encoder),
            decoding_rules(encoder).special_ids,
            is_sentencepiece=True,
            leading=self._leading,
            spaced=self._spaced(encoder),
            denormaliser=self._denormaliser,
        )

    def _spaced(self, encoder: Encoder) -> frozenset[int]:
        """The pieces from the start of which a space is dropped, where not every space is."""
        added = {token.id for token in encoder.spec.added_tokens}
        return frozenset(n for n, piece in enumerate(self._rules.pieces) if self._loses_space(piece.content, n in added))

    def _loses_space(self, token: str, is_added: bool) -> bool:
        return self._leading == "one piece's" and not is_added and token.startswith(SPACE_SYMBOL)

    def _look_up(self, encoder: Encoder) -> Callable[[Iterable[int]], bytes]:
        behind = {number: self._bytes_behind(piece.content, False) for number, piece in enumerate(self._rules.pieces)}
        behind |= {token.id: self._bytes_behind(token.content, True) for token in encoder.spec.added_tokens}
        return table_look_up(behind)

    def misread(self, added: str) -> bool:
        """Whether it holds what stands for a space."""
        return SPACE_SYMBOL in added

    def _bytes_behind(self, token: str, is_added: bool) -> bytes:
        byte = byte_of_piece(token) if self._rules.byte_fallback and not is_added else None
        if byte is not None:
            return bytes([byte])
        return (token if is_added else token.replace(SPACE_SYMBOL, " ")).encode("utf-8", "replace")

    def _text(self, content: bytes, drops_space: bool) -> str:
        # Pieces are whole characters, so bytes of one that is cut off never find their rest in the next piece.
        text = content.decode("utf-8", ONE_FOR_EACH_BYTE)
        if drops_space:
            text = text.removeprefix(" ")
        if self._denormaliser is None:
            return text
        from hf_bpe.engine.pieces_reference import replacements  # few models have such a map

        bits = replacements(text.encode(), self._denormaliser, lambda text, start: 0)
        return b"".join(bit for _, bit in bits).decode("utf-8", "replace")  # which may put parts of characters
