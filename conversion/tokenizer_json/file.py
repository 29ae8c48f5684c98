"""tokenizer.json, the file of the `tokenizers` library and of every Hugging Face model, as far as it is BPE."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from conversion.format import AsRun, Format, Given
from conversion.json_text import read_json
from conversion.tokenizer_json.reading import from_dict
from conversion.tokenizer_json.steps import NAME
from conversion.tokenizer_json.writing import document_of
from conversion.verdict import Checks
from hf_bpe.spec import TokenizerSpec

__all__ = ["FORMAT"]


def _recognises(path: Path, head: bytes) -> bool:
    """A JSON object whose first value is no number (a bare vocabulary's is)."""
    opening, brace, rest = head.partition(b"{")
    _, _, value = rest.partition(b":")
    return bool(brace) and not opening.strip(b"\xef\xbb\xbf \t\r\n") and not value.lstrip()[:1].isdigit() and b'"' in rest


def _read(path: Path, given: Given) -> TokenizerSpec:
    given.refuse(str(path))
    return from_dict(read_json(path), str(path))


def _write(spec: TokenizerSpec, name: str, checks: Checks) -> dict[str, bytes]:
    return {name: json.dumps(document_of(spec, checks), ensure_ascii=False, separators=(",", ":")).encode()}


def _as_run(_: TokenizerSpec, files: Mapping[str, bytes], name: str) -> AsRun:
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_str(files[name].decode())

    def encode(texts: Sequence[str], as_special: bool) -> list[list[int]]:
        tokenizer.encode_special_tokens = not as_special
        return [encoding.ids for encoding in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    return AsRun(f"tokenizers {tokenizers.__version__}", encode)


FORMAT = Format(
    name=NAME,
    description="the file of the tokenizers library: byte-level BPE or a SentencePiece BPE model",
    is_folder=False,
    self_contained=True,
    recognises=_recognises,
    in_folder=("*tokenizer.json",),
    read=_read,
    write=_write,
    as_run=_as_run,
)
