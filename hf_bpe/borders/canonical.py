"""Whether ids are those that encoding their text gives, and which those would be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import index
from typing import NamedTuple, TypeAlias

from hf_bpe.borders.preimage import check_other_texts, text_before
from hf_bpe.borders.supported import check_encoder
from hf_bpe.borders.tables import tables_of
from hf_bpe.engine import Encoder
from hf_bpe.errors import BorderError

__all__ = ["Drift", "canonical_drift", "canonicalise", "is_canonical"]


def is_canonical(encoder: Encoder, ids: Sequence[int]) -> bool:
    """Whether some text, with special tokens where these ids have them, is encoded as these ids.

    False for ids that end within a character: no text does. Raises `UnknownTokenError`, and `BorderError` where it is not known, as
    with a normalizer that changes its own result.

    >>> from hf_bpe import TokenizerSpec
    >>> vocab = {bytes([b]): b for b in range(256)} | {b"ab": 256}
    >>> encoder = Encoder(TokenizerSpec(vocab=vocab, merges=((b"a", b"b"),)))
    >>> is_canonical(encoder, [256, 97]), is_canonical(encoder, [97, 98])
    (True, False)
    """
    check_encoder(encoder)
    ids = list(map(index, ids))
    try:
        runs = _runs(encoder, ids)
    except BorderError:
        return False
    return _recoded(encoder, ids, runs) == ids


def canonicalise(encoder: Encoder, ids: Sequence[int]) -> list[int]:
    """The ids that encoding gives for the text behind these. Special tokens, and those that stand for unknown text, stay.

    Ordinary ids whose text spells a special token stay ordinary. A SentencePiece model's space before each text is put where it is
    missing, and what it does to white space is done.

    Raises `BorderError` naming the ids that spell bytes which are no text, or the rule by which another text may give these ids;
    `UnknownTokenError`; and `DisallowedSpecialTokenError` where the text of ordinary ids is merged to a special token.

    >>> from hf_bpe import TokenizerSpec
    >>> vocab = {bytes([b]): b for b in range(256)} | {b"ab": 256}
    >>> canonicalise(Encoder(TokenizerSpec(vocab=vocab, merges=((b"a", b"b"),))), [97, 98])
    [256]
    """
    check_encoder(encoder)
    ids = list(map(index, ids))
    return _recoded(encoder, ids, _runs(encoder, ids))


class Drift(NamedTuple):
    """Where ids part from those of their text.

    place: the first id that differs, counted from the beginning of the prompt. byte: where its text
    begins, in the decoded one. ids: those up to the next
    place where both have a border. canonical: what encoding gives there. in_prompt: whether an id of the prompt is among them.
    """

    place: int
    byte: int
    ids: list[int]
    canonical: list[int]
    in_prompt: bool


def canonical_drift(encoder: Encoder, prompt_ids: Sequence[int], completion_ids: Sequence[int]) -> Drift | None:
    """Where encoding the text of prompt and completion parts from the ids that were given and generated; None if nowhere.

    A trainer that encodes the text of a rollout again learns from other ids than the model made. Ids at the end that leave a
    character incomplete, as when generation is cut off, are not looked at.

    >>> from hf_bpe import TokenizerSpec
    >>> vocab = {bytes([b]): b for b in range(256)} | {b"ab": 256}
    >>> canonical_drift(Encoder(TokenizerSpec(vocab=vocab, merges=((b"a", b"b"),))), [120, 97], [98, 121])
    Drift(place=1, byte=1, ids=[97, 98], canonical=[256], in_prompt=True)
    """
    check_encoder(encoder)
    prompt = list(map(index, prompt_ids))
    ids = _without_cut_off(encoder, [*prompt, *map(index, completion_ids)])
    canonical = canonicalise(encoder, ids)
    if ids == canonical:
        return None
    pairs = enumerate(zip(ids, canonical, strict=False))
    first = next((n for n, (own, other) in pairs if own != other), min(len(ids), len(canonical)))
    ends, others = (list(accumulate(map(len, _bytes_of(encoder, run)))) for run in (ids, canonical))
    common = min({*ends[first:]} & {*others[first:]}, default=None)
    stop = ends.index(common, first) + 1 if common is not None else len(ids)
    other_stop = others.index(common, first) + 1 if common is not None else len(canonical)
    begin = len(encoder.decode_bytes(ids[:first]))
    return Drift(first, begin, ids[first:stop], canonical[first:other_stop], first < len(prompt))


# -- ids as text ------------------------------------------------------------------------------------------------------


_Part: TypeAlias = tuple[str, bool]
"""A text, and whether it is the spelling of one added token."""


def _runs(encoder: Encoder, ids: Sequence[int]) -> list[tuple[list[_Part], int]]:
    """The parts of text between ids that no text stands for, and where each of those ids is. Raises `BorderError` for what is no text."""
    mute = tables_of(encoder).mute_ids
    runs = []
    start = 0
    for place in [*(n for n, token_id in enumerate(ids) if token_id in mute), len(ids)]:
        runs.append((_parts(encoder, ids, start, place), place))
        start = place + 1
    return runs


def _recoded(encoder: Encoder, ids: list[int], runs: list[tuple[list[_Part], int]]) -> list[int]:
    found: list[int] = []
    for parts, stop in runs:
        found += _encode(encoder, [(text if is_token else text_before(encoder, text), is_token) for text, is_token in parts])
        found += ids[stop : stop + 1]
    if found != ids:  # else the decoded text is one that gives them
        check_other_texts(encoder, [text for parts, _ in runs for text, is_token in parts if not is_token], ids, found)
    return found


def _parts(encoder: Encoder, ids: Sequence[int], start: int, stop: int) -> list[_Part]:
    """The text of ids, in parts that are a token of their own or not."""
    special = tables_of(encoder).parting_tokens
    parts = []
    done = start
    for place in range(start, stop + 1):
        if place < stop and ids[place] not in special:
            continue
        if done < place:
            parts.append((_text(encoder, ids, done, place), False))
        if place < stop:
            parts.append((special[ids[place]], True))
        done = place + 1
    return parts


def _encode(encoder: Encoder, parts: list[_Part]) -> list[int]:
    if any(is_token for _, is_token in parts):
        return encoder.encode_parts(parts)
    return encoder.encode("".join(text for text, _ in parts), disallowed_special=())


def _text(encoder: Encoder, ids: Sequence[int], start: int, stop: int) -> str:
    content = b"".join(_bytes_of(encoder, ids[start:stop]))
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise BorderError(
            f"ids {start} to {stop - 1} spell bytes that are no UTF-8 ({error.reason} at byte {error.start} of them), and only text "
            "can be encoded; leave out the ids of incomplete characters"
        ) from None
    rules = encoder.spec.sentencepiece
    if rules is None or rules.prepend_scheme == "never" or (rules.prepend_scheme == "first" and start):
        return text
    return text.removesuffix(" ") if rules.treat_whitespace_as_suffix else text.removeprefix(" ")


def _bytes_of(encoder: Encoder, ids: Sequence[int]) -> list[bytes]:
    """The bytes of each id, and for the unknown one those of an unknown character."""
    contents = list(map(encoder.decode_single_token_bytes, ids))
    unknown = tables_of(encoder).unknown
    if unknown is not None and unknown[0] in ids:
        contents = [
            unknown[1].encode() if token_id == unknown[0] else content for token_id, content in zip(ids, contents, strict=True)
        ]
    return contents


def _without_cut_off(encoder: Encoder, ids: list[int]) -> list[int]:
    """The ids without those at the end that hold a part of an incomplete character."""
    tables = tables_of(encoder)
    start = next(
        (n + 1 for n in range(len(ids) - 1, -1, -1) if ids[n] in tables.special_tokens or ids[n] in tables.mute_ids), 0
    )
    content = _bytes_of(encoder, ids[start:])
    tail = b"".join(content)[-3:]
    length = next((n for n in range(len(tail), 0, -1) if _is_incomplete(tail[-n:])), 0)
    while length > 0 and content:
        length -= len(content.pop())
    return ids[: start + len(content)]


def _is_incomplete(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return error.start == 0 and error.reason == "unexpected end of data"
    return False
