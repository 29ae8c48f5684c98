"""`view`: a text as its tokens, with everything that a reader of tokens wants to know of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

from hf_bpe.engine import Encoder
from hf_bpe.engine.arrays import Alignment
from hf_bpe.engine.encoder import SpecialTokens
from hf_bpe.engine.parts import as_unicode
from hf_bpe.spec import TokenizerSpec
from hf_bpe.spelling import spelling_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Entry", "Kind", "Token", "View", "Vocabulary", "as_encoder", "view", "view_of"]

Kind: TypeAlias = Literal["ordinary", "byte", "special", "added", "unknown"]
"""ordinary: made by merging, or a character or ASCII byte to merge from. byte: one byte of a character that is none by itself.
special, added: an added token that was found in the text, special or not; added is also a user-defined piece. unknown: stands for
what the vocabulary lacks."""

_AT_A_TIME = 4096


class Entry(NamedTuple):
    """What a vocabulary says of an id, wherever it stands.

    content: the bytes it stands for. spelled: how files write it: `Ġthe`, `▁the`, `<0xE4>`. text: the bytes as text; None if they
    are parts of characters, or nothing is known of them.
    """

    id: int
    content: bytes
    spelled: str
    text: str | None
    kind: Kind


class Token(NamedTuple):
    """One token of a text.

    number: its place among the tokens. content, spelled, text, kind: see `Entry`. piece: which piece of the text, counted from 0, it is part
    of: merging never crosses their borders. in_bytes, in_characters: start and end of what it stands for in the text; of a token that
    holds a part of a character, all of that character in the latter. shares: the numbers of the tokens that stand for parts of the same
    characters, this one included: more than one where a character is cut.
    """

    number: int
    id: int
    content: bytes
    spelled: str
    text: str | None
    kind: Kind
    piece: int
    in_bytes: tuple[int, int]
    in_characters: tuple[int, int]
    shares: range

    def to_dict(self) -> dict[str, Any]:
        """For JSON: bytes are numbers.

        >>> Token(0, 97, b"a", "a", "a", "ordinary", 0, (0, 1), (0, 1), range(1)).to_dict()["bytes"]
        [97]
        """
        return {
            "id": self.id,
            "token": self.spelled,
            "text": self.text,
            "bytes": list(self.content),
            "kind": self.kind,
            "piece": self.piece,
            "in_bytes": list(self.in_bytes),
            "in_characters": list(self.in_characters),
            "shares": [self.shares.start, self.shares.stop],
        }


class Vocabulary:
    """The entries of a tokenizer. Each is looked up when first asked for: few texts have all.

    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> Vocabulary(Encoder(spec)).entry(32)
    Entry(id=32, content=b' ', spelled='Ġ', text=' ', kind='ordinary')
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self._added = {token.id: token for token in encoder.spec.added_tokens}
        self._spell = spelling_of(encoder.spec).spell
        self._known: dict[tuple[int, bool], Entry] = {}

    def entry(self, token_id: int, added: bool | None = None) -> Entry:
        """What is known of an id. added: whether it was found in a text as an added token; None: it was if it can be.

        Raises `UnknownTokenError` for an id that is not in use.
        """
        is_added = token_id in self._added and added is not False
        entry = self._known.get((token_id, is_added))
        if entry is None:
            entry = self._known[token_id, is_added] = self._added_entry(token_id) if is_added else self._own_entry(token_id)
        return entry

    def _added_entry(self, token_id: int) -> Entry:
        token = self._added[token_id]
        kind: Kind = "special" if token.special else "added"
        return Entry(token_id, token.content.encode(), token.content, token.content, kind)

    def _own_entry(self, token_id: int) -> Entry:
        content, rules = self.encoder.decode_single_token_bytes(token_id), self.encoder.spec.sentencepiece
        if rules is None or token_id >= len(rules.pieces):  # beyond the pieces are added tokens alone
            kind: Kind = "byte" if len(content) == 1 and content > b"\x7f" else "ordinary"
            return Entry(token_id, content, self._spell(content), _as_text(content), kind)
        piece = rules.pieces[token_id]
        if piece.kind == "unknown":
            return Entry(token_id, content, piece.content, None, "unknown")
        kind = "byte" if piece.kind == "byte" else "added" if piece.kind == "user_defined" else "ordinary"
        return Entry(token_id, content, piece.content, _as_text(content), kind)


def _as_text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


