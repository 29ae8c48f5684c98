"""Writes a tokenizer as a folder that three readers load alike: this package, stock transformers, the `tokenizers` library.

tokenizer.json holds everything that decides ids, tokens added at run time included. tokenizer_config.json says which class
`AutoTokenizer` takes, in one of the ways of `AUTO`, and carries `MARKER`, by which `hf_bpe.plugin.registration` knows its own.
A SentencePiece model is also written as tokenizer.model, for programs that read nothing else, where such a file can hold it.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import tokenizers

import hf_bpe
from conversion import tokenizer_json
from conversion.json_text import indented
from hf_bpe.errors import ConversionRefused
from hf_bpe.files import write_atomically
from hf_bpe.plugin.loading import MODEL_FILE, TOKENIZER_FILE, read_document
from hf_bpe.plugin.marker import MARKER
from hf_bpe.plugin.model_types import drift_warning
from hf_bpe.plugin.remote_code import AUTO_MAP, CODE_FILE, SOURCE
from hf_bpe.plugin.template import SequenceTemplate
from hf_bpe.plugin.vocabulary import Vocabulary
from hf_bpe.spec import TokenizerSpec

__all__ = [
    "AUTO",
    "CONFIG_FILE",
    "IN_FORCE",
    "LEFT_OUT",
    "Auto",
    "Record",
    "check",
    "is_superseded",
    "render",
    "warn_of_roles",
    "write",
]

CONFIG_FILE = "tokenizer_config.json"
CHAT_TEMPLATE_FILE = "chat_template.jinja"
MORE_CHAT_TEMPLATES = "additional_chat_templates"

_SUPERSEDED = ("added_tokens.json", "special_tokens_map.json", CHAT_TEMPLATE_FILE, CODE_FILE)
"""Files of an earlier save that transformers would still read, or load code from."""

Auto: TypeAlias = Literal["marker", "class-name", "remote-code"]
AUTO: tuple[str, ...] = get_args(Auto)
"""How `AutoTokenizer` is told of our class.

marker: the folder names the stock class, and our mark makes it ours where this package is imported. No code, loads everywhere.
class-name: the folder names our class. transformers 5 without this package takes the stock class; transformers 4 refuses.
remote-code: as marker, with a file of code for those who trust it. It also keeps transformers from building the tokenizer
    anew for the model types it does that to.
"""

IN_FORCE = (
    *("model_max_length", "padding_side", "truncation_side", "model_input_names", "split_special_tokens"),
    *("chat_template", "clean_up_tokenization_spaces"),
)
"""Settings that callers change in a tokenizer; another one made of it takes them over as they are now."""

LEFT_OUT = frozenset(
    {
        # how this one was loaded, which is nobody else's business
        *("backend", "is_local", "local_files_only", "name_or_path", "files_loaded", "device_map", "trust_remote_code"),
        *(MARKER, "loaded", "tokenizer_file", "vocab_file", "special_tokens_map_file", "init_inputs", "auto_map"),
        # said by tokenizer.json
        *("added_tokens_decoder", "add_bos_token", "add_eos_token"),
        # written in another form
        *("extra_special_tokens", "additional_special_tokens", "model_specific_special_tokens", "chat_template"),
    }
)
"""Arguments of a tokenizer that are no settings to be saved."""

_PROBES = (
    "Hello world",
    "  two spaces, a tab\t and\r\nnew lines\n\n",
    "don't 12345678 3.14 naïve façade 안녕하세요 你好 مرحبا 👩‍👩‍👧‍👦 \u00a0\u2028",
    "def f(x):\n    return [x**2 for _ in range(10)]  # ok",
)


@dataclass(frozen=True)
class Record:
    """All that a saved folder says of a tokenizer.

    settings: what goes into tokenizer_config.json beside what is said here. mark: what `MARKER` said in the folder it was loaded
    from, if anything.
    """

    vocabulary: Vocabulary
    template: SequenceTemplate
    chat_template: str | Mapping[str, str] | None
    settings: Mapping[str, Any]
    mark: Any = None

    @property
    def auto(self) -> str:
        """How `AutoTokenizer` was told of our class in the folder it was loaded from."""
        said = self.mark.get("auto") if isinstance(self.mark, Mapping) else None
        return said if said in AUTO else "marker"

    @property
    def provenance(self) -> dict[str, str]:
        """Where the tokenizer came from: what an earlier save wrote down, else what its spec says beyond naming the file."""
        known = self.mark.get("provenance") if isinstance(self.mark, Mapping) else None
        if isinstance(known, Mapping):
            return {str(key): str(value) for key, value in known.items()}
        own = dict(self.vocabulary.spec.provenance)
        return {} if own.get("format") == tokenizer_json.FORMAT.name else own


def render(record: Record, *, auto: str | None = None, in_jinja_file: bool = True) -> dict[str, bytes]:
    """The files of a tokenizer: name -> content.

    auto: one of `AUTO`, by default the one of the folder it was loaded from. in_jinja_file: a chat template gets a file of its own.
    """
    auto = record.auto if auto is None else auto
    if auto not in AUTO:
        raise ValueError(f"auto={auto!r} is not known; it must be one of {', '.join(map(repr, AUTO))}")
    document = _tokenizer_document(record.vocabulary, record.template)
    files = {TOKENIZER_FILE: (indented(document) + "\n").encode()}
    template = record.chat_template
    config = _config(record, auto)
    if template is not None and in_jinja_file:
        files |= _template_files({"default": template} if isinstance(template, str) else template)
    elif isinstance(template, Mapping):
        config["chat_template"] = [{"name": name, "template": text} for name, text in template.items()]
    elif template is not None:
        config["chat_template"] = template
    code = {CODE_FILE: SOURCE.encode()} if auto == "remote-code" else {}
    return {**files, CONFIG_FILE: _json(config), **_model_file(record.vocabulary), **code}


def _template_files(templates: Mapping[str, str]) -> dict[str, bytes]:
    """A file for each chat template. Raises `ValueError` for a name that is none of a file: it may come from a stranger's folder."""
    wrong = [name for name in templates if not name or name in (".", "..") or set(name) & set("/\\\0")]
    if wrong:
        raise ValueError(f"the chat template {wrong[0]!r} cannot be saved: its name must be one that a file can have")
    names = {name: CHAT_TEMPLATE_FILE if name == "default" else f"{MORE_CHAT_TEMPLATES}/{name}.jinja" for name in templates}
    return {names[name]: text.encode() for name, text in templates.items()}


