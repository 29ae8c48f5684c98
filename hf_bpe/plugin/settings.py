"""Which arguments a tokenizer takes. transformers takes any, and drops those that it does not know without a word."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from hf_bpe.errors import TrainingError

__all__ = ["refuse_unknown_settings"]

_SETTINGS = frozenset(
    {
        *(
            "model_max_length",
            "max_len",
            "padding_side",
            "truncation_side",
            "model_input_names",
            "split_special_tokens",
            "verbose",
        ),
        *("add_bos_token", "add_eos_token", "add_prefix_space", "legacy", "extra_special_tokens", "additional_special_tokens"),
        *("chat_template", "chat_control_tokens", "response_template", "response_schema", "pad_token_type_id", "name_or_path"),
        *("clean_up_tokenization_spaces", "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"),
        *("processor_class", "model_specific_special_tokens", "errors"),
    }
)


def refuse_unknown_settings(names: Iterable[str], of_training: frozenset[str]) -> None:
    """Raise `TrainingError` for the first of these arguments that is neither a tokenizer's nor one `of_training`.

    >>> refuse_unknown_settings(["min_freq"], frozenset({"min_frequency"}))
    Traceback (most recent call last):
    ...
    hf_bpe.errors.TrainingError: no setting is named 'min_freq'; did you mean 'min_frequency'?
    """
    known = _SETTINGS | of_training
    for name in names:
        if name not in known and not name.endswith("_token"):  # roles, also those of some models, image_token
            close = difflib.get_close_matches(name, known, 1)
            advice = f"did you mean {close[0]!r}?" if close else f"training takes {', '.join(sorted(of_training))}"
            raise TrainingError(f"no setting is named {name!r}; {advice}")
