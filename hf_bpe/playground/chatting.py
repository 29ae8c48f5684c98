"""Conversations through a tokenizer's chat template, with who wrote what."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hf_bpe.analysis.conversation import Conversation, view_conversation
from hf_bpe.chat import TEMPLATES
from hf_bpe.chat.encoding import missing_tokens
from hf_bpe.errors import PlaygroundError
from hf_bpe.playground.asked import Asked
from hf_bpe.playground.shelf import Shown

__all__ = ["converse"]


def converse(shown: Shown, asked: Asked) -> tuple[Conversation, tuple[str, ...]]:
    """The conversation that is asked for as a tokenizer's tokens, and what the reader should know about it.

    A vocabulary that lacks the special tokens of a ready template is shown as if it had them, which a note says. Raises
    `PlaygroundError` for a tokenizer without a template of its own where that is asked for, and what `encode_conversation`
    raises.
    """
    options: dict[str, Any] = {"add_generation_prompt": asked.generation_prompt}
    messages = [asdict(message) for message in asked.messages or ()]
    template, roles = shown.chat
    if asked.template == "own" and template is None:
        raise PlaygroundError("This tokenizer has no chat template of its own: choose one above to see how it would look.")
    if asked.template == "own":
        return view_conversation(shown.vocabulary, messages, str(template), special_tokens=roles, **options), ()
    if asked.template not in TEMPLATES:
        raise PlaygroundError(f"no chat template is named {asked.template!r:.40}; there are {', '.join(TEMPLATES)}")
    ready = TEMPLATES[asked.template]
    missing = ", ".join(missing_tokens(shown.spec, ready))
    notes = (f"This vocabulary lacks {missing}. Here they are added as new ids, as hf_bpe.chat.with_template_tokens does.",)
    return view_conversation(shown.cards(ready.name).vocabulary, messages, ready, **options), notes if missing else ()