def is_superseded(name: str, files: Mapping[str, bytes]) -> bool:
    """Whether a file that is there already must go when these files are written."""
    return name not in files and (name in _SUPERSEDED or name.startswith(f"{MORE_CHAT_TEMPLATES}/"))


def _config(record: Record, auto: str) -> dict[str, Any]:
    said: dict[str, Any] = {
        "clean_up_tokenization_spaces": False,
        "tokenizer_class": "HfBpeTokenizer" if auto == "class-name" else "PreTrainedTokenizerFast",
        MARKER: _mark(record, auto),
    }
    if auto == "remote-code":
        said["auto_map"] = AUTO_MAP
    return dict(sorted({**record.settings, **said}.items()))


def _mark(record: Record, auto: str) -> dict[str, Any]:
    said = {"auto": auto if auto != "marker" else None, "provenance": record.provenance}
    return {"version": hf_bpe.__version__} | {name: value for name, value in said.items() if value}


def _model_file(vocabulary: Vocabulary) -> dict[str, bytes]:
    if vocabulary.spec.sentencepiece is None:
        return {}
    from conversion.sentencepiece.model import serialise_model  # loading, which imports this module, needs it not

    try:
        return {MODEL_FILE: serialise_model(vocabulary.spec)}
    except ConversionRefused:  # it knows no added tokens beyond its pieces; tokenizer.json says everything
        return {}


def _json(data: Mapping[str, Any]) -> bytes:
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()


def _tokenizer_document(vocabulary: Vocabulary, template: SequenceTemplate) -> dict[str, Any]:
    spec = vocabulary.spec
    misread = [token.content for token in vocabulary.added if vocabulary.spelling.misread(token.content)]
    if misread:
        warnings.warn(
            f"other readers of tokenizer.json give added tokens {misread} the right ids but decode them to other text, as they take "
            "them for spellings of bytes or spaces; names in ASCII avoid that",
            RuntimeWarning,
            stacklevel=2,
        )
    # With ignore_merges, and for a SentencePiece model, the flag would let through more than that.
    lossy = bool(misread) and not spec.ignore_merges and spec.sentencepiece is None
    document = tokenizer_json.to_dict(spec, allow_lossy=lossy)
    if not spec.ignore_merges:
        document["model"]["vocab"] |= vocabulary.listed
    return {**document, "post_processor": template.source}


def warn_of_roles(assigned: Mapping[str, Any]) -> None:
    """Warn of roles that were assigned to tokens that are not special. A folder cannot say it: loading makes special tokens of them.

    Refusing would be stricter, but it would end a training at its first checkpoint.
    """
    for role, token in assigned.items():
        tokens = [str(one) for one in token] if isinstance(token, list) else str(token)
        warnings.warn(
            f"{role} is {tokens!r}, which is no special token here. In what loads the saved folder it is one, so texts that hold it get "
            f"other ids there. To have it so here too: add_special_tokens({{{role!r}: {tokens!r}}})",
            RuntimeWarning,
            stacklevel=3,
        )


