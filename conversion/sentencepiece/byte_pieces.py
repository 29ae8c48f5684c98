"""A byte-level tokenizer as a SentencePiece model, which starts from characters.

A normaliser may replace single bytes. One that writes each byte of the text as its character of the printable byte alphabet
makes the pieces tokens spelled in that alphabet; the inverse as denormaliser gives the text back, but for NUL, which no
replacement can hold. SentencePiece cuts text nowhere, so only a tokenizer without a pattern is held exactly.
"""

from __future__ import annotations

from conversion.callers import caller_must_normalise
from conversion.equality import usable_vocab
from conversion.gaps import refuse_wide_gaps
from conversion.merges import check_lookup
from conversion.sentencepiece.piece_merges import pieces_of_merges
from conversion.verdict import Checks
from hf_bpe.byte_level import bytes_to_token, bytes_to_unicode
from hf_bpe.charsmap import build_charsmap
from hf_bpe.errors import ConversionRefused
from hf_bpe.pieces import PieceKind, SentencePieceRules
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["to_sentencepiece"]

_MOST_PIECES = 1 << 24  # scores are 32-bit floats, which tell no more whole numbers apart


def to_sentencepiece(spec: TokenizerSpec, checks: Checks) -> TokenizerSpec:
    """The SentencePiece model that gives the same ids; the unknown piece it has to have comes last and is never used.

    Raises `ConversionRefused` where there is none. The pattern, and the looking up of whole pieces, may be lost.
    """
    if spec.sentencepiece is not None:
        return spec
    refuse_wide_gaps(spec, "a SentencePiece model")  # before there is a name for each id
    _refuse_added_tokens(spec)
    vocab = usable_vocab(spec)
    split = "it splits text by a pattern, which SentencePiece does not" if spec.pattern is not None or spec.stages else None
    checks.expect("text is not split before it is merged", split)
    condition = caller_must_normalise(spec)
    checks.expect(
        "text is not normalised before it is merged",
        condition and f"the normaliser is lost, as the file's own spells bytes: the ids are the same only if {condition}",
    )
    check_lookup(vocab, spec.merges, spec.ignore_merges, checks)
    if spec.added_tokens:
        checks.suppose("special tokens are put between texts by their ids: SentencePiece finds none in text")
        checks.decodes_otherwise("special tokens come back as nothing, as all control pieces do")
    checks.suppose("decoded text holds no NUL, which SentencePiece leaves out")
    content_of = {token_id: bytes_to_token(token) for token, token_id in vocab.items()}
    added = {token.id: token.content for token in spec.added_tokens if token.id not in content_of}
    taken = {*content_of.values()}
    clash = next((content for content in added.values() if content in taken), None)
    if clash is not None:
        raise ConversionRefused(
            f"the added token {clash!r} is also how the bytes of another token are spelled in a .model file"
        )
    taken |= {*added.values()}
    fillers = {i: _free_name(f"<unused_{i}>", taken) for i in range(spec.n_vocab) if i not in content_of and i not in added}
    unknown = _free_name("<unk>", taken)
    contents = [*(by_id for _, by_id in sorted({**content_of, **added, **fillers}.items())), unknown]
    if len(contents) >= _MOST_PIECES:
        raise ConversionRefused(
            f"a SentencePiece model has fewer than {_MOST_PIECES} pieces, and this tokenizer {len(contents)}"
        )
    reserved: dict[str, PieceKind] = {unknown: "unknown"}
    reserved |= dict.fromkeys((*added.values(), *fillers.values()), "control")
    merges = [(bytes_to_token(left), bytes_to_token(right)) for left, right in spec.merges]
    pieces = pieces_of_merges(contents, merges, reserved, "merges")
    alphabet = {bytes([byte]): character.encode() for byte, character in bytes_to_unicode().items()}
    rules = SentencePieceRules(
        pieces=pieces,
        prepend_scheme="never",
        remove_extra_whitespaces=False,
        escape_whitespaces=False,
        precompiled_charsmap=build_charsmap(alphabet),
        denormalizer_charsmap=build_charsmap({value: key for key, value in alphabet.items() if key != b"\0"}),
        normalizer_name="byte_level",
    )
    named = [AddedToken(p.content, n) for n, p in enumerate(pieces) if p.kind in ("control", "unknown")]
    return TokenizerSpec.from_sentencepiece(rules, added_tokens=named, provenance=spec.provenance)


def _refuse_added_tokens(spec: TokenizerSpec) -> None:
    vocab = usable_vocab(spec)
    for token in spec.added_tokens:
        if token != AddedToken(token.content, token.id, normalized=token.normalized):
            raise ConversionRefused(
                f"the added token {token.content!r} is always matched or has flags, and the control pieces of a SentencePiece model "
                "are only names for ids; make it a special token without flags"
            )
        if token.content.encode() in vocab:
            raise ConversionRefused(
                f"the added token {token.content!r} is also made by merging, and a control piece of a SentencePiece model never is"
            )


def _free_name(wanted: str, taken: set[str]) -> str:
    name = wanted
    while name in taken:
        name = f"<{name}>"
    taken.add(name)
    return name
