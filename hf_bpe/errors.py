"""One class per way things go wrong. Every message says what, where, and what to do.

All derive from `HfBpeError`; each also derives from the built-in that callers already catch (`ValueError`, `KeyError`).
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "BorderError",
    "ChatTemplateError",
    "ClusterError",
    "ComparisonError",
    "ConversionRefused",
    "CorpusError",
    "DisallowedSpecialTokenError",
    "EditError",
    "EncodingAssertionError",
    "EncodingError",
    "EngineUnavailableError",
    "FormatError",
    "HfBpeError",
    "HubAccessDenied",
    "HubConflict",
    "HubError",
    "HubNotFound",
    "HubUnreachable",
    "LoaderError",
    "PatternError",
    "ReportError",
    "ResumeRefused",
    "SpecError",
    "TrainingError",
    "UnknownLintError",
    "UnknownTokenError",
    "WordCountsMismatch",
]


_SHOWN = 5


def some(items: Sequence[str]) -> str:
    """The first few of what a message is about, and how many more there are.

    >>> some(["1", "2", "3", "4", "5", "6", "7"])
    '1, 2, 3, 4, 5 and 2 more'
    """
    shown = ", ".join(items[:_SHOWN])
    return shown if len(items) <= _SHOWN else f"{shown} and {len(items) - _SHOWN} more"


class HfBpeError(Exception):
    """Base of everything this package raises on purpose."""


class SpecError(HfBpeError, ValueError):
    """A tokenizer description contradicts itself.

    `defects` lists every defect found, one sentence each, not only the first.
    """

    def __init__(self, defects: Sequence[str]) -> None:
        self.defects = tuple(defects)
        count = len(self.defects)
        headline = "the tokenizer description has a defect" if count == 1 else f"the tokenizer description has {count} defects"
        super().__init__(f"{headline}:\n" + "\n".join(f"  - {defect}" for defect in self.defects))

    def __reduce__(self) -> tuple[type[SpecError], tuple[tuple[str, ...]]]:
        return type(self), (self.defects,)


class PatternError(HfBpeError, ValueError):
    """A split pattern does not compile, can match the empty string, or means different things to different engines."""


class FormatError(HfBpeError, ValueError):
    """A file is not what its format demands. The message names the file, the place in it and the remedy."""


class ConversionRefused(HfBpeError, ValueError):
    """The target format cannot hold this tokenizer exactly. The message shows the first conflict."""


class DisallowedSpecialTokenError(HfBpeError, ValueError):
    """Text holds the spelling of a special token and the caller did not say what to do with it. `token` is the spelling."""

    def __init__(self, token: str, message: str | None = None) -> None:
        self.token = token
        super().__init__(
            message
            or f"the text holds {token!r}, which is a special token. To encode it as that token, pass "
            f"allowed_special={{{token!r}, ...}} and leave it out of disallowed_special; to encode it as plain text, pass "
            "disallowed_special=() ; "
            "encode_ordinary never matches special tokens"
        )

    def __reduce__(self) -> tuple[type[DisallowedSpecialTokenError], tuple[str, str]]:
        return type(self), (self.token, str(self))


class UnknownTokenError(HfBpeError, KeyError):
    """An id (or a token) that the vocabulary does not hold."""

    def __str__(self) -> str:  # KeyError would show the message in quotes
        return str(self.args[0]) if self.args else ""


class BorderError(HfBpeError, ValueError):
    """What may become of the end of a text cannot be proved for this tokenizer, or is more than was asked for."""


class EncodingError(HfBpeError, ValueError):
    """There is no encoding of this name, the name is taken, or a call was given what it cannot take, such as an unknown special token."""


class EncodingAssertionError(HfBpeError, AssertionError):
    """What tiktoken checks by `assert`; here it is checked under `python -O` too."""


class ChatTemplateError(HfBpeError, ValueError):
    """A chat template is no Jinja, fails, refuses a conversation, or does what hides who wrote what."""


class UnknownLintError(HfBpeError, ValueError):
    """A lint was named that there is none of. The message lists them."""


class TrainingError(HfBpeError, ValueError):
    """Training was asked for something impossible."""


class CorpusError(HfBpeError, ValueError):
    """A corpus is missing, empty, unreadable or not UTF-8 text."""


class WordCountsMismatch(HfBpeError, ValueError):
    """Words were counted in another way than they are to be merged, added to or trained on. The message lists what differs."""


class ComparisonError(HfBpeError, ValueError):
    """Tokenizers cannot be compared as it was asked for: a name that is unknown or doubled, a price that is none, texts that do not match."""


class ReportError(HfBpeError, ValueError):
    """A report cannot be written under this name, or what draws its plots is not installed."""


class ResumeRefused(HfBpeError, ValueError):
    """An output folder holds the beginning of another run. The message lists what differs and says what to do."""


class EditError(HfBpeError, ValueError):
    """A tokenizer, or a model beside it, cannot be edited as it was asked for. Nothing was changed."""


class ClusterError(HfBpeError, RuntimeError):
    """There is no cluster, it is asked for what it cannot do, or it lost a task again and again. The message names the task."""


class LoaderError(HfBpeError, RuntimeError):
    """A library that was to run a tokenizer is not installed, cannot run this one, or failed on a text."""


class EngineUnavailableError(HfBpeError, RuntimeError):
    """The native engine was asked for by name and is not installed."""


class HubError(HfBpeError, OSError):
    """The Hub did not do what it was asked to. Nothing was changed there unless the message says so."""


class HubAccessDenied(HubError):
    """There is no token, it is not valid, or it does not let you write there."""


class HubNotFound(HubError):
    """There is no such repository or revision, or the token does not let you see it."""


class HubConflict(HubError):
    """The repository was changed meanwhile, or the name belongs to something else."""


class HubUnreachable(HubError):
    """No answer, a broken connection, or a server in trouble. The message says whether anything may have been changed."""
