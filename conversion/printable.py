"""What GPT-2's files and tokenizer.json share: a vocabulary and merges spelled in the printable byte alphabet.

Added tokens stand in such a vocabulary too, but as plain text. So one entry may be read two ways, and a text that happens to
be the spelling of other bytes belongs to those.
"""

from __future__ import annotations

from codecs import charmap_decode
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

from conversion.equality import usable_vocab
from conversion.json_text import check_id
from hf_bpe.byte_level import bytes_to_unicode, token_to_bytes
from hf_bpe.engine.backends import load_native
from hf_bpe.errors import FormatError, HfBpeError
from hf_bpe.spec import MAX_TOKEN_ID, AddedToken, TokenizerSpec, VocabularyTable

__all__ = [
    "Pair",
    "misread_when_decoding",
    "native_table",
    "read_merges",
    "read_vocab",
    "spell",
    "spell_merges",
    "spell_vocab",
    "without_added_tokens",
]

Pair = tuple[bytes, bytes]

_ALPHABET = "".join(character for _, character in sorted(bytes_to_unicode().items()))


def spell_vocab(spec: TokenizerSpec) -> dict[str, int]:
    """Spelling -> id in the order of ids, without the entries that are added tokens and nothing else."""
    vocab = usable_vocab(spec)
    ids = sorted(vocab.values())
    if list(vocab.values()) == ids:  # as most are, and are kept by `dict`
        return dict(zip(spell(vocab), ids, strict=True))
    by_id = sorted(vocab.items(), key=lambda item: item[1])
    return dict(zip(spell(token for token, _ in by_id), ids, strict=True))


def spell(tokens: Iterable[bytes]) -> list[str]:
    """The tokens in the printable alphabet, all at once: a byte is one character, so they are cut where they were joined.

    Ten times as fast as one by one, and three times as with `str.translate`.

    >>> spell([b" a", b"\\n"])
    ['Ġa', 'Ċ']
    """
    tokens = list(tokens)
    text, _ = charmap_decode(b"".join(tokens), "strict", _ALPHABET)
    return [text[start:stop] for start, stop in pairwise(accumulate(map(len, tokens), initial=0))]


def spell_merges(merges: Iterable[Pair]) -> list[str]:
    """The merges as text.

    >>> spell_merges([(b" ", b"t")])
    ['Ġ t']
    """
    spelled = iter(spell(chain.from_iterable(merges)))
    return [f"{left} {right}" for left, right in zip(spelled, spelled, strict=True)]


def misread_when_decoding(token: AddedToken) -> bool:
    """Whether a ByteLevel decoder takes the text of an added token for the spelling of other bytes.

    >>> misread_when_decoding(AddedToken("<é>", 1)), misread_when_decoding(AddedToken("<s>", 2))
    (True, False)
    """
    try:
        return token_to_bytes(token.content) != token.content.encode()
    except ValueError:
        return False  # some character is not of the alphabet: then the text is taken as it is


def read_vocab(raw: object, where: str) -> dict[str, int]:
    """Check that a JSON value is a vocabulary: an object of ids."""
    if not isinstance(raw, dict):
        raise FormatError(f"{where} must be an object that maps tokens to ids, not a {type(raw).__name__}")
    for spelling, token_id in raw.items():
        if type(token_id) is not int or not 0 <= token_id <= MAX_TOKEN_ID:
            check_id(token_id, f"{where}[{spelling!r}]")
    return raw


def without_added_tokens(
    spelled: Mapping[str, int], added: Sequence[AddedToken], is_idle: Callable[[set[bytes]], set[bytes]], where: str
) -> dict[bytes, int]:
    """Token -> id, without the entries that are added tokens and nothing else.

    is_idle: those of a set of tokens that are nothing else.
    """
    for added_token in added:
        if spelled.get(added_token.content, added_token.id) != added_token.id:
            raise FormatError(
                f"{where}[{added_token.content!r}] is {spelled[added_token.content]}, but the added token of that text has id "
                f"{added_token.id}; one text can have one id only"
            )
    contents = {token.content for token in added}
    vocab: dict[bytes, int] = {}
    doubtful: set[bytes] = set()
    for spelling, token_id in spelled.items():
        try:
            token = token_to_bytes(spelling)
        except ValueError as error:
            if spelling in contents:
                continue
            raise FormatError(
                f"{where}[{spelling!r}]: {error}, and it is not an added token either; name it in special_tokens= if it is one"
            ) from None
        vocab[token] = token_id
        if spelling in contents:
            doubtful.add(token)
    for token in is_idle(doubtful):
        del vocab[token]
    return vocab


def native_table(
    vocab: dict[str, int],
    merges: list[Any],
    added: Sequence[AddedToken],
    never_whole: Callable[[Collection[bytes]], set[bytes]],
) -> VocabularyTable | None:
    """Vocabulary and merges as the native engine reads them, 20 times as fast; None where it finds anything amiss or doubtful.

    What is amiss, and where, is then said by the slow way. Added tokens are left out, as if nothing but their text gave them;
    a merge that uses or makes one is found amiss. never_whole: those that no text has as a piece to be looked up as a whole.
    """
    native = load_native()
    listed = frozenset(token.content for token in added if token.content in vocab)
    if native is None or any(vocab[token.content] != token.id for token in added if token.content in listed):
        return None
    spelled = {token for token in map(_bytes_or_none, listed) if token is not None}
    if never_whole(spelled) != spelled:
        return None
    try:
        table: VocabularyTable = native.Vocabulary.from_spelled(vocab, merges, listed)
    except (HfBpeError, ValueError, TypeError, OverflowError):
        return None
    return table


def _bytes_or_none(spelling: str) -> bytes | None:
    try:
        return token_to_bytes(spelling)
    except ValueError:
        return None


def read_merges(pairs: Sequence[tuple[str, str]], spelled: Mapping[str, int], place: Callable[[int], str]) -> tuple[Pair, ...]:
    """Spelled pairs -> pairs of tokens. Of a pair that stands twice the last place counts, as in every reader of these files.

    place: index of a pair -> where it stands, for messages.
    """
    token_of: dict[str, bytes] = {}
    for index, (left, right) in enumerate(pairs):
        for part in (left, right, left + right):
            if part in token_of:
                continue
            if part not in spelled:
                raise FormatError(
                    f"{place(index)}: {left!r} + {right!r}: {part!r} is not in the vocabulary; do the two belong together?"
                )
            token_of[part] = _bytes_of(part, place(index))
    merges = [(token_of[left], token_of[right]) for left, right in pairs]
    return tuple(reversed(dict.fromkeys(reversed(merges))))


def _bytes_of(spelling: str, place: str) -> bytes:
    try:
        return token_to_bytes(spelling)
    except ValueError as error:
        raise FormatError(f"{place}: {error}") from None
