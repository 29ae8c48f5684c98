"""Messages of the layers below, which speak of arguments, as somebody reads them who gives options."""

from __future__ import annotations

import re

__all__ = ["as_options"]

# In this order. `format=` is asked of a reader, unless something is to be saved.
_OPTIONS = {
    r" and change the result with spec\.replace\(\.\.\.\)": "",
    r"add them: hf_bpe\.chat\.with_template_tokens\(spec, name\)": (
        "train a tokenizer that has them: hf-bpe train takes --special-token; a file that does not say which tokens are special "
        "takes --special-token NAME=ID"
    ),
    r"\ballow_lossy=True\b": "--allow-lossy",
    r"\bwithout allow_lossy\b": "without --allow-lossy",
    r"\b(hard_vocab_limit|max_sentence_length)=(?=\w)": r"--set \1=",
    r"\bold_tokenizer=": "--old-tokenizer ",
    r"\bpad_to_multiple_of=": "--pad-to-multiple-of ",
    r"\bshrink=True\b": "--shrink",
    r"\bid_map=": "--id-map ",
    r"\b(embedding|head|output|untrained)=": r"--\1 ",
    r"\bpattern=": "--pattern ",
    r'\bon_bad="(\w+)"': r"--on-bad \1",
    r"\bas text_field\b": "with --text-field",
    r"\bspecial_tokens=": "--special-token ",
    r"((?:[Ss]ave it with |\())format=": r"\1--to ",
    r"\bformat=": "--from ",
    r"(--(?:pattern|special-token|from|old-tokenizer|id-map|embedding|head|output|untrained)) (?=[\s,;.)]|\Z)": r"\1",
}


def as_options(message: str) -> str:
    """The message with options in place of arguments.

    >>> as_options("allow_lossy=True writes the nearest file; pass pattern= and special_tokens=, or save it with format='gguf'")
    "--allow-lossy writes the nearest file; pass --pattern and --special-token, or save it with --to 'gguf'"
    """
    for argument, option in _OPTIONS.items():
        message = re.sub(argument, option, message)
    return message
