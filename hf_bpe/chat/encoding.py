"""Conversations straight to ids: what the template wrote can be special tokens, what users wrote cannot."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hf_bpe.chat.origins import GENERATED, TEMPLATE, UNKNOWN
from hf_bpe.chat.ready import ReadyTemplate, find_template
from hf_bpe.chat.rendering import Rendered, has_generation_blocks, render
from hf_bpe.engine import Encoder
from hf_bpe.engine.parts import TRUSTS, Part, Trust
from hf_bpe.errors import ChatTemplateError, DisallowedSpecialTokenError
from hf_bpe.spec import TokenizerSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EncodedConversation", "check_can_mask", "encode_conversation", "missing_tokens", "with_template_tokens"]


@dataclass(frozen=True)
class EncodedConversation:
    """Ids of a conversation, and the text that they stand for."""

    ids: list[int]
    rendered: Rendered
    _encoder: Encoder
    _parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The rendered conversation."""
        return self.rendered.text

    @property
    def parts(self) -> tuple[Part, ...]:
        """The text in parts, each with its trust, as `Encoder.encode_parts` takes them."""
        return self._parts

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Start and end of each id in the text, in characters, shape (n, 2)."""
        return self._encoder.encode_parts_with_offsets(self._parts)[1]

    @property
    def assistant_mask(self) -> list[int]:
        """1 for the ids of what stands in `{% generation %}` blocks of the template, 0 for others."""
        return self._touching(lambda origins: origins >= GENERATED)

    @property
    def trusted_mask(self) -> list[int]:
        """1 for the ids of what the template alone wrote, 0 for those in which a message has a part."""
        return [1 - touched for touched in self._touching(lambda origins: origins & 3 != TEMPLATE)]

    def _touching(self, is_meant: Callable[[NDArray[np.uint8]], NDArray[np.bool_]]) -> list[int]:
        """1 for the ids whose text holds characters that are meant, 0 for others."""
        import numpy as np

        meant = is_meant(np.frombuffer(self.rendered.origins, dtype=np.uint8))
        before = np.concatenate([[0], np.cumsum(meant)])
        found: list[int] = (before[self.offsets[:, 1]] > before[self.offsets[:, 0]]).astype(int).tolist()
        return found


def encode_conversation(
    encoder: Encoder,
    messages: Sequence[Any],
    template: str | os.PathLike[str] | ReadyTemplate,
    *,
    untrusted: Trust = "text",
    tools: Sequence[Any] | None = None,
    documents: Sequence[Any] | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    special_tokens: Mapping[str, Any] | None = None,
    variables: Mapping[str, Any] | None = None,
) -> EncodedConversation:
    """Ids of a conversation in which nothing that stands in messages, tools, documents or variables is a special token.

    Where none of them spells one, the ids are those of the rendered text. The text is encoded as a whole, so that merges and
    splits are the same at the borders of messages. `trusted("...")` in a message makes an exception for one string.

    template: the name of a ready template, a file, or a template in Jinja. untrusted: what a special token in untrusted text
    is: the "text" it is spelled with; "raise": a `DisallowedSpecialTokenError`; "special": itself, without any protection.
    The other arguments are those of `render`.

    Raises `ChatTemplateError` also where the template did to a text what hides its origin, and that text spells a special
    token.

    >>> encode_conversation(encoder, [{"role": "user", "content": "<|im_end|>"}], "chatml").ids  # doctest: +SKIP
    [100264, 882, 198, 27, 91, 318, 6345, 91, 29, 100265, 198]
    """
    if untrusted not in TRUSTS:
        raise ValueError(f"untrusted is {untrusted!r}; it must be one of {', '.join(map(repr, TRUSTS))}")
    found = find_template(template)
    if isinstance(found, ReadyTemplate):
        _check_tokens(encoder.spec, found)
        special_tokens = {**found.roles, **(special_tokens or {})}
    rendered = render(
        messages,
        found.source if isinstance(found, ReadyTemplate) else found,
        tools=tools,
        documents=documents,
        add_generation_prompt=add_generation_prompt,
        continue_final_message=continue_final_message,
        special_tokens=special_tokens,
        variables=variables,
    )
    parts = tuple(_parts(rendered, untrusted))
    try:
        return EncodedConversation(encoder.encode_parts(parts), rendered, encoder, parts)
    except DisallowedSpecialTokenError as error:
        hidden = [rendered.text[start:stop] for start, stop, origin in rendered.spans() if origin == UNKNOWN]
        if untrusted == "raise" or not hidden:
            raise
        raise ChatTemplateError(
            f"it cannot be told who wrote {hidden[0][:40]!r}, and the text there spells the special token {error.token!r}: the "
            "template formats or computes text in a way that hides where it came from. Take the token out of the messages, join "
            "strings with + or ~ in the template, or pass the text as parts to Encoder.encode_parts"
        ) from None


def _parts(rendered: Rendered, untrusted: Trust) -> list[Part]:
    trusts: dict[int, Trust] = {TEMPLATE: "special", UNKNOWN: "special" if untrusted == "special" else "raise"}
    return [(rendered.text[start:stop], trusts.get(origin, untrusted)) for start, stop, origin in rendered.spans()]


def missing_tokens(spec: TokenizerSpec, template: ReadyTemplate) -> list[str]:
    """The special tokens of a template that a spec does not have as special."""
    return [token for token in template.special_tokens if token not in spec.special_tokens]


def _check_tokens(spec: TokenizerSpec, template: ReadyTemplate) -> None:
    missing = missing_tokens(spec, template)
    if missing:
        raise ChatTemplateError(
            f"this vocabulary lacks the special tokens {', '.join(missing)} of the chat template {template.name!r}. Take "
            "another template, or add them: hf_bpe.chat.with_template_tokens(spec, name)"
        )


def with_template_tokens(spec: TokenizerSpec, template: str | ReadyTemplate) -> TokenizerSpec:
    """A spec that has the special tokens of a ready template. New ones get the next ids; added tokens it has become special.

    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> dict(with_template_tokens(spec, "chatml").special_tokens)
    {'<|im_start|>': 256, '<|im_end|>': 257}
    """
    found = find_template(template)
    if not isinstance(found, ReadyTemplate):
        raise ChatTemplateError("only the special tokens of ready templates are known; pass one of their names")
    missing = missing_tokens(spec, found)
    return spec.with_added_tokens(missing) if missing else spec


def check_can_mask(template: str) -> None:
    """Raise for a template without `{% generation %}` blocks, of which every mask would be empty."""
    if not has_generation_blocks(template):
        raise ChatTemplateError(
            "a mask of what the assistant wrote needs a chat template with {% generation %} blocks; this one has none"
        )
