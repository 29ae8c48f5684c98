"""Lints about how text is normalised and split before merging, and put together after: tokenizer.json's steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conversion.json_shapes import object_at, quoted, text_at
from conversion.tokenizer_json.steps import regex_of, steps_of
from hf_bpe.doctor.finding import Problem, lint
from hf_bpe.doctor.folder import TOKENIZER, Folder
from hf_bpe.doctor.stock import regex_error
from hf_bpe.doctor.vocabularies import is_byte_level
from hf_bpe.engine import Encoder
from hf_bpe.errors import PatternError, some
from hf_bpe.pattern_syntax import normal_form, parse
from hf_bpe.pattern_syntax.possible_pieces import can_be_part_of_a_piece
from hf_bpe.spec import TokenizerSpec

_LOOKS_LIKE_REGEX = re.compile(
    r"\\[pPsSdDwWbBhHRXrntuxzAZ]|\(\?|\[\^|\[[^\]]+\][*+?{]|\)[*+?{]|\.[*+]|[^\s\\]\{\d+(,\d*)?\}|^\^.|.\$$"
)
_POSSESSIVE_COUNT = re.compile(r"(?<!\\)(?:\\\\)*\{\d*,?\d*\}\+")
_SPLITS_TEXT = ("Whitespace", "WhitespaceSplit", "Metaspace", "BertPreTokenizer", "UnicodeScripts", "Punctuation")


@lint("error")
def dead_split(folder: Folder) -> Iterator[Problem]:
    """A regular expression that is written as a literal string, so that it never matches."""
    for place, step in _pre_tokenizers(folder):
        text = text_at(object_at(step, "pattern"), "String") if step.get("type") == "Split" else None
        if text is not None and _LOOKS_LIKE_REGEX.search(text):
            yield Problem(
                f"{place}.pattern.String",
                f"{quoted(text)} looks like a regular expression and is matched letter by letter, so it splits no real text. Merges "
                "run across spaces and words for everybody who loads the file",
                'If the model was trained with this file, leave it. If not, write {"Regex": ...} (in Python: '
                "Split(tokenizers.Regex(pattern), ...)) and train again.",
            )


@lint("error")
def never_matching_split(folder: Folder) -> Iterator[Problem]:
    """A regular expression that can match no text (proved)."""
    for place, pattern in _regexes(folder):
        if _matches_nothing(pattern):
            yield Problem(
                place,
                f"No text matches {quoted(pattern)}. The step does nothing, and text is not split as intended",
                "Correct the pattern, or remove the step if the model was trained with this file.",
            )


@lint("error")
def invalid_regex(folder: Folder) -> Iterator[Problem]:
    """A regular expression that the tokenizers library does not compile."""
    for place, pattern in _regexes(folder):
        message = regex_error(pattern)
        if message is not None:
            yield Problem(
                place,
                f"{quoted(pattern)} is no regular expression of Oniguruma: {message}. transformers and tokenizers do not load the file",
                "Translate it: hf-bpe convert writes patterns in the syntax of the target.",
            )


@lint("warning")
def possessive_count(folder: Folder) -> Iterator[Problem]:
    """{n,m}+, which limits nothing in a tokenizer.json."""
    for place, pattern in _regexes(folder):
        found = _POSSESSIVE_COUNT.search(pattern)
        if found:
            yield Problem(
                place,
                f"{quoted(found[0])} is possessive in tiktoken, but in tokenizers it repeats the whole group: with \\p{{N}}{{1,3}}+ a "
                "number of any length is one piece. Ids differ from those of tiktoken and of models trained with it",
                "Write (?>X{n,m}) for X{n,m}+. If the model was trained with this very file, leave it.",
            )


@lint("warning")
def double_split(folder: Folder) -> Iterator[Problem]:
    """A ByteLevel that splits again after a Split."""
    steps = list(_pre_tokenizers(folder))
    for number, (place, step) in enumerate(steps):
        before = [s for _, s in steps[:number] if s.get("type") == "Split" and regex_of(s) is not None]
        if step.get("type") == "ByteLevel" and step.get("use_regex", True) is True and before:
            yield Problem(
                f"{place}.use_regex",
                "It is true after a Split with a pattern of its own: pieces are split once more by GPT-2's pattern, so tokens across "
                "its borders never occur. tiktoken and llama.cpp know only one pattern and give other ids",
                "Set it to false, unless the model was trained with this file.",
            )


@lint("hint")
def token_across_split(folder: Folder) -> Iterator[Problem]:
    """A token that the split cuts in two wherever it stands."""
    for reading in folder.readings:
        spec = reading.spec
        if spec is None or spec.pattern is None or not reading.states_split:
            continue
        across = _cut_tokens(spec)
        if across:
            yield Problem(
                reading.file,
                f"The split cuts {len(across)} of {len(spec.vocab)} tokens wherever they stand: "
                f"{some([quoted(token) for token in across])}. They are never used. Where they are many, text is split by another rule than "
                "in training, and the model sees ids that it hardly knows",
                "Compare the pattern with that of the training. A few are normal where the rule was changed after it.",
            )


def _cut_tokens(spec: TokenizerSpec) -> list[str]:
    """The tokens that are part of no piece of any text. 0.2 s for 100,000, most of which are a piece by themselves."""
    pretokenize = Encoder(spec).pretokenize
    added = {token.content for token in spec.added_tokens}
    cut = []
    for token in spec.vocab:
        try:
            text = token.decode()
        except UnicodeDecodeError:
            continue  # a part of a character, and what is split is text
        if len(text) < 2 or text in added or len(pretokenize(text)) == 1:
            continue
        if not can_be_part_of_a_piece(text, spec.pattern, spec.unmatched, spec.stages):
            cut.append(text)
    return cut


@lint("error")
def byte_level_twice(folder: Folder) -> Iterator[Problem]:
    """Two ByteLevel steps, the second of which encodes the bytes of the first once more."""
    places = [place for place, step in _pre_tokenizers(folder) if step.get("type") == "ByteLevel"]
    if len(places) > 1:
        yield Problem(
            places[1],
            "A second ByteLevel spells the spelling of the first: a space becomes 'Ä' and 'ł', and tokens with a space or a letter "
            "outside ASCII are never found",
            "Keep one of the two, the last step.",
        )


@lint("warning")
def byte_level_order(folder: Folder) -> Iterator[Problem]:
    """A step after ByteLevel that looks at text and sees spelled bytes."""
    spelled = False
    for place, step in _pre_tokenizers(folder):
        kind, pattern = step.get("type"), regex_of(step)
        if spelled and (kind in _SPLITS_TEXT or (pattern is not None and not _sees_digits_only(pattern))):
            yield Problem(
                place,
                f"{kind} comes after ByteLevel, so it sees 'Ġ' for a space and two or more characters for a letter outside ASCII: "
                "white space is never matched, and characters can be cut into bytes",
                "Put ByteLevel last, unless the model was trained with this file.",
            )
        spelled = spelled or kind == "ByteLevel"


@lint("error")
def decoder_mismatch(folder: Folder) -> Iterator[Problem]:
    """A decoder that does not undo what the pre-tokenizer did."""
    data = folder.json(TOKENIZER)
    if object_at(data, "model").get("type", "BPE") != "BPE":
        return
    splits = any(step.get("type") == "ByteLevel" for _, step in _pre_tokenizers(folder))
    decodes = is_byte_level({"decoder": data.get("decoder")})
    if splits and not decodes:
        yield Problem(
            f"{TOKENIZER}: $.decoder",
            "Text is spelled in the byte alphabet and decoded without ByteLevel: decoding gives 'Ġ' for spaces and 'Ã©' for 'é' "
            "in transformers, text-generation-inference and everywhere else",
            'Set it to {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}.',
        )
    elif decodes and not splits:
        yield Problem(
            f"{TOKENIZER}: $.pre_tokenizer",
            "The decoder is ByteLevel, but no step spells text in the byte alphabet: spaces and letters outside ASCII are lost in "
            "encoding, and letters such as 'é' are decoded to broken bytes",
            "Add ByteLevel as the last pre-tokenizer.",
        )


@lint("warning")
def left_on(folder: Folder) -> Iterator[Problem]:
    """Truncation or padding that is left on in tokenizer.json."""
    truncation, padding = (object_at(folder.json(TOKENIZER), key) for key in ("truncation", "padding"))
    if truncation:
        yield Problem(
            f"{TOKENIZER}: $.truncation",
            f"Every text is cut to {quoted(truncation.get('max_length'))} tokens without a word by whoever loads the file with the "
            "tokenizers library, text-embeddings-inference or transformers.js; transformers switches it off",
            "Set it to null (tokenizer.no_truncation()), and let callers cut.",
        )
    if padding:
        yield Problem(
            f"{TOKENIZER}: $.padding",
            "Every batch, or every text, is padded for whoever loads the file with the tokenizers library; transformers switches it off",
            "Set it to null (tokenizer.no_padding()), and let callers pad.",
        )


# ---------------------------------------------------------------------------------------------------------------------


def _pre_tokenizers(folder: Folder) -> Iterator[tuple[str, dict[str, Any]]]:
    return steps_of(folder.json(TOKENIZER).get("pre_tokenizer"), f"{TOKENIZER}: $.pre_tokenizer", "pretokenizers")


def _regexes(folder: Folder) -> Iterator[tuple[str, str]]:
    """(place, pattern) of all regular expressions of a tokenizer.json."""
    normalizers = steps_of(folder.json(TOKENIZER).get("normalizer"), f"{TOKENIZER}: $.normalizer", "normalizers")
    for place, step in (*normalizers, *_pre_tokenizers(folder)):
        pattern = regex_of(step)
        if pattern is not None:
            yield f"{place}.pattern.Regex", pattern


def _matches_nothing(pattern: str) -> bool:
    """Whether it is proved that no text matches; a pattern that is beyond proof is believed to match.

    >>> _matches_nothing(r"[^\\s\\S]"), _matches_nothing(r"a(?=b)c"), _matches_nothing(r"\\s+")
    (True, True, False)
    """
    try:
        form = normal_form(parse(pattern, "oniguruma"))
    except (PatternError, RecursionError):
        return False
    return form is not None and not form.accepting


def _sees_digits_only(pattern: str) -> bool:
    """Whether a pattern is about ASCII digits, which ByteLevel leaves as they are (Falcon splits them after it)."""
    return re.fullmatch(r"(\[0-9\]|\\d|\{\d+(,\d*)?\}|[+*?()|:]|[0-9])+", pattern) is not None
