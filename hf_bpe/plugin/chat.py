"""Conversations through `HfBpeTokenizer`: `encode_chat`, and chat templates by name and file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from transformers import BatchEncoding
from transformers.utils import get_json_schema

from hf_bpe.chat.encoding import EncodedConversation, check_can_mask, encode_conversation, with_template_tokens
from hf_bpe.chat.ready import ReadyTemplate, find_template
from hf_bpe.plugin.shaping import check_sizes
from hf_bpe.spec import TokenizerSpec

if TYPE_CHECKING:
    from hf_bpe.plugin.tokenization_hf_bpe import HfBpeTokenizer

__all__ = ["adopt_template", "encode_chat", "resolve_template", "source_of", "template_tokens"]


def resolve_template(spec: TokenizerSpec, settings: dict[str, Any]) -> tuple[TokenizerSpec, dict[str, Any]]:
    """Spec and settings of a new tokenizer, with `chat_template` as text. A ready one brings its special tokens and their roles."""
    given = settings.get("chat_template")
    if not isinstance(given, (str, os.PathLike, ReadyTemplate)):
        return spec, settings
    found = find_template(given)
    if not isinstance(found, ReadyTemplate):
        return spec, {**settings, "chat_template": found}
    return with_template_tokens(spec, found), {**found.roles, **settings, "chat_template": found.source}


def template_tokens(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The special tokens that a ready `chat_template` among settings brings."""
    given = settings.get("chat_template")
    found = find_template(given) if isinstance(given, (str, os.PathLike, ReadyTemplate)) else None
    return found.special_tokens if isinstance(found, ReadyTemplate) else ()


def adopt_template(tokenizer: HfBpeTokenizer, given: Any) -> None:
    """Give a loaded tokenizer a chat template, and what a ready one brings: special tokens, and roles that no token has."""
    if isinstance(given, (str, os.PathLike, ReadyTemplate)):
        given = find_template(given)
    if isinstance(given, ReadyTemplate):
        tokenizer.add_tokens(_lacking(tokenizer, given), special_tokens=True)
        for role, token in given.roles.items():
            if getattr(tokenizer, role) is None:
                setattr(tokenizer, role, token)
    tokenizer.chat_template = given


def source_of(tokenizer: HfBpeTokenizer, given: Any) -> Any:
    """A chat template as text, for a tokenizer that has the special tokens of a ready one. Others than one text are left as they are.

    Raises `ChatTemplateError` for a name that is not known, `ValueError` for a ready template whose tokens are not there.
    """
    found = find_template(given) if isinstance(given, (str, os.PathLike, ReadyTemplate)) else given
    if not isinstance(found, ReadyTemplate):
        return found
    lacking = _lacking(tokenizer, found)
    if lacking:
        raise ValueError(
            f"this tokenizer lacks the special tokens {', '.join(lacking)} of the chat template {found.name!r}; make it with "
            f"chat_template={found.name!r} in HfBpeTokenizer.from_spec or from_pretrained, or add them with add_special_tokens"
        )
    return found.source


def _lacking(tokenizer: HfBpeTokenizer, template: ReadyTemplate) -> list[str]:
    return [token for token in template.special_tokens if token not in tokenizer.spec.special_tokens]


def encode_chat(
    tokenizer: HfBpeTokenizer,
    conversation: Any,
    *,
    tools: Any = None,
    documents: Any = None,
    chat_template: Any = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    untrusted: Any = "text",
    padding: Any = False,
    truncation: bool = False,
    max_length: int | None = None,
    return_tensors: Any = None,
    return_assistant_tokens_mask: bool = False,
    **variables: Any,
) -> BatchEncoding:
    """See `HfBpeTokenizer.encode_chat`."""
    limit = tokenizer.model_max_length if max_length is None else max_length
    check_sizes(max_length=limit)
    taken = sorted({"tokenize", "return_dict", "tokenizer_kwargs"} & variables.keys())
    if taken:
        raise TypeError(f"encode_chat takes no {taken[0]}: it always gives ids, as a BatchEncoding; apply_chat_template has it")
    template = tokenizer.get_chat_template(chat_template, tools)
    if return_assistant_tokens_mask:
        check_can_mask(template)
    conversation = getattr(conversation, "messages", conversation)
    if not isinstance(conversation, (list, tuple)):
        raise TypeError(
            f"a conversation is a list of messages, and a batch a list of those; not a {type(conversation).__name__}"
        )
    is_batched = len(conversation) > 0 and (isinstance(conversation[0], (list, tuple)) or hasattr(conversation[0], "messages"))
    if isinstance(tools, (list, tuple)):
        tools = [get_json_schema(tool) if callable(tool) else tool for tool in tools] or None
    rows = [
        encode_conversation(
            tokenizer._vocabulary.encoder,
            getattr(chat, "messages", chat),
            template,
            untrusted=untrusted,
            tools=tools,
            documents=documents,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            special_tokens=tokenizer.special_tokens_map,
            variables=variables,
        )
        for chat in (conversation if is_batched else [conversation])
    ]
    columns = _columns(rows, return_assistant_tokens_mask)
    if truncation:
        is_left = tokenizer.truncation_side == "left"
        columns = {
            name: [row[max(len(row) - limit, 0) :] if is_left else row[:limit] for row in column]
            for name, column in columns.items()
        }
    masks = columns.pop("assistant_masks", None)
    out = tokenizer.pad(columns, padding=padding, max_length=max_length)
    if masks is not None:
        out["assistant_masks"] = [_like(mask, ids, tokenizer) for mask, ids in zip(masks, out["input_ids"], strict=True)]
    if not is_batched and return_tensors is None:
        return BatchEncoding({name: column[0] for name, column in out.items()})
    return BatchEncoding(dict(out), tensor_type=return_tensors)


def _columns(rows: list[EncodedConversation], with_masks: bool) -> dict[str, list[list[int]]]:
    columns = {"input_ids": [row.ids for row in rows], "attention_mask": [[1] * len(row.ids) for row in rows]}
    return {**columns, "assistant_masks": [row.assistant_mask for row in rows]} if with_masks else columns


def _like(mask: list[int], ids: list[int], tokenizer: HfBpeTokenizer) -> list[int]:
    """A mask as long as padded ids."""
    fill = [0] * (len(ids) - len(mask))
    return [*fill, *mask] if tokenizer.padding_side == "left" else [*mask, *fill]
