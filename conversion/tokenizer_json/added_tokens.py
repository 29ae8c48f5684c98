"""The added tokens of a tokenizer.json, both ways: their ids are not what the file says but what `tokenizers` makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conversion.overlaps import two_passes
from conversion.sidecar import parse_added_token
from hf_bpe.byte_level import bytes_to_token, token_to_bytes
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.spec import AddedToken

__all__ = [
    "assigned_ids",
    "read_added_tokens",
    "refuse_overlaps",
    "refuse_renumbered",
    "refuse_second_names",
    "write_added_token",
]


def read_added_tokens(raw: object, spelled: Mapping[str, int], where: str) -> tuple[AddedToken, ...]:
    """The `added_tokens` part. Raises `FormatError` where `tokenizers` would give a token another id than the one that stands there."""
    if raw is None:
        return ()
    if not isinstance(raw, list):
        raise FormatError(f"{where} must be a list, not a {type(raw).__name__}")
    added = tuple(parse_added_token(entry, f"{where}[{number}]") for number, entry in enumerate(raw))
    for token, assigned in zip(added, assigned_ids(added, spelled), strict=True):
        if token.id != assigned:
            raise FormatError(
                f"{where}: {token.content!r} has id {token.id} here, but `tokenizers` gives it {assigned} when it loads the file; "
                "put the token into $.model.vocab with the id it shall have"
            )
    return added


def write_added_token(token: AddedToken) -> dict[str, Any]:
    """One entry of `added_tokens`."""
    return {
        "id": token.id,
        "content": token.content,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    }


def assigned_ids(added: Sequence[AddedToken], spelled: Mapping[str, int]) -> list[int]:
    """The ids that `tokenizers` gives added tokens on loading: the one in the vocabulary, else the next after its length.

    The ids that stand in the file beside them are not looked at.
    """
    following = iter(range(len(spelled), len(spelled) + len(added)))
    return [spelled[token.content] if token.content in spelled else next(following) for token in added]


def refuse_renumbered(added: Sequence[AddedToken], vocab: Mapping[str, int]) -> None:
    """Raise `ConversionRefused` for the first added token that `tokenizers` would give another id."""
    for token, assigned in zip(added, assigned_ids(added, vocab), strict=True):
        if token.id != assigned:
            raise ConversionRefused(
                f"tokenizer.json cannot give the added token {token.content!r} its id {token.id}: `tokenizers` numbers added tokens from "
                f"the end of the vocabulary on, so it would be {assigned}; renumber the added tokens without gaps"
            )


def refuse_second_names(
    added: Sequence[AddedToken], spelled: Mapping[str, int], merges: Sequence[str | list[str]], where: str
) -> None:
    """Raise `ConversionRefused` where an added token and an ordinary one share a text with two ids, or an id with two texts.

    `tokenizers` makes such files: it looks a new token up as it is spelled in the vocabulary, where a line feed is 'Ċ'.
    """
    for token in added:
        spelling = bytes_to_token(token.content.encode("utf-8", "surrogatepass"))
        if spelling == token.content:
            continue
        if spelled.get(spelling, token.id) != token.id:
            raise ConversionRefused(
                f"{where}: {token.content!r} has id {token.id}, and the ordinary token {spelling!r}, which is the same text, has id "
                f"{spelled[spelling]}; a text with two ids is not run here"
            )
        if token.content in spelled and _is_ordinary(token.content, merges):
            raise ConversionRefused(
                f"{where}: {token.content!r} has id {token.id}, and so has the ordinary token that is spelled like it, which is "
                f"{token_to_bytes(token.content)!r}; an id with two texts is not run here"
            )


def _is_ordinary(spelling: str, merges: Sequence[str | list[str]]) -> bool:
    """Whether it spells bytes that are one, or that merges make one."""
    try:
        is_byte = len(token_to_bytes(spelling)) == 1
    except ValueError:
        return False
    return is_byte or any("".join(pair).replace(" ", "") == spelling for pair in merges)


def refuse_overlaps(added: Sequence[AddedToken], where: str) -> None:
    """`tokenizers` looks for all not-`normalized` tokens first, then for the others: not the same as one look where they overlap.

    Byte-level engines do that too; those of SentencePiece models look once.
    """
    found = two_passes(added)
    if found is not None:
        raise ConversionRefused(
            f"{where}: {found[0]!r} (normalized: false) and {found[1]!r} (normalized: true) can overlap, and which of the two wins "
            "follows no one rule; give both the same value"
        )
