"""Where in the text each id stands."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from conversion import tokenizer_json
from hf_bpe import AddedToken, DisallowedSpecialTokenError, Encoder, TokenizerSpec
from tests.support.pieces import bytes_as_pieces_spec, random_pieces_spec
from tests.support.text import difficult_text, generated_text, plain_text
from tests.support.vocabularies import BYTES, byte_spec, cl100k_spec, gpt2_spec, random_specs

both_engines = pytest.mark.parametrize("engine", ["native", "reference"])


def spans(encoder: Encoder, text: str, unit: Any = "characters", **policy: Any) -> list[list[int]]:
    ids, found = encoder.encode_with_offsets(text, unit=unit, **policy)
    assert (ids.dtype, found.dtype, found.shape) == (np.dtype("uint32"), np.dtype("int64"), (len(ids), 2))
    assert ids.tolist() == encoder.encode(text, **policy)
    places: list[list[int]] = found.tolist()
    return places


@settings(max_examples=300)
@given(spec=random_specs(), text=st.one_of(difficult_text(20), plain_text()))
def test_each_id_stands_where_its_bytes_are(spec: TokenizerSpec, text: str) -> None:
    native, reference = Encoder(spec, engine="native"), Encoder(spec, engine="reference")
    content = text.encode()
    in_bytes, in_characters = spans(native, text, "bytes"), spans(native, text)
    assert in_bytes == spans(reference, text, "bytes")
    assert in_characters == spans(reference, text)
    ids = native.encode(text)
    for token_id, (start, stop), (first, last) in zip(ids, in_bytes, in_characters, strict=True):
        assert native.decode_bytes([token_id]) == content[start:stop]
        before = len(content[:start].decode("utf-8", "ignore")), len(content[:stop].decode("utf-8", "replace"))
        assert (first, last) == before
    assert all(left[1] <= right[0] for left, right in pairwise(in_bytes))
    if spec.unmatched == "keep" and text:
        assert [start for start, _ in in_bytes] + [len(content)] == [0] + [stop for _, stop in in_bytes]


@both_engines
def test_ids_that_share_a_character_span_all_of_it(engine: Any) -> None:
    encoder = Encoder(byte_spec(), engine=engine)
    assert spans(encoder, "aé😉") == [[0, 1], [1, 2], [1, 2], [2, 3], [2, 3], [2, 3], [2, 3]]
    assert spans(encoder, "aé", "bytes") == [[0, 1], [1, 2], [2, 3]]
    half = TokenizerSpec(vocab=BYTES | {b"a\xc3": 256, b"\xa9\xc3": 257}, merges=((b"a", b"\xc3"), (b"\xa9", b"\xc3")))
    encoder = Encoder(half, engine=engine)
    assert encoder.encode("aéé") == [256, 257, 0xA9]
    assert spans(encoder, "aéé") == [[0, 2], [1, 3], [2, 3]]
    assert spans(encoder, "aéé", "bytes") == [[0, 2], [2, 4], [4, 5]]


@both_engines
def test_text_that_the_pattern_drops_belongs_to_none(engine: Any) -> None:
    encoder = Encoder(byte_spec(r"\p{L}+", unmatched="drop", added_tokens=(AddedToken("<s>", 300),)), engine=engine)
    assert spans(encoder, "1a中 2") == [[1, 2], [2, 3], [2, 3], [2, 3]]
    assert spans(encoder, "1a中 2", "bytes") == [[1, 2], [2, 3], [3, 4], [4, 5]]
    assert spans(encoder, "123") == []
    assert spans(encoder, "é1<s>2b", allowed_special="all") == [[0, 1], [0, 1], [2, 5], [6, 7]]


@both_engines
def test_nothing_and_surrogates(engine: Any) -> None:
    encoder = Encoder(byte_spec("gpt2"), engine=engine)
    assert spans(encoder, "") == spans(encoder, "", "bytes") == []
    assert spans(encoder, "a\ud800b") == [[0, 1], [1, 2], [1, 2], [1, 2], [2, 3]]
    assert spans(encoder, "a\ud800b", "bytes") == [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]


@both_engines
def test_special_tokens_and_refusals(engine: Any) -> None:
    encoder = Encoder(byte_spec(added_tokens=(AddedToken("<é>", 300), AddedToken("<p>", 301, special=False))), engine=engine)
    assert spans(encoder, "é<é>é", allowed_special="all") == [[0, 1], [0, 1], [1, 4], [4, 5], [4, 5]]
    assert spans(encoder, "é<é>é", "bytes", allowed_special="all") == [[0, 1], [1, 2], [2, 6], [6, 7], [7, 8]]
    assert spans(encoder, "é<p>") == [[0, 1], [0, 1], [1, 4]]
    assert len(spans(encoder, "<é>", disallowed_special=())) == 4
    with pytest.raises(DisallowedSpecialTokenError):
        encoder.encode_with_offsets("a<é>")
    with pytest.raises(ValueError, match="unit is 'words'; it must be 'characters' or 'bytes'"):
        encoder.encode_with_offsets("a", unit="words")  # type: ignore[arg-type]


@both_engines
def test_white_space_that_an_added_token_takes_belongs_to_it(engine: Any) -> None:
    tokens = (
        AddedToken("<l>", 300, lstrip=True),
        AddedToken("<r>", 301, rstrip=True),
        AddedToken("<w>", 302, single_word=True),
    )
    encoder = Encoder(byte_spec(added_tokens=tokens), engine=engine)
    policy = {"allowed_special": "all"}
    assert spans(encoder, "x \u3000<l> y", **policy) == [[0, 1], [1, 6], [6, 7], [7, 8]]
    assert spans(encoder, "x \u3000<l> y", "bytes", **policy) == [[0, 1], [1, 8], [8, 9], [9, 10]]
    assert spans(encoder, " <r>\u3000 y", **policy) == [[0, 1], [1, 6], [6, 7]]
    assert spans(encoder, "<r> <l>", **policy) == [[0, 4], [4, 7]]
    assert spans(encoder, "x<w>", **policy) == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert spans(encoder, "- <w>-", **policy) == [[0, 1], [1, 2], [2, 5], [5, 6]]


FLAGS = st.fixed_dictionaries({name: st.booleans() for name in ("single_word", "lstrip", "rstrip", "special")})
PARTS = ["<a>", "[b]", " ", "  ", "\n", "\u3000", "x", "é", "_", "1", "😉", "中"]


@settings(max_examples=300)
@given(flags=st.tuples(FLAGS, FLAGS), parts=st.lists(st.sampled_from(PARTS), max_size=10))
def test_both_engines_place_added_tokens_alike(flags: tuple[dict[str, bool], ...], parts: list[str]) -> None:
    text = "".join(parts)
    added = tuple(AddedToken(content, 300 + n, **flags[n]) for n, content in enumerate(["<a>", "[b]"]))
    spec = byte_spec("gpt2", added_tokens=added)
    native, reference = Encoder(spec, engine="native"), Encoder(spec, engine="reference")
    for unit in ("bytes", "characters"):
        for allowed in ("all", ()):
            policy = {"allowed_special": allowed, "disallowed_special": ()}
            assert spans(native, text, unit, **policy) == spans(reference, text, unit, **policy)


# ---------------------------------------------------------------------------------------------------------------------
# Against `tokenizers`


@cache
def pair(name: str) -> tuple[Encoder, tokenizers.Tokenizer]:
    spec = {"cl100k": cl100k_spec, "gpt2": gpt2_spec, "bytes": lambda: byte_spec("gpt2")}[name]()
    return Encoder(spec, engine="native"), tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json.to_dict(spec)))


def check_against_tokenizers(name: str, text: str) -> None:
    encoder, official = pair(name)
    expected = official.encode(text)
    ids, found = encoder.encode_with_offsets(text, allowed_special="all")
    assert ids.tolist() == expected.ids
    assert [tuple(span) for span in found.tolist()] == expected.offsets


@pytest.mark.parametrize("name", ["cl100k", "gpt2", "bytes"])
@settings(max_examples=150)
@given(text=difficult_text(20))
def test_offsets_are_those_of_tokenizers(name: str, text: str) -> None:
    check_against_tokenizers(name, text)


@pytest.mark.parametrize("name", ["cl100k", "gpt2"])
def test_offsets_in_long_text_are_those_of_tokenizers(name: str) -> None:
    for seed in range(5):
        check_against_tokenizers(name, generated_text(seed, 3000) + "<|endoftext|>" + generated_text(seed + 50, 100))


def test_offsets_of_long_text_are_those_of_short_calls() -> None:
    # The cache answers for a word after the first time; its offsets are then put together from the ids.
    encoder = Encoder(cl100k_spec(), engine="native")
    lines = [f"{generated_text(seed, 40)}\n\nword" for seed in range(400)]
    for unit in ("bytes", "characters"):
        text = "".join(lines)
        ids, found = encoder.encode_with_offsets(text, unit=unit)  # type: ignore[arg-type]
        content: Any = text.encode() if unit == "bytes" else text
        assert ids.tolist() == encoder.encode_ordinary(text)
        assert found[-1, 1] == len(content)
        cold = Encoder(encoder.spec, engine="native").encode_with_offsets(text, unit=unit)  # type: ignore[arg-type]
        assert (cold[1] == found).all()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("make", [cl100k_spec, bytes_as_pieces_spec], ids=["byte-level", "sentencepiece"])
def test_a_batch_has_the_offsets_of_its_texts_alone(make: Callable[[], TokenizerSpec], threads: int) -> None:
    encoder = Encoder(make(), engine="native")
    texts = ["", *(generated_text(seed, 20_000) for seed in range(16)), "é\ud800中", ""]  # enough for several threads
    found = encoder.align_batch(texts, num_threads=threads, disallowed_special=())
    assert len(found.bounds) == len(texts) + 1
    assert len({len(column) for column in found[:-1]} | {int(found.bounds[-1])}) == 1
    for text, (begin, end) in zip(texts, pairwise(found.bounds.tolist()), strict=True):
        ids, places = encoder.encode_with_offsets(text, disallowed_special=())
        assert found.ids[begin:end].tolist() == ids.tolist()
        assert np.stack([found.starts, found.stops], 1)[begin:end].tolist() == places.tolist()
        alone = encoder.align_batch([text], disallowed_special=())
        assert found.pieces[begin:end].tolist() == alone.pieces.tolist()


@settings(max_examples=50)
@given(spec=random_specs(), texts=st.lists(st.one_of(difficult_text(20), plain_text()), max_size=4))
def test_engines_agree_on_the_alignment_of_batches(spec: TokenizerSpec, texts: list[str]) -> None:
    native, reference = (Encoder(spec, engine=engine).align_batch(texts) for engine in ("native", "reference"))
    assert [column.dtype for column in native] == [column.dtype for column in reference]
    assert [column.tolist() for column in native] == [column.tolist() for column in reference]


@both_engines
def test_one_text_of_a_batch_refuses_all_of_it(engine: Any) -> None:
    encoder = Encoder(byte_spec(added_tokens=(AddedToken("<s>", 300),)), engine=engine)
    with pytest.raises(DisallowedSpecialTokenError, match="<s>"):
        encoder.align_batch(["a", "<s>", "b"], num_threads=2)
    with pytest.raises(TypeError):
        encoder.align_batch(["a", 5])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="not one str"):
        encoder.align_batch("ab")


def parts(places: Any) -> list[Any]:
    return [places.ids(), places.offsets(), places.pieces(), places.bounds(), *(column.tolist() for column in places.arrays())]


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**6), texts=st.lists(st.one_of(st.text("ab  é\u2581中<s>", max_size=12), plain_text()), max_size=4)
)
def test_engines_agree_on_places_of_stock_classes(seed: int, texts: list[str]) -> None:
    generator = random.Random(seed)
    spec = random_pieces_spec(generator, generator.choice(("abc\u2581", "ab é\u2581", "a\u2581中國")))
    rules = spec.sentencepiece
    assert rules is not None
    spaces = {
        name: generator.random() < 0.5
        for name in ("treat_whitespace_as_suffix", "remove_extra_whitespaces", "escape_whitespaces")
    }
    scheme = generator.choice(("always", "first", "never"))
    spec = spec.replace(sentencepiece=replace(rules, prepend_scheme=scheme, **spaces)).with_added_tokens(["<s>"])
    native, reference = Encoder(spec, engine="native"), Encoder(spec, engine="reference")
    found, expected = (engine.place_batch(texts, allowed_special="all") for engine in (native, reference))
    assert parts(found) == parts(expected)
    for number, text in enumerate(texts):
        alone = native.place(text, allowed_special="all")
        assert alone == reference.place(text, allowed_special="all")
        assert alone == (found.ids()[number], found.offsets()[number])


def test_lists_of_places_are_the_arrays_wherever_in_a_long_text_and_however_long_a_token() -> None:
    long = "x" * 40
    spec = byte_spec(
        r"\p{L}+|[^\p{L}]+", added_tokens=(AddedToken(long, 300, special=False), AddedToken("<s>", 301, special=False))
    )
    encoder = Encoder(spec, engine="native")
    texts = ["ab " * 6000 + long, "é中<s>" * 5000, long * 300, ""]
    found = encoder.place_batch(texts, disallowed_special=())
    aligned = encoder.align_batch(texts, disallowed_special=())
    offsets = list(chain.from_iterable(found.offsets()))
    assert offsets == list(zip(aligned.starts.tolist(), aligned.stops.tolist(), strict=True))
    assert max(offsets)[0] > 17_000
    assert (18_000, 18_040) in offsets
    assert list(chain.from_iterable(found.ids())) == aligned.ids.tolist()
    assert list(chain.from_iterable(found.pieces())) == aligned.pieces.tolist()
    assert [row is not other for row, other in zip(found.offsets(), found.offsets(), strict=True)] == [True] * 4


def test_units_that_do_not_exist_are_refused() -> None:
    engine: Any = Encoder(byte_spec(), engine="native")._engine
    with pytest.raises(ValueError, match="words"):
        engine.place_one("a", engine.policy(frozenset(), frozenset()), "words")
