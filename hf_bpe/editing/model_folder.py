"""What the files beside the weights are, when a model gets another tokenizer."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fnmatch import fnmatch
from pathlib import Path

from hf_bpe.editing.model_ids import CONFIGURATIONS
from hf_bpe.errors import EditError

__all__ = ["FREEZE_LIST", "ID_MAP", "RECORD", "other_weights", "tokenizer_files", "unchanged_files", "vocabulary_files"]

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
    """Files of a folder that name the tokens of a tokenizer, by their names; none where there is no folder."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
    return [name for name in names if _is_one_of(name, _VOCABULARY)]


def other_weights(model: Path, shards: Collection[str]) -> list[str]:
    """Files beside the checkpoint that hold the same weights in another form, or a state that goes with them, by their names."""
    names = sorted(path.name for path in model.iterdir() if path.is_file() and path.name not in shards)
    return [name for name in names if _is_one_of(name, _WEIGHTS) and not _is_one_of(name, _NO_WEIGHTS)]


def tokenizer_files(model: Path) -> list[str]:
    """The files of the tokenizer that is there, by their paths below the folder."""
    names = (path.relative_to(model).as_posix() for path in model.rglob("*") if path.is_file())
    return sorted(name for name in names if _is_one_of(name, _TOKENIZER))


def unchanged_files(model: Path, rewritten: Collection[str]) -> Iterator[str]:
    """The files, as paths below the folder, that the new folder has too. rewritten: those that it has in another form, or not."""
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
        if (
            name not in rewritten
            and not _is_one_of(name, _TOKENIZER)
            and name not in (*CONFIGURATIONS, RECORD, FREEZE_LIST, ID_MAP)
        ):
            yield name


def _is_one_of(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)
