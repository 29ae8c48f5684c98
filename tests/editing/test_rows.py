"""Where the rows of a new matrix come from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe import EditError
from hf_bpe.editing import IdMap, Made
from hf_bpe.editing.rows import MADE, plan_rows, rows_after
from tests.editing.test_id_map import id_maps


@given(id_maps(), st.integers(0, 9), st.booleans(), st.sampled_from([1, 2, 8, 64]))
def test_every_row_has_the_one_origin_that_the_id_map_says(id_map: IdMap, padding: int, shrink: bool, multiple: int) -> None:
    before = id_map.old_size + padding
    after = rows_after(before, id_map, shrink=shrink, multiple=multiple)
    rows = plan_rows(id_map, before, after, {new: Made("zeros") for new in id_map.made})
    assert len(rows.sources) == after
    assert after % multiple == 0
    assert after >= id_map.new_size
    assert after < id_map.new_size + multiple if shrink else after >= before
    origin = {new: old for old, new in id_map.kept.items()}
    for row, source in enumerate(rows.sources.tolist()):
        if row in origin:
            assert source == origin[row]
        elif row in id_map.made:
            assert source == MADE
            assert rows.made[row] == (id_map.made[row] or Made("zeros"))
        elif row < before and row not in id_map.old_ids:
            assert source == row  # padding, or a hole, before and after
        else:
            assert source == MADE
            assert rows.made[row] == Made("mean")
    assert set(rows.made) == set(np.flatnonzero(rows.sources == MADE).tolist())
    assert set(np.flatnonzero(rows.in_use).tolist()) == id_map.old_ids
    assert rows.new_ids == tuple(sorted(id_map.made))


def test_nothing_moves_where_the_vocabulary_is_the_same() -> None:
    same = IdMap(5, 5, {n: n for n in (0, 1, 2, 4)})
    assert plan_rows(same, 8, 8, {}).stay
    assert not plan_rows(same, 8, 16, {}).stay
    assert not plan_rows(same, 8, 5, {}).stay
    assert not plan_rows(IdMap(2, 2, {0: 1, 1: 0}), 2, 2, {}).stay


def test_a_vocabulary_larger_than_the_matrix_is_refused() -> None:
    with pytest.raises(EditError, match="ids up to 4, and the embedding has 4 rows"):
        plan_rows(IdMap(5, 5, {}), 4, 5, {})
