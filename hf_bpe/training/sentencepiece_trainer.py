"""`train_sentencepiece`: training with the sentencepiece package, from the same corpora as our own trainer.

Not our own: which merges sentencepiece finds depends on more than counts of pairs. It looks at a sample of the pairs, which it
renews every hundred merges, and its ties and cuts follow from how its text is stored. A second trainer that is nearly the same
would give models that nobody else can reproduce.
"""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

from tqdm import tqdm

from conversion.sentencepiece.model import parse_model
from hf_bpe.errors import CorpusError, TrainingError
from hf_bpe.progress import byte_bar
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.corpus import Corpus, inputs_of, lines_of, text_size
from hf_bpe.training.sentencepiece_settings import SentencePieceSettings, settings_for

__all__ = ["train_sentencepiece"]

_RESERVED = "\u2585".encode()
"""sentencepiece writes this for what is no piece while it learns, and passes over lines that hold it."""

_ERRORS_ONLY, _EVERYTHING = 2, 0
_MOST_THREADS = 1024


def train_sentencepiece(
    corpus: Corpus,
    vocab_size: int,
    *,
    preset: str | None = None,
    special_tokens: Sequence[str] = (),
    text_field: str = "text",
    num_threads: int | None = None,
    progress: bool = True,
    **settings: Any,
) -> TokenizerSpec:
    """Train a SentencePiece BPE model with the sentencepiece package.

    corpus, text_field: as for the byte-level dialect, but a sentence is a line: files and texts are cut at line breaks, which belong to
        no line. sentencepiece holds all of them in memory.
    vocab_size: pieces in all: special ones, 256 bytes where `byte_fallback` is on, merges, characters, in this order.
    preset: "llama2", or None for sentencepiece's defaults.
    special_tokens: become control pieces, which are never found in plain text; bos and eos are there without being named.
    settings: see `SentencePieceSettings`; they override the preset's.

    The result depends on the lines and their order, and not on the number of threads. Lines that are too long are not learnt
    from; a warning counts them. No sentences are sampled. sentencepiece's own messages are silenced.

    Raises `TrainingError` for impossible settings, `CorpusError` for a corpus that cannot be read or has no usable line.

    >>> spec = train_sentencepiece(["aab aab"], 265, preset="llama2", progress=False)
    >>> [piece.content for piece in spec.sentencepiece.pieces[259:]]
    ['aa', 'aab', '▁aab', 'a', 'b', '▁']
    """
    for name, symbols in (("special_tokens", special_tokens), ("control_symbols", settings.get("control_symbols", ()))):
        if not isinstance(symbols, (list, tuple)) or not all(isinstance(symbol, str) for symbol in symbols):
            raise TrainingError(f"{name} must be a list of texts, not {symbols!r}")
    control = [*settings.pop("control_symbols", ()), *special_tokens]
    chosen = settings_for(preset, settings | {"control_symbols": control})
    _check_numbers(vocab_size, num_threads)
    sentences = _Sentences(corpus, text_field, chosen.max_sentence_length, progress)
    model = _run(sentences, vocab_size, chosen, num_threads)
    sentences.warn_of_skipped()
    provenance = {"made by": "hf_bpe.train", "trained with": f"sentencepiece {metadata.version('sentencepiece')}"}
    return parse_model(model, "sentencepiece's result", provenance)


def _check_numbers(vocab_size: int, num_threads: int | None) -> None:
    if type(vocab_size) is not int or vocab_size < 1:
        raise TrainingError(f"vocab_size must be a whole number above 0, not {vocab_size!r}")
    if num_threads is not None and not (type(num_threads) is int and 1 <= num_threads <= _MOST_THREADS):
        raise TrainingError(f"num_threads must lie in 1..{_MOST_THREADS}, not be {num_threads}")


