"""Reports: every figure is what encoding says, at every size; nothing is fetched from elsewhere; learners see each step."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import hf_bpe
from hf_bpe import EncodingError, ReportError, TrainingError, WordCounts
from hf_bpe.editing import audit
from hf_bpe.engine.steps import MergeRules, MergeStep, merge_steps
from hf_bpe.pages import plots, svg
from hf_bpe.training.report import TrainingReport, report_of
from hf_bpe.training.report.page import _PLOTS
from hf_bpe.training.report.scripts import script_names, scripts_of
from hf_bpe.training.report.usage import Merges, usage_of
from hf_bpe.training.words import Words
from hf_bpe.vocabulary.shown import shown
from tests.support.pieces import bytes_as_pieces_spec
from tests.support.text import generated_text

pytestmark = pytest.mark.filterwarnings("ignore:only .* merges asked for were found")

TEXTS = [generated_text(seed, 150) for seed in range(8)] + ["the cat sat on the mat " * 30, "aaaaaaaaa aaaa aaa aa"]
HELD_OUT = [generated_text(99, 200), "the dog sat on the mat"]


def counted(texts: list[str], pattern: str = "gpt2") -> Words:
    return WordCounts.count(iter(texts), pattern=pattern, progress=False).words()


def trained(texts: list[str] = TEXTS, size: int = 700, **options: object) -> hf_bpe.TokenizerSpec:
    return hf_bpe.train(iter(texts), size, **({"pattern": "gpt2", "min_frequency": 1, "progress": False} | options))


@pytest.fixture(scope="module")
def spec() -> hf_bpe.TokenizerSpec:
    return trained(special_tokens=["<|end|>"])


@pytest.fixture(scope="module")
def report(spec) -> TrainingReport:
    return report_of(spec, counted(TEXTS), {"held out": counted(HELD_OUT)})


def cut_to(spec: hf_bpe.TokenizerSpec, merges: int) -> hf_bpe.Encoder:
    kept = {token: number for token, number in spec.vocab.items() if number < 256 + merges}
    return hf_bpe.Encoder(spec.replace(vocab=kept, merges=spec.merges[:merges], added_tokens=()))


def test_a_small_corpus_by_hand():
    # "aaab": aa a b -> 3 tokens, then "aaa" is no pair of the first; two merges leave "aaab" in aa, ab.
    spec = trained(["aaab aaab"], 258, pattern="gpt2")
    usage = usage_of(Merges.of(spec), Words.of([(b"aaab", 1), (b" aaab", 1)]))
    assert spec.merges == ((b"a", b"a"), (b"a", b"b"))
    assert usage.applied.tolist() == [2, 2]
    assert usage.tokens_by_merges.tolist() == [9, 7, 5]
    assert usage.per_word.tolist() == [2, 3]


@pytest.mark.parametrize("texts", [TEXTS, HELD_OUT])
def test_tokens_at_every_size_are_those_of_encoding_with_that_size(spec, texts):
    usage = usage_of(Merges.of(spec), counted(texts))
    for merges in (0, 1, 2, 3, 10, 50, 199, len(spec.merges)):
        encoder = cut_to(spec, merges)
        assert usage.tokens_by_merges[merges] == sum(len(encoder.encode_ordinary(text)) for text in texts)
    encoder = hf_bpe.Encoder(spec)
    ids = [token for text in texts for token in encoder.encode_ordinary(text)]
    assert usage.tokens.tolist() == np.bincount(ids, minlength=spec.n_vocab).tolist()
    assert usage.bytes == sum(len(text.encode()) for text in texts)


def test_superwords_and_forced_tokens_are_measured_alike():
    spec = trained(size=420, pattern="llama3", superwords="lines", space_runs=4)
    usage = usage_of(Merges.of(spec), counted(TEXTS, "lines"))
    assert usage.tokens_by_merges[-1] == sum(map(len, hf_bpe.Encoder(spec).encode_ordinary_batch(TEXTS)))


def test_counts_beyond_32_bits_are_exact(spec):
    words = Words.of([(b"the", 2**40 + 1), (b" cat", 2**41)])
    usage = usage_of(Merges.of(spec), words)
    assert usage.bytes == 3 * (2**40 + 1) + 4 * 2**41
    assert usage.applied.max() >= 2**41


def test_the_report_says_what_was_trained_and_measured(spec, report):
    content = report.content
    assert content["vocabulary"]["size"] == spec.vocab_size == 700
    assert content["vocabulary"]["merges"] == 443
    assert content["vocabulary"]["pattern"] == "gpt2"
    assert list(content["texts"]) == ["training", "held out"]
    assert content["texts"]["training"]["tokens"] == sum(map(len, hf_bpe.Encoder(spec).encode_ordinary_batch(TEXTS)))
    assert content["curve"]["sizes"][0] == 257
    assert content["curve"]["sizes"][-1] == 700
    assert content["curve"]["bytes_per_token"]["training"] == sorted(content["curve"]["bytes_per_token"]["training"])
    assert sum(content["token_lengths"].values()) == 699
    assert content["longest_tokens"][0]["bytes"] == max(map(len, spec.vocab))
    assert content["usage"]["tokens"] == 699
    assert content["merges"]["first"][0]["times"] > 0
    assert {row["saves_less_than"] for row in content["choice"]} == {0.01, 0.005, 0.002, 0.001, 0.0005}
    assert sum(script["share_of_bytes"] for script in content["scripts"].values()) == pytest.approx(1, abs=0.01)
    assert json.loads(report.to_json()) == json.loads(json.dumps(content))


def test_the_report_names_odd_tokens_as_the_audit_does(spec, report):
    found = report.content["audit"]["findings"]
    audited = audit(spec, corpus=TEXTS)
    assert {name: finding["tokens"] for name, finding in found.items()} == dict(audited.counts)
    assert [token["id"] for token in found["unused"]["first"]] == [token.id for token in audited.of("unused")][:50]
    assert report.content["audit"]["groups_that_differ_in_case_or_space"] == audited.groups_of_twins > 0
    page = report.to_html()
    assert "Odd tokens" in page
    assert all(f"<td>{name}</td>" in page for name in found)


def test_what_thousands_save_and_when_to_stop():
    texts = [" ".join(f"w{number * number % 1000003:x}" for number in range(4000))]
    spec = trained(texts, 2500)
    content = report_of(spec, counted(texts)).content
    assert [(row["from"], row["to"]) for row in content["thousands"]] == [(256, 1256), (1256, 2256), (2256, spec.vocab_size)]
    first, second, _ = content["thousands"]
    tokens = [content["texts"]["training"]["bytes"]]
    for row in content["thousands"]:
        tokens.append(tokens[-1] * (1 - row["saves"]))
    assert tokens[-1] == pytest.approx(content["texts"]["training"]["tokens"], rel=1e-4)
    assert first["saves"] > second["saves"] > 0
    assert all(row["from_size"] is None for row in content["choice"]), "each thousand saves more than a percent here"
    flat = report_of(trained(["ab " * 9 + " ".join(map(chr, range(0x4E00, 0x5600)))], 2500), counted(["ab " * 9])).content
    assert flat["choice"][0]["from_size"] is not None


def test_words_belong_to_the_script_of_their_first_letter():
    words = Words.of([("été".encode(), 1), (" 中文".encode(), 1), (b"123", 1), (" नमस्ते".encode(), 1), ("…жx".encode(), 1)])
    names = [script_names()[number] for number in scripts_of(words)]
    assert names == ["Latin", "Han", "other", "Devanagari", "Cyrillic"]


def test_a_page_needs_no_other_file_and_escapes_what_it_shows(tmp_path):
    hostile = "<script>alert(1)</script>"
    spec = trained([f"{hostile} $x_1$ {hostile}" * 3], 300, pattern=None, special_tokens=["</style>"])
    made = report_of(spec, counted([hostile * 3], "none"), {"_<b>$name$": counted(["abc"], "none")})
    made.write(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert hostile not in page
    assert "<b>" not in page
    assert not re.search(r"(?:src|href)=[\"'](?!#)", page.replace("xlink:href", "href"))
    figures = re.findall(r"<svg.*?</svg>", page, re.S)
    assert len(figures) == 5
    for figure in figures:
        ElementTree.fromstring(figure)
    again = svg("lengths", lambda axes: _PLOTS["lengths"](axes, made.content))
    assert again in page, "the same figures give the same bytes"


def test_tokens_are_shown_on_one_line():
    assert [shown(token) for token in (b" a", b"\r\n", b"\xc3", "\u200bé".encode())] == [" a", r"\r\n", r"\xc3", r"\u200bé"]


def test_a_vocabulary_without_merges_has_a_report():
    spec = trained(["ab"], 256)
    assert "Training report" in report_of(spec, counted(["ab"])).to_html()


def test_train_writes_it(tmp_path):
    trained(report=tmp_path / "r.json", held_out={"dogs": HELD_OUT})
    content = json.loads((tmp_path / "r.json").read_text())
    assert list(content["texts"]) == ["training", "dogs"]
    mixture = hf_bpe.Mixture({"a": TEXTS[:3], "b": TEXTS[3:]}, shares={"a": 1, "b": 1})
    found: list[TrainingReport] = []
    hf_bpe.train(mixture, 300, pattern="gpt2", report=found.append, progress=False)
    assert list(found[0].content["texts"]) == ["training", "a", "b"]


def test_what_cannot_be_reported_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ReportError, match=r"must end in \.html or \.json"):
        hf_bpe.train(never(), 300, report=tmp_path / "r.txt")
    with pytest.raises(TrainingError, match="name a file for it"):
        hf_bpe.train(never(), 300, held_out=["x"])
    spec = trained()
    with pytest.raises(TrainingError, match="holds no words"):
        report_of(spec, Words.of([]))
    with pytest.raises(TrainingError, match="'training' is the name"):
        report_of(spec, counted(TEXTS), {"training": counted(TEXTS)})
    single = {bytes([byte]): byte for byte in range(256)}
    two_ways = hf_bpe.TokenizerSpec(
        vocab=single | {b"ab": 256, b"bc": 257, b"abc": 258}, merges=((b"a", b"b"), (b"b", b"c"), (b"ab", b"c"), (b"a", b"bc"))
    )
    with pytest.raises(TrainingError, match="each token is made by one merge"):
        report_of(two_ways, counted(TEXTS))
    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    with pytest.raises(ReportError, match=r"pip install 'hf-bpe\[plots\]'"):
        hf_bpe.train(never(), 300, report=tmp_path / "r.html")


def never():
    raise AssertionError("the corpus was read")
    yield ""


# ---------------------------------------------------------------------------------------------------------------------
# Step by step


def test_steps_by_hand():
    spec = trained(["aaabdaaabac"], 259, pattern=None)
    assert merge_steps(spec, b"aaab") == [
        MergeStep((b"a", b"a", b"a", b"b"), None, None),
        MergeStep((b"aa", b"a", b"b"), (b"a", b"a"), 0),
        MergeStep((b"aa", b"ab"), (b"a", b"b"), 1),
        MergeStep((b"aaab",), (b"aa", b"ab"), 2),
    ]


def test_the_last_step_is_what_encoding_gives(spec):
    encoder = hf_bpe.Encoder(spec)
    for text in TEXTS:
        for piece in map(str.encode, encoder.pretokenize(text[:300])):
            steps = merge_steps(spec, piece)
            assert [spec.vocab[token] for token in steps[-1].tokens] == encoder.encode_piece(piece)
            assert [step.rank for step in steps[1:]] == sorted(step.rank for step in steps[1:])


def test_a_piece_that_is_taken_whole_has_one_step(spec):
    whole = spec.replace(vocab={**spec.vocab, b"xyzzy": 5000}, ignore_merges=True)
    assert merge_steps(whole, b"xyzzy") == [MergeStep((b"xyzzy",), None, None)]


def test_a_model_without_ranks_merges_by_scores():
    spec = bytes_as_pieces_spec()
    ids = {piece.content.encode(): number for number, piece in enumerate(spec.sentencepiece.pieces)}
    encoder, rules = hf_bpe.Encoder(spec), MergeRules(spec)
    for text in filter(None, TEXTS):
        for piece in encoder.pretokenize(text[:100]):
            assert [ids[token] for token in rules.steps(piece.encode())[-1].tokens] == encoder.encode_ordinary(text[:100])


def test_a_piece_with_endless_steps_is_refused(spec):
    with pytest.raises(EncodingError, match="2,001 bytes"):
        merge_steps(spec, b"x" * 2001)
