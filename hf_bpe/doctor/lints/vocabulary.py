"""Lints about tokens, ids and merges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from conversion.json_shapes import object_at, quoted, text_at
from hf_bpe.byte_level import bytes_to_token, token_to_bytes
from hf_bpe.doctor.finding import Problem, lint
from hf_bpe.doctor.folder import TOKENIZER, Folder
from hf_bpe.errors import some

_MANY = 1 << 20
"""More free ids than this are not listed, nor looked for."""


@lint("error")
def bad_id(folder: Folder) -> Iterator[Problem]:
    """An id that is no integer from 0 to 2147483647."""
    for vocabulary in folder.vocabularies:
        if vocabulary.bad_ids:
            shown = [f"{quoted(token)}: {quoted(value)}" for token, value in vocabulary.bad_ids]
            yield Problem(
                vocabulary.place,
                f"These are no ids: {some(shown)}. No library loads the file",
                "Give every token an integer from 0 on.",
            )


@lint("error")
def duplicate_id(folder: Folder) -> Iterator[Problem]:
    """Two tokens that share an id."""
    for vocabulary in folder.vocabularies:
        owner: dict[int, str] = {}
        clashes = [(t, owner[i], i) for t, i in vocabulary.entries if owner.setdefault(i, t) != t]
        if clashes:
            shown = [f"{quoted(first)} and {quoted(second)} share {token_id}" for second, first, token_id in clashes]
            yield Problem(
                vocabulary.place,
                f"Ids are not unique: {some(shown)}. The model cannot tell the two apart, and decoding gives only one of them",
                "Give one of the two the id that the model was trained with, or a free one.",
            )


@lint("error")
def duplicate_token(folder: Folder) -> Iterator[Problem]:
    """A token that stands twice in a vocabulary."""
    for vocabulary in folder.vocabularies:
        twice = [token for token, count in Counter(token for token, _ in vocabulary.entries).items() if count > 1]
        if twice:
            yield Problem(
                vocabulary.place,
                f"Tokens stand there twice: {some([quoted(token) for token in twice])}. Readers differ in which id counts",
                "Keep the entry with the id that the model was trained with.",
            )


@lint("error")
def missing_bytes(folder: Folder) -> Iterator[Problem]:
    """Bytes that no token stands for."""
    for vocabulary in folder.vocabularies:
        if vocabulary.spelling == "bytes":
            missing = [f"0x{byte:02X}" for byte in range(256) if bytes_to_token(bytes([byte])) not in vocabulary.tokens]
            effect = "Text with them is lost without a word in tokenizers and transformers, and makes tiktoken panic"
        elif vocabulary.byte_fallback:
            missing = [piece for byte in range(256) if (piece := f"<0x{byte:02X}>") not in vocabulary.tokens]
            effect = "Characters that are no token and hold these bytes become the unknown token, with all their bytes"
        else:
            continue
        if missing:
            yield Problem(
                vocabulary.place,
                f"No token for {len(missing)} of the 256 bytes: {some(missing)}. {effect}",
                "Add them with ids of their own (the embedding needs rows for them), or train with all 256 bytes as the first tokens.",
            )


@lint("warning")
def misspelled_token(folder: Folder) -> Iterator[Problem]:
    """A token that is spelled with characters outside the byte alphabet."""
    for vocabulary in folder.vocabularies:
        if vocabulary.spelling != "bytes":
            continue
        wrong = [token for token in vocabulary.tokens if token not in vocabulary.apart and not _is_spelling(token)]
        if wrong:
            yield Problem(
                vocabulary.place,
                f"{_count(wrong)} in a byte-level vocabulary {_is(wrong)} not spelled in its alphabet, in which a space is 'Ġ': "
                f"{some([quoted(token) for token in wrong])}. No text gives these ids",
                "Spell the bytes in the alphabet, or list the token in added_tokens if it is to be found in text as it is.",
            )


@lint("warning")
def unreachable_token(folder: Folder) -> Iterator[Problem]:
    """A token that no text is encoded to (proved)."""
    for vocabulary in folder.vocabularies:
        unmade = [token for token in vocabulary.unmade if vocabulary.spelling == "pieces" or _is_spelling(token)]
        if unmade and not vocabulary.whole_lookup:
            yield Problem(
                vocabulary.place,
                f"Merging never makes {_count(unmade)}: {some([quoted(token) for token in unmade])}. The embedding rows stay "
                "untrained, and what tokens like these were meant for is encoded as several",
                _REACH.get(
                    vocabulary.file, "Nothing, if the model was trained so; else write the merges again from the ranks."
                ),
            )


_REACH = {
    TOKENIZER: "If the ranks come from tiktoken, set model.ignore_merges to true, which finds them as whole pieces. If the model was "
    "trained with this file, leave it: another file would give it ids that it never saw.",
}


@lint("hint")
def whole_lookup_token(folder: Folder) -> Iterator[Problem]:
    """A token that is found only as a whole piece of text, never by merging."""
    for vocabulary in folder.vocabularies:
        if vocabulary.unmade and vocabulary.whole_lookup:
            yield Problem(
                vocabulary.place,
                f"Merging never makes {_count(vocabulary.unmade)}, such as {quoted(vocabulary.unmade[0])}; only a look at the whole "
                "piece finds them. tiktoken does that, tokenizers with ignore_merges. GPT-2's files, minbpe and SentencePiece cannot",
                "Nothing here. Convert to a format that keeps it, and do not drop ignore_merges.",
            )


@lint("hint")
def id_gaps(folder: Folder) -> Iterator[Problem]:
    """Ids below the largest that no token has."""
    for vocabulary in folder.vocabularies:
        used = {token_id for _, token_id in vocabulary.entries}
        if vocabulary.file == TOKENIZER:
            used |= {token_id for _, token_id, _ in folder.added_tokens()}
        if not used:
            continue
        lowest = 0 if vocabulary.file == TOKENIZER else min(used)
        free = max(used) + 1 - lowest - len(used)
        if free == 0:
            continue
        shown = some(_runs(used, lowest)) if free < _MANY else "most of them"
        yield Problem(
            vocabulary.place,
            f"{free} ids between {lowest} and {max(used)} belong to no token: {shown}. A model can produce them, and decoding them "
            "raises an error or gives nothing",
            "Nothing, if special tokens that stand elsewhere have these ids. Else mask them when sampling, or put reserved tokens there.",
        )


@lint("error")
def orphan_merge(folder: Folder) -> Iterator[Problem]:
    """A merge of tokens, or into a token, that the vocabulary lacks."""
    for vocabulary in folder.vocabularies:
        orphans = [
            f"{quoted(left)} + {quoted(right)}"
            for left, right in vocabulary.merges or ()
            if not {left, right, left + right} <= vocabulary.tokens.keys()
        ]
        if orphans:
            yield Problem(
                vocabulary.merges_place,
                f"Merges mention tokens that are not in the vocabulary: {some(orphans)}. The tokenizers library does not load the file, "
                "others skip the merge",
                "Check that vocabulary and merges belong together; remove the merges of tokens that were removed.",
            )
        if vocabulary.bad_merges:
            shown = [f"{number}: {quoted(entry)}" for number, entry in vocabulary.bad_merges]
            yield Problem(
                vocabulary.merges_place,
                f"These entries are not two tokens: {some(shown)}. No library loads the file",
                "Write each as 'a b', or as ['a', 'b'] where a token holds a space.",
            )


@lint("warning")
def duplicate_merge(folder: Folder) -> Iterator[Problem]:
    """A pair that stands twice among the merges."""
    for vocabulary in folder.vocabularies:
        twice = [pair for pair, count in Counter(vocabulary.merges or ()).items() if count > 1]
        if twice:
            shown = [f"{quoted(left)} + {quoted(right)}" for left, right in twice]
            yield Problem(
                vocabulary.merges_place,
                f"Pairs stand there twice: {some(shown)}. tokenizers lets the last place count, other readers the first: other ids",
                "Keep the last of the two, which is what the tokenizers library has used.",
            )


@lint("error")
def unknown_token_missing(folder: Folder) -> Iterator[Problem]:
    """An unk_token of the model that is not in the vocabulary."""
    model = object_at(folder.json(TOKENIZER), "model")
    unknown = text_at(model, "unk_token")
    if unknown is not None and unknown not in object_at(model, "vocab") and isinstance(model.get("vocab"), dict):
        yield Problem(
            f"{TOKENIZER}: $.model.unk_token",
            f"{quoted(unknown)} is not in the vocabulary. Encoding a character that is no token raises an error in tokenizers and "
            "transformers, or drops the character",
            "Add it to $.model.vocab, or set unk_token to null (a byte-level tokenizer needs none).",
        )


@lint("error")
def dropout(folder: Folder) -> Iterator[Problem]:
    """Dropout that is left on, so that encoding is random."""
    value = object_at(folder.json(TOKENIZER), "model").get("dropout")
    if value:
        yield Problem(
            f"{TOKENIZER}: $.model.dropout",
            f"It is {quoted(value)}: merges are left out at random, so the same text gets other ids each time, for everybody who "
            "loads the file",
            "Set it to null. For training with dropout, switch it on in the training script.",
        )


# ---------------------------------------------------------------------------------------------------------------------


def _is_spelling(token: str) -> bool:
    try:
        token_to_bytes(token)
    except ValueError:
        return False
    return True


def _runs(used: set[int], lowest: int) -> list[str]:
    """The free ids as ranges.

    >>> _runs({0, 1, 4, 6}, 0)
    ['2..3', '5']
    """
    found = []
    previous = lowest - 1
    for token_id in sorted(used):
        if token_id - previous > 1:
            found.append(f"{previous + 1}" if token_id - previous == 2 else f"{previous + 1}..{token_id - 1}")
        previous = token_id
    return found


def _count(tokens: Sequence[str]) -> str:
    return "one token" if len(tokens) == 1 else f"{len(tokens)} tokens"


def _is(tokens: Sequence[str]) -> str:
    return "is" if len(tokens) == 1 else "are"
