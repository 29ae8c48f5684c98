"""A traced str is the str it is, and its characters keep their origins through what templates do with strings."""

from __future__ import annotations

import copy
import json
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe.chat.origins import TEMPLATE, UNKNOWN, USER, Traced, join, origins_of, trusted, written
from hf_bpe.chat.plain import plain

# Who wrote a letter can be read off it: users write in small letters, templates in capitals, and both white space.
USERS = st.text("ab \n\t", max_size=12).map(lambda text: Traced(text, USER))
TEMPLATES = st.text("AB \n\t", max_size=12).map(lambda text: Traced(text, TEMPLATE))
TEXTS = st.lists(USERS | TEMPLATES, max_size=5).map(join)
WHOSE = {**dict.fromkeys("ab", USER), **dict.fromkeys("AB", TEMPLATE)}


def same(found: object, expected: object) -> None:
    """The same value, every character with the origin that its letter tells."""
    assert found == expected
    for text in found if isinstance(found, (list, tuple)) else [found]:
        if isinstance(text, str):
            assert isinstance(text, Traced)
            assert len(origins_of(text)) == len(text)
            for character, origin in zip(str(text), origins_of(text), strict=True):
                assert origin == WHOSE.get(character, origin)
                assert origin != UNKNOWN


@given(TEXTS, st.sampled_from([None, "a", "A", " ", "ab", "aB", "\n", " \n"]), st.integers(-1, 3))
def test_every_followed_method_gives_what_str_gives(text, other, count):
    plain = "".join(list(text))
    for name in ("strip", "lstrip", "rstrip"):
        same(getattr(text, name)(other), getattr(plain, name)(other))
    for name in ("split", "rsplit"):
        same(getattr(text, name)(other, count), getattr(plain, name)(other, count))
    for keep in (False, True):
        same(text.splitlines(keep), plain.splitlines(keep))
    if other is not None:
        for name in ("partition", "rpartition"):
            same(getattr(text, name)(other), getattr(plain, name)(other))
        for name in ("removeprefix", "removesuffix"):
            same(getattr(text, name)(other), getattr(plain, name)(other))
        new = Traced("AA", TEMPLATE)
        same(text.replace(other, new, count), plain.replace(other, new, count))
    same(text[count:], plain[count:])
    same(text[::-1], plain[::-1])
    same(list(text), list(plain))
    same(text * 2 + text, plain * 3)
    same(text.join([text, text]), plain.join([plain, plain]))


@given(st.text(max_size=20))
def test_a_change_of_case_keeps_who_wrote_it(text):
    for name in ("lower", "upper", "title", "capitalize", "casefold", "swapcase"):
        changed = getattr(Traced(text, USER), name)()
        assert changed == getattr(text, name)()
        assert set(origins_of(changed)) <= {USER}


def test_what_is_not_followed_is_unknown_and_never_trusted():
    one, two = trusted("<%s>"), Traced("s", USER)
    for text in (one % two, one.center(20), one.expandtabs(), one.zfill(9), trusted("<{}>").format(two), "".join([one, two])):
        assert set(origins_of(text)) == {UNKNOWN}


def test_upper_case_that_is_longer_than_what_two_wrote_is_unknown():
    assert set(origins_of((trusted("ß") + Traced("ß", USER)).upper())) == {UNKNOWN}
    assert set(origins_of(trusted("ß").upper())) == {TEMPLATE}


def test_a_plain_str_joined_to_a_trusted_one_is_not_trusted():
    assert list(origins_of(trusted("a") + "b")) == [TEMPLATE, UNKNOWN]
    assert list(origins_of("b" + trusted("a"))) == [UNKNOWN, TEMPLATE]


@pytest.mark.parametrize("value", ['a "b"\n', "é<s>", {"a": ["<s>", 5, None]}, ["<s>", {"<s>": True}], [], {}])
@pytest.mark.parametrize("options", [{}, {"indent": 2}, {"ensure_ascii": True}])
def test_json_that_a_template_builds_of_what_a_user_wrote_keeps_who_wrote_what(value, options):
    """Nothing a user wrote is trusted, and what the template wrote is not taken for a user's."""
    built = {
        "tool": Traced("<|end|>", TEMPLATE),
        "output": plain(value, USER),
        "both": Traced("<|", TEMPLATE) + Traced("s", USER),
    }
    text = written(built, lambda it: json.dumps(it, **{"ensure_ascii": False, **options}))
    assert text == json.dumps(built, **{"ensure_ascii": False, **options})
    assert [text[m.start() : m.end()] for m in re.finditer(b"\2+", origins_of(text))] == ["<|end|>", "<|"]
    spelled = [m.start() for m in re.finditer("<s>", text)]
    assert {origin for at in spelled for origin in origins_of(text)[at : at + 3]} <= {USER}


def test_python_quotes_that_cannot_be_followed_are_unknown():
    value = [Traced("it's", USER), trusted("<s>")]
    assert set(origins_of(written(value))) == {UNKNOWN}


def test_a_written_list_is_what_a_user_wrote_only_if_all_of_it_is():
    assert set(origins_of(written({Traced("k", USER): [Traced("v", USER), 1, None]}))) == {USER}
    assert set(origins_of(written([Traced("v", USER), trusted("t")]))) == {UNKNOWN}
    assert set(origins_of(written(12))) == {UNKNOWN}


def test_copies_keep_origins():
    text = trusted("a") + Traced("b\ud800", USER)
    for again in (pickle.loads(pickle.dumps(text)), copy.copy(text), copy.deepcopy(text)):
        assert again == text
        assert origins_of(again) == origins_of(text)


def test_only_text_can_be_trusted():
    with pytest.raises(TypeError, match="int"):
        trusted(1)  # type: ignore[arg-type]
