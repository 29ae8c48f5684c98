"""The id map: what it refuses, and that JSON holds all of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe import EditError, FormatError
from hf_bpe.editing import IdMap, Made


@st.composite
def id_maps(draw: st.DrawFn, max_size: int = 40) -> IdMap:
    """Any: tokens dropped, moved, new, holes on both sides."""
    old_size, new_size = draw(st.integers(1, max_size)), draw(st.integers(1, max_size))
    order = draw(st.randoms(use_true_random=False))
    old_ids = order.sample(range(old_size), draw(st.integers(0, old_size)))
    new_ids = order.sample(range(new_size), draw(st.integers(0, new_size)))
    shared = draw(st.integers(0, min(len(old_ids), len(new_ids))))
    if draw(st.booleans()):
        old_ids, new_ids = sorted(old_ids), sorted(new_ids)
    ways = st.one_of(
        st.none(),
        st.just(Made("zeros")),
        st.just(Made("mean")),
        *(
            [st.lists(st.sampled_from(old_ids), min_size=1, max_size=4).map(lambda of: Made("mean", tuple(of)))]
            if old_ids
            else []
        ),
    )
    made = {new: draw(ways) for new in new_ids[shared:]}
    return IdMap(old_size, new_size, dict(zip(old_ids[:shared], new_ids, strict=False)), old_ids[shared:], made)


@given(id_maps())
def test_json_holds_all_of_it(id_map: IdMap) -> None:
    assert IdMap.from_dict(json.loads(id_map.to_bytes())) == id_map
    assert json.loads(id_map.to_bytes()) == id_map.to_dict()


def test_a_large_map_of_moved_ids_is_a_small_file(tmp_path: Path) -> None:
    id_map = IdMap(200_000, 199_999, {old: old - (old > 500) for old in range(200_000) if old != 500}, gone=[500])
    id_map.save(tmp_path / "map.json")
    assert IdMap.load(tmp_path / "map.json") == id_map
    assert (tmp_path / "map.json").stat().st_size < 300


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kept": {0: 1, 2: 1}}, "several old ids become one new id: 1"),
        ({"kept": {0: 0}, "gone": [0]}, "old ids are both kept and gone: 0"),
        ({"kept": {0: 0}, "made": {0: None}}, "new ids are both kept and made: 0"),
        ({"kept": {9: 0}}, "old ids must be integers from 0 to 3: 9"),
        ({"kept": {0: 7}}, "new ids must be integers from 0 to 4: 7"),
        ({"kept": {0: True}}, "new ids must be integers from 0 to 4: True"),
        ({"kept": {}, "gone": [-1]}, "old ids must be integers from 0 to 3: -1"),
        ({"kept": {}, "made": {1: Made("best")}}, "must be one of mean, zeros, normal, not 'best'"),  # type: ignore[arg-type]
        ({"kept": {0: 0}, "made": {1: Made("mean", (3,))}}, "made of 3, which are no ids of old tokens"),
        ({"kept": {0: 0}, "made": {1: Made("zeros", (0,))}}, "is zeros, which is made of no other rows"),
        (
            {"kept": {0: 1, 2: 1}, "gone": [0]},
            "(?s)become one new id.*both kept and gone|both kept and gone.*become one new id",
        ),
        ({"old_size": -1, "kept": {}}, "sizes must be integers"),
        ({"new_size": 2.0, "kept": {}}, "sizes must be integers"),
    ],
)
def test_contradictions_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(EditError, match=message):
        IdMap(**{"old_size": 4, "new_size": 5, **arguments})


SOUND: dict[str, Any] = IdMap(4, 5, {0: 0, 1: 1}, [2], {3: Made("mean", (0, 0))}).to_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "something"}, "is it the right file"),
        ({"version": 2}, "is it the right file"),
        ({"kept": [[0, 0]]}, r"\$.kept\[0\] must be \[old, new, count\]"),
        ({"kept": [[0, 0, -1]]}, r"\$.kept\[0\]"),
        ({"kept": [[0, 0, 2000000000]]}, "reaches beyond old_size, 4"),
        ({"kept": [[0, 0, 2], [1, 2, 1]]}, "ids stand twice: 1"),
        ({"gone": [[2, 1], [2, 1]]}, "ids stand twice: 2"),
        ({"gone": [2]}, r"\$.gone\[0\] must be \[old, count\]"),
        ({"made": [{"id": 3}, {"id": 3}]}, "ids stand twice: 3"),
        ({"made": [{"id": "x"}]}, r"\$.made\[0\].id must be an integer"),
        ({"made": [{"id": 3, "row": "mean", "of": 5}]}, "of must be a list"),
        ({"made": [{"id": 3, "row": "mean", "of": [[]]}]}, "which are no ids of old tokens"),
        ({"made": [7]}, "must be an object"),
        ({"old_size": "4"}, "old_size must be an integer"),
        ({"new_size": 1}, "new ids must be integers from 0 to 0"),
    ],
)
def test_damaged_json_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "map.json"
    path.write_text(json.dumps(SOUND | change))
    with pytest.raises((EditError, FormatError), match=message):
        IdMap.load(path)
