"""How a byte-level vocabulary is trained: every setting by name, and what follows from them."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal

from hf_bpe.errors import TrainingError
from hf_bpe.normalizers import NormalizerStep
from hf_bpe.pattern_syntax.digits import DigitGroups, digit_groups, with_digit_groups
from hf_bpe.patterns import find_named_pattern, resolve_pattern
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.forced_merges import forced_merges
from hf_bpe.training.ties import TieBreak

__all__ = ["BYTE_LEVEL_SETTING_NAMES", "SETTINGS_KEY", "ByteLevelSettings", "Shortfall"]

Shortfall = Literal["warn", "error", "reserve"]
SETTINGS_KEY = "settings"
"""Where the provenance of a trained spec says which settings were not the defaults, as JSON."""

_BYTES = 256


@dataclass(frozen=True)
class ByteLevelSettings:
    r"""Everything that decides what is learnt from given texts, but the size of the vocabulary.

    pattern: how text is split: a name (`hf_bpe.NAMED_PATTERNS`), a pattern in the syntax of the `regex` module, or None: no split.
    stages: patterns that split the pieces further, one after the other.
    unmatched: what happens to text that the pattern leaves out: it is a piece of its own, or it is dropped.
    normalizer: what is done to a text before it is split, such as "NFC"; see `hf_bpe.normalizers`.
    add_prefix_space: put a space before each stretch of text that does not begin with one.
    digits: group digits otherwise than the pattern does: "single", "up-to-three", or "right-aligned" (1 234 567).

    special_tokens: text to keep whole, with the last ids; where the corpus holds it, it is cut out and nothing is learnt across it.
    reserved_tokens: so many special tokens `<|reserved_0|>`, `<|reserved_1|>`, ... behind the others, for later use.
    initial_alphabet: characters that are tokens before anything is learnt.
    space_runs: runs of 2 to so many spaces are tokens before anything is learnt.
    forced_tokens: texts that are tokens before anything is learnt. What merges need on the way to them takes ids as well.

    min_frequency: pairs seen less often are not merged, so the vocabulary may stay smaller.
    max_token_length: longest token in bytes.
    tie_break: which of equally frequent pairs is merged: the one with the "lowest-ids", or the one that another trainer would merge
        ("tokenizers", "rustbpe", "bpeasy"), or the one "first-seen", as in minbpe. Of these, "tokenizers" and "bpeasy" keep tokens shorter
        than `max_token_length`.
    forbidden_tokens: texts that never become tokens, nor parts on the way to longer ones.
    forbidden_patterns: no token is made in which one of these is found: names (`rules.NAMED_RULES`) or regular expressions. Bytes that are
        no whole character are U+FFFD to them.
    forbidden_merges: pairs of texts that are not merged; other pairs may make the same token.
    shortfall: where the text does not yield `vocab_size` ids: "warn", "error", or "reserve" to fill up with reserved tokens.

    superwords: a second stage that merges across white space: the pattern that it splits by, such as "lines" or "sentences". It becomes
        the pattern of the tokenizer.
    superwords_from: the size of the vocabulary, special tokens included, at which the second stage begins; default: nine tenths.
    superword_max_words: how many words a token of the second stage may hold; None: any number.
    """

    pattern: str | None = "cl100k"
    stages: tuple[str, ...] = ()
    unmatched: Literal["keep", "drop"] = "keep"
    normalizer: tuple[NormalizerStep, ...] = ()
    add_prefix_space: bool = False
    digits: DigitGroups | None = None
    special_tokens: tuple[str, ...] = ()
    reserved_tokens: int = 0
    initial_alphabet: str = ""
    space_runs: int = 0
    forced_tokens: tuple[str, ...] = ()
    min_frequency: int = 2
    max_token_length: int | None = None
    tie_break: TieBreak = "lowest-ids"
    forbidden_tokens: tuple[str, ...] = ()
    forbidden_patterns: tuple[str, ...] = ()
    forbidden_merges: tuple[tuple[str, str], ...] = ()
    shortfall: Shortfall = "warn"
    superwords: str | None = None
    superwords_from: int | None = None
    superword_max_words: int | None = None

    @cached_property
    def rules(self) -> TokenizerSpec:
        """A tokenizer without merges that splits as the first stage does. Raises what is wrong with patterns and normalizer."""
        return TokenizerSpec(
            vocab={bytes([byte]): byte for byte in range(_BYTES)},
            merges=(),
            pattern=self._grouped(resolve_pattern(self.pattern), self.digits),
            stages=self.stages,
            unmatched=self.unmatched,
            normalizer=self.normalizer,
            add_prefix_space=self.add_prefix_space,
        )

    @cached_property
    def superword_rules(self) -> TokenizerSpec | None:
        """The same of the second stage, if there is one: digits are grouped as in the first."""
        if self.superwords is None:
            return None
        resolved = resolve_pattern(self.superwords)
        digits = self.digits
        if digits is None and find_named_pattern(resolved) is not None and self.rules.pattern is not None:
            digits = digit_groups(self.rules.pattern)
        return self.rules.replace(pattern=self._grouped(resolved, digits), stages=())

    @staticmethod
    def _grouped(pattern: str | None, digits: DigitGroups | None) -> str | None:
        if digits is None:
            return pattern
        if pattern is None:
            raise TrainingError(f"digits={digits!r} needs a split pattern, and there is none")
        regrouped = with_digit_groups(pattern, digits)
        named = find_named_pattern(regrouped)
        return named.pattern if named else regrouped

    @cached_property
    def last_ids(self) -> tuple[str, ...]:
        """The special tokens and then the reserved ones."""
        return (*self.special_tokens, *self.reserved_names(self.reserved_tokens))

    def reserved_names(self, wanted: int, taken: tuple[str, ...] = ()) -> list[str]:
        """So many names of reserved tokens that are no special token yet."""
        known = {*self.special_tokens, *taken}
        names: list[str] = []
        number = 0
        while len(names) < wanted:
            name = f"<|reserved_{number}|>"
            if name not in known:
                names.append(name)
            number += 1
        return names

    @cached_property
    def first_tokens(self) -> tuple[bytes, ...]:
        """What is a token before anything is learnt, each once: characters, runs of spaces, texts by their length."""
        texts = [
            *self.initial_alphabet,
            *(" " * count for count in range(2, self.space_runs + 1)),
            *sorted(self.forced_tokens, key=len),
        ]
        return tuple(dict.fromkeys(encoded for text in texts if len(encoded := text.encode()) > 1))

    @cached_property
    def first_merges(self) -> tuple[tuple[int, int], ...]:
        """Merges that make `first_tokens`. The n-th makes id 256 + n."""
        return tuple(forced_merges(self.first_tokens))

    def first_stage_merges(self, vocab_size: int) -> int:
        """How many merges the first stage ends with, given ones included: all of them unless there is a second."""
        size = vocab_size
        if self.superwords is not None:
            size = self.superwords_from or max(vocab_size * 9 // 10, _BYTES + len(self.last_ids) + len(self.first_merges))
        return size - _BYTES - len(self.last_ids)

    def has_rules(self, is_first_stage: bool) -> bool:
        """Whether there are pairs that must not be merged in a stage."""
        everywhere = bool(self.forbidden_tokens or self.forbidden_patterns or self.forbidden_merges)
        return everywhere or (not is_first_stage and self.superword_max_words is not None)

    def merges(self, vocab_size: int) -> int:
        """How many merges make a vocabulary of this size. Raises `TrainingError` where the rest alone is larger."""
        smallest = _BYTES + len(self.last_ids) + len(self.first_merges)
        if vocab_size < smallest:
            forced = f", and {len(self.first_merges)} merges that are forced," if self.first_merges else ""
            raise TrainingError(
                f"vocab_size {vocab_size} is too small: 256 bytes and {len(self.last_ids)} special tokens{forced} need at least {smallest}"
            )
        if self.superwords_from is not None and not smallest <= self.superwords_from <= vocab_size:
            raise TrainingError(
                f"superwords_from {self.superwords_from} must lie between {smallest}, where learning begins, and vocab_size {vocab_size}"
            )
        return vocab_size - _BYTES - len(self.last_ids)

    def provenance(self) -> dict[str, str]:
        """What a trained spec says of its settings: in words, and all that are neither defaults nor in the spec itself as JSON."""
        in_spec = {"unmatched", "normalizer", "add_prefix_space", "special_tokens", "reserved_tokens"}
        if self.superwords is None:
            in_spec |= {"pattern", "stages", "digits"}
        told = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in in_spec and getattr(self, field.name) != field.default
        }
        said = {
            "pairs merged if seen": f"{self.min_frequency:,} times or more",
            "longest token": f"{self.max_token_length} bytes" if self.max_token_length else "no limit",
        }
        return said | ({SETTINGS_KEY: json.dumps(told)} if told else {})


BYTE_LEVEL_SETTING_NAMES = frozenset(field.name for field in fields(ByteLevelSettings))
