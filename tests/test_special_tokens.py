"""Special tokens: tiktoken's meaning of allowed and disallowed; `tokenizers`' meaning of the flags."""

from __future__ import annotations

import itertools
import pickle
from functools import cache, partial

import pytest
import tiktoken
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from hf_bpe import AddedToken, DisallowedSpecialTokenError, Encoder, EncodingError, TokenizerSpec
from hf_bpe.borders import encode_with_completions, heal, stable_part
from hf_bpe.streaming import StreamingEncoder
from tests.support.official import TIKTOKEN_PATTERNS
from tests.support.text import difficult_text
from tests.support.vocabularies import BYTES, CL100K_SPECIALS, byte_spec, cl100k_ranks, cl100k_spec

END = "<|endoftext|>"
LECTURE_TEXT = "hello world!!!? (안녕하세요!) lol123 😉"


def cl100k_of_tiktoken() -> tiktoken.Encoding:
    return tiktoken.Encoding(
        "cl100k_base", pat_str=TIKTOKEN_PATTERNS["cl100k"], mergeable_ranks=cl100k_ranks(), special_tokens=CL100K_SPECIALS
    )


@cache
def both_engines() -> tuple[Encoder, tiktoken.Encoding]:
    return Encoder(cl100k_spec()), cl100k_of_tiktoken()


def test_the_lectures_text_is_encoded_as_tiktoken_does() -> None:
    ids = Encoder(cl100k_spec()).encode(LECTURE_TEXT)
    assert ids == cl100k_of_tiktoken().encode(LECTURE_TEXT)
    assert Encoder(cl100k_spec()).decode(ids) == LECTURE_TEXT


def test_every_special_token_gets_its_id_when_all_are_allowed() -> None:
    text = "".join(f"x{content} " for content in CL100K_SPECIALS)
    ids = Encoder(cl100k_spec()).encode(text, allowed_special="all")
    assert ids == cl100k_of_tiktoken().encode(text, allowed_special="all")
    assert set(CL100K_SPECIALS.values()) <= set(ids)


def test_a_special_token_in_the_text_is_an_error_by_default_that_says_what_to_do() -> None:
    encoder = Encoder(cl100k_spec())
    for call in (encoder.encode, encoder.count):
        with pytest.raises(DisallowedSpecialTokenError, match=r"'<\|endoftext\|>'.*allowed_special.*disallowed_special=\(\)"):
            call(f"a {END}")
    with pytest.raises(ValueError, match="disallowed special token"):
        cl100k_of_tiktoken().encode(f"a {END}")


@pytest.mark.parametrize("argument", ["allowed_special", "disallowed_special"])
@pytest.mark.parametrize("names", [{"<|endoftxt|>"}, [END, "zz"], {b"x"}, {5, None}])
def test_a_name_of_no_special_token_is_refused(argument: str, names: object) -> None:
    encoder = both_engines()[0]
    for call in (encoder.encode, encoder.count, encoder.align_batch, partial(StreamingEncoder, encoder)):
        given = (["a"],) if call == encoder.align_batch else () if isinstance(call, partial) else ("a",)
        with pytest.raises(EncodingError, match=f"{argument}: .*no special token of this tokenizer, which has"):
            call(*given, **{argument: names})  # type: ignore[operator]


@pytest.mark.parametrize("argument", ["allowed_special", "disallowed_special"])
@pytest.mark.parametrize("given", [5, False, END])
def test_what_is_no_collection_of_names_is_told(argument: str, given: object) -> None:
    with pytest.raises(
        TypeError, match=f"{argument} must be 'all' or a collection of special tokens, not {given!r}".replace("|", ".")
    ):
        both_engines()[0].encode("a", **{argument: given})


def test_borders_refuse_such_names_too() -> None:
    for call in (stable_part, encode_with_completions, heal):
        with pytest.raises(EncodingError, match="allowed_special: '<nope>': no special token"):
            call(both_engines()[0], "a", allowed_special={"<nope>"})


def test_a_token_in_both_sets_is_told_to_leave_the_second() -> None:
    with pytest.raises(DisallowedSpecialTokenError, match="leave it out of disallowed_special"):
        both_engines()[0].encode(END, allowed_special={END}, disallowed_special={END})


CHOICES = [(), "all", {END}, {"<|fim_prefix|>", "<|fim_middle|>"}]


