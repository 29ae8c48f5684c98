"""The model card of a tokenizer, made from the template in `model_cards`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files as package_files
from pathlib import PurePosixPath
from typing import Any

import hf_bpe
from conversion import to_tiktoken_encoding
from conversion.nasty_strings import nasty_strings
from conversion.sentencepiece.model import serialise_model
from hf_bpe.analysis import sample
from hf_bpe.analysis.metrics.corpora import NamedCorpus
from hf_bpe.analysis.metrics.counting import count_corpus
from hf_bpe.analysis.metrics.figures import about_tokens, ratio
from hf_bpe.errors import ConversionRefused
from hf_bpe.pages.wording import decimal
from hf_bpe.patterns import find_named_pattern
from hf_bpe.plugin.loading import TOKENIZER_FILE
from hf_bpe.plugin.remote_code import CODE_FILE
from hf_bpe.plugin.saving import CONFIG_FILE, Record
from hf_bpe.spec import TokenizerSpec

__all__ = ["PLOT_FILE", "is_unedited", "plot", "render"]

PLOT_FILE = "bytes_per_token.svg"

_TAGS = ("tokenizer", "bpe")
_LISTED = 40
"""Special tokens listed at most: Llama 3 has 256."""

_SEAL = "\n<!-- Made by hf-bpe. Replaced by the next push unless edited: {} -->\n"
_SEALED = re.compile(re.escape(_SEAL).replace(r"\{\}", "([0-9a-f]{64})") + r"\Z")


def render(
    record: Record,
    files: Mapping[str, bytes],
    repo_id: str,
    *,
    tags: Iterable[str] | None = None,
    license: str | None = None,  # noqa: A002
    language: str | list[str] | None = None,
    corpus: Mapping[str, str] | None = None,
    card: str | None = None,
    plotted: bool = False,
) -> str:
    """The card of a tokenizer and the files it is pushed as. plotted: `plot` goes beside it. The rest: as in `hf_bpe.plugin.hub.push`."""
    _check_types(tags=tags, license=license, language=language, corpus=corpus, card=card)
    if card is not None and not is_unedited(card):
        return card
    import jinja2  # transformers does without it until there is a chat to render

    spec = record.vocabulary.spec
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)  # noqa: S701  # no HTML
    environment.filters |= {"cell": _cell, "code": _code, "figure": decimal}
    special = sorted(spec.special_tokens.items(), key=lambda item: item[1])
    roles = {str(token): role for role, token in record.settings.items() if role.endswith("_token") and token is not None}
    refusal = _why_not_in_tiktoken(spec)
    text = environment.from_string(_resource("template.md")).render(
        tags=list(dict.fromkeys([*_TAGS, *_listed(tags)])),
        license=license,
        languages=_listed(language),
        name=PurePosixPath(repo_id).name,
        repo_id=repo_id,
        version=hf_bpe.__version__,
        kind="byte-level BPE" if spec.sentencepiece is None else "SentencePiece BPE",
        vocab_size=spec.vocab_size,
        n_vocab=spec.n_vocab,
        merges=len(spec.merges) if spec.sentencepiece is None else None,
        pieces=0 if spec.sentencepiece is None else len(spec.sentencepiece.pieces),
        pattern=_pattern(spec),
        around=_around(record),
        fingerprint=spec.fingerprint,
        provenance=list(record.provenance.items()),
        special_tokens=[(token, token_id, roles.get(token, "")) for token, token_id in special[:_LISTED]],
        more_special_tokens=max(len(special) - _LISTED, 0),
        measured_on="the corpus given" if corpus else "short texts written for this purpose, so these are rough",
        compression=_compression(record, corpus),
        plot=PLOT_FILE if plotted else None,
        verification=_verification(record, files, refusal),
        auto=_auto(files),
        in_tiktoken=refusal is None,
        why_not_in_tiktoken=refusal,
    )
    return _sealed(text)


def _check_types(**given: Any) -> None:
    for name in ("tags", "language"):
        if not all(isinstance(value, str) for value in _listed(given[name])):
            raise TypeError(f"{name}={given[name]!r}: it must be a str or a list of str")
    for name in ("license", "card"):
        if not isinstance(given[name], str | None):
            raise TypeError(f"{name}={given[name]!r}: it must be a str")
    corpus = given["corpus"] or {}
    if not isinstance(corpus, Mapping) or not all(isinstance(text, str) for text in corpus.values()):
        raise TypeError(f"corpus={corpus!r}: it must map names to texts to measure on, as in {{'English': '...'}}")


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) or not isinstance(value, Iterable | None) else list(value or ())


def is_unedited(card: str) -> bool:
    """Whether a README.md is a card of this package as it was made: its last line holds the hash of the rest.

    >>> is_unedited(_sealed("# my-tokenizer")), is_unedited(_sealed("# my-tokenizer").replace("my", "your"))
    (True, False)
    """
    card = card.replace("\r\n", "\n")  # git may have changed these
    found = _SEALED.search(card)
    return found is not None and _hash(card[: found.start()]) == found[1]


def _sealed(text: str) -> str:
    text = text.rstrip("\n") + "\n"
    return text + _SEAL.format(_hash(text))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _resource(name: str) -> str:
    return package_files("model_cards").joinpath(name).read_text("utf-8")


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")


def _code(token: str) -> str:
    """A token as code in a table: in as many backticks as it takes, white space and the like as escapes."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in token).replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    space = " " if len(fence) > 1 else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _pattern(spec: TokenizerSpec) -> str:
    if spec.sentencepiece is not None:
        return "nothing: a SentencePiece model merges across the whole text"
    named = find_named_pattern(spec.pattern)
    if spec.pattern is None:
        return "nothing: the whole text is one piece"
    return f"the pattern of {named.name}" if named else _code(spec.pattern)


