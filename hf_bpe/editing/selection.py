"""Which tokens a rule means: by a list, by script, by how often a corpus uses them, down to a size."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import regex

from hf_bpe.byte_level import token_to_bytes
from hf_bpe.editing.derivations import Derivations
from hf_bpe.errors import EditError, some
from hf_bpe.spec import TokenizerSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["fixed_ids", "ids_named", "leaves", "of_scripts"]


def fixed_ids(spec: TokenizerSpec) -> frozenset[int]:
    """What can never be removed: bytes, the pieces that stand for bytes and for the unknown, and added tokens.

    An added token goes only where it is named, not because other tokens go.
    """
    added = {token.id for token in spec.added_tokens}
    if spec.sentencepiece is None:
        return frozenset(added | {spec.vocab[bytes([byte])] for byte in range(256)})
    kept = ("byte", "unknown", "control")
    return frozenset(added | {number for number, piece in enumerate(spec.sentencepiece.pieces) if piece.kind in kept})


def ids_named(spec: TokenizerSpec, tokens: Iterable[int | bytes | str]) -> set[int]:
    """The ids of tokens given as ids, bytes, or text. Raises `EditError` naming those that are not there.

    A text is the token's own, or as it is spelled in a tokenizer.json (`Ġthe`) or a SentencePiece model (`▁the`).
    """
    found, unknown = set[int](), []
    for token in tokens:
        if isinstance(token, int) and not isinstance(token, bool):
            token_id = token if token in spec.used_ids else None
        elif isinstance(token, bytes | str):
            token_id = next((i for i in map(spec.token_id, _readings(spec, token)) if i is not None), None)
        else:
            raise TypeError(f"a token is given by its id, its bytes or its text, not as {token!r:.80}")
        if token_id is None:
            unknown.append(repr(token))
        else:
            found.add(token_id)
    if unknown:
        raise EditError(f"the vocabulary has no tokens {some(unknown)}; `hf-bpe show` says how it spells a text")
    return found


def _readings(spec: TokenizerSpec, token: bytes | str) -> Iterator[bytes]:
    if isinstance(token, bytes):
        yield token
        return
    yield token.encode("utf-8", "surrogatepass")
    if spec.sentencepiece is not None:
        yield token.replace(" ", "\u2581").encode("utf-8", "surrogatepass")
        return
    try:
        yield token_to_bytes(token)
    except ValueError:  # it is no such spelling
        return


def of_scripts(spec: TokenizerSpec, scripts: Iterable[str]) -> dict[str, set[int]]:
    """The tokens that hold a character of each of these scripts, by Unicode's names ("Cyrillic", "Han"). Raises `EditError`."""
    characters = {name: _characters_of(name) for name in scripts}
    unknown = [repr(name) for name, found in characters.items() if found is None]
    if unknown:
        raise EditError(
            f"{some(unknown)}: no script of Unicode, such as 'Cyrillic' or 'Han'; for a language give texts of it as `unwanted`"
        )
    texts = [(token_id, token.decode("utf-8", "ignore")) for token, token_id in spec.vocab.items()]
    return {
        name: {token_id for token_id, text in texts if found.search(text)}
        for name, found in characters.items()
        if found is not None
    }


def _characters_of(script: str) -> regex.Pattern[str] | None:
    try:
        return regex.compile(rf"\p{{Script={script}}}") if regex.fullmatch(r"[\w -]+", script) else None
    except regex.error:
        return None


def leaves(
    counts: NDArray[np.int64], among: Collection[int], derivations: Derivations, gone: Collection[int] = ()
) -> Iterator[tuple[int, int]]:
    """Tokens in the order in which they can go one by one: at each step the one used least of those that no other is made with.

    Yields the id and how often it is used by then: what used a token that went, of `gone` too, uses its two parts instead, so their
    counts rise. Of equally used ones the highest id goes first. A token that something outside of `among` and `gone` is made with never
    comes.
    """
    gone = frozenset(gone)
    all_ids = gone.union(among)
    used = {token_id: int(counts[token_id]) for token_id in all_ids}
    users = {token_id: len(derivations.users(token_id)) for token_id in all_ids}
    heap = [(token_id not in gone, used[token_id], -token_id) for token_id in all_ids if not users[token_id]]
    heapify(heap)
    while heap:
        is_left, times, negative_id = heappop(heap)
        if is_left:
            yield -negative_id, times
        for part in derivations.makers(-negative_id):
            if part not in users:
                continue
            users[part] -= 1
            used[part] += times * derivations.parts[-negative_id].count(part)
            if not users[part]:
                heappush(heap, (part not in gone, used[part], -part))
