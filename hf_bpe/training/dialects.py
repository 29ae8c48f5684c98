"""`train`: one face for the trainers of all dialects."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, overload

from hf_bpe.engine.backends import EngineName
from hf_bpe.errors import TrainingError
from hf_bpe.normalizers import NormalizerStep
from hf_bpe.pattern_syntax.digits import DigitGroups
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.byte_level_trainer import train_byte_level
from hf_bpe.training.corpus import Corpus
from hf_bpe.training.report.report import ReportTarget
from hf_bpe.training.sentencepiece_settings import SETTING_NAMES
from hf_bpe.training.settings import BYTE_LEVEL_SETTING_NAMES, Shortfall
from hf_bpe.training.ties import TieBreak

__all__ = ["setting_names", "train"]


# Editors and type checkers see the settings of either dialect; what they are checked against is the trainers' own signatures.
@overload
def train(
    corpus: Corpus,
    vocab_size: int,
    *,
    dialect: Literal["byte_level"] = "byte_level",
    like: TokenizerSpec | None = None,
    pattern: str | None = "cl100k",
    stages: Sequence[str] = (),
    unmatched: Literal["keep", "drop"] = "keep",
    normalizer: NormalizerStep | Sequence[NormalizerStep] = (),
    add_prefix_space: bool = False,
    digits: DigitGroups | None = None,
    special_tokens: Sequence[str] = (),
    reserved_tokens: int = 0,
    initial_alphabet: str = "",
    space_runs: int = 0,
    forced_tokens: Sequence[str] = (),
    min_frequency: int = 2,
    max_token_length: int | None = None,
    forbidden_tokens: Sequence[str] = (),
    forbidden_patterns: Sequence[str] = (),
    forbidden_merges: Sequence[tuple[str, str]] = (),
    tie_break: TieBreak = "lowest-ids",
    shortfall: Shortfall = "warn",
    superwords: str | None = None,
    superwords_from: int | None = None,
    superword_max_words: int | None = None,
    report: ReportTarget | None = None,
    held_out: Corpus | Mapping[str, Corpus] | None = None,
    num_threads: int | None = None,
    progress: bool = True,
    engine: EngineName = "auto",
) -> TokenizerSpec: ...
@overload
def train(
    corpus: Corpus,
    vocab_size: int,
    *,
    dialect: Literal["sentencepiece"],
    preset: str | None = None,
    special_tokens: Sequence[str] = (),
    num_threads: int | None = None,
    progress: bool = True,
    **settings: Any,
) -> TokenizerSpec: ...
@overload
def train(corpus: Corpus, vocab_size: int, *, dialect: str, **settings: Any) -> TokenizerSpec: ...
def train(corpus: Corpus, vocab_size: int, *, dialect: str = "byte_level", **settings: Any) -> TokenizerSpec:
    """Train a tokenizer.

    corpus: paths of UTF-8 text files (a `Path`, a list of them, a list of str that all name existing files), or any
        iterable of texts, such as a generator or a `datasets` column.
    vocab_size: ids in all.
    dialect: "byte_level" (GPT-2, GPT-4, Llama 3), or "sentencepiece" (Llama 2, Mistral).
    settings of both: `special_tokens`, `num_threads`, `progress`. Of "byte_level": `like`, `engine` and all that `ByteLevelSettings` has,
        such as `pattern` (default "cl100k") and `min_frequency`; see `train_byte_level`. Of "sentencepiece": `preset` ("llama2") and all that `SentencePieceSettings` has; see
        `train_sentencepiece`.

    Raises `TrainingError` for a setting that the dialect does not have.

    >>> train(["aaabdaaabac"], 259, pattern=None, progress=False).merges
    ((b'a', b'a'), (b'a', b'b'), (b'aa', b'ab'))
    """
    known = setting_names(dialect)
    unknown = [name for name in settings if name not in known]
    if unknown:
        raise TrainingError(
            f"the dialect {dialect!r} is not trained with {', '.join(unknown)}; its settings are {', '.join(sorted(known))}"
        )
    return _trainer(dialect)(corpus, vocab_size, **settings)


def setting_names(dialect: str) -> frozenset[str]:
    """The settings that `train` takes for a dialect. Raises `TrainingError` for an unknown dialect."""
    parameters = inspect.signature(_trainer(dialect)).parameters.values()
    own = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    return frozenset(own | (SETTING_NAMES if dialect == "sentencepiece" else BYTE_LEVEL_SETTING_NAMES))


def _trainer(dialect: str) -> Callable[..., TokenizerSpec]:
    if dialect == "byte_level":
        return train_byte_level
    if dialect == "sentencepiece":
        from hf_bpe.training.sentencepiece_trainer import train_sentencepiece

        return train_sentencepiece
    raise TrainingError(f"no dialect is named {dialect!r}; there are 'byte_level' and 'sentencepiece'")
