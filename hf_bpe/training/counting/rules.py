"""`CountRules`: all that decides which words a text is counted as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from hf_bpe.errors import FormatError, TrainingError
from hf_bpe.normalizers import NormalizerStep, Prepend, Replace, as_steps
from hf_bpe.patterns import resolve_pattern
from hf_bpe.spec import TokenizerSpec

__all__ = ["CountRules"]


@dataclass(frozen=True)
class CountRules:
    """How text is cut into words. Fields are as in `TokenizerSpec`; special tokens are cut out of the text and not counted."""

    pattern: str | None
    stages: tuple[str, ...] = ()
    unmatched: Literal["keep", "drop"] = "keep"
    normalizer: tuple[NormalizerStep, ...] = ()
    add_prefix_space: bool = False
    special_tokens: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        pattern: str | None = "cl100k",
        *,
        stages: Sequence[str] = (),
        unmatched: Literal["keep", "drop"] = "keep",
        normalizer: NormalizerStep | Sequence[NormalizerStep] = (),
        add_prefix_space: bool = False,
        special_tokens: Sequence[str] = (),
    ) -> CountRules:
        """The rules as `train` takes them. Raises `PatternError` or `SpecError` for those that nothing can be split by.

        >>> CountRules.of("none").pattern is None
        True
        """
        if isinstance(special_tokens, str) or "" in special_tokens:
            raise TrainingError(f"special_tokens must be a list of texts that are not empty, not {special_tokens!r:.80}")
        rules = cls(
            resolve_pattern(pattern),
            tuple(stages),
            unmatched,
            as_steps(normalizer),
            add_prefix_space,
            tuple(dict.fromkeys(special_tokens)),
        )
        _ = rules.spec
        return rules

    @classmethod
    def from_spec(cls, spec: TokenizerSpec, special_tokens: Sequence[str]) -> CountRules:
        """The rules by which a tokenizer splits text."""
        shared = {field.name: getattr(spec, field.name) for field in fields(cls) if field.name != "special_tokens"}
        return cls(**shared, special_tokens=tuple(dict.fromkeys(special_tokens)))

    @property
    def spec(self) -> TokenizerSpec:
        """A tokenizer of single bytes that splits text in this way."""
        return TokenizerSpec(
            vocab={bytes([byte]): byte for byte in range(256)},
            merges=(),
            pattern=self.pattern,
            stages=self.stages,
            unmatched=self.unmatched,
            normalizer=self.normalizer,
            add_prefix_space=self.add_prefix_space,
        )

    def differences(self, other: CountRules) -> list[str]:
        """What the rules differ in, a line each: that of `self`, then that of `other`.

        >>> CountRules(None).differences(CountRules(None, add_prefix_space=True))
        ['add_prefix_space: False, and True']
        """
        mine, theirs = self.to_json(), other.to_json()
        for rules in (mine, theirs):
            rules["special_tokens"] = sorted(rules["special_tokens"])  # their order changes no count
        return [f"{name}: {mine[name]!r}, and {theirs[name]!r}" for name in mine if mine[name] != theirs[name]]

    def to_json(self) -> dict[str, Any]:
        """As a word-count file holds it.

        >>> CountRules(None, normalizer=("NFC", Prepend("_"))).to_json()["normalizer"]
        ['NFC', {'prepend': '_'}]
        """
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        lists = {name: list(content[name]) for name in ("stages", "special_tokens")}
        return content | lists | {"normalizer": list(map(_step_to_json, self.normalizer))}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> CountRules:
        """The inverse of `to_json`. Raises `FormatError` naming what is missing or unknown."""
        known = {field.name for field in fields(cls)}
        if set(content) != known:
            raise FormatError(f"the rules of splitting are {sorted(content)} instead of {sorted(known)}")
        lists = {name: tuple(content[name]) for name in ("stages", "special_tokens")}
        rules = cls(**{**content, **lists, "normalizer": tuple(map(_step_from_json, content["normalizer"]))})
        _ = rules.spec
        return rules


def _step_to_json(step: NormalizerStep) -> Any:
    if isinstance(step, Prepend):
        return {"prepend": step.content}
    if isinstance(step, Replace):
        return {"replace": step.pattern, "by": step.content}
    return step


def _step_from_json(step: Any) -> NormalizerStep:
    match step:
        case {"prepend": content}:
            return Prepend(content)
        case {"replace": pattern, "by": content}:
            return Replace(pattern, content)
        case str():
            return step  # type: ignore[return-value]  # the spec knows which there are
        case _:
            raise FormatError(f"the normalizer step {step!r:.80} is not known")
