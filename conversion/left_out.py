"""What a source says beyond the ids of a text, and a target does not: nothing that a verdict on ids speaks of, but not to be lost silently."""

from __future__ import annotations

from collections.abc import Iterator

from conversion.huggingface import CONFIGURATION
from conversion.tokenizer_json.post_processor import carried, left_out_around
from hf_bpe.spec import TokenizerSpec

__all__ = ["left_out"]

_NOT_CARRIED = "not_carried"
_GGUF_SWITCHES = {"add_bos_token": "before", "add_eos_token": "after"}
_WITH_POST_PROCESSOR = ("tokenizer.json", "huggingface")


def left_out(spec: TokenizerSpec, format_name: str) -> Iterator[str]:
    """What a file of that format does not say of what the source of a spec said.

    >>> spec = TokenizerSpec({bytes([b]): b for b in range(256)}, (), provenance={"not_carried": "truncation"})
    >>> list(left_out(spec, "gguf"))
    ["the source's truncation"]
    """
    around = left_out_around(spec)
    if around is not None and not (format_name in _WITH_POST_PROCESSOR and carried(spec)):
        yield around
    for switch, side in _GGUF_SWITCHES.items() if format_name != "gguf" else ():
        if spec.provenance.get(f"tokenizer.ggml.{switch}") == "True":
            yield f"the source's {switch}, which puts a token {side} every text: the target by itself adds no tokens"
    named = [key for key in ("bos_token_id", "eos_token_id") if f"tokenizer.ggml.{key}" in spec.provenance]
    if named and format_name not in ("gguf", "sentencepiece"):
        yield f"the source's {' and '.join(named)}, which say what begins and ends a text: the target has no roles"
    if _NOT_CARRIED in spec.provenance:
        yield f"the source's {spec.provenance[_NOT_CARRIED]}"
    if CONFIGURATION in spec.provenance:
        yield f"the source's {spec.provenance[CONFIGURATION]}: which tokens begin and end a text, the chat template, settings"