@dataclass(frozen=True, eq=False)
class View(Sequence[Token]):
    """The tokens of a text. Each is made when it is asked for, so a view of megabytes costs little more than encoding.

    text: what was encoded; a lone surrogate has become U+FFFD. ids: shape (tokens,). in_bytes, in_characters: starts and ends, shape
    (tokens, 2). pieces, added: as `Alignment` has them, shape (tokens,).
    """

    vocabulary: Vocabulary
    text: str
    ids: NDArray[np.uint32]
    in_bytes: NDArray[np.int64]
    in_characters: NDArray[np.int64]
    pieces: NDArray[np.uint32]
    added: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, key: int) -> Token: ...
    @overload
    def __getitem__(self, key: slice) -> list[Token]: ...
    def __getitem__(self, key: int | slice) -> Token | list[Token]:
        if isinstance(key, slice):
            return list(self._tokens(key))
        number = range(len(self))[key]
        return next(self._tokens(slice(number, number + 1)))

    def __iter__(self) -> Iterator[Token]:
        starts = range(0, len(self), _AT_A_TIME)
        return chain.from_iterable(self._tokens(slice(start, start + _AT_A_TIME)) for start in starts)

    def _tokens(self, some: slice) -> Iterator[Token]:
        """Some of the tokens. Arrays give numbers five times as fast by the many as one by one."""
        bounds, of = self._groups
        numbers = range(len(self))[some]
        entries = map(self.vocabulary.entry, self.ids[some].tolist(), self.added[some].tolist())
        groups = map(range, bounds[of[some]].tolist(), bounds[of[some] + 1].tolist())
        in_bytes, in_characters = (map(tuple, spans[some].tolist()) for spans in (self.in_bytes, self.in_characters))
        columns = zip(numbers, entries, self.pieces[some].tolist(), in_bytes, in_characters, groups, strict=True)
        return (Token(number, *entry, *places) for number, entry, *places in columns)

    @cached_property
    def _groups(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the groups of tokens that share a character begin, with the end of the last; and the group of each token."""
        import numpy as np

        if not len(self):
            return np.zeros(1, np.int64), np.zeros(0, np.int64)
        starts, stops = self.in_characters[:, 0], self.in_characters[:, 1]
        begins = np.concatenate([[True], starts[1:] >= np.maximum.accumulate(stops)[:-1]])
        return np.append(np.flatnonzero(begins), len(self)), np.cumsum(begins) - 1

    def source(self, token: Token) -> str:
        """The part of the text that a token stands for: whole characters."""
        return self.text[slice(*token.in_characters)]


def as_encoder(tokenizer: TokenizerSpec | Encoder) -> Encoder:
    """The encoder itself, or one made of a description, which takes a moment."""
    return tokenizer if isinstance(tokenizer, Encoder) else Encoder(tokenizer)


def view(
    tokenizer: TokenizerSpec | Encoder | Vocabulary,
    text: str,
    *,
    allowed_special: SpecialTokens = "all",
    disallowed_special: SpecialTokens = (),
) -> View:
    """A text as its tokens. Pass a `Vocabulary` to look at several texts: it keeps what it has looked up.

    allowed_special, disallowed_special: as in `Encoder.encode`; by default every special token in the text is one, and `allowed_special=()`
    shows them as the text they are. Lone surrogates, which no UTF-8 text holds, are read as U+FFFD, as everywhere here.

    >>> from hf_bpe import train
    >>> spec = train(["hello hello"], 260, pattern=r" ?\\w+", progress=False)
    >>> [(token.spelled, token.in_characters) for token in view(spec, "hello é")]
    [('hello', (0, 5)), ('Ġ', (5, 6)), ('Ã', (6, 7)), ('©', (6, 7))]
    >>> view(spec, "hello é")[2].shares
    range(2, 4)
    """
    vocabulary = tokenizer if isinstance(tokenizer, Vocabulary) else Vocabulary(as_encoder(tokenizer))
    encoder = vocabulary.encoder
    special: dict[str, Any] = {"allowed_special": allowed_special, "disallowed_special": disallowed_special}
    _, in_bytes = encoder.encode_with_offsets(text, unit="bytes", **special)
    return view_of(vocabulary, text, encoder.align_batch([text], **special), in_bytes)


def view_of(vocabulary: Vocabulary, text: str, found: Alignment, in_bytes: NDArray[np.int64]) -> View:
    """A view of a text that was encoded already. found: of this one text."""
    import numpy as np

    in_characters = np.stack([found.starts, found.stops], 1)
    return View(vocabulary, as_unicode(text), found.ids, in_bytes, in_characters, found.pieces, found.added)
