"""Token healing: a prompt whose end the model may finish in any way that encoding could have."""

from __future__ import annotations

import warnings
from codecs import utf_8_decode
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from hf_bpe.borders.stable import stable_part
from hf_bpe.borders.supported import check_encoder
from hf_bpe.borders.tables import tables_of
from hf_bpe.engine import Encoder, SpecialTokens
from hf_bpe.errors import BorderError
from hf_bpe.pieces import SPACE_SYMBOL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Healed", "allowed_mask", "allowed_next", "heal", "warn_trailing_space"]


class Healed(NamedTuple):
    """The ids to give to the model, and the bytes that the ids it makes have to begin with.

    >>> Healed([1], b" wor").after(b" w")
    Healed(ids=[1], prefix=b'or')
    """

    ids: list[int]
    prefix: bytes

    def after(self, token: bytes) -> Healed:
        """What is left to begin with once a token of these bytes was chosen. Raises `ValueError` if it was not allowed."""
        if not isinstance(token, bytes | bytearray):
            raise TypeError(
                f"the token must be bytes, as decode_single_token_bytes gives them, not a {type(token).__name__}: {token!r:.80}"
            )
        if not (token.startswith(self.prefix) or self.prefix.startswith(token)):
            raise ValueError(
                f"the token {token!r} does not begin with {self.prefix!r}, nor this with it; choose among allowed_next"
            )
        return Healed(self.ids, self.prefix[len(token) :])


def heal(
    encoder: Encoder,
    text: str,
    *,
    allowed_special: SpecialTokens | None = None,
    disallowed_special: SpecialTokens | None = None,
) -> Healed:
    """The ids of a prompt that no continuation can change, and the bytes left to be generated anew.

    A prompt that ends within a word, or with the space before one, is otherwise encoded as text never is, and the model goes on from
    what it has not seen in training. Special tokens are as in `Encoder.encode`, and so are errors. Raises `BorderError` where nothing
    can be proved.

    >>> from hf_bpe import TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=(), pattern=r"\\w+|\\W")
    >>> heal(Encoder(spec), "a bc")
    Healed(ids=[97, 32], prefix=b'bc')
    """
    ids, rest = stable_part(encoder, text, allowed_special=allowed_special, disallowed_special=disallowed_special)
    written = "".join(encoder.pretokenize(rest)) if encoder.spec.unmatched == "keep" else rest
    if encoder.spec.sentencepiece is not None:
        written = written.replace(SPACE_SYMBOL, " ")
    return Healed(ids, written.encode())


def allowed_next(encoder: Encoder, prefix: bytes) -> NDArray[np.int64]:
    """The ids, in order, that may come next where the text has to begin with these bytes: those that begin with them, and those that
    they begin with. Every id in use for no bytes. What is left to begin with is said by `Healed.after`.

    >>> from hf_bpe import TokenizerSpec
    >>> vocab = {bytes([b]): b for b in range(256)} | {b"ab": 256}
    >>> allowed_next(Encoder(TokenizerSpec(vocab=vocab, merges=((b"a", b"b"),))), b"a").tolist()
    [97, 256]
    """
    import numpy as np

    check_encoder(encoder)
    if not isinstance(prefix, bytes | bytearray):
        raise TypeError(f"the prefix must be bytes, as in Healed.prefix, not a {type(prefix).__name__}")
    tables = tables_of(encoder)
    if not prefix:
        return tables.used_ids
    ids = {token_id for _, token_id in tables.starting_with(bytes(prefix))} | {*tables.beginning(bytes(prefix))}
    return np.array(sorted(ids), np.int64)


def allowed_mask(encoder: Encoder, prefix: bytes) -> NDArray[np.bool_]:
    """The same as an array of shape (n_vocab,): True where the id may come next.

    >>> allowed_mask(encoder, b" wor").sum()  # doctest: +SKIP
    57
    """
    import numpy as np

    check_encoder(encoder)
    mask = np.zeros(encoder.n_vocab, np.bool_)
    mask[allowed_next(encoder, prefix)] = True
    return mask


def warn_trailing_space(
    encoder: Encoder,
    text: str,
    *,
    allowed_special: SpecialTokens | None = None,
    disallowed_special: SpecialTokens | None = None,
) -> bool:
    """Warn (`UserWarning`) if white space at the end of a prompt would be encoded another way before a word. True if so.

    Every token of the vocabulary that begins with an end of the text and goes on with a word is tried, until one changes the ids.
    `allowed_special`, `disallowed_special`, and what it raises: as in `Encoder.encode`.

    >>> warn_trailing_space(encoder, "The answer is ")  # doctest: +SKIP
    True
    """
    check_encoder(encoder)
    encoder.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)  # raises where it does
    if not text[-1:].isspace():
        return False
    # What follows may spell a token that raises; only how the text before it is encoded matters.
    allowed, _ = encoder.special_sets(allowed_special, disallowed_special)
    options: Any = {"allowed_special": allowed, "disallowed_special": ()}
    # Nothing of the text changes before the place where it may be cut, so only the rest is encoded again and again.
    rest = _rest_of(encoder, text, options)
    ids = encoder.encode(rest, **options)
    follower = next((c for c in _followers(encoder, rest) if encoder.encode(rest + c, **options)[: len(ids)] != ids), None)
    if follower is None:
        return False
    warnings.warn(
        f"the prompt ends with {text[len(text.rstrip()) :]!r}, which is encoded in another way when {follower!r} follows: the model "
        "would go on from ids that it has hardly seen. Strip it, or use hf_bpe.borders.heal",
        UserWarning,
        stacklevel=2,
    )
    return True


def _rest_of(encoder: Encoder, text: str, options: dict[str, Any]) -> str:
    """The end of a text that is encoded as if it were a text of its own; all of it where that is not known of any part."""
    try:
        return stable_part(encoder, text, **options).rest
    except BorderError:
        return text


def _followers(encoder: Encoder, text: str) -> Iterator[str]:
    """What tokens hold behind an end of the text, if it begins with no white space: letters and short ones first, which mostly tell."""
    tables = tables_of(encoder)
    tail = text[-tables.longest :]
    found = set[str]()
    for place in range(len(tail)):
        end = tail[place:].encode("utf-8", "replace")
        for token, _ in tables.starting_with(end):
            behind, _ = utf_8_decode(token[len(end) :], "ignore", False)
            if behind and not behind[0].isspace():
                found.add(behind)
    yield from sorted(found, key=lambda behind: (not behind[0].isalpha(), len(behind), behind))
