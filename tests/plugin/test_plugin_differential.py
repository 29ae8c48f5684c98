"""Random calls on random text: ours and the stock fast class, loaded from the same folder, must agree."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.plugin.samples import ADDED

PIECES = st.one_of(
    st.sampled_from([token.content for token in ADDED] + [" ", "  ", "\n", "the", " dog", "'s", "12", "é", "안", "_"]),
    st.text(max_size=8).filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text)),
)
TEXT = st.lists(PIECES, max_size=8).map("".join)

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "add_special_tokens": st.booleans(),
        "split_special_tokens": st.booleans(),
        "truncation": st.sampled_from([True, False, "longest_first", "only_first", "only_second"]),
        "max_length": st.integers(4, 24),
        "padding": st.sampled_from([True, False, "max_length", "longest"]),
        "padding_side": st.sampled_from(["left", "right"]),
        "pad_to_multiple_of": st.integers(1, 9),
        "return_token_type_ids": st.booleans(),
        "return_special_tokens_mask": st.booleans(),
        "return_attention_mask": st.booleans(),
        "return_length": st.booleans(),
    },
)
CALLS = st.one_of(
    TEXT.map(lambda text: (text,)),
    st.tuples(TEXT, TEXT),
    st.lists(TEXT, min_size=1, max_size=5).map(lambda texts: (texts,)),
    st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4).map(lambda pairs: (pairs,)),
    st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4).map(lambda pairs: ([a for a, _ in pairs], [b for _, b in pairs])),
)


def outcome(tokenizer: Any, call: Any, options: dict[str, Any]) -> Any:
    try:
        return dict(tokenizer(*call, **options))
    except Exception:  # noqa: BLE001  # stock raises a bare Exception for impossible truncation
        return "an error"


RELAXED = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@RELAXED
@given(call=CALLS, options=OPTIONS)
def test_calls(saved: Any, call: Any, options: dict[str, Any]) -> None:
    assert outcome(saved.ours, call, options) == outcome(saved.stock, call, options)


@RELAXED
@given(ids=st.lists(st.integers(0, 700), max_size=20), skip=st.booleans())
def test_decoding_any_ids(saved: Any, ids: list[int], skip: bool) -> None:
    assert saved.ours.decode(ids, skip_special_tokens=skip) == saved.stock.decode(ids, skip_special_tokens=skip)
    assert saved.ours.convert_ids_to_tokens(ids, skip) == saved.stock.convert_ids_to_tokens(ids, skip)


@RELAXED
@given(text=TEXT)
def test_text_comes_back(saved: Any, text: str) -> None:
    if not any(token.content in text for token in ADDED if token.lstrip or token.rstrip):
        assert saved.ours.decode(saved.ours.encode(text, add_special_tokens=False)) == text