@settings(max_examples=200)
@given(
    parts=st.lists(st.one_of(st.sampled_from([*CL100K_SPECIALS, "<|", "|>", "<|endof"]), difficult_text(8)), max_size=6),
    allowed=st.sampled_from(CHOICES),
    disallowed=st.sampled_from(CHOICES),
)
def test_allowed_and_disallowed_mean_what_they_mean_to_tiktoken(parts: list[str], allowed: object, disallowed: object) -> None:
    text = "".join(parts)
    arguments = {"allowed_special": set() if allowed == () else allowed, "disallowed_special": disallowed}
    pair = both_engines()
    try:
        expected = pair[1].encode(text, **arguments)
    except ValueError:
        with pytest.raises(DisallowedSpecialTokenError):
            pair[0].encode(text, **arguments)
    else:
        assert pair[0].encode(text, **arguments) == expected
        assert pair[0].count(text, **arguments) == len(expected)
    assert pair[0].encode_ordinary(text) == pair[1].encode_ordinary(text)


def test_of_special_tokens_that_start_together_the_longest_wins() -> None:
    tokens = (AddedToken("<a>", 256), AddedToken("<a><b>", 257), AddedToken("a><", 258))
    for order, engine in itertools.product(itertools.permutations(tokens), ("native", "reference")):
        encoder = Encoder(byte_spec(added_tokens=order), engine=engine)  # type: ignore[arg-type]
        assert encoder.encode("<a><b>z<a>", allowed_special="all") == [257, ord("z"), 256]


def test_added_tokens_that_are_not_special_are_always_matched() -> None:
    encoder = Encoder(byte_spec(added_tokens=(AddedToken("<p>", 256, special=False), AddedToken("<s>", 257))))
    assert encoder.encode_ordinary("<p>") == [256]
    assert encoder.encode_ordinary("<s>") == list(b"<s>")
    assert encoder.encode("<p><s>", allowed_special="all") == [256, 257]


FLAGS = st.fixed_dictionaries({name: st.booleans() for name in ("single_word", "lstrip", "rstrip")})


@settings(max_examples=300)
@given(
    flags=st.lists(FLAGS, min_size=2, max_size=2),
    parts=st.lists(st.sampled_from(["<a>", "[bc]", " ", "  ", "\n", "\u3000", "x", "é", "_", "1", ".", "ß"]), max_size=8),
)
def test_flags_mean_what_they_mean_to_tokenizers(flags: list[dict[str, bool]], parts: list[str]) -> None:
    text = "".join(parts)
    added = [AddedToken(content, 256 + n, **flags[n]) for n, content in enumerate(["<a>", "[bc]"])]
    stock = tokenizers.Tokenizer(tokenizers.models.BPE())
    stock.add_special_tokens([tokenizers.AddedToken(t.content, normalized=False, **flags[n]) for n, t in enumerate(added)])
    stock.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex("(?m:.)"), "isolated")
    expected = stock.encode(text).ids
    for engine in ("native", "reference"):
        encoder = Encoder(byte_spec(added_tokens=tuple(added)), engine=engine)  # type: ignore[arg-type]
        ids = encoder.encode(text, allowed_special="all")
        assert [token_id - 256 for token_id in ids if token_id > 255] == expected
    native, reference = (Encoder(byte_spec(added_tokens=tuple(added)), engine=e) for e in ("native", "reference"))  # type: ignore[arg-type]
    assert native.encode(text, allowed_special="all") == reference.encode(text, allowed_special="all")


@pytest.mark.parametrize("argument", ["allowed_special", "disallowed_special"])
def test_a_string_in_place_of_a_set_is_refused(argument: str) -> None:
    with pytest.raises(TypeError, match=f"{argument} must be 'all' or a collection"):
        Encoder(byte_spec()).encode("a", **{argument: "<s>"})  # type: ignore[arg-type]


def test_endlessly_many_policies_do_not_pile_up() -> None:
    tokens = tuple(AddedToken(f"<{n}>", 256 + n) for n in range(200))
    encoder = Encoder(byte_spec(added_tokens=tokens))
    for n in range(200):
        assert encoder.encode(f"<{n}>", allowed_special={f"<{n}>"}) == [256 + n]
    assert len(encoder._policies) <= 64


def test_special_tokens_decode_to_their_text() -> None:
    encoder = Encoder(byte_spec(added_tokens=(AddedToken("<é>", 300),)))
    assert encoder.decode([ord("a"), 300]) == "a<é>"
    assert encoder.encode_single_token("<é>") == 300


