"""What special tokens are: in all of a tokenizer's texts, and in the parts of one, each of which is trusted or not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, TypeAlias, get_args

from hf_bpe.errors import EncodingError, some

__all__ = ["TRUSTS", "Part", "Trust", "as_unicode", "join_parts", "refuse_unknown", "sets_of"]

Trust: TypeAlias = Literal["special", "text", "raise"]
"""What a special token is that lies in a part, or partly in it: itself, the text it is spelled with, or an error."""
TRUSTS: tuple[Trust, ...] = get_args(Trust)

Part: TypeAlias = tuple[str, bool | Trust]
"""A text and its trust; True is "special", False is "text"."""


def sets_of(special: Trust | Mapping[str, Trust], known: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The special tokens that are themselves, and those that raise; the others are text. What a mapping does not name raises.

    Raises `EncodingError` for a token that is not known, `ValueError` for a word.

    >>> sets_of("special", frozenset({"<s>"}))
    (frozenset({'<s>'}), frozenset())
    """
    treated = special if isinstance(special, Mapping) else dict.fromkeys(known, special)
    refuse_unknown(treated, known)
    wrong = [repr(word) for word in (special.values() if isinstance(special, Mapping) else [special]) if word not in TRUSTS]
    if wrong:
        raise ValueError(f"{some(wrong)}: not known; what special tokens are is one of {', '.join(map(repr, TRUSTS))}")
    allowed = frozenset(token for token, word in treated.items() if word == "special")
    return allowed, known - allowed - {token for token, word in treated.items() if word == "text"}


def refuse_unknown(named: Collection[str], known: frozenset[str], where: str = "") -> None:
    """Raise `EncodingError` for names of no special token.

    >>> refuse_unknown({"<s>"}, frozenset({"<s>"}))
    """
    if known.issuperset(named):
        return
    unknown = sorted(repr(token) for token in named if token not in known)
    raise EncodingError(
        f"{where}{some(unknown)}: no special token of this tokenizer, which has {some(sorted(known)) or 'none'}"
    )


def as_unicode(text: str) -> str:
    """Join surrogate pairs, replace lone surrogates by U+FFFD: what tiktoken does with text that UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def join_parts(parts: Iterable[Part]) -> tuple[str, list[int], bytes]:
    """The text, how many characters each part has, and the number of its trust in `TRUSTS`.

    Raises `TypeError` and `ValueError` for what is no part. A surrogate pair in two parts is no character.

    >>> join_parts([("<s>", True), ("hi", False)])
    ('<s>hi', [3, 2], b'\\x00\\x01')
    """
    texts, trusts = [], bytearray()
    for part in parts:
        if not (isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str)):
            raise TypeError(f"a part is a tuple of a text and its trust, such as ('<s>', True); not {part!r:.80}")
        text, trust = part
        if isinstance(trust, bool):
            trust = "special" if trust else "text"
        if trust not in TRUSTS:
            raise ValueError(f"trust {trust!r} is not known; it must be True, False, or one of {', '.join(map(repr, TRUSTS))}")
        texts.append(as_unicode(text))
        trusts.append(TRUSTS.index(trust))
    return "".join(texts), list(map(len, texts)), bytes(trusts)
