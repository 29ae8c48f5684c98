"""`compare`: figures by hand, parity, cost, what is refused, and that every field is documented."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import conversion
from hf_bpe import ComparisonError, CorpusError, Encoder, FormatError, ReportError
from hf_bpe.analysis import Comparison, compare, sample
from hf_bpe.analysis.metrics import corpora
from hf_bpe.analysis.naming import distinct_names
from hf_bpe.analysis.report.tables import notes
from hf_bpe.analysis.sample.count import counted
from tests.support.pieces import pieces_spec
from tests.support.vocabularies import byte_spec, cl100k_encoder, gpt2_spec

DOCS = Path(__file__).parents[2] / "docs" / "compare.md"


def measured(corpora: Any = None, **options: Any) -> dict[str, Any]:
    tokenizers = options.pop("tokenizers", {"bytes": byte_spec()})
    return dict(compare(tokenizers, corpora, progress=False, **options).content)


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare({"bytes": byte_spec(), "cl100k": cl100k_encoder()}, prices={"cl100k": 2.5}, currency="€", progress=False)


def test_figures_by_hand():
    content = measured({"x": iter(["ab é", "c"])}, prices={"bytes": 3})
    assert content["corpora"]["x"] == {
        "source": "an iterable",
        "parallel": False,
        "documents": 2,
        "bytes": 6,
        "characters": 5,
        "words": 3,
        "letters_in_scripts_without_spaces": 0.0,
        "left_out": 0,
    }
    assert content["text"]["x"]["bytes"] == {
        "tokens": 6,
        "bytes_per_token": 1.0,
        "characters_per_token": 0.833333,
        "tokens_per_word": 2.0,  # a b; space and two bytes; c
        "single_token_words": 0.333333,
        "unknown": 0.0,
        "indentation": 0.0,
        "cost": 0.000018,
        "cost_of_a_million_characters": 3.6,
    }
    assert content["vocabulary"]["bytes"]["used"] == 6
    assert content["parity"] is None


def test_words_are_left_out_where_most_letters_are_in_scripts_without_spaces():
    content = measured(
        {"much": iter(["漢字漢字 ab c"]), "little": iter(["漢 ab c"]), "none": iter(["漢字"]), "dots": iter(["..."])}
    )
    figures = {name: found["bytes"]["tokens_per_word"] for name, found in content["text"].items()}
    assert figures == {"much": None, "little": 2.5, "none": None, "dots": None}
    assert content["corpora"]["much"]["letters_in_scripts_without_spaces"] == round(4 / 7, 6)
    assert content["corpora"]["dots"]["letters_in_scripts_without_spaces"] is None
    assert notes(content) == [
        "no figures for words of much, none: most letters are in scripts that put no spaces between words",
        "no figures for words of dots: it holds no words",
    ]


def test_unknown_pieces_are_told():
    from hf_bpe import Piece

    content = measured({"x": iter(["aé"])}, tokenizers={"pieces": pieces_spec(Piece("a", -1.0), Piece("\u2581", -2.0))})
    assert content["text"]["x"]["pieces"]["unknown"] == round(1 / 3, 6)


def test_parity_is_the_ratio_of_tokens(tmp_path):
    (tmp_path / "en.txt").write_text("one\ntwo\n", "utf-8")
    (tmp_path / "de.txt").write_text("eins\nzweié\n", "utf-8")
    parallel = {"en": tmp_path / "en.txt", "de": tmp_path / "de.txt"}
    compared = measured(parallel=parallel)["parity"]
    assert compared == {
        "reference": "en",
        "texts": 2,
        "bytes": {"en": 1.0, "de": round(10 / 6, 6)},
        "tokens": {"bytes": {"en": 1.0, "de": round(10 / 6, 6)}},
    }
    assert measured(parallel=parallel, reference="de")["parity"]["tokens"]["bytes"] == {"en": 0.6, "de": 1.0}
    both = measured({"more": iter(["x"])}, parallel=parallel)
    assert list(both["corpora"]) == ["en", "de", "more"]
    assert list(both["parity"]["bytes"]) == ["en", "de"]


def test_an_empty_separator_makes_each_parallel_file_one_text(tmp_path):
    (tmp_path / "en.txt").write_text("one\ntwo\n", "utf-8")
    (tmp_path / "de.txt").write_text("eins zwei\n", "utf-8")
    parallel = {name: tmp_path / f"{name}.txt" for name in ("en", "de")}
    assert measured(parallel=parallel, separator="")["parity"]["texts"] == 1
    assert measured(parallel=parallel, separator="\n\n")["corpora"]["en"]["documents"] == 1
    with pytest.raises(ComparisonError, match="lone surrogate"):
        measured(parallel=parallel, separator="\ud800")


def test_parallel_texts_must_match_in_number(tmp_path):
    with pytest.raises(ComparisonError, match="as many texts as 'en', which has 2; 'de' has 1, 'fr' has 3"):
        measured(parallel={"en": iter("ab"), "de": iter("a"), "fr": iter("abc")})
    with pytest.raises(ComparisonError, match="'en' is the only parallel corpus"):
        measured(parallel={"en": iter("ab")})
    (tmp_path / "bad.txt").write_bytes(b"a\n\xff\n")
    with pytest.raises(
        CorpusError, match=r"not UTF-8: byte 0xFF\. Mend it, or take it out of all parallel"
    ):  # leaving one out would shift the others
        measured(parallel={"en": iter("ab"), "de": tmp_path / "bad.txt"}, on_bad="skip")


def test_without_a_corpus_the_samples_are_measured(found):
    content = found.content
    assert list(content["corpora"]) == [*sample.sentences(), sample.CODE]
    assert content["parity"]["reference"] == "English"
    for name, tokens in sample.published_counts()["cl100k_base"].items():
        assert content["text"][name]["cl100k"]["tokens"] == tokens
    assert content["text"]["Chinese"]["cl100k"]["tokens_per_word"] is None
    assert content["text"]["Python code"]["cl100k"]["indentation"] > 0.05
    assert content["text"]["English"]["cl100k"]["indentation"] == 0


def test_samples_are_parallel_and_counted_as_published():
    assert {len(texts) for texts in sample.sentences().values()} == {6}
    assert counted(Encoder(gpt2_spec())) == sample.published_counts()["gpt2"]
    assert counted(cl100k_encoder()) == sample.published_counts()["cl100k_base"]
    assert set(sample.published_counts()["o200k_base"]) == set(sample.texts())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokenizers": {}}, "no tokenizer to measure"),
        ({"prices": {"gpt": 1}}, "a price for 'gpt', which is no tokenizer here; there are 'bytes'"),
        ({"prices": {"bytes": -1}}, "must be a number from 0 up, not -1"),
        ({"prices": {"bytes": float("nan")}}, "must be a number from 0 up, not nan"),
        ({"prices": {"bytes": "2"}}, "must be a number from 0 up, not '2'"),
        ({"corpora": {"a": iter("x")}, "parallel": {"a": iter("x"), "b": iter("x")}}, "two corpora are called 'a'"),
        ({"corpora": {"a": iter("x")}, "reference": "a"}, "'a' is not one of the parallel corpora; there are none"),
        ({"reference": "Klingon"}, "'Klingon' is not one of the parallel corpora; there are 'English', "),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(ComparisonError, match=message):
        measured(**options)


def test_wrong_kinds_of_arguments_are_refused(tmp_path):
    with pytest.raises(ValueError, match="words must be one of unicode, whitespace"):
        measured(words="letters")
    with pytest.raises(ValueError, match="on_bad must be"):
        measured(on_bad="ignore")
    with pytest.raises(TypeError, match="tokenizer 'x' must be a path"):
        measured(tokenizers={"x": 5})
    with pytest.raises(FormatError, match="cannot be read"):
        measured(data=tmp_path / "none.json")
    (tmp_path / "x.txt").write_text("no tokenizer")
    with pytest.raises(FormatError, match=r"x\.txt: in no format known here"):
        measured(tokenizers={"x": tmp_path / "x.txt"})


def test_bad_texts_are_left_out_with_a_warning(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"text": "a"}\n{"text": 5}\n')
    with pytest.warns(UserWarning, match="corpus 'x': left out 1 texts"):
        content = measured({"x": tmp_path / "t.jsonl"}, on_bad="skip")
    assert (content["corpora"]["x"]["documents"], content["corpora"]["x"]["left_out"]) == (1, 1)


def test_paths_are_loaded(tmp_path):
    conversion.save(gpt2_spec(), tmp_path / "tokenizer.json")
    content = measured({"x": iter(["x"])}, tokenizers={"gpt2": tmp_path / "tokenizer.json"})
    about = content["tokenizers"]["gpt2"]
    assert (about["source"], about["fingerprint"]) == (str(tmp_path / "tokenizer.json"), gpt2_spec().fingerprint)


def test_progress_is_told_in_bytes_of_all_corpora(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(corpora, "_BLOCK_BYTES", 10)
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("some words\n" * 20)
    compare({"bytes": byte_spec()}, {name: tmp_path / f"{name}.txt" for name in "ab"})
    shown = capsys.readouterr().err
    assert "measuring: 100%" in shown
    assert "440/440" in shown


def test_the_result_is_the_same_for_any_number_of_threads(found):
    again = compare(
        {"bytes": byte_spec(), "cl100k": cl100k_encoder()}, prices={"cl100k": 2.5}, currency="€", num_threads=1, progress=False
    )
    assert again.to_json() == found.to_json()


def keys(value: Any, free: tuple[str, ...]) -> set[str]:
    """Names of fields, leaving out those that are names of tokenizers, corpora, formats, and numbers."""
    if isinstance(value, list):
        return set().union(*(keys(each, free) for each in value))
    if not isinstance(value, dict):
        return set()
    own = {key for key in value if key not in free and not key.isdigit()}
    return own.union(*(keys(each, free) for each in value.values()))


def test_every_field_of_the_json_is_documented(found):
    content = json.loads(found.to_json())
    assert content == found.content
    free = (*content["tokenizers"], *content["corpora"], *content["formats"]["bytes"])
    documented = set(re.findall(r"`(\w+)`", DOCS.read_text("utf-8")))
    assert keys(content, free) <= documented


def test_files_are_written_by_their_names(found, tmp_path):
    found.write(tmp_path / "new" / "r.json")
    assert (tmp_path / "new" / "r.json").read_text("utf-8") == found.to_json()
    found.write(tmp_path / "r.MD")
    assert (tmp_path / "r.MD").read_text("utf-8") == found.to_markdown()
    with pytest.raises(ReportError, match=r"must end in \.html, \.json or \.md"):
        found.write(tmp_path / "r.txt")


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/tokenizer.json", "b/tokenizer.json"], ["a/tokenizer.json", "b/tokenizer.json"]),
        (["x/a/t", "y/a/t", "z/b/t"], ["x/a/t", "y/a/t", "b/t"]),
        (["t", "a/t"], ["t", "a/t"]),
        (["t", "./t", "t"], ["t", "t (2)", "t (3)"]),
        (["/", "-"], ["/", "-"]),
        ([], []),
    ],
)
def test_names_of_paths_are_as_short_as_they_can_be_told_apart(paths, names):
    assert distinct_names(paths) == names


def test_looking_at_tokens_does_not_import_what_measures_them():
    program = "import sys, hf_bpe.analysis; print([m for m in ('hf_bpe.training', 'numpy', 'matplotlib', 'yaml') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout.strip() == b"[]"
