"""How many tokens the indentation of a line of code takes."""

from __future__ import annotations

from hf_bpe.engine import Encoder

__all__ = ["SPACES", "TABS", "indentation_tokens"]

SPACES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 28, 32)
TABS = (1, 2, 3, 4, 5, 6, 7, 8)


def indentation_tokens(encoder: Encoder) -> dict[str, dict[str, int]]:
    """How many tokens more a line has with so many spaces or tabs before it: none where the first word takes them along.

    >>> from hf_bpe import TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> indentation_tokens(Encoder(spec))["tabs"]["2"]
    2
    """
    return {
        name: {str(number): _more(encoder, character * number) for number in numbers}
        for name, character, numbers in (("spaces", " ", SPACES), ("tabs", "\t", TABS))
    }


def _more(encoder: Encoder, indent: str) -> int:
    return encoder.count_ordinary(f"if x:\n{indent}return y\n") - encoder.count_ordinary("if x:\nreturn y\n")
