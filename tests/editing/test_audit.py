"""The audit names tokens that no text has, and the rows that were planted as untrained."""

from __future__ import annotations

import numpy as np
import pytest

from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, Encoder
from hf_bpe.editing.audit import Rows, audit
from hf_bpe.errors import EditError
from tests.support.pieces import model
from tests.support.vocabularies import BYTES, byte_spec, cl100k_spec

SPEC = byte_spec("gpt2").replace(
    vocab=BYTES
    | {
        b"ab": 256,
        b"abc": 257,
        b"bc": 258,
        b"a b": 259,
        b"\xe4\xb8": 260,
        b" www.abc": 261,
        b"a" * 50: 262,
        b"\xc0a": 263,
        b"AB": 264,
    },
    merges=((b"a", b"b"), (b"b", b"c")),
    added_tokens=(AddedToken("<|reserved_1|>", 300), AddedToken("<|end|>", 301)),
)


def test_each_finding_names_the_tokens_it_is_about() -> None:
    found = audit(SPEC, corpus=["ab"])
    named = {finding: {token.id for token in found.of(finding)} for finding in found.counts}
    assert named["reserved"] == {300}
    assert named["very long"] == {262}
    assert named["personal"] == {261}
    assert {257, 259, 260, 261, 262, 263, 264} == named["never merged"]  # none of them has merges
    assert found.ids_without_token == tuple(range(265, 300))
    assert ("A", "a") in found.twins
    assert next(token.count for token in found.tokens if token.id == 258) == 0
    assert 256 not in {token.id for token in found.tokens}


def test_what_the_split_cuts_and_what_utf8_never_has() -> None:
    merges = ((b"a", b" "), (b"a ", b"b"), (b"\xe4", b"\xb8"), (b"\xc0", b"a"), (b"\xb8", b"\xe4"), (b"\xed", b"\xa0"))
    vocab = {left + right: 256 + number for number, (left, right) in enumerate(merges)}
    found = audit(byte_spec(r"\w+|\W").replace(vocab=BYTES | vocab, merges=merges))
    named = {finding: {token.id for token in found.of(finding)} for finding in found.counts}
    assert named["split apart"] == {256, 257}
    assert {i for i in named["part of a character"] if i >= 256} == {258, 260}
    assert {i for i in named["no text"] if i >= 256} == {259, 261}
    assert {i for i in named["no text"] if i < 256} == {0xC0, 0xC1, *range(0xF5, 0x100)}


def test_every_reachable_token_is_reached_by_its_own_text() -> None:
    spec = cl100k_spec()
    found = audit(spec)
    odd = {token.id for token in found.tokens}
    encoder = Encoder(spec)
    texts = {token_id: token.decode() for token, token_id in spec.vocab.items() if token_id not in odd}
    assert len(texts) > 98_000
    ids = encoder.encode_ordinary_batch(list(texts.values()))
    assert sum(run == [token_id] for token_id, run in zip(texts, ids, strict=True)) > 0.98 * len(texts)


def test_pieces_that_scores_never_make_are_named() -> None:
    spec = parse_model(model("mistral v1"), "m")
    assert "never merged" not in audit(spec).counts


def test_rows_that_no_text_reaches_are_the_reference_by_default() -> None:
    generator = np.random.default_rng(6)
    matrix = generator.normal(size=(302, 32))
    for row in (*range(265, 301), 0xC0, 0xC1, *range(0xF5, 0x100), 257, *range(259, 265), 100):
        matrix[row] = generator.normal(size=32) * 0.01 + 0.5
    found = audit(SPEC, embedding=Rows.of(matrix))
    assert [token.id for token in found.of("undertrained")] == [100]
    assert found.to_dict()["counts"]["undertrained"] == 1


def test_a_matrix_of_another_tokenizer_is_refused() -> None:
    with pytest.raises(EditError, match="row 301 is said to be untrained, and the matrix has 300 rows"):
        audit(SPEC, embedding=Rows.of(np.zeros((300, 4))), untrained=[301])
    with pytest.raises(EditError, match="no row is known"):
        audit(SPEC, embedding=Rows.of(np.zeros((300, 4))), untrained=[])
    with pytest.raises(EditError, match="row -1 is said"):
        audit(SPEC, embedding=Rows.of(np.zeros((302, 4))), untrained=[-1, 5])


def test_rows_that_are_no_numbers_are_refused() -> None:
    matrix = np.ones((302, 4))
    matrix[7, 1] = np.nan
    with pytest.raises(EditError, match="row 7 of the matrix holds what is no finite number"):
        audit(SPEC, embedding=Rows.of(matrix))


def test_if_all_are_said_to_be_untrained_nothing_can_be_told() -> None:
    with pytest.raises(EditError, match="no token is left"):
        audit(SPEC, embedding=Rows.of(np.ones((302, 4))), untrained=range(302))


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("width", [8, 64, 1024])
def test_rows_that_are_not_unlike_the_others_tell_nothing(tied: bool, width: int) -> None:
    rows = Rows.of(np.random.default_rng(width).normal(size=(302, width)))
    found = audit(SPEC, embedding=rows, head=None if tied else rows)
    assert found.rows is not None
    assert len(found.rows.untrained) > 10
    assert found.rows.border is None
    assert found.to_dict()["rows"]["border"] is None
    assert not found.of("undertrained")


def test_the_audit_says_how_it_judged() -> None:
    matrix = np.random.default_rng(7).normal(size=(302, 8))
    matrix[[5, 77, 300]] /= 100
    found = audit(SPEC, embedding=Rows.of(matrix), head=Rows(302, lambda: [matrix], "head"), untrained=[300, 5, 5])
    assert found.rows is not None
    assert found.rows.border is not None
    assert (found.rows.indicator, found.rows.head, found.rows.untrained) == ("norm", "head", (5, 300))
    norms = np.linalg.norm(matrix, axis=1)
    below = {i for i in SPEC.used_ids - {5, 300} if norms[i] <= found.rows.border}
    assert {token.id for token in found.of("undertrained")} == below == {77}
    assert found.to_dict()["rows"]["border"] == found.rows.border
    assert found.to_dict()["groups_of_twins"] == len(found.twins)
    assert audit(SPEC).to_dict()["rows"] is None
