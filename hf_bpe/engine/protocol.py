"""What an engine is to an `Encoder`: the native one and the reference have these methods."""
# ruff: noqa: D102 - what the methods do is said once, in native.pyi

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Engine", "Places", "Unit"]

Unit: TypeAlias = Literal["bytes", "characters", "stock"]
"""What places count; "stock": characters as the `tokenizers` library gives them to the spaces of a SentencePiece model."""


class Places(Protocol):
    """Where the ids of some texts come from: of each text, lists of its own."""

    def ids(self) -> list[list[int]]:
        """The ids."""

    def offsets(self) -> list[list[tuple[int, int]]]:
        """First and last + 1 of what each stands for."""

    def pieces(self) -> list[list[int]]:
        """The number of the piece that each is part of."""

    def bounds(self) -> list[int]:
        """Where the ids of each text begin, and where the last one's end."""

    def arrays(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """All of that in arrays, as `Alignment` has it."""


class Engine(Protocol):
    """What an engine does for an `Encoder`. `policy` makes the opaque value that the other methods take."""

    def policy(self, allowed: frozenset[str], forbidden: frozenset[str]) -> Any: ...
    def policy_of_parts(self, text: str, lengths: list[int], trusts: bytes) -> Any: ...
    def added_ids(self, text: str, policy: Any) -> list[int]: ...
    def encode(self, text: str, policy: Any) -> list[int]: ...
    def encode_piece(self, piece: bytes, whole: bool) -> list[int]: ...
    def encode_to_numpy(self, text: str, policy: Any, narrow: bool) -> NDArray[Any]: ...
    def encode_batch(self, texts: Sequence[str], policy: Any, num_threads: int) -> list[list[int]]: ...
    def encode_batch_to_numpy(
        self, texts: Sequence[str], policy: Any, num_threads: int, narrow: bool
    ) -> tuple[NDArray[Any], NDArray[Any]]: ...
    def encode_utf8_to_numpy(
        self, data: Any, offsets: NDArray[Any], policy: Any, num_threads: int, narrow: bool
    ) -> tuple[NDArray[Any], NDArray[Any]]: ...
    def place(self, texts: Sequence[str], policy: Any, num_threads: int, unit: Unit) -> Places: ...
    def place_one(self, text: str, policy: Any, unit: Unit) -> tuple[list[int], list[tuple[int, int]]]: ...
    def count(self, text: str, policy: Any) -> int: ...
    def count_batch(self, texts: Sequence[str], policy: Any, num_threads: int) -> list[int]: ...
    def pretokenize(self, text: str) -> list[str]: ...
    def decode(self, ids: Any) -> str | bytes: ...
    def decode_bytes(self, ids: Any) -> bytes: ...
    def cache_info(self) -> tuple[int, int, int]: ...
