"""What the files beside the weights are, when a model gets another tokenizer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from hf_bpe.editing.model_ids import CONFIGURATIONS
from hf_bpe.errors import EditError

__all__ = [
    "FREEZE_LIST",
    "ID_MAP",
    "RECORD",
    "other_weights",
    "tokenizer_files",
    "unchanged_files",
    "vocabulary_files",
    "weights_below",
]

RECORD = "resize_record.json"
FREEZE_LIST = "new_rows.json"
ID_MAP = "id_map.json"

_VOCABULARY = (
    *("tokenizer.json", "tokenizer.model", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.json", "vocab.txt", "merges.txt", "spiece.model", "sentencepiece.bpe.model", "tekken.json", "*.tiktoken"),
)
"""Files of a tokenizer that name its tokens."""

_TOKENIZER = (
    *(*_VOCABULARY, "tokenizer_config.json"),
    *("chat_template.jinja", "additional_chat_templates/*", "tokenization_hf_bpe.py"),
)
"""Files of the old tokenizer, which would be read beside those of the new one, or in their place."""

_WEIGHTS = ("*.safetensors", "*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack", "*.gguf", "*.onnx", "*.ot")
_NO_WEIGHTS = ("training_args.bin", "scheduler.pt", "scaler.pt", "rng_state*.pth")


def vocabulary_files(folder: Path) -> list[str]:
    """The files of a folder that name the tokens of a tokenizer; none where there is no folder."""
    return _files(folder, _VOCABULARY)


def tokenizer_files(model: Path) -> list[str]:
    """The files of the tokenizer that is there, by their paths below the folder."""
    return _files(model, _TOKENIZER)


def other_weights(model: Path, shards: Collection[str]) -> list[str]:
    """Files beside the checkpoint that hold the same weights in another form, or a state that goes with them, by their names."""
    return sorted({*_files(model, _WEIGHTS)}.difference(shards, _files(model, _NO_WEIGHTS)))


def weights_below(model: Path) -> list[str]:
    """Files in folders of the model's that look like weights, by their paths: checkpoints of a training, weights in another form."""
    found = (path for pattern in _WEIGHTS for path in model.glob(f"*/**/{pattern}") if path.is_file())
    return sorted({path.relative_to(model).as_posix() for path in found})


def unchanged_files(model: Path, rewritten: Collection[str]) -> Iterator[str]:
    """The files, as paths below the folder, that the new folder has too. rewritten: those that it has in another form, or not."""
    replaced = {*rewritten, *tokenizer_files(model), *CONFIGURATIONS, RECORD, FREEZE_LIST, ID_MAP}
    for path in sorted(model.rglob("*")):
        name = path.relative_to(model).as_posix()
        if path.is_dir():
            if path.is_symlink():
                raise EditError(
                    f"{path} is a link to a folder, of which it cannot be told what belongs to the model; remove it first"
                )
            continue
        if not path.is_file():
            what = "a link to what is not there" if path.is_symlink() else "no regular file"
            raise EditError(f"{path} is {what}; remove it first")
        if name not in replaced:
            yield name


def _files(folder: Path, patterns: Iterable[str]) -> list[str]:
    """The files that are called so, by their paths below the folder. A * stands for no /; with `fnmatch` it would."""
    found = (path for pattern in patterns for path in folder.glob(pattern) if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in found)
