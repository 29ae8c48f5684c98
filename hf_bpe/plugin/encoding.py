"""`Encoding`: what is known of one row besides its columns, as `tokenizers.Encoding` has it, found out when first asked for."""

from __future__ import annotations

from typing import Any

from hf_bpe.plugin.alignment import Aligned, Recipe
from hf_bpe.plugin.inputs import Numbers, Row
from hf_bpe.plugin.placement import PlacedTexts

__all__ = ["Encoding"]


class Encoding:
    """One row of a result, aligned with its text. `BatchEncoding` asks it for `char_to_token`, `word_ids` and so on.

    Making one costs next to nothing: a row is encoded again, with places, when the first of its attributes is asked for.
    Positions count characters; words are the pieces of the text that merging never crosses, or the words that the caller passed.

    >>> tokenizer("Hello world").encodings[0].offsets  # doctest: +SKIP
    [(0, 5), (5, 11)]
    """

    __slots__ = ("_aligned", "_overflowing", "_placed", "_recipe", "_row", "_tokens")

    def __init__(
        self,
        recipe: Recipe,
        row: Row | None,
        aligned: Aligned | None = None,
        placed: tuple[PlacedTexts, Numbers] | None = None,
    ) -> None:
        self._recipe: Recipe | None = recipe
        self._row = row  # None: a window that was cut off, of which no windows are cut off in turn
        self._aligned = aligned
        self._placed = placed  # what the row was encoded with, if its places were found then
        self._tokens: list[str | None] | None = None
        self._overflowing: list[Encoding] | None = None

    def __getstate__(self) -> tuple[Any, ...]:
        """The result, without the vocabulary and the text."""
        return self._all, self.tokens, self.overflowing

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._aligned, self._tokens, self._overflowing = state
        self._recipe = self._row = self._placed = None

    def __repr__(self) -> str:
        return f"Encoding(num_tokens={len(self)}, n_sequences={self.n_sequences})"

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def _all(self) -> Aligned:
        if self._aligned is None:
            self._aligned = self._align(windows=False)[0]
        return self._aligned

    def _align(self, *, windows: bool) -> list[Aligned]:
        recipe, row = self._recipe, self._row
        if recipe is None or row is None:
            return []
        return (
            recipe.align([row], windows=windows)[0]
            if self._placed is None
            else recipe.align_placed(row, *self._placed, windows=windows)
        )

    # -- columns ------------------------------------------------------------------------------------------------------

    @property
    def ids(self) -> list[int]:
        """The ids."""
        return self._all["input_ids"]

    @property
    def type_ids(self) -> list[int]:
        """The token type of each id."""
        return self._all["token_type_ids"]

    @property
    def tokens(self) -> list[str | None]:
        """The token of each id, as in `get_vocab`."""
        if self._tokens is None:
            known = self._recipe.vocabulary.known_tokens  # type: ignore[union-attr]
            self._tokens = [known[token_id] for token_id in self.ids]
        return self._tokens

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """First and last + 1 character of each id; (0, 0) for padding and for tokens that the template added."""
        return self._all["offset_mapping"]

    @property
    def word_ids(self) -> list[int | None]:
        """The number of the word of each id; None for padding and for tokens that the template added."""
        return self._all["words"]

    @property
    def words(self) -> list[int | None]:
        """The same as `word_ids`."""
        return self.word_ids

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for everything else."""
        return self._all["attention_mask"]

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for padding and for tokens that the template added."""
        return self._all["special_tokens_mask"]

    @property
    def n_sequences(self) -> int:
        """How many texts there are: 1 or 2."""
        return len(self._all.ranges)

    @property
    def sequence_ids(self) -> list[int | None]:
        """Which text each id comes from, 0 or 1; None for padding and for tokens that the template added."""
        numbers: list[int | None] = [None] * len(self)
        for number, ids in self._all.ranges.items():
            numbers[ids.start : ids.stop] = [number] * len(ids)
        return numbers

    @property
    def overflowing(self) -> list[Encoding]:
        """The windows that the rest falls into where the row was cut."""
        if self._overflowing is None:
            recipe, row = self._recipe, self._row
            if recipe is None or row is None or recipe.cuts is None:
                self._overflowing = []
            else:
                self._overflowing = [Encoding(recipe, None, window) for window in self._align(windows=True)[1:]]
        return self._overflowing

    # -- between characters, words and tokens -------------------------------------------------------------------------

    def _range(self, sequence_index: int) -> range:
        """The ids of a text; those of the whole row for a text that is not there, as in the stock class."""
        return self._all.ranges.get(sequence_index, range(len(self)))

    def token_to_sequence(self, token_index: int) -> int | None:
        """Which text a token comes from."""
        return next((number for number, ids in self._all.ranges.items() if token_index in ids), None)

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """First and last + 1 character of a token."""
        return None if self.token_to_sequence(token_index) is None else self.offsets[token_index]

    def token_to_word(self, token_index: int) -> int | None:
        """The word of a token."""
        return None if self.token_to_sequence(token_index) is None else self.word_ids[token_index]

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """First and last + 1 token of a word."""
        words = self.word_ids
        found = [token for token in self._range(sequence_index) if words[token] == word_index]
        return (found[0], found[-1] + 1) if found else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """First and last + 1 character of a word."""
        found = self.word_to_tokens(word_index, sequence_index)
        return None if found is None else (self.offsets[found[0]][0], self.offsets[found[1] - 1][1])

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The first token that a character is part of."""
        offsets = self.offsets
        return next((token for token in self._range(sequence_index) if offsets[token][0] <= char_pos < offsets[token][1]), None)

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The word that a character is part of."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)