ALL_CALLS = ("encode", "count", "encode_to_numpy", "encode_with_offsets")


def three_tokens(**options: object) -> Encoder:
    spec = byte_spec().with_added_tokens(["<a>", "<b>", "<c>"])
    return Encoder(spec, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_tokenizer_says_what_special_tokens_are_where_the_call_does_not(engine: str) -> None:
    assert three_tokens(engine=engine, special="special").encode("<a><b>") == [256, 257]
    assert three_tokens(engine=engine, special="text").encode("<a><b>") == list(b"<a><b>")
    mixed = three_tokens(engine=engine, special={"<a>": "special", "<b>": "text"})
    assert mixed.encode("<a><b>") == [256, *b"<b>"]
    assert mixed.encode_batch(["<a>", "<b>"]) == [[256], list(b"<b>")]
    assert mixed.encode_batch_to_numpy(["<a>", "<b>"]).ids.tolist() == [256, *b"<b>"]
    for encoder, text in ((three_tokens(engine=engine), "<a>"), (mixed, "<c>"), (three_tokens(special="raise"), "<b>")):
        for call in ALL_CALLS:
            with pytest.raises(DisallowedSpecialTokenError, match=text):
                getattr(encoder, call)(text)


@pytest.mark.parametrize("special", ["special", "text", "raise", {"<a>": "special", "<b>": "text"}])
def test_a_call_that_says_anything_decides_alone(special: object) -> None:
    encoder, plain = three_tokens(special=special), three_tokens()
    for arguments in ({"allowed_special": {"<b>"}}, {"disallowed_special": ()}, {"allowed_special": "all"}):
        text = "<b>" if "allowed_special" in arguments else "<a><b><c>"
        assert encoder.encode(text, **arguments) == plain.encode(text, **arguments)  # type: ignore[arg-type]
    with pytest.raises(DisallowedSpecialTokenError):
        encoder.encode("<a>", allowed_special=())
    with pytest.raises(DisallowedSpecialTokenError):
        encoder.encode("<a>", disallowed_special="all")
    assert encoder.encode_ordinary("<a>") == list(b"<a>")
    assert encoder.encode_parts([("<a>", True), ("<b>", False)]) == [256, *b"<b>"]


def test_copies_treat_special_tokens_as_the_original_does() -> None:
    encoder = three_tokens(special={"<a>": "special", "<b>": "text"})
    assert pickle.loads(pickle.dumps(encoder)).encode("<a><b>") == encoder.encode("<a><b>")
    assert "special={'<a>': 'special', '<b>': 'text'}" in repr(encoder)
    assert "special=" not in repr(three_tokens())


@pytest.mark.parametrize(
    ("special", "said"),
    [
        ("allow", "'allow': not known"),
        ({"<a>": True}, "True: not known"),
        ({"<d>": "text"}, "'<d>': no special token .*<a>, <b>, <c>"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(special: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        three_tokens(special=special)
    with pytest.raises(ValueError, match="not known"):
        Encoder(byte_spec(), special="allow")  # type: ignore[arg-type]


def test_a_token_that_merging_makes_too_comes_out_of_text_but_not_of_untrusted_parts() -> None:
    spec = TokenizerSpec(BYTES | {b"<s": 256, b"<s>": 257}, ((b"<", b"s"), (b"<s", b">"))).with_added_tokens(["<s>"])
    for engine in ("native", "reference"):
        encoder = Encoder(spec, engine=engine)  # type: ignore[arg-type]
        with pytest.raises(DisallowedSpecialTokenError):
            encoder.encode("<s>")
        assert encoder.encode_ordinary("<s>") == [257]
        with pytest.raises(DisallowedSpecialTokenError, match="cannot be encoded as text"):
            encoder.encode_parts([("<s>", False)])


def test_what_a_call_names_is_worked_out_once() -> None:
    encoder = Encoder(byte_spec().with_added_tokens(["<a>", "<b>"]))
    for named in ("all", ("<a>",), frozenset(["<a>"])):
        assert encoder.encode("<a>", allowed_special=named) == [256]
        assert (named, None) in encoder._policies
    changing = {"<a>"}
    assert encoder.encode("<a>", allowed_special=changing) == [256]
    changing.clear()
    with pytest.raises(DisallowedSpecialTokenError):
        encoder.encode("<a>", allowed_special=changing)
