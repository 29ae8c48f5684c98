"""Conversations through `HfBpeTokenizer`: `encode_chat`, and chat templates by name and file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from transformers import BatchEncoding
from transformers.utils import get_json_schema

from hf_bpe.chat.encoding import EncodedConversation, check_can_mask, encode_conversation, with_template_tokens
from hf_bpe.chat.ready import ReadyTemplate, find_template
from hf_bpe.spec import TokenizerSpec

if TYPE_CHECKING:
    from hf_bpe.plugin.tokenization_hf_bpe import HfBpeTokenizer

__all__ = ["encode_chat", "resolve_template"]


def resolve_template(spec: TokenizerSpec, settings: dict[str, Any]) -> tuple[TokenizerSpec, dict[str, Any]]:
    """Spec and settings of a new tokenizer, with `chat_template` as text. A ready one brings its special tokens and their roles."""
    given = settings.get("chat_template")
    if not isinstance(given, (str, os.PathLike, ReadyTemplate)):
        return spec, settings
    found = find_template(given)
    if not isinstance(found, ReadyTemplate):
        return spec, {**settings, "chat_template": found}
    return with_template_tokens(spec, found), {**found.roles, **settings, "chat_template": found.source}


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
    taken = sorted({"tokenize", "return_dict", "tokenizer_kwargs"} & variables.keys())
    if taken:
        raise TypeError(f"encode_chat takes no {taken[0]}: it always gives ids, as a BatchEncoding; apply_chat_template has it")
    template = _template(tokenizer, chat_template, tools)
    if return_assistant_tokens_mask:
        check_can_mask(template)
    conversation = getattr(conversation, "messages", conversation)
    if not isinstance(conversation, (list, tuple)):
        raise TypeError(
            f"a conversation is a list of messages, and a batch a list of those; not a {type(conversation).__name__}"
        )
    is_batched = len(conversation) > 0 and (isinstance(conversation[0], (list, tuple)) or hasattr(conversation[0], "messages"))
    rows = [
        encode_conversation(
            tokenizer._vocabulary.encoder,
            getattr(chat, "messages", chat),
            template,
            untrusted=untrusted,
            tools=[tool if isinstance(tool, Mapping) else get_json_schema(tool) for tool in tools] if tools else None,
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
        limit = tokenizer.model_max_length if max_length is None else max_length
        cut = slice(-limit, None) if tokenizer.truncation_side == "left" else slice(limit)
        columns = {name: [row[cut] if len(row) > limit else row for row in column] for name, column in columns.items()}
    masks = columns.pop("assistant_masks", None)
    out = tokenizer.pad(columns, padding=padding, max_length=max_length)
    if masks is not None:
        out["assistant_masks"] = [_like(mask, ids, tokenizer) for mask, ids in zip(masks, out["input_ids"], strict=True)]
    if not is_batched and return_tensors is None:
        return BatchEncoding({name: column[0] for name, column in out.items()})
    return BatchEncoding(dict(out), tensor_type=return_tensors)


def _template(tokenizer: HfBpeTokenizer, given: Any, tools: Any) -> str:
    own = tokenizer.chat_template
    if given is None or (isinstance(own, Mapping) and given in own):
        text: str = tokenizer.get_chat_template(given, tools)
        return text
    found = find_template(given)
    if isinstance(found, str):
        return found
    lacking = [token for token in found.special_tokens if token not in tokenizer.spec.special_tokens]
    if lacking:
        raise ValueError(
            f"this tokenizer lacks the special tokens {', '.join(lacking)} of the chat template {found.name!r}; make it with "
            f"HfBpeTokenizer.from_spec(spec, chat_template={found.name!r}), or add them with add_special_tokens"
        )
    return found.source


def _columns(rows: list[EncodedConversation], with_masks: bool) -> dict[str, list[list[int]]]:
    columns = {"input_ids": [row.ids for row in rows], "attention_mask": [[1] * len(row.ids) for row in rows]}
    return {**columns, "assistant_masks": [row.assistant_mask for row in rows]} if with_masks else columns


def _like(mask: list[int], ids: list[int], tokenizer: HfBpeTokenizer) -> list[int]:
    """A mask as long as padded ids."""
    fill = [0] * (len(ids) - len(mask))
    return [*fill, *mask] if tokenizer.padding_side == "left" else [*mask, *fill]
