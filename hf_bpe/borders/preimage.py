"""Texts that become what ids spell: encoding changes a text before it merges, so the decoded one is not always one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hf_bpe.borders.supported import doubt_of_reencoding, is_fixed_when_repeated
from hf_bpe.engine import Encoder
from hf_bpe.errors import BorderError
from hf_bpe.pieces import SPACE_SYMBOL, SentencePieceRules
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["check_other_texts", "text_before"]


def text_before(encoder: Encoder, content: str) -> str:
    """A text that becomes `content` with the prefix of a SentencePiece model, or with what the model always does to white space.

    Such a model removes spaces, but not what is written U+2581. Raises `BorderError` where no such text is known.

    >>> from hf_bpe import TokenizerSpec
    >>> text_before(Encoder(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())), "a  b")
    'a  b'
    """
    rules = encoder.spec.sentencepiece
    if rules is None:
        return content
    bare = content.rstrip(" ") if rules.remove_extra_whitespaces else content
    wanted = _with_prefix(rules, bare)
    for text in _candidates(rules, bare):
        if "".join(encoder.pretokenize(text)).replace(SPACE_SYMBOL, " ") == wanted:
            return text
    if not bare:
        return bare  # the prefix alone, which comes before some text only
    raise BorderError(
        f"no text is known that this model normalises to {content!r:.80}, so whether these ids are canonical is not known: its charsmap or "
        "its rule for white space changes that text again"
    )


def _candidates(rules: SentencePieceRules, bare: str) -> Iterator[str]:
    yield bare
    if rules.escape_whitespaces:
        yield bare.replace(" ", SPACE_SYMBOL)
    if not rules.prefix_before_space:
        yield f" {bare}"


def _with_prefix(rules: SentencePieceRules, bare: str) -> str:
    if rules.prepend_scheme == "never":
        return bare
    return f"{bare} " if rules.treat_whitespace_as_suffix else f" {bare}"


def check_other_texts(encoder: Encoder, texts: Sequence[str], ids: Sequence[int], found: Sequence[int]) -> None:
    """Raise `BorderError` if another text may be encoded as the ids, where that of their texts gave `found`.

    >>> from hf_bpe import TokenizerSpec
    >>> vocab = {bytes([b]): b for b in range(256)} | {b"ab": 256}
    >>> check_other_texts(Encoder(TokenizerSpec(vocab=vocab, merges=((b"a", b"b"),))), ["ab"], [97, 98], [256])
    """
    reason = (
        doubt_of_reencoding(encoder.spec) or _doubt_of_normalising(encoder, texts) or _doubt_of_added(encoder.spec, ids, found)
    )
    if reason is not None:
        raise BorderError(
            f"whether these ids are canonical is not known, for another text than the decoded one may give them: {reason}. Compare them "
            "with the ids of the text that they come from"
        )


def _doubt_of_normalising(encoder: Encoder, texts: Sequence[str]) -> str | None:
    spec = encoder.spec
    if is_fixed_when_repeated(spec):
        return None
    if any(token.normalized for token in spec.added_tokens):
        return "added tokens are looked for in normalised text"
    changed = next((text for text in texts if "".join(encoder.pretokenize(text)) != text), None)
    return None if changed is None else f"the normalizer changes {changed!r:.80} again"


def _doubt_of_added(spec: TokenizerSpec, ids: Sequence[int], found: Sequence[int]) -> str | None:
    if spec.sentencepiece is not None or not (spec.normalizer or spec.add_prefix_space):
        return None
    before, after = Counter(ids), Counter(found)
    for token in spec.added_tokens:
        is_ordinary_too = token.content.encode() in spec.vocab  # then the number of its ids says nothing
        is_new = after[token.id] > (0 if is_ordinary_too else before[token.id])
        if not token.special and is_new and _may_be_made(spec, token):
            return f"ordinary ids spell the added token {token.content!r}, as the normalizer may have made it"
    return None


def _may_be_made(spec: TokenizerSpec, token: AddedToken) -> bool:
    """Whether normalising can spell a token where the text did not: NFC makes no ASCII but K, ` and ; of other characters."""
    is_left = set(spec.normalizer) <= {"NFC"} and token.content.isascii() and not set("K`;") & set(token.content)
    return not is_left or (spec.add_prefix_space and token.content.startswith(" "))
