"""Pruning leaves the ids of every text that needs no removed token, and nothing that is left unreachable."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

import conversion
from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, Encoder, TokenizerSpec
from hf_bpe.editing import prune
from hf_bpe.editing.derivations import Derivations
from hf_bpe.editing.selection import fixed_ids, ids_named
from hf_bpe.errors import EditError
from tests.editing.checks import check_pruned
from tests.fuzz.random_specs import random_spec, random_text
from tests.support.pieces import model, random_pieces_spec
from tests.support.vocabularies import BYTES, byte_spec, cl100k_spec, gpt2_spec

SMALL = byte_spec().replace(
    vocab=BYTES | {b"ab": 256, b"abc": 257, b"de": 258, b"bc": 259},
    merges=((b"a", b"b"), (b"ab", b"c"), (b"d", b"e"), (b"b", b"c")),
)
SOURCES = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:40]
TEXTS = [text[start : start + 500] for path in SOURCES for text in [path.read_text("utf-8")] for start in range(0, 20_000, 500)]
TEXTS += ["Съешь же ещё этих мягких булок. Привет 世界", "naïve café", "", " \n\n\t x"]


def test_what_is_made_of_a_removed_token_goes_with_it() -> None:
    pruned = prune(SMALL, [b"ab"])
    assert pruned.removed == {256: b"ab", 257: b"abc"}
    assert pruned.taken_along == {257}
    assert pruned.spec.merges == ((b"d", b"e"), (b"b", b"c"))
    assert pruned.spec.vocab[b"de"] == 256
    assert Encoder(pruned.spec).encode("abcde") == [97, 257, 256]


@pytest.mark.parametrize("seed", range(60))
def test_random_vocabularies_and_removals(seed: int) -> None:
    generator = random.Random(seed)
    alphabet = "abc é中\u2581"
    spec = random_spec(generator, alphabet) if seed % 2 else random_pieces_spec(generator, alphabet)
    unknown_without = seed % 2 == 0 and not spec.sentencepiece.byte_fallback
    fixed = fixed_ids(spec) | {
        i for token, i in spec.vocab.items() if unknown_without and len(token.decode("utf-8", "ignore")) == 1
    }
    candidates = sorted({*spec.vocab.values()} - fixed)
    for _ in range(4 if candidates else 0):
        chosen = generator.sample(candidates, min(2, len(candidates)))
        pruned = prune(spec, chosen, compact=generator.random() < 0.5)
        check_pruned(spec, pruned, [random_text(generator, spec, alphabet) for _ in range(20)], gives_text_back=False)
        assert _unreachable(pruned.spec) <= _unreachable(spec)


def _unreachable(spec: TokenizerSpec) -> set[bytes]:
    """Tokens that no merge makes."""
    made = Derivations(spec).parts.keys()
    return {token for token, token_id in spec.vocab.items() if token_id not in made and not token.startswith(b"<removed_")}


LATIN, SIZE, COUNT, LISTED = {"scripts": ["Latin"]}, {"vocab_size": 20_000}, {"min_count": 3}, {"tokens": [262, 1169]}


@pytest.mark.parametrize(
    ("name", "rules"),
    [("cl100k", LATIN), *((name, rules) for name in ("gpt2", "mistral v1") for rules in (LATIN, SIZE, COUNT, LISTED))],
)
def test_real_vocabularies(name: str, rules: dict[str, Any]) -> None:
    spec = {"gpt2": gpt2_spec, "cl100k": cl100k_spec}.get(name, lambda: parse_model(model(name), name))()
    pruned = prune(spec, corpus=TEXTS[::3], **rules)
    as_before, changed = check_pruned(spec, pruned, TEXTS)
    assert as_before
    assert changed or rules == {"min_count": 3}
    if "vocab_size" in rules:
        assert pruned.spec.vocab_size == rules["vocab_size"]
    if "scripts" in rules:
        assert (
            Encoder(pruned.spec).encode_ordinary("naïf")[0] != Encoder(spec).encode_ordinary("naïf")[0] or name == "mistral v1"
        )


def test_the_result_is_the_same_in_tokenizers(tmp_path: Path) -> None:
    spec = gpt2_spec()
    pruned = prune(spec, vocab_size=30_000, corpus=TEXTS).spec
    conversion.save(pruned, tmp_path / "tokenizer.json")
    stock = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    encoder = Encoder(pruned)
    for text in TEXTS:
        assert stock.encode(text).ids == encoder.encode_ordinary(text)


def test_the_least_used_go_first_and_what_they_are_made_of_is_used_then() -> None:
    texts = ["abc" * 3, "de" * 2, "bcx" * 4]
    # abc 3, ab 0, de 2, bc 4: de goes first, for ab is used wherever abc is.
    assert prune(SMALL, corpus=texts, vocab_size=259).removed == {258: b"de"}
    assert prune(SMALL, corpus=texts, vocab_size=258).removed == {257: b"abc", 258: b"de"}
    assert prune(SMALL, corpus=texts, min_count=3).removed == {258: b"de"}
    assert prune(SMALL, vocab_size=258).removed == {259: b"bc", 258: b"de"}


def test_what_unwanted_texts_use_and_the_corpus_does_not_goes() -> None:
    assert prune(SMALL, corpus=["bc"], unwanted=["de bc"]).removed == {258: b"de"}
    # "ab" is used where "abc" has gone, and is part of what the corpus uses elsewhere.
    assert prune(SMALL, corpus=["de"], unwanted=["abc"]).removed == {256: b"ab", 257: b"abc"}
    assert prune(SMALL, corpus=["ab"], unwanted=["abc"]).removed == {257: b"abc"}
    with pytest.raises(EditError, match="no token is to be removed"):
        prune(SMALL, corpus=["abc"], unwanted=["ab"])  # which "abc" is made of
    with pytest.raises(EditError, match="no token is to be removed"):
        prune(SMALL, corpus=["de"], unwanted=["ab"])  # "abc", which neither uses, stays with what it is made of


def test_unwanted_texts_go_with_the_other_rules() -> None:
    both = {"corpus": ["bc", "de de"], "unwanted": ["de bc"]}
    assert prune(SMALL, **both, min_count=2).removed == {259: b"bc"}
    assert prune(SMALL, **both, min_count=3, keep=["de"]).removed == {259: b"bc"}
    assert prune(SMALL, ["abc"], **both, min_count=2).removed == {257: b"abc", 259: b"bc"}
    # Down to a size all may go, the least used first.
    assert prune(SMALL, **both, min_count=2, vocab_size=258).removed == {257: b"abc", 259: b"bc"}


def test_what_goes_first_counts_as_its_parts_from_then_on() -> None:
    # "abc" goes by name, so "ab" is used twice, "bc" once.
    texts = ["abcabc", "xbc"]
    assert prune(SMALL, ["abc"], corpus=texts, vocab_size=258).removed == {257: b"abc", 258: b"de"}
    assert prune(SMALL, ["abc", "de"], corpus=texts, vocab_size=257).removed.keys() == {257, 258, 259}


def test_random_vocabularies_and_unwanted_texts() -> None:
    alphabet, pruned_at_all = "abc é中\u2581", 0
    for seed in range(60):
        generator = random.Random(seed)
        spec = random_spec(generator, alphabet) if seed % 2 else random_pieces_spec(generator, alphabet)
        wanted = ["".join(generator.choices("ab ", k=9)) for _ in range(2)]
        unwanted = [random_text(generator, spec, alphabet) for _ in range(5)]
        try:
            pruned = prune(spec, corpus=wanted, unwanted=unwanted)
        except EditError:  # nothing is to be removed
            continue
        pruned_at_all += 1
        others = [random_text(generator, spec, alphabet) for _ in range(20)]
        assert check_pruned(spec, pruned, wanted, gives_text_back=False) == (len(wanted), 0)
        check_pruned(spec, pruned, others, gives_text_back=False)
        used = {token_id for text in unwanted for token_id in Encoder(spec).encode_ordinary(text)}
        assert pruned.removed.keys() <= Derivations(spec).parts_of(used)
        assert _unreachable(pruned.spec) <= _unreachable(spec)
    assert pruned_at_all > 20


def test_a_language_that_shares_its_script_with_another_goes() -> None:
    french = ["Où est la bibliothèque ? Elle est là-bas, à côté de l'école, dans le bâtiment neuf."]
    spec = cl100k_spec()
    pruned = prune(spec, corpus=TEXTS[:-4], unwanted=french)
    assert check_pruned(spec, pruned, TEXTS[:-4])[1] == 0
    assert {" côté".encode(), b" Elle"} <= {*pruned.removed.values()}
    assert len(Encoder(pruned.spec).encode(french[0])) > len(Encoder(spec).encode(french[0]))


def test_a_model_without_bytes_keeps_its_characters_when_pruned_by_use() -> None:
    spec = parse_model(model("without bytes"), "m")
    pruned = prune(spec, corpus=["the"], min_count=5)
    assert [
        piece.content for piece in pruned.spec.sentencepiece.pieces if len(piece.content) > 1 and piece.kind == "normal"
    ] == []
    assert all(len(token.decode()) > 1 for token in pruned.removed.values())


@pytest.mark.parametrize("name", ["tokens", "scripts", "corpus", "unwanted", "keep"])
def test_one_text_is_no_collection(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} must be a collection"):
        prune(SMALL, **{name: "Cyrillic"})


def test_old_ids_can_stay() -> None:
    pruned = prune(SMALL, ["de"], compact=False)
    assert pruned.spec.vocab[b"bc"] == 259
    assert pruned.id_map.kept[259] == 259
    assert Encoder(pruned.spec).encode("bcde") == [259, 100, 101]
    pieces = parse_model(model("mistral v1"), "m")
    gaps = prune(pieces, ["▁the"], compact=False)
    assert gaps.spec.n_vocab == pieces.n_vocab
    assert gaps.spec.sentencepiece.pieces[min(gaps.removed)].content == f"<removed_{min(gaps.removed)}>"
    assert Encoder(gaps.spec).encode("cat") == Encoder(pieces).encode("cat")


def test_added_tokens_go_only_by_name_and_keep_their_flags() -> None:
    spec = SMALL.replace(added_tokens=(AddedToken("<s>", 260), AddedToken("<t>", 261, lstrip=True)))
    assert prune(spec, ["ab"]).spec.added_tokens == (AddedToken("<s>", 258), AddedToken("<t>", 259, lstrip=True))
    assert prune(spec, ["<s>"]).spec.added_tokens == (AddedToken("<t>", 260, lstrip=True),)


def test_a_text_names_a_token_as_it_is_or_as_it_is_spelled() -> None:
    assert ids_named(gpt2_spec(), [" the", "Ġthe", b" the", 262]) == {262}
    assert ids_named(parse_model(model("mistral v1"), "m"), ["▁the", " the"]) == {272}


def test_a_script_takes_every_token_with_one_of_its_letters() -> None:
    spec = cl100k_spec()
    pruned = prune(spec, scripts=["Cyrillic"])
    assert not any("\u0400" <= c <= "\u04ff" for token in pruned.spec.vocab for c in token.decode("utf-8", "ignore"))
    assert Encoder(pruned.spec).decode(Encoder(pruned.spec).encode("Привет")) == "Привет"


def test_a_script_that_no_token_is_of_is_named() -> None:
    spec = SMALL.replace(vocab={**SMALL.vocab, "я".encode(): 260}, merges=(*SMALL.merges, (b"\xd1", b"\x8f")))
    pruned = prune(spec, scripts=["Ogham", "Cyrillic", "Runic"])
    assert pruned.removed == {260: "я".encode()}
    assert pruned.notes == ("no token holds a character of 'Ogham'", "no token holds a character of 'Runic'")


def test_what_went_by_its_id_alone_is_told() -> None:
    assert prune(SMALL, vocab_size=258).notes == (
        "2 tokens are chosen by their ids, the highest first, as no corpus says which are used least",
    )
    assert prune(SMALL, ["de"], vocab_size=259).notes == prune(SMALL, vocab_size=258, corpus=[]).notes == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tokens": ["nothing"]}, "has no tokens 'nothing'"),
        ({"tokens": [97]}, "must stay.*'a'"),
        ({"tokens": ["ab"], "keep": ["abc"]}, "are to be kept, but are made of"),
        ({}, "no token is to be removed"),
        ({"vocab_size": 100}, "vocab_size=100 cannot be reached: 256 tokens must stay"),
        ({"vocab_size": 1000}, "more than the 260 ids"),
        ({"vocab_size": 0}, "at least 1, not 0"),
        ({"min_count": True, "corpus": []}, "at least 1, not True"),
        ({"min_count": 2}, "there is no corpus"),
        ({"scripts": ["Latin", "Klingon", "Ogham", "Latin}x"]}, "^'Klingon', 'Latin}x': no script of Unicode"),
        ({"scripts": ["Ogham"]}, "no token is to be removed: no token holds a character of 'Ogham'"),
        ({"unwanted": ["ab"]}, "without a corpus of what is to remain"),
    ],
)
def test_what_cannot_be_removed_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(EditError, match=message):
        prune(SMALL, **arguments)


def test_a_character_that_would_become_unknown_is_refused() -> None:
    spec = parse_model(model("without bytes"), "m")
    letter = next(piece.content for piece in spec.sentencepiece.pieces if len(piece.content) == 1 and piece.kind == "normal")
    with pytest.raises(EditError, match="would become the unknown piece"):
        prune(spec, [letter])
