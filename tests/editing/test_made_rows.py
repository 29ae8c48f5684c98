"""Rows of new tokens: what their numbers are, in every dtype."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from hf_bpe import EditError
from hf_bpe.editing import IdMap, Made, id_map_between
from hf_bpe.editing.checkpoint import making, reading
from hf_bpe.editing.checkpoint.making import RowMaker
from hf_bpe.editing.checkpoint.matrices import Matrix
from hf_bpe.editing.checkpoint.numbers import FLOATS, to_bytes
from hf_bpe.editing.checkpoint.reading import RowReader
from hf_bpe.editing.starting_rows import starting_rows
from hf_bpe.model_files.safetensors_header import read_header
from hf_bpe.spec import TokenizerSpec
from tests.editing.models import DTYPES, WIDTH, new_spec, old_spec, save_tensors
from tests.editing.test_matching import SPACE, pieces
from tests.support.vocabularies import byte_spec


def make(
    folder: Path, values: np.ndarray, made: Mapping[int, Made], in_use: np.ndarray | None = None, seed: int = 0
) -> np.ndarray:
    """The rows made for a matrix of these values, in the order of their ids, as numbers of its dtype."""
    save_tensors(folder / "model.safetensors", {"embed.weight": values})
    header = read_header(folder / "model.safetensors")
    matrix = Matrix("model.safetensors", header.tensors[0], "embedding")
    with RowReader(folder, matrix, header.data_start) as reader:
        used = np.ones(len(values), dtype=bool) if in_use is None else in_use
        return RowMaker(reader, made, used, seed).rows(sorted(made)).view(values.dtype)


def random_values(rows: int, dtype: str = "F32", width: int = WIDTH) -> np.ndarray:
    return np.random.default_rng(5).standard_normal((rows, width)).astype(np.float32).astype(DTYPES[dtype])


@pytest.mark.parametrize("dtype", ["F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"])
def test_a_mean_is_the_exact_mean_rounded_to_the_nearest(tmp_path: Path, dtype: str) -> None:
    values = random_values(37, dtype)
    in_use = np.arange(37) % 3 != 0
    found = make(tmp_path, values, {0: Made(), 1: Made("mean", (3, 4, 4)), 2: Made("mean", (8,)), 3: Made("zeros")}, in_use)
    expected = [_exact_mean(values[in_use]), _exact_mean(values[[3, 4, 4]]), values[8].tolist(), [0.0] * WIDTH]
    neighbours = _all_numbers(DTYPES[dtype])
    for row, exact in zip(found, expected, strict=True):
        for number, wanted in zip(row.astype(np.float64).tolist(), exact, strict=True):
            error = abs(Fraction(number) - Fraction(wanted))
            nearest = min(abs(Fraction(n) - Fraction(wanted)) for n in _around(neighbours, float(wanted)))
            # Rounded twice, to 32 bits first, so a hair beyond the middle between two neighbours is possible.
            assert error <= nearest + abs(Fraction(wanted)) * Fraction(1, 2**23)


def _exact_mean(values: np.ndarray) -> list[Fraction]:
    return [sum(map(Fraction, column.tolist()), Fraction(0)) / len(values) for column in values.astype(np.float64).T]


def _all_numbers(dtype: np.dtype) -> np.ndarray | None:
    """Every number of an 8- or 16-bit dtype, in order."""
    if dtype.itemsize > 2:
        return None
    unsigned = np.arange(256**dtype.itemsize, dtype=np.uint64).astype(f"u{dtype.itemsize}")
    with np.errstate(invalid="ignore"):
        numbers = unsigned.view(dtype).astype(np.float64)
    return np.unique(numbers[np.isfinite(numbers)])


def _around(numbers: np.ndarray | None, wanted: float) -> list[float]:
    if numbers is None:
        single = np.float32(wanted)
        return [
            float(single),
            float(np.nextafter(single, np.float32(-np.inf))),
            float(np.nextafter(single, np.float32(np.inf))),
        ]
    at = int(np.searchsorted(numbers, wanted))
    return numbers[max(0, at - 1) : at + 1].tolist()


def test_halfway_between_two_numbers_the_even_one_is_taken(tmp_path: Path) -> None:
    one, next_one, third = (np.array([bits], dtype="u2").view(ml_dtypes.bfloat16) for bits in (0x3F80, 0x3F81, 0x3F82))
    values = np.stack([one, next_one, third])
    found = make(tmp_path, values, {0: Made("mean", (0, 1)), 1: Made("mean", (1, 2))})
    assert found.view("u2").ravel().tolist() == [0x3F80, 0x3F82]


@pytest.mark.parametrize("dtype", FLOATS)
def test_what_is_too_large_becomes_the_largest(dtype: str) -> None:
    largest = float(ml_dtypes.finfo(FLOATS[dtype]).max)
    with np.errstate(over="ignore"):
        huge = np.array([[largest, -largest, np.nextafter(largest, np.inf), 1.7e308]])
        numbers = to_bytes(huge, dtype).view(FLOATS[dtype]).astype(np.float64)
    assert numbers.tolist()[0][:2] == [largest, -largest]
    assert np.isfinite(numbers).all()


def test_a_copy_is_the_row_bit_for_bit_even_where_it_holds_what_is_no_number(tmp_path: Path) -> None:
    values = np.array([[0x7FC1, 0xFF80, 0x8000], [1, 2, 3]], dtype="u2").view(ml_dtypes.bfloat16)
    found = make(tmp_path, values, {7: Made("mean", (0,))})
    assert found.view("u2").tolist() == [[0x7FC1, 0xFF80, 0x8000]]


def test_a_mean_of_what_is_no_number_is_refused(tmp_path: Path) -> None:
    values = np.array([[1, np.nan], [1, 2]], dtype=np.float32)
    for made in (Made(), Made("mean", (0, 1)), Made("normal")):
        with pytest.raises(EditError, match=r"embed.weight holds rows with infinities or what is no number"):
            make(tmp_path, values, {0: made})
    assert make(tmp_path, values, {0: Made()}, np.array([False, True])).tolist() == [[1, 2]]


def test_drawn_rows_have_the_mean_and_the_covariance_of_the_rows_in_use(tmp_path: Path) -> None:
    mixing = np.random.default_rng(1).standard_normal((4, 4)).astype(np.float32)
    values = random_values(500, width=4) @ mixing + 3
    values[::5] = 1e6  # not in use
    in_use = np.arange(500) % 5 != 0
    drawn = make(tmp_path, values, dict.fromkeys(range(1000, 5000), Made("normal")), in_use).astype(np.float64)
    used = values[in_use].astype(np.float64)
    scale = np.sqrt(np.diag(np.cov(used.T)))
    assert np.abs(drawn.mean(axis=0) - used.mean(axis=0)).max() < 5 * scale.max() / np.sqrt(4000)
    assert np.abs(np.cov(drawn.T) - np.cov(used.T)).max() < 0.12 * scale.max() ** 2
    assert len(np.unique(drawn, axis=0)) == 4000


def test_drawn_rows_depend_on_the_seed_and_the_id_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = random_values(90)
    both = make(tmp_path, values, {100: Made("normal"), 107: Made("normal")}, seed=3)
    assert np.allclose(make(tmp_path, values, {107: Made("normal")}, seed=3)[0], both[1], atol=1e-6)  # sums of other lengths
    assert not np.isclose(make(tmp_path, values, {107: Made("normal")}, seed=4)[0], both[1], atol=1e-6).any()
    monkeypatch.setattr(making, "_DRAWN_BYTES", 1)  # one row at a time
    assert np.allclose(make(tmp_path, values, {100: Made("normal"), 107: Made("normal")}, seed=3), both, atol=1e-6)


@pytest.mark.parametrize("window", [1, 200, 1 << 24])
def test_how_much_is_read_at_a_time_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int) -> None:
    monkeypatch.setattr(reading, "WINDOW_BYTES", window)
    values = random_values(61, "F16")
    found = make(tmp_path, values, {0: Made(), 1: Made("normal")})
    assert (found[0] == values.astype(np.float64).mean(axis=0).astype(np.float32).astype(np.float16)).all()
    assert np.isfinite(found.astype(np.float32)).all()


def test_pieces_are_those_that_the_old_tokenizer_gives_the_text() -> None:
    old, new = old_spec(), new_spec()
    found = starting_rows("pieces", id_map_between(old, new), old, new)
    spelled = [b"".join(_text(old, number) for number in found[new_id].of) for new_id in sorted(found)]
    assert spelled == [b"<|user|>", b"<|end|>", b"the lazy"]
    assert len(found[302].of) < len("the lazy")


def test_a_part_of_a_character_is_made_of_its_bytes() -> None:
    old = byte_spec()
    new = old.replace(vocab={**old.vocab, b"\xe4\xb8": 256}, merges=((b"\xe4", b"\xb8"),))
    assert starting_rows("pieces", id_map_between(old, new), old, new) == {256: Made("mean", (0xE4, 0xB8))}


def test_pieces_of_a_sentencepiece_model_get_no_space_that_is_not_theirs() -> None:
    old = pieces("a", "b", SPACE, f"{SPACE}a")
    new = pieces("a", "b", SPACE, f"{SPACE}a", f"{SPACE}ab", "ab", "\u00e9")
    found = starting_rows("pieces", id_map_between(old, new), old, new)
    a, b, space_a = (old.vocab[name.encode()] for name in ("a", "b", f"{SPACE}a"))
    byte = {value: old.vocab[b"<0x%02X>" % value] for value in (0xC3, 0xA9)}
    assert [found[number].of for number in sorted(found)] == [(space_a, b), (a, b), (byte[0xC3], byte[0xA9])]


def test_a_row_is_copied_from_a_token_by_its_text() -> None:
    old, new = old_spec(), new_spec()
    id_map = id_map_between(old, new)
    assert set(starting_rows("copy:</s>", id_map, old, new).values()) == {Made("mean", (299,))}
    assert set(starting_rows("copy: the", id_map, old, new).values()) == {Made("mean", (old.vocab[b" the"],))}
    with pytest.raises(EditError, match="no token 'nowhere' whose row could be copied"):
        starting_rows("copy:nowhere", id_map, old, new)
    with pytest.raises(EditError, match=r"no way 'best' of making rows; choose one of mean, pieces, zeros, normal, copy:TOKEN"):
        starting_rows("best", id_map, old, new)
    with pytest.raises(EditError, match="with the old tokenizer, which was not found; name it with old_tokenizer="):
        starting_rows("pieces", id_map, None, new)


def test_what_the_id_map_says_goes_before_init() -> None:
    id_map = IdMap(300, 301, {n: n for n in range(299)}, [299], {299: Made("zeros"), 300: None})
    assert set(starting_rows("mean", id_map, None, old_spec())) == {300}


def _text(spec: TokenizerSpec, number: int) -> bytes:
    return spec.token_bytes(number) or b""
