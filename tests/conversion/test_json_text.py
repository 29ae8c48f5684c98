from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from conversion.json_text import indented

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(), parts, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_indented_is_what_json_writes_with_an_indent(value):
    assert indented(value) == json.dumps(value, indent=2, ensure_ascii=False)
