"""Which special tokens the post-processor of a tokenizer.json puts around one text, and taking it over into another.

A spec is about the ids of a text itself, so the post-processor travels in its provenance, as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from conversion.json_shapes import dicts_in, is_id, list_at, object_at, text_at
from conversion.tokenizer_json.steps import steps_of
from hf_bpe.spec import TokenizerSpec

__all__ = ["carried", "left_out_around", "named_ids", "remembered", "tokens_around"]

_KEY = "post_processor"
_KINDS = ("TemplateProcessing", "RobertaProcessing", "BertProcessing", "ByteLevel")


def remembered(data: object) -> dict[str, str]:
    """A post-processor as an entry of `provenance`; nothing for one that adds no tokens.

    >>> remembered({"type": "BertProcessing", "cls": ["[C]", 0], "sep": ["[S]", 2]})
    {'post_processor': '{"type": "BertProcessing", "cls": ["[C]", 0], "sep": ["[S]", 2]}'}
    >>> remembered({"type": "ByteLevel"}), remembered(None)
    ({}, {})
    """
    steps = [step for _, step in steps_of(data, "", "processors")]
    does_nothing = isinstance(data, dict) and all(step.get("type") == "ByteLevel" for step in steps)
    if data is None or does_nothing:
        return {}
    return {_KEY: json.dumps(data) if _can_be_written(data) else "null"}


def carried(spec: TokenizerSpec) -> dict[str, Any] | None:
    """The post-processor of the tokenizer.json that a spec came from; None where its tokens are not (or no longer) those of the spec."""
    found = _of_provenance(spec)
    steps = [step for _, step in steps_of(found, "", "processors")]
    if not isinstance(found, dict) or any(step.get("type") not in _KINDS for step in steps):
        return None
    added = {token.content: token.id for token in spec.added_tokens}
    return found if all(_id_of(content, spec, added) == token_id for content, token_id in named_ids(found)) else None


def left_out_around(spec: TokenizerSpec) -> str | None:
    """What a target without the post-processor does not do, in words; None where there is none, or one that does nothing."""
    if _KEY not in spec.provenance:
        return None
    before, after = tokens_around(_of_provenance(spec))
    places = [f"{' '.join(map(repr, tokens))} {side}" for tokens, side in ((before, "before"), (after, "after")) if tokens]
    puts = f"puts {' and '.join(places)} every text" if places else "changes what is encoded"
    return f"the source's post_processor, which {puts}: the target by itself adds no tokens"


_ROOM = 100
"""Levels of nesting that are left for what stands around it in a file, and for other places in the program."""


def _can_be_written(data: object) -> bool:
    """Lone surrogates are no UTF-8, and what Python has just read may be nested too deeply to be written."""
    for _ in range(_ROOM):
        data = [data]
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _id_of(content: str, spec: TokenizerSpec, added: Mapping[str, int]) -> int | None:
    return added[content] if content in added else spec.vocab.get(content.encode())


def _of_provenance(spec: TokenizerSpec) -> object:
    try:
        return json.loads(spec.provenance.get(_KEY, "null"))
    except ValueError:
        return None  # a provenance that somebody else wrote


def tokens_around(data: object) -> tuple[list[str], list[str]]:
    """The tokens before the text, and those after it.

    >>> tokens_around({"type": "RobertaProcessing", "cls": ["<s>", 0], "sep": ["</s>", 2]})
    (['<s>'], ['</s>'])
    >>> tokens_around(None)
    ([], [])
    """
    before: list[str] = []
    after: list[str] = []
    for _, step in steps_of(data, "", "processors"):
        if step.get("type") in ("RobertaProcessing", "BertProcessing"):
            before += _first_text(list_at(step, "cls"))
            after += _first_text(list_at(step, "sep"))
        elif step.get("type") == "TemplateProcessing":
            side = before
            for part in dicts_in(step.get("single")):
                if "Sequence" in part:
                    side = after
                name = text_at(object_at(part, "SpecialToken"), "id")
                if name is not None:
                    side += _tokens_named(name, object_at(step, "special_tokens", name))
    return before, after


def named_ids(data: object) -> Iterator[tuple[str, int]]:
    """(token, id) of every token that the post-processor names.

    >>> list(named_ids({"type": "RobertaProcessing", "cls": ["<s>", 0], "sep": ["</s>", 2]}))
    [('<s>', 0), ('</s>', 2)]
    """
    for _, step in steps_of(data, "", "processors"):
        pairs = [] if step.get("type") == "TemplateProcessing" else [tuple(list_at(step, end)) for end in ("cls", "sep")]
        for entry in object_at(step, "special_tokens").values():
            pairs += zip(list_at(entry, "tokens"), list_at(entry, "ids"), strict=False)
        for pair in pairs:
            if len(pair) == 2 and isinstance(pair[0], str) and is_id(pair[1]):
                yield pair[0], pair[1]


def _first_text(pair: list[object]) -> list[str]:
    return [item for item in pair[:1] if isinstance(item, str)]


def _tokens_named(name: str, entry: dict[str, object]) -> list[str]:
    """What a name in a template stands for: usually the token of that name."""
    return [token for token in list_at(entry, "tokens") if isinstance(token, str)] or [name]
