"""What every edit promises about the ids of texts, and that stock classes of transformers keep it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import LlamaTokenizerFast, PreTrainedTokenizerFast

from hf_bpe import Encoder, TokenizerSpec
from hf_bpe.editing import Extended, Pruned, Replaced
from hf_bpe.editing.derivations import Derivations
from hf_bpe.editing.selection import fixed_ids
from hf_bpe.plugin import HfBpeTokenizer


def check_pruned(spec: TokenizerSpec, pruned: Pruned, texts: list[str], *, gives_text_back: bool = True) -> tuple[int, int]:
    """How many texts are as they were, and how many needed a removed token."""
    before, after = Encoder(spec), Encoder(pruned.spec)
    as_before = 0
    for text in texts:
        old, new = before.encode_ordinary(text), after.encode_ordinary(text)
        if pruned.removed.keys().isdisjoint(old):
            assert new == [pruned.id_map.kept[token_id] for token_id in old], ascii(text)
            as_before += 1
        elif gives_text_back:
            assert after.decode(new) == before.decode(old), ascii(text)
    left = set(range(spec.n_vocab)) & ({*spec.vocab.values()} | {token.id for token in spec.added_tokens})
    assert {*pruned.id_map.kept} == left - pruned.removed.keys()
    return as_before, len(texts) - as_before


def check_extended(spec: TokenizerSpec, extended: Extended, texts: list[str]) -> int:
    """How many texts are shorter. In each, new ids stand for runs of old ones."""
    before, after = Encoder(spec), Encoder(extended.spec)
    parts = {}
    for token_id, token in extended.learnt.items():
        ids = before.encode_piece(token) if spec.sentencepiece is None else None
        if ids is not None:
            parts[token_id] = ids
    shorter = 0
    for text in texts:
        old, new = before.encode_ordinary(text), after.encode_ordinary(text)
        assert after.decode(new) == before.decode(old)
        if parts:
            assert expanded(new, parts) == old, ascii(text)
        if not {*new} & {*extended.learnt}:
            assert new == old
        shorter += len(new) < len(old)
    return shorter


def check_replaced(
    spec: TokenizerSpec, replaced: Replaced, texts: list[str], *, gives_text_back: bool = True
) -> tuple[int, int]:
    """How many texts have neither a token that went nor one that came, and how many have one."""
    before, after = Encoder(spec), Encoder(replaced.spec)
    as_before = 0
    for text in texts:
        old, new = before.encode_ordinary(text), after.encode_ordinary(text)
        if replaced.replaced.keys().isdisjoint([*old, *new]):
            assert new == old, ascii(text)
            as_before += 1
        elif gives_text_back:
            assert after.decode(new) == before.decode(old), ascii(text)
    assert replaced.spec.n_vocab == spec.n_vocab
    assert replaced.spec.used_ids == spec.used_ids
    assert {*replaced.id_map.kept.items()} == {(i, i) for i in spec.used_ids - replaced.replaced.keys()}
    assert replaced.id_map.made.keys() == replaced.id_map.gone == replaced.replaced.keys()
    return as_before, len(texts) - as_before


def check_stock(spec: TokenizerSpec, folder: Path, texts: list[str]) -> None:
    """The ids of the stock classes, loaded from what we save, are ours."""
    HfBpeTokenizer.from_spec(spec).save_pretrained(folder)
    encoder = Encoder(spec)
    _check_class(PreTrainedTokenizerFast, encoder, folder, texts)
    if spec.sentencepiece is not None:
        # It has a pre-tokenizer of its own, whatever the file says: no U+2581 before a space, nor behind a special token.
        _check_class(
            LlamaTokenizerFast, encoder, folder, [text for text in texts if text[:1] not in ("", " ") and "<" not in text]
        )


def _check_class(stock_class: Any, encoder: Encoder, folder: Path, texts: list[str]) -> None:
    found = stock_class.from_pretrained(folder)(texts, add_special_tokens=False)["input_ids"]
    for text, ours, theirs in zip(texts, encoder.encode_batch(texts, allowed_special="all"), found, strict=True):
        assert ours == theirs, f"{stock_class.__name__}: {text!a}"


def leaf_ids(spec: TokenizerSpec) -> list[int]:
    """Tokens that no others are made of, and that may go."""
    derivations = Derivations(spec)
    fixed = fixed_ids(spec)
    return sorted(i for token, i in spec.vocab.items() if len(token) > 1 and i not in fixed and not derivations.users(i))


def expanded(ids: list[int], parts: dict[int, list[int]]) -> list[int]:
    return [part for token_id in ids for part in parts.get(token_id, [token_id])]