@dataclass
class _Sentences:
    """The lines that sentencepiece is to learn from, how many it is not, and the error that ended them early."""

    corpus: Corpus
    text_field: str
    longest: int
    progress: bool
    used: int = 0
    too_long: int = 0
    reserved: int = 0
    error: BaseException | None = None

    def __iter__(self) -> Iterator[bytes]:
        # sentencepiece makes a RuntimeError of whatever is raised here: what it was has to be kept.
        try:
            yield from self._usable()
        except GeneratorExit:
            raise
        except BaseException as error:
            self.error = error
            raise

    def _usable(self) -> Iterator[bytes]:
        inputs = inputs_of(self.corpus, field=self.text_field, separator=b"\n")
        with byte_bar("reading", text_size(inputs), shown=self.progress) as bar:
            for line in lines_of(inputs):
                bar.update(len(line) + 1)
                sentence = line.rstrip(b"\r")
                # Passed over by sentencepiece too, but without a word.
                if len(sentence) > self.longest:
                    self.too_long += 1
                elif _RESERVED in sentence:
                    self.reserved += 1
                elif sentence:
                    self.used += 1
                    yield sentence
        if not self.used:
            raise CorpusError(
                f"no line of the corpus can be learnt from: {self._skipped()}"
                if self.too_long or self.reserved
                else "the corpus is empty: no text to learn from"
            )
        if self.progress:
            tqdm.write("sentencepiece is merging; it does not say how far it is", file=bar.fp)

    def _skipped(self) -> str:
        return (
            f"{self.too_long:,} are longer than max_sentence_length={self.longest:,} bytes, {self.reserved:,} hold U+2585, which "
            "sentencepiece keeps for itself"
        )

    def warn_of_skipped(self) -> None:
        """Say which lines played no part, if there are any."""
        skipped = self.too_long + self.reserved
        if skipped:
            warnings.warn(
                f"{skipped:,} of {self.used + skipped:,} lines were not learnt from: {self._skipped()}. Cut long lines, or raise "
                "max_sentence_length.",
                stacklevel=4,
            )


def _run(sentences: _Sentences, vocab_size: int, settings: SentencePieceSettings, num_threads: int | None) -> bytes:
    """Sentencepiece's answer, a serialised model."""
    import sentencepiece

    model = io.BytesIO()
    options = asdict(settings) | settings.symbols
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            model_type="bpe",
            vocab_size=vocab_size,
            input_sentence_size=0,
            num_threads=num_threads or min(os.cpu_count() or 1, _MOST_THREADS),
            minloglevel=_ERRORS_ONLY,
            **options,
        )
    except (RuntimeError, OSError) as error:
        if sentences.error is not None:
            raise sentences.error from None
        raise TrainingError(_in_our_words(str(error), vocab_size)) from None
    finally:
        sentencepiece.SetMinLogLevel(_EVERYTHING)  # the level is one for the whole process, and this is what it begins with
    return model.getvalue()


_TOO_LARGE = re.compile(r"Vocabulary size too high .*<= (\d+)")
_TOO_SMALL = re.compile(r"smaller than required_chars\. \d+ vs (\d+)")
_BAD_ID = re.compile(r"insert_id\(trainer_spec_\.(\w+_id)\(\)")
_WHERE = re.compile(r"^[A-Z_]+: (?:\S+\.cc\(\d+\) )?")


def _in_our_words(message: str, vocab_size: int) -> str:
    """Sentencepiece's message with what to do.

    >>> _in_our_words("INTERNAL: src/x.cc(7) [a == b] Vocabulary size too high (9). Please set it to a value <= 5.", 9)
    'vocab_size 9 is too large: this text yields 5 pieces; lower it, give more text, or pass hard_vocab_limit=False'
    """
    if found := _TOO_LARGE.search(message):
        return (
            f"vocab_size {vocab_size} is too large: this text yields {found[1]} pieces; lower it, give more text, or pass "
            "hard_vocab_limit=False"
        )
    if found := _TOO_SMALL.search(message):
        return (
            f"vocab_size {vocab_size} is too small: special pieces, bytes and single characters alone are {found[1]}; raise it, or "
            "lower character_coverage"
        )
    if found := _BAD_ID.search(message):
        return f"{found[1]} cannot be what it is: special ids must differ and be smaller than vocab_size, best the first ones"
    return f"sentencepiece refuses: {_WHERE.sub('', message)}"
