"""Finding the native engine, and making whichever engine is to run a spec."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any, Literal, TypeAlias

from hf_bpe.engine.protocol import Engine
from hf_bpe.errors import EngineUnavailableError
from hf_bpe.normalizers import NormalizerStep, Prepend, Replace
from hf_bpe.patterns import find_named_pattern
from hf_bpe.pieces import PieceKind, SentencePieceRules
from hf_bpe.spec import TokenizerSpec

__all__ = [
    "EngineName",
    "choose_native",
    "load_native",
    "make_engine",
    "native_available",
    "native_normalizer",
    "native_pattern",
    "native_stages",
]

EngineName: TypeAlias = Literal["auto", "native", "reference"]

_KIND_NUMBERS: dict[PieceKind, int] = {"normal": 1, "unknown": 2, "control": 3, "user_defined": 4, "unused": 5, "byte": 6}
"""As in `.model` files."""


@cache
def load_native() -> ModuleType | None:
    """The compiled module, or None after one warning that says what is lost and how to get it."""
    try:
        from hf_bpe.engine import native
    except ImportError as error:
        warnings.warn(
            f"hf_bpe runs without its native engine ({error}): results are the same, encoding and training are hundreds of times "
            "slower. Install a Rust toolchain and run `pip install --force-reinstall hf-bpe`, or use a published wheel.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return native


def native_available() -> bool:
    """Whether the compiled engine is installed."""
    return load_native() is not None


def choose_native(engine: EngineName) -> ModuleType | None:
    """The compiled module if `engine` wants it and it is there; None for the reference. Raises if it must be there."""
    if engine not in ("auto", "native", "reference"):
        raise ValueError(f"engine {engine!r} is not known; it must be 'auto', 'native' or 'reference'")
    native = load_native() if engine != "reference" else None
    if native is None and engine == "native":
        raise EngineUnavailableError("the native engine is not installed; use engine='reference', or see the warning above")
    return native


def native_pattern(pattern: str | None) -> dict[str, str | None]:
    """A pattern as the native engine takes it: by the name under which it is published, else in the engine's own dialect."""
    named = find_named_pattern(pattern)
    family = named.name if named else None
    native = load_native()
    if pattern is None or (native and family in native.FAMILIES):
        return {"pattern": pattern, "family": family}
    from hf_bpe.pattern_syntax import translate

    return {"pattern": translate(pattern, source="regex", target="tiktoken"), "family": None}


def native_stages(stages: Sequence[str]) -> list[tuple[str, str | None]]:
    """Patterns that split further, as the native engine takes them."""
    return [(stage["pattern"] or "", stage["family"]) for stage in map(native_pattern, stages)]


def native_normalizer(normalizer: Sequence[NormalizerStep], add_prefix_space: bool) -> dict[str, Any]:
    """A normalizer as the native engine takes it: steps as name and two texts."""
    from hf_bpe.pattern_syntax import translate

    def fields(step: NormalizerStep) -> tuple[str, str, str]:
        if isinstance(step, Prepend):
            return "Prepend", step.content, ""
        if isinstance(step, Replace):
            return "Replace", translate(step.pattern, source="regex", target="tiktoken"), step.content
        return step, "", ""

    return {"normalizer": list(map(fields, normalizer)), "add_prefix_space": add_prefix_space}


def _looks_pieces_up(spec: TokenizerSpec) -> bool:
    """`spec.ignore_merges`, or what gives the same ids and is known at once.

    Looking every piece up first is how tiktoken runs a table of ranks; where merging can reach every token it changes
    nothing. Whether it can is found out when somebody asks for `ignore_merges`: that takes longer than reading the table.
    """
    is_known = "ignore_merges" in spec.__dict__
    if not is_known and spec.table is not None and spec.table.is_by_rank:
        return True
    return spec.ignore_merges


def make_engine(spec: TokenizerSpec, name: EngineName) -> Engine:
    """An engine that runs the spec."""
    native = choose_native(name)
    if native is None:
        from hf_bpe.engine.pure_python import make_pure_python

        return make_pure_python(spec)
    added_tokens = [(t.content, t.id, t.special, t.single_word, t.lstrip, t.rstrip, t.normalized) for t in spec.added_tokens]
    if spec.sentencepiece is not None:
        return _engine_of_pieces(native, spec.sentencepiece, added_tokens)
    engine: Engine = native.Engine(
        vocabulary=spec.table or native.Vocabulary(dict(spec.vocab), spec.merges),
        **native_normalizer(spec.normalizer, spec.add_prefix_space),
        **native_pattern(spec.pattern),
        keep_unmatched=spec.unmatched == "keep",
        ignore_merges=_looks_pieces_up(spec),
        added_tokens=added_tokens,
        stages=native_stages(spec.stages),
    )
    return engine


def _engine_of_pieces(native: ModuleType, rules: SentencePieceRules, added_tokens: list[tuple[Any, ...]]) -> Engine:
    engine: Engine = native.Engine.from_pieces(
        contents=[piece.content for piece in rules.pieces],
        scores=[piece.score for piece in rules.pieces],
        kinds=bytes([_KIND_NUMBERS[piece.kind] for piece in rules.pieces]),
        byte_fallback=rules.byte_fallback,
        prepend_scheme=rules.prepend_scheme,
        prefix_before_space=rules.prefix_before_space,
        remove_extra_whitespaces=rules.remove_extra_whitespaces,
        escape_whitespaces=rules.escape_whitespaces,
        treat_whitespace_as_suffix=rules.treat_whitespace_as_suffix,
        precompiled_charsmap=rules.precompiled_charsmap,
        denormalizer_charsmap=rules.denormalizer_charsmap,
        unk_surface=rules.unk_surface,
        added_tokens=added_tokens,
    )
    return engine