def check(record: Record, files: Mapping[str, bytes]) -> None:
    """Read tokenizer.json back, with this package and with the `tokenizers` library, and compare with what was to be saved.

    Raises `ConversionRefused` showing the first difference.
    """
    content = files[TOKENIZER_FILE].decode()
    vocabulary, template = record.vocabulary, record.template
    again = read_document(json.loads(content), TOKENIZER_FILE)
    if not _says_the_same(again.vocabulary.spec, vocabulary.spec):
        raise _not_exact(f"it reads back as {again.vocabulary.spec!r} instead of {vocabulary.spec!r}")
    if (again.template.single, again.template.pair) != (template.single, template.pair):
        raise _not_exact("the special tokens around texts read back differently")
    stock = tokenizers.Tokenizer.from_str(content)
    found, expected = stock.get_vocab(), vocabulary.ids()
    for token in expected.keys() | found.keys() if found != expected else ():
        if expected.get(token) != found.get(token):
            raise _not_exact(f"token {token!r} has id {found.get(token)} there and {expected.get(token)} here")
    for text in (*_PROBES, *(f"x{token.content} y" for token in vocabulary.added[:100])):
        _compare_ids(stock, vocabulary, template, text)


def _says_the_same(found: TokenizerSpec, saved: TokenizerSpec) -> bool:
    """Whether a spec is what was saved. Scores are not in tokenizer.json, only the order that they put the merges in."""
    from conversion.equality import first_difference

    return found == saved or (saved.sentencepiece is not None and first_difference(found, saved) is None)


def _compare_ids(stock: tokenizers.Tokenizer, vocabulary: Vocabulary, template: SequenceTemplate, text: str) -> None:
    ids = vocabulary.encoder.encode(text, allowed_special="all")
    try:
        results = stock.encode(text).ids, stock.encode(text, text).ids
    except BaseException as error:
        if "AddedVocabulary bad split" in str(error):
            return  # a panic over two added tokens that take along the same white space
        raise
    for expected, found in zip((template.ids(ids, None), template.ids(ids, ids)), results, strict=True):
        if expected != found:
            raise _not_exact(f"{text!r} encodes to {found} there and {expected} here")


def _not_exact(difference: str) -> ConversionRefused:
    return ConversionRefused(
        f"tokenizer.json cannot hold this tokenizer exactly for the `tokenizers` library, so nothing was saved: {difference}"
    )


def write(folder: str | os.PathLike[str], files: Mapping[str, bytes], prefix: str | None) -> tuple[str, ...]:
    """Write the files, remove those of an earlier save that they supersede, and return the paths."""
    start = f"{prefix}-" if prefix else ""
    model = Path(folder, start + MODEL_FILE)
    if MODEL_FILE not in files and model.exists():
        warnings.warn(
            f"{model} was there before and is not this tokenizer, which such a file cannot hold: programs that read it instead of "
            f"{TOKENIZER_FILE} get other ids. Delete it, or save to another folder",
            RuntimeWarning,
            stacklevel=3,
        )
    if MODEL_FILE in files and _holds_the_same(model, files[MODEL_FILE]):
        files = {name: content for name, content in files.items() if name != MODEL_FILE}
    paths = write_atomically(folder, {start + name: content for name, content in files.items()})
    for path, content in zip(paths, files.values(), strict=True):
        if path.read_bytes() != content:
            raise OSError(f"{path}: what was read back is not what was written; the disk may be failing")
    if CONFIG_FILE in files and CODE_FILE not in files:
        beside = Path(folder, "config.json")
        drift = drift_warning(beside.read_bytes() if beside.is_file() else None, os.fspath(folder))
        if drift is not None:
            warnings.warn(drift, RuntimeWarning, stacklevel=3)
    if CONFIG_FILE in files:
        _remove_superseded(Path(folder), start, files)
    return tuple(str(path) for path in paths)


def _holds_the_same(model: Path, content: bytes) -> bool:
    """Whether a published .model file, which says more than we keep and is known by its hash, need not be written over."""
    from conversion.equality import first_difference
    from conversion.sentencepiece.model import parse_model

    try:
        found = parse_model(model.read_bytes(), str(model))
    except (OSError, ValueError):  # none there, or damaged
        return False
    return first_difference(found, parse_model(content, MODEL_FILE)) is None


def _remove_superseded(folder: Path, start: str, files: Mapping[str, bytes]) -> None:
    more = [f"{MORE_CHAT_TEMPLATES}/{path.name}" for path in (folder / f"{start}{MORE_CHAT_TEMPLATES}").glob("*.jinja")]
    for path in [folder / (start + name) for name in (*_SUPERSEDED, *more) if is_superseded(name, files)]:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
