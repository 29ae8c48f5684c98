"""Lints about tokenizer_config.json, and about files that only some versions of transformers read the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from conversion.json_shapes import content_of, list_at, object_at, quoted, text_at
from conversion.tokenizer_json.post_processor import tokens_around
from hf_bpe.doctor.finding import Problem, lint
from hf_bpe.doctor.folder import CONFIG, MODEL_CONFIG, ROLES, SPECIALS, TOKENIZER, Folder
from hf_bpe.doctor.rebuilding import rebuilding_class
from hf_bpe.doctor.vocabularies import is_byte_level
from hf_bpe.model_files.configuration import text_part

_UNLIMITED = 10**20
"""transformers writes int(1e30) for "no limit"."""
_GENERIC = ("PreTrainedTokenizerFast", "PreTrainedTokenizer")
_PRIVATE_KEYS = ("name_or_path", "tokenizer_file", "vocab_file", "special_tokens_map_file", "_name_or_path")
_LENGTH_KEYS = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length")


@lint("warning")
def clean_up_spaces(folder: Folder) -> Iterator[Problem]:
    """The flag clean_up_tokenization_spaces, which changes decoded text."""
    if folder.json(CONFIG).get("clean_up_tokenization_spaces") is True:
        yield Problem(
            f"{CONFIG}: $.clean_up_tokenization_spaces",
            "transformers before 5.7 removes spaces from decoded text: 'x != y' becomes 'x!= y', and code, numbers and quotations do "
            "not survive decoding",
            "Set it to false.",
        )


def _is_side(value: object) -> bool:
    return value in ("left", "right")


def _is_a(*types: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, types)


_OF_ROLES: dict[str, tuple[Callable[[object], bool], str]] = {
    role: (lambda value: content_of(value) is not None, "text, or an object with the text as content") for role in ROLES
}
_SETTINGS: dict[str, tuple[Callable[[object], bool], str]] = {
    **_OF_ROLES,
    "tokenizer_class": (_is_a(str), "the name of a class"),
    "chat_template": (_is_a(str, list, dict), "text, or a list of objects with name and template"),
    "added_tokens_decoder": (_is_a(dict), "an object that gives tokens by their ids"),
    "additional_special_tokens": (_is_a(list, dict), "a list of tokens"),
    "extra_special_tokens": (_is_a(list, dict), "a list of tokens, or an object that names them"),
    "model_input_names": (_is_a(list), "a list of names"),
    "padding_side": (_is_side, "'left' or 'right'"),
    "truncation_side": (_is_side, "'left' or 'right'"),
}


@lint("error")
def wrong_setting(folder: Folder) -> Iterator[Problem]:
    """A setting with a value that transformers does not take."""
    for name, known in ((CONFIG, _SETTINGS), (SPECIALS, _OF_ROLES)):
        for key in filter(folder.json(name).__contains__, known):
            value, (is_right, wanted) = folder.json(name)[key], known[key]
            if value is not None and not is_right(value):
                yield Problem(
                    f"{name}: $.{key}",
                    f"It is {quoted(value)}, and must be {wanted}. transformers ends with an error that names neither file nor setting, "
                    "when it loads or when the setting is used first",
                    "Write what it must be, or remove the key.",
                )


@lint("warning")
def max_length(folder: Folder) -> Iterator[Problem]:
    """A model_max_length that is no length."""
    limit = folder.json(CONFIG).get("model_max_length")
    if limit is not None and (type(limit) not in (int, float) or not limit >= 1):
        yield Problem(
            f"{CONFIG}: $.model_max_length",
            f"It is {quoted(limit)}. truncation=True cuts every text to nothing, or raises an error, in transformers",
            "Write the number of tokens that the model takes.",
        )


@lint("hint")
def length_beyond_model(folder: Folder) -> Iterator[Problem]:
    """A model_max_length that lets longer texts through than the model takes."""
    limit = folder.json(CONFIG).get("model_max_length")
    known = [value for key in _LENGTH_KEYS if type(value := text_config(folder).get(key)) is int and value > 0]
    if isinstance(limit, (int, float)) and known and known[0] < limit < _UNLIMITED:
        yield Problem(
            f"{CONFIG}: $.model_max_length",
            f"It is {quoted(limit)}, and the model takes {known[0]} ({MODEL_CONFIG}). truncation=True lets texts through that are too long "
            "for the model, which fails or gives nonsense",
            f"Write {known[0]}, unless the model is run with stretched positions.",
        )


@lint("warning")
def two_names(folder: Folder) -> Iterator[Problem]:
    """Both additional_special_tokens and extra_special_tokens, of which one is dropped."""
    config = folder.json(CONFIG)
    first, second = config.get("additional_special_tokens"), config.get("extra_special_tokens")
    if first and second and first != second:
        yield Problem(
            f"{CONFIG}: $.extra_special_tokens",
            "additional_special_tokens is there too and says something else. transformers 5 drops one of the two without a word, so "
            "tokens lose their special flag",
            "Keep additional_special_tokens, which both 4.x and 5.x read, with all tokens.",
        )


@lint("warning")
def list_of_special_tokens(folder: Folder) -> Iterator[Problem]:
    """A list of extra_special_tokens, which transformers 4 does not load."""
    if isinstance(folder.json(CONFIG).get("extra_special_tokens"), list) and list_at(
        folder.json(CONFIG), "extra_special_tokens"
    ):
        yield Problem(
            f"{CONFIG}: $.extra_special_tokens",
            "A list is read by transformers 5 only; 4.x ends with an error that speaks of something else ('list' object has no attribute "
            "'keys', or a missing protobuf), and so do the servers and tools built on it",
            "Rename it to additional_special_tokens, which both read.",
        )


@lint("warning")
def new_class_name(folder: Folder) -> Iterator[Problem]:
    """A tokenizer_class that transformers 4 does not know."""
    name = text_at(folder.json(CONFIG), "tokenizer_class")
    if name in ("TokenizersBackend", "HfBpeTokenizer") and "auto_map" not in folder.json(CONFIG):
        who = "transformers 5" if name == "TokenizersBackend" else "transformers 5, or hf_bpe where it is imported,"
        yield Problem(
            f"{CONFIG}: $.tokenizer_class",
            f"Only {who} reads {name!r}: 4.x, and tools built on it, raise 'Tokenizer class {name} does not exist'",
            'Write "PreTrainedTokenizerFast", which both versions load with the same ids.',
        )


@lint("hint")
def custom_code(folder: Folder) -> Iterator[Problem]:
    """A tokenizer that needs code from the repository."""
    modules = [module for module in _auto_map(folder) if module]
    if modules and text_at(folder.json(CONFIG), "tokenizer_class") not in _GENERIC:
        yield Problem(
            f"{CONFIG}: $.auto_map",
            f"It loads {quoted(modules[0])}, so everybody has to pass trust_remote_code=True, and servers that forbid it cannot use the model",
            'Write a tokenizer.json and tokenizer_class "PreTrainedTokenizerFast": hf-bpe convert makes such a folder.',
        )


@lint("error")
def custom_code_missing(folder: Folder) -> Iterator[Problem]:
    """An auto_map that names a file that is not there."""
    for module in filter(None, _auto_map(folder)):
        file = f"{module.partition('.')[0]}.py"
        if "--" not in module and folder.path.is_dir() and file not in folder.files:
            yield Problem(
                f"{CONFIG}: $.auto_map",
                f"{quoted(module)} is in {file}, which is not in the folder: loading with trust_remote_code=True fails",
                f"Add {file}, or remove auto_map.",
            )


def _auto_map(folder: Folder) -> list[str | None]:
    found = folder.json(CONFIG).get("auto_map")
    entry: Any = found.get("AutoTokenizer") if isinstance(found, dict) else found
    return [name if isinstance(name, str) else None for name in (entry if isinstance(entry, list) else [entry])]


@lint("warning")
def rebuilt_on_load(folder: Folder) -> Iterator[Problem]:
    """A tokenizer that transformers 5 builds anew, without the pre-tokenizer of tokenizer.json."""
    if not folder.json(TOKENIZER) or any(_auto_map(folder)):
        return
    model_type = text_at(folder.json(MODEL_CONFIG), "model_type")
    named = text_at(folder.json(CONFIG), "tokenizer_class") or text_at(folder.json(MODEL_CONFIG), "tokenizer_class")
    found = rebuilding_class(folder.json(TOKENIZER), named, model_type)
    if found is not None:
        name, difference = found
        because = (
            f"tokenizer_class {quoted(named)}"
            if named and named.removesuffix("Fast") == name
            else f"model_type {quoted(model_type)}"
        )
        yield Problem(
            f"{CONFIG}: $.tokenizer_class" if because.startswith("tokenizer_class") else f"{MODEL_CONFIG}: $.model_type",
            f"With {because}, AutoTokenizer of transformers 5 takes {name}, which {difference} and drops what {TOKENIZER} says. Its users "
            "get other ids than transformers 4, tokenizers, and the training did, without a warning",
            'Write tokenizer_class "PreTrainedTokenizerFast"; where model_type alone decides (qwen2, qwen3_5, ...), also add an auto_map '
            "entry for AutoTokenizer, or load with PreTrainedTokenizerFast.from_pretrained.",
        )


@lint("warning")
def no_tokenizer_json(folder: Folder) -> Iterator[Problem]:
    """A SentencePiece model that every version of transformers converts by itself."""
    if "tokenizer.model" in folder.files and TOKENIZER not in folder.files and CONFIG in folder.files:
        yield Problem(
            "tokenizer.model",
            f"There is no {TOKENIZER}, so transformers converts the model when loading, in another way in each version. The conversion of 5.x "
            "orders merges by id, not by score: Mistral's model then gives other ids for one document in five",
            f"Add a {TOKENIZER}: hf-bpe convert tokenizer.model FOLDER writes an exact one.",
        )


@lint("warning")
def switch_disagrees(folder: Folder) -> Iterator[Problem]:
    """The switches add_bos_token and add_eos_token against the post-processor."""
    if not folder.json(TOKENIZER):
        return
    before, after = tokens_around(folder.json(TOKENIZER).get("post_processor"))
    for switch, role, added in (("add_bos_token", "bos_token", before), ("add_eos_token", "eos_token", after)):
        wanted, place = _switch(folder, switch)
        content = folder.roles.get(role, (None, ""))[0]
        if wanted is not None and content is not None and wanted != (content in added):
            yield Problem(
                place,
                f"It stands for {switch}: {str(wanted).lower()}, and the post_processor of {TOKENIZER} "
                f"{'does not add' if wanted else 'adds'} {quoted(content)}. transformers 5 goes by the post_processor; some classes of "
                "4.x (Llama's) go by the switch: other ids",
                "Make the post_processor say what the model was trained with, and remove the switch.",
            )


_BOS_BY_DEFAULT = ("LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer")
"""Classes that put bos before every text in transformers 4.57 unless add_bos_token is false."""


def _switch(folder: Folder, switch: str) -> tuple[bool | None, str]:
    """What a switch says, if anything, and where."""
    wanted = folder.json(CONFIG).get(switch)
    if isinstance(wanted, bool):
        return wanted, f"{CONFIG}: $.{switch}"
    by_default = switch == "add_bos_token" and (text_at(folder.json(CONFIG), "tokenizer_class") or "").removesuffix("Fast")
    return (True if by_default in _BOS_BY_DEFAULT else None), f"{CONFIG}: $.tokenizer_class"


@lint("hint")
def merges_as_pairs(folder: Folder) -> Iterator[Problem]:
    """Merges written as pairs, which old readers do not load."""
    merges = list_at(object_at(folder.json(TOKENIZER), "model"), "merges")
    # A SentencePiece-like file may have tokens with a space, which need pairs; in the byte alphabet none has.
    if merges and isinstance(merges[0], list) and is_byte_level(folder.json(TOKENIZER)):
        yield Problem(
            f"{TOKENIZER}: $.model.merges",
            "tokenizers before 0.20, and readers written for its files (older llama.cpp converters and training tools), fail with 'untagged "
            "enum ModelWrapper' or a type error",
            "Write each pair as 'a b', which every version reads; hf_bpe does when it saves.",
        )


@lint("hint")
def private_path(folder: Folder) -> Iterator[Problem]:
    """A path of somebody's machine in tokenizer_config.json."""
    for key in _PRIVATE_KEYS:
        value = text_at(folder.json(CONFIG), key)
        if value and (value.startswith(("/", "~")) or value[1:3] == ":\\"):
            yield Problem(
                f"{CONFIG}: $.{key}",
                f"{quoted(value)} is a place on the machine that saved the folder: it tells names to everybody, and exists nowhere else",
                "Remove the key.",
            )


def text_config(folder: Folder) -> dict[str, Any]:
    """What config.json says of the part of the model that reads text."""
    return text_part(folder.json(MODEL_CONFIG))
