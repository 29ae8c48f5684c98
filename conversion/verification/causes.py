"""Why two tokenizers give different ids for a text: the first step on the way to ids in which they part.

The steps are the same for every BPE tokenizer: find the special tokens, normalise what stands between them, split it, look pieces up
or merge them, number the tokens. Each step of both is run on the text and compared; where a library shows nothing of a step, the
step of its description stands in for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from conversion.equality import same_split
from conversion.verification.side import AS_SPECIAL, AS_TEXT, WITH_TEMPLATE, Reading, Side
from conversion.verification.unicode_versions import versions_disagree
from hf_bpe.engine import Encoder
from hf_bpe.spec import AddedToken

__all__ = ["CAUSES", "CAUSE_OF_ASPECT", "Cause", "find_cause"]

Cause: TypeAlias = Literal[
    "special tokens",
    "normaliser",
    "pattern",
    "Unicode version",
    "unreachable tokens",
    "merges",
    "ids only",
    "decoder",
    "unknown",
]

CAUSES: tuple[Cause, ...] = get_args(Cause)

CAUSE_OF_ASPECT: Mapping[str, Cause] = {
    "pattern": "pattern",
    "unmatched": "pattern",
    "ignore_merges": "unreachable tokens",
    "added tokens": "special tokens",
    "normalizer": "normaliser",
    "precompiled_charsmap": "normaliser",
    "prepend_scheme": "normaliser",
    "remove_extra_whitespaces": "normaliser",
    "escape_whitespaces": "normaliser",
    "treat_whitespace_as_suffix": "normaliser",
    "denormalizer_charsmap": "decoder",
}
"""Aspect of a spec -> what it decides; all others decide merges."""


def find_cause(a: Side, b: Side, text: str, reading: Reading, a_ids: list[int], b_ids: list[int]) -> Cause:
    """The cause of a difference. Equal ids: the difference is in what they decode to."""
    if a_ids == b_ids:
        return "decoder"
    if reading == WITH_TEMPLATE and a.readings[AS_SPECIAL]([text]) == b.readings[AS_SPECIAL]([text]):
        return "special tokens"
    if len(a_ids) == len(b_ids) and all(a.token(x) == b.token(y) for x, y in zip(a_ids, b_ids, strict=True)):
        return "ids only"
    stretches = [_stretches(side, text, reading) for side in (a, b)]
    if stretches[0] != stretches[1]:
        return "special tokens"
    apart = [content for content, is_token in stretches[0] if not is_token and _encoded_apart(a, b, content)]
    if not apart:
        return "normaliser"  # what each puts, or takes away, where a special token stands beside
    for content in apart:
        cause = _cause_in_stretch(a, b, content)
        if cause is not None:
            return cause
    return "Unicode version" if versions_disagree(text) else "unknown"


def _stretches(side: Side, text: str, reading: Reading) -> list[tuple[str, bool]]:
    """The added tokens in a text and what stands between them; which of the two it is."""
    parts = side.split[reading](text)
    return [(part.content, True) if isinstance(part, AddedToken) else (part, False) for part in parts]


def _encoded_apart(a: Side, b: Side, text: str) -> bool:
    return a.readings[AS_TEXT]([text]) != b.readings[AS_TEXT]([text])


def _cause_in_stretch(a: Side, b: Side, text: str) -> Cause | None:
    pieces = [_pieces(side, text) for side in (a, b)]
    if pieces[0] is None or pieces[1] is None:
        return None
    if pieces[0] != pieces[1]:
        if "".join(pieces[0]) != "".join(pieces[1]) and not (_may_drop(a) or _may_drop(b)):
            return "normaliser"
        same_pattern = a.nearest is not None and b.nearest is not None and same_split(a.nearest, b.nearest)
        return "Unicode version" if same_pattern and versions_disagree(text) else "pattern"
    if a.nearest is None or b.nearest is None:
        return "merges"  # nothing else is left
    if a.nearest.sentencepiece is not None or b.nearest.sentencepiece is not None:
        return "merges" if _tokens(a, a.own_encoder, text) != _tokens(b, b.own_encoder, text) else None
    return next((cause for piece in pieces[0] if (cause := _cause_in_piece(a, b, piece))), None)


def _pieces(side: Side, text: str) -> list[str] | None:
    if side.pieces is not None:
        return side.pieces(text)
    return side.own_encoder.pretokenize(text) if side.own_encoder is not None else None


def _may_drop(side: Side) -> bool:
    return side.nearest is not None and side.nearest.unmatched == "drop"


def _cause_in_piece(a: Side, b: Side, piece: str) -> Cause | None:
    """How one piece comes to other tokens. Only descriptions can tell, as no library merges a piece that it would split."""
    tokens = [_tokens(side, side.merging, piece) for side in (a, b)]
    if tokens[0] == tokens[1]:
        return None
    whole = [made == [piece.encode()] for made in tokens]
    looked_up = [side.nearest is not None and side.nearest.ignore_merges for side in (a, b)]
    return "unreachable tokens" if looked_up[0] != looked_up[1] and whole[0] != whole[1] else "merges"


def _tokens(side: Side, encoder: Encoder | None, text: str) -> list[bytes]:
    return [side.token(token_id) for token_id in encoder.encode_ordinary(text)] if encoder is not None else []
