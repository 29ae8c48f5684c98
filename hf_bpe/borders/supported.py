"""Of which tokenizers something is known where a text ends, and the reason where nothing is."""

from __future__ import annotations

from hf_bpe.borders.splits import splits_of
from hf_bpe.engine import Encoder
from hf_bpe.normalizers import Prepend, Replace
from hf_bpe.spec import TokenizerSpec
from hf_bpe.streaming.added import AddedTokens
from hf_bpe.streaming.rules import its_encoder

__all__ = ["check_encoder", "doubt_of_reencoding", "is_fixed_when_repeated", "obstacle_to_completions"]


def check_encoder(encoder: object) -> None:
    """Raise `TypeError` for what is no `Encoder`.

    >>> check_encoder("gpt2")
    Traceback (most recent call last):
    TypeError: the borders of texts are those of an Encoder, not of a str; make one with hf_bpe.Encoder(spec)
    """
    if not isinstance(encoder, Encoder):
        remedy = its_encoder(encoder) or "; make one with hf_bpe.Encoder(spec)"
        raise TypeError(f"the borders of texts are those of an Encoder, not of a {type(encoder).__name__}{remedy}")


def obstacle_to_completions(spec: TokenizerSpec, added: AddedTokens) -> str | None:
    """Why the completions of a tokenizer are not known exactly; None if they are.

    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=(), normalizer=("NFC",))
    >>> obstacle_to_completions(spec, AddedTokens(spec, (), ()))
    'it normalises text'
    """
    rules = spec.sentencepiece
    kinds = {piece.kind for piece in rules.pieces} if rules is not None else set()
    obstacles = {
        "it normalises text": bool(spec.normalizer),
        "it puts a space before a text (add_prefix_space)": spec.add_prefix_space,
        "it splits in stages": bool(spec.stages),
        "its pattern leaves text out (unmatched='drop')": rules is None and spec.unmatched != "keep",
        "it removes spaces (remove_extra_whitespaces)": rules is not None and rules.remove_extra_whitespaces,
        "it has user-defined pieces": "user_defined" in kinds,
        "it has unused pieces": "unused" in kinds,
    }
    for token in added.matched:
        flags = [flag for flag in ("lstrip", "rstrip", "normalized") if getattr(token, flag)]
        if flags:
            obstacles[f"its added token {token.content!r} has {' and '.join(flags)}"] = True
            break
    return next((reason for reason, holds in obstacles.items() if holds), None)


def doubt_of_reencoding(spec: TokenizerSpec) -> str | None:
    """Why another text than the decoded one may be encoded as some ids, although the decoded one is not; None if none can.

    >>> vocab = {bytes([b]): b for b in range(256)}
    >>> doubt_of_reencoding(TokenizerSpec(vocab=vocab, merges=(), pattern="a", unmatched="drop"))
    'its pattern leaves text out, which no ids tell'
    """
    if spec.sentencepiece is None and spec.unmatched == "drop":
        splits = splits_of(spec.pattern)
        if spec.stages or splits is None or not splits.is_total:
            return "its pattern leaves text out, which no ids tell"
    takes_space = spec.normalizer or any(token.lstrip or token.rstrip for token in spec.added_tokens)
    if takes_space and any(token.single_word for token in spec.added_tokens):
        return "an added token must stand alone (single_word), and what stood beside it may have been taken away"
    return None


def is_fixed_when_repeated(spec: TokenizerSpec) -> bool:
    """Whether normalising twice is the same as once, for every text. So it is for each named step; together they need not be: NFC
    and then Lowercase make h and U+0331 of H and U+0331, and U+1E96 when repeated.

    >>> is_fixed_when_repeated(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=(), normalizer=("NFC",)))
    True
    """
    return len(spec.normalizer) <= 1 and not any(isinstance(step, Prepend | Replace) for step in spec.normalizer)
