"""Texts of tokens to which two descriptions give different ids, found by running both here.

What each part of a description tells apart (`patterns_apart`, `merges_apart`) need not show in ids: `(a` is one piece to one pattern and
two to another, which only a vocabulary with the token `(a` tells. So the tokens themselves are tried, with a little around them:
for 200,000 of them 600,000 texts in some seconds, where other libraries take minutes. Those get what differs here.
"""

from __future__ import annotations

from collections.abc import Iterator

from conversion.equality import first_difference
from conversion.verification.merges_apart import as_text
from hf_bpe.batching import batched
from hf_bpe.engine import Encoder
from hf_bpe.pieces import SPACE_SYMBOL
from hf_bpe.spec import TokenizerSpec

__all__ = ["token_texts_apart"]

# Alone, before a space at the end, and all other surroundings in one text, which takes a fifth of the time; what differs is made
# smaller later. Runs of digits are cut after one, two or three of them, and a token may stand across any of those borders. A combining mark
# is a letter to some patterns only.
_SURROUNDINGS = ("{0}", "{0} ", "a{0}a 1{0} 11{0}1\n{0}\n999{0}é{0}'{0}{0} ({0}", "\u0301{0}\u0301 _{0}_ 中{0}中 ={0}=")
_BATCH_CHARACTERS = 1 << 18


def token_texts_apart(a: TokenizerSpec, b: TokenizerSpec) -> Iterator[str]:
    """Texts, those of tokens alone first, that differ; none where the descriptions say the same.

    >>> vocab = {bytes([byte]): byte for byte in range(256)} | {b"12": 256}
    >>> one = TokenizerSpec(vocab, ((b"1", b"2"),), pattern=r"\\p{N}{1,3}|\\P{N}+")
    >>> list(token_texts_apart(one, one.replace(pattern=r"\\p{N}|\\P{N}+")))[0]
    '12'
    """
    if first_difference(a, b) is None:
        return
    encoders = Encoder(a), Encoder(b)
    for batch in batched(_candidates(a, b), len, _BATCH_CHARACTERS):
        rows = (encoder.encode_ordinary_batch(batch) for encoder in encoders)
        yield from (text for text, ours, theirs in zip(batch, *rows, strict=True) if ours != theirs)


def _candidates(a: TokenizerSpec, b: TokenizerSpec) -> Iterator[str]:
    tokens = sorted(a.vocab.keys() | b.vocab.keys(), key=len)
    texts = [text.replace(SPACE_SYMBOL, " ") if a.sentencepiece else text for text in filter(None, map(as_text, tokens))]
    for surrounding in _SURROUNDINGS:
        yield from map(surrounding.format, texts)
