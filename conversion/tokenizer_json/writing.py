"""From a spec to the content of a tokenizer.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conversion.equality import never_produced
from conversion.normalizers import write_normalizer
from conversion.printable import misread_when_decoding, spell_merges, spell_vocab
from conversion.tokenizer_json.added_tokens import assigned_ids, refuse_renumbered, write_added_token
from conversion.tokenizer_json.byte_level_split import byte_level_step, pre_tokenizer_for
from conversion.tokenizer_json.pieces import to_parts
from conversion.tokenizer_json.post_processor import carried
from conversion.tokenizer_json.steps import NAME
from conversion.verdict import Checks
from hf_bpe.byte_level import token_to_bytes
from hf_bpe.errors import ConversionRefused
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["document_of", "to_dict"]


def to_dict(spec: TokenizerSpec, *, allow_lossy: bool = False) -> dict[str, Any]:
    """The content of a tokenizer.json that gives the same ids, in `tokenizers`, for every text.

    Raises `ConversionRefused` where there is none; with `allow_lossy` only where there is none that comes near.
    """
    checks = Checks()
    document = document_of(spec, checks)
    if not allow_lossy:
        checks.refuse_losses(NAME)
    return document


def document_of(spec: TokenizerSpec, checks: Checks) -> dict[str, Any]:
    """The content of a tokenizer.json; `checks` collects what it holds and what it loses."""
    added = sorted(spec.added_tokens, key=lambda token: token.id)
    head = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [write_added_token(token) for token in added],
        "post_processor": carried(spec),
    }
    if spec.dialect == "sentencepiece":
        parts = to_parts(spec, checks)
        refuse_renumbered(added, parts["model"]["vocab"])
        return head | parts
    return {
        **head,
        "normalizer": write_normalizer(spec.normalizer),
        "pre_tokenizer": pre_tokenizer_for(spec),
        "decoder": byte_level_step(use_regex=True),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": spec.ignore_merges,
            "vocab": _write_vocab(spec, added, checks),
            "merges": spell_merges(spec.merges),
        },
    }


def _write_vocab(spec: TokenizerSpec, added: Sequence[AddedToken], checks: Checks) -> dict[str, int]:
    """The spelled vocabulary, with the added tokens in it if they would not get their own ids otherwise."""
    spelled = spell_vocab(spec)
    for token in added:
        if spelled.get(token.content, token.id) != token.id:
            raise ConversionRefused(
                f"tokenizer.json cannot hold the added token {token.content!r} (id {token.id}): its text is how the bytes of token "
                f"{spelled[token.content]} are spelled there"
            )
    misread = next((token.content for token in added if misread_when_decoding(token)), None)
    spelling = (
        f"it encodes to the added token {misread!r} and decodes it to other bytes, as its text is also a spelling of bytes"
    )
    checks.expect("decoding gives the text of every added token", spelling if misread is not None else None)
    checks.hold("the pre-tokenizer splits every text as the pattern does")
    if [token.id for token in added] == assigned_ids(added, spelled):
        return spelled
    conflict = _piece_conflict(spec, [token for token in added if token.content not in spelled])
    checks.expect("no added token is found in plain text because it stands in the vocabulary", conflict)
    return spelled | {token.content: token.id for token in added}


def _piece_conflict(spec: TokenizerSpec, new_entries: Sequence[AddedToken]) -> str | None:
    """In the vocabulary a token is also found as a whole piece where `ignore_merges` is on: wrong if it can be a piece."""
    readable = {}
    for token in new_entries:
        try:
            readable[token_to_bytes(token.content)] = token
        except ValueError:
            continue  # not in the byte alphabet, so no piece is spelled like that
    idle = never_produced(readable, (), spec.ignore_merges, spec.pattern, spec.unmatched, spec.stages)
    for entry, token in readable.items():
        if entry not in idle:
            return (
                f"it gives the added token {token.content!r} its id {token.id} only inside the vocabulary, where ignore_merges also "
                "finds it in plain text, as a whole piece; renumber the added tokens without gaps after the vocabulary"
            )
    return None
