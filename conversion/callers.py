"""What a file leaves to those who run it, and what that makes of the verdict: one rule for all formats.

What the library of a format takes from its callers is a condition, and what it takes from nobody is a loss. Either stands in
the sidecar, so that the file is read here as the tokenizer that was written.

    pattern, special tokens    a condition for rank files and GPT-2's files, whose libraries are told both; others state them
    normaliser, prefix space   a condition: callers hand over text, normalised or not. Only tokenizer.json states it. A loss for
                               SentencePiece models, which have no sidecar
    stages                     a condition for GPT-2's files; else a loss, as libraries take one pattern. Only tokenizer.json states
                               them
"""

from __future__ import annotations

from conversion.verdict import Checks
from hf_bpe.normalizers import describe
from hf_bpe.spec import TokenizerSpec

__all__ = ["caller_must_normalise", "leave_to_callers"]


def caller_must_normalise(spec: TokenizerSpec) -> str | None:
    """What whoever uses a file without a normaliser has to do to every text first, in words; None where that is nothing.

    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=(), normalizer=("NFC",))
    >>> caller_must_normalise(spec)
    'every text between added tokens is normalised before it is encoded (NFC)'
    """
    changes = describe(spec.normalizer, spec.add_prefix_space)
    return f"every text between added tokens is normalised before it is encoded ({changes})" if changes else None


def leave_to_callers(spec: TokenizerSpec, checks: Checks, *, takes_stages: bool = False) -> None:
    """Note what that is for a format with a sidecar. takes_stages: whether its readers are told how to split text."""
    if not takes_stages:
        stages = (
            f"text is split in {1 + len(spec.stages)} stages, each within the pieces of the one before; no one pattern is known to do "
            "the same, and only the first can be stated"
        )
        checks.expect("one pattern splits text", stages if spec.stages else None)
    condition = caller_must_normalise(spec)
    if condition is None:
        return
    checks.suppose(condition)
    found_later = next((token.content for token in spec.added_tokens if token.normalized), None)
    if found_later is not None:
        checks.lose(f"the added token {found_later!r} is looked for in normalised text, which cannot be stated")
