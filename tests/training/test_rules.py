"""What may not be learnt."""

from __future__ import annotations

import pytest

from hf_bpe import PatternError, TrainingError
from hf_bpe.training.rules import NAMED_RULES, forbids, forbids_in_second_stage
from hf_bpe.training.settings import ByteLevelSettings


def forbidden(token: str | bytes, **settings: object) -> bool:
    content = token.encode() if isinstance(token, str) else token
    return forbids(ByteLevelSettings(**settings))(content[:1], content[1:])


@pytest.mark.parametrize(
    ("rule", "refused", "allowed"),
    [
        ("letters-with-digits", ["a1", "1a", "é 2", "v.1"], ["ab", "12", " 1", "a.", "²", b"a\xc3"]),
        ("emails", ["a@b", "@example.com", "x.y@z"], ["@", " @", "@param", "a@"]),
        ("urls", ["http://", "https://x", "www.", "WWW.x"], ["http", "://", "www", "web."]),
        ("beyond-ascii", ["é", b"\xc3", b"a\xe4\xb8"], ["abc", "\x7f"]),
    ],
)
def test_named_rules(rule, refused, allowed):
    assert rule in NAMED_RULES
    for token in refused:
        assert forbidden(token, forbidden_patterns=(rule,)), token
    for token in allowed:
        assert not forbidden(token, forbidden_patterns=(rule,)), token


def test_tokens_are_forbidden_as_a_whole_and_pairs_as_pairs():
    forbids_pair = forbids(ByteLevelSettings(forbidden_tokens=("the",), forbidden_merges=(("a", "bc"),)))
    assert forbids_pair(b"t", b"he")
    assert forbids_pair(b"th", b"e")
    assert not forbids_pair(b"the", b"y")
    assert forbids_pair(b"a", b"bc")
    assert not forbids_pair(b"ab", b"c")


def test_bytes_that_are_no_character_are_the_replacement_character():
    assert forbidden(b"a\xff", forbidden_patterns=("\ufffd",))


def test_words_are_counted_in_the_second_stage_only():
    settings = ByteLevelSettings(superwords="lines", superword_max_words=2)
    assert not forbids(settings)(b" a b", b" c")
    assert forbids_in_second_stage(settings)(b" a b", b" c")
    assert not forbids_in_second_stage(settings)(b" don't", b" c,")


@pytest.mark.parametrize(("pattern", "error"), [("(", PatternError), ("a*", PatternError), ("no-such-rule", TrainingError)])
def test_patterns_that_mean_nothing_are_refused(pattern, error):
    with pytest.raises(error):
        forbids(ByteLevelSettings(forbidden_patterns=(pattern,)))