def _around(record: Record) -> str:
    token_of = {token.id: token.content for token in record.vocabulary.added}
    parts = (
        "text" if piece.sequence else " ".join(_code(token_of.get(token_id, str(token_id))) for token_id in piece.ids)
        for piece in record.template.single
    )
    return " ".join(parts) if len(record.template.single) > 1 else "nothing"


def _auto(files: Mapping[str, bytes]) -> str:
    if CODE_FILE in files:
        return "remote-code"
    return "class-name" if json.loads(files[CONFIG_FILE])["tokenizer_class"] == "HfBpeTokenizer" else "marker"


def _why_not_in_tiktoken(spec: TokenizerSpec) -> str | None:
    if spec.sentencepiece is not None:
        return "it is a SentencePiece model."
    try:
        to_tiktoken_encoding(spec)
    except ConversionRefused as refusal:
        return str(refusal).partition(". allow_lossy")[0] + "."
    return None


def plot(record: Record, corpus: Mapping[str, str] | None = None) -> bytes:
    """Bytes per token as an SVG file, with the vocabularies that the card compares with. Raises `ReportError` without matplotlib."""
    from hf_bpe.analysis.report.plots import bytes_per_token

    found = _compression(record, corpus)
    columns = enumerate(found["columns"])
    values = {column: {row["name"]: row["bytes_per_token"][place] for row in found["rows"]} for place, column in columns}
    return bytes_per_token(values).encode()


def _compression(record: Record, corpus: Mapping[str, str] | None) -> dict[str, Any]:
    """Figures of the corpus given, or of the samples beside those of published vocabularies. Raises `CorpusError` for an empty text."""
    texts = {name: [text] for name, text in corpus.items()} if corpus else sample.texts()
    published = {} if corpus else sample.published_counts()
    parallel = {} if corpus else sample.sentences()
    counted = {
        name: count_corpus(NamedCorpus.of(name, iter(each)), [record.vocabulary.encoder], words="unicode")
        for name, each in texts.items()
    }
    reference = next(iter(parallel), None)
    rows = []
    for name, (text, (counts,)) in counted.items():
        figures = about_tokens(text, counts, None, None)
        theirs = [ratio(text.bytes, tokens[name]) for tokens in published.values()]
        by = counted[reference][1][0].tokens if reference is not None and name in parallel else 0
        rows.append(
            {
                "name": name,
                "bytes_per_token": [figures["bytes_per_token"], *theirs],
                "tokens_per_word": figures["tokens_per_word"],
                "parity": ratio(counts.tokens, by),
            }
        )
    return {"columns": ["this one", *published], "rows": rows, "reference": reference}


def _verification(record: Record, files: Mapping[str, bytes], refusal: str | None) -> dict[str, Any]:
    import tokenizers

    spec, encoder = record.vocabulary.spec, record.vocabulary.encoder
    texts = [*(text for each in sample.texts().values() for text in each), *nasty_strings(list(spec.special_tokens)[:_LISTED])]
    ours = encoder.encode_batch(texts, allowed_special="all")
    stock = tokenizers.Tokenizer.from_str(files[TOKENIZER_FILE].decode())
    found = [encoding.ids for encoding in stock.encode_batch(texts, add_special_tokens=False)]
    rows = [(f"tokenizers {tokenizers.__version__}, as in transformers", _differing(ours, found))]
    if spec.sentencepiece is not None:
        rows.append(_by_sentencepiece(record, texts))
    elif refusal is None:
        import tiktoken

        encoding = to_tiktoken_encoding(spec)
        found = [encoding.encode(text, allowed_special="all") for text in texts]
        rows.append((f"tiktoken {tiktoken.__version__}", _differing(ours, found)))
    else:
        rows.append(("tiktoken", "cannot run it"))
    return {"texts": len(texts), "rows": rows}


def _by_sentencepiece(record: Record, texts: list[str]) -> tuple[str, str]:
    import sentencepiece

    spec = record.vocabulary.spec
    try:
        model = sentencepiece.SentencePieceProcessor(model_proto=serialise_model(spec))
    except ConversionRefused:
        return "sentencepiece", "cannot hold it"
    plain = [text for text in texts if not any(token.content in text for token in spec.added_tokens)]
    ours = record.vocabulary.encoder.encode_ordinary_batch(plain)
    return f"sentencepiece {sentencepiece.__version__}, on texts without special tokens", _differing(ours, model.encode(plain))


def _differing(ours: list[list[int]], theirs: list[list[int]]) -> str:
    return f"{sum(a != b for a, b in zip(ours, theirs, strict=True))}"
