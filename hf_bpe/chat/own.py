"""The chat template that a tokenizer comes with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hf_bpe.errors import FormatError
from hf_bpe.files import read_text

__all__ = ["own_template"]


def own_template(tokenizer: Path) -> tuple[str | None, dict[str, Any]]:
    """The chat template in a tokenizer's folder, or beside its file, and the special tokens by their roles, as `render` takes them.

    Of several templates the one named "default"; None where there is none. Raises `FormatError` for a configuration that is no JSON.

    >>> own_template(Path("my-tokenizer"))  # doctest: +SKIP
    ('{% for message in messages %}...', {'eos_token': '<|im_end|>'})
    """
    folder = tokenizer if tokenizer.is_dir() else tokenizer.parent
    config_file, template_file = folder / "tokenizer_config.json", folder / "chat_template.jinja"
    config: dict[str, Any] = {}
    if config_file.is_file():
        try:
            config = json.loads(read_text(config_file))
        except json.JSONDecodeError as error:
            raise FormatError(f"{config_file}: not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    named = {name: token for name, token in config.items() if name.endswith("_token") and token}
    roles = {name: token["content"] if isinstance(token, dict) else token for name, token in named.items()}
    template = read_text(template_file) if template_file.is_file() else config.get("chat_template")
    if isinstance(template, list):
        template = next((entry["template"] for entry in template if entry.get("name") == "default"), None)
    return template, {name: token for name, token in roles.items() if isinstance(token, str)}
