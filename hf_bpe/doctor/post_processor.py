"""Which special tokens the post-processor of a tokenizer.json puts around one text."""

from __future__ import annotations

from collections.abc import Iterator

from hf_bpe.doctor.shapes import dicts_in, is_id, list_at, object_at, text_at
from hf_bpe.doctor.steps import steps_of

__all__ = ["named_ids", "tokens_around"]


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
