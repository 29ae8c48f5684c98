"""`HfBpeTokenizer`: the transformers tokenizer class over `hf_bpe.Encoder`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import tokenizers
import transformers
from transformers import BatchEncoding, PreTrainedTokenizer
from transformers.tokenization_utils_base import TruncationStrategy
from transformers.utils import PaddingStrategy

from hf_bpe.errors import FormatError
from hf_bpe.plugin import saving
from hf_bpe.plugin.inputs import Batch, read_inputs
from hf_bpe.plugin.loading import (
    CONFIG_FILES,
    MODEL_FILE,
    TOKENIZER_FILE,
    LoadedTokenizer,
    check_config_files,
    of_spec,
    read_files,
    with_prefix_rule,
)
from hf_bpe.plugin.marker import MARKER
from hf_bpe.plugin.origin import Origin
from hf_bpe.plugin.shaping import Truncation, pad_columns, padded_length
from hf_bpe.plugin.template import SequenceTemplate, bos_eos_template
from hf_bpe.plugin.vocabulary import Vocabulary, library_token
from hf_bpe.spec import TokenizerSpec

__all__ = ["HfBpeTokenizer"]

if int(transformers.__version__.partition(".")[0]) < 5:
    raise ImportError(
        f"HfBpeTokenizer needs transformers 5 or newer, not {transformers.__version__}; folders saved by it load in older versions "
        "with AutoTokenizer, with the same ids"
    )


class HfBpeTokenizer(PreTrainedTokenizer):  # type: ignore[misc]  # transformers has no types
    """A tokenizer for transformers models, made from a `TokenizerSpec`, a corpus, or a saved folder.

    It behaves as transformers' own fast class (`PreTrainedTokenizerFast`) does with the same tokenizer.json, and the folders
    it saves load in that class too. Where it differs on purpose:

    - An empty batch gives an empty result; text with lone surrogates is read as if each were U+FFFD.
    - Where `max_length` leaves no room beside the special tokens, they alone are the result; the stock class then cuts nothing.
    - Added tokens decode to their own text, whichever letters they hold.
    - Byte pieces of a SentencePiece model that are not UTF-8 are one U+FFFD each, as in SentencePiece.
    - `tokenize` gives added tokens without the white space that their `lstrip` and `rstrip` flags took.
    - Alignment with the text (offsets, word ids, overflowing windows, `tokens()` of the result) is not supported and raises.

    spec: what to run. Other arguments are those of every transformers tokenizer (`bos_token`, `eos_token`, `pad_token`,
    `model_max_length`, `padding_side`, `chat_template`, ...).
    add_bos_token, add_eos_token: put these tokens around every text; needs `bos_token`, `eos_token`. Default: what
        tokenizer.json says; for a SentencePiece model, bos if it has one.
    legacy, add_prefix_space: for a SentencePiece model without a tokenizer.json, whether its space before texts is put behind
        added tokens as well, and whether at all; see docs/sentencepiece.md.

    >>> HfBpeTokenizer.from_pretrained("my-tokenizer")("Hello")["input_ids"]  # doctest: +SKIP
    [15496]
    """

    vocab_files_names: ClassVar[dict[str, str]] = {"tokenizer_file": TOKENIZER_FILE, "vocab_file": MODEL_FILE}
    _complete = False  # until then, transformers' own constructor must not add tokens: it would lose their flags

    # -- making one ---------------------------------------------------------------------------------------------------

    def __init__(
        self,
        spec: TokenizerSpec | None = None,
        *,
        tokenizer_file: str | os.PathLike[str] | None = None,
        vocab_file: str | os.PathLike[str] | None = None,
        loaded: LoadedTokenizer | None = None,
        add_bos_token: bool | None = None,
        add_eos_token: bool | None = None,
        **kwargs: Any,
    ) -> None:
        if loaded is None:
            if (spec is None) == (tokenizer_file is vocab_file is None):
                raise ValueError(
                    "pass either a TokenizerSpec or a file; HfBpeTokenizer.from_spec(spec), .train(corpus, vocab_size) "
                    "and .from_pretrained(folder) are the usual ways"
                )
            loaded = of_spec(spec) if spec is not None else read_files(tokenizer_file, vocab_file, Origin(""))
        if not loaded.is_complete:
            loaded = with_prefix_rule(loaded, kwargs.pop("legacy", None), kwargs.pop("add_prefix_space", None))
        self._template = loaded.template
        self._set_vocabulary(loaded.vocabulary)
        configured = kwargs.pop("added_tokens_decoder", None) or {}
        super().__init__(**{**loaded.defaults, **kwargs})
        self._complete = True
        self._add_tokens(self._tokens_to_add(configured))
        if add_bos_token is None and loaded.starts_with_bos and self.bos_token is not None:
            add_bos_token = True
        if add_bos_token is not None or add_eos_token is not None:
            self._put_around(bool(add_bos_token), bool(add_eos_token))

    @classmethod
    def from_spec(cls, spec: TokenizerSpec, **kwargs: Any) -> HfBpeTokenizer:
        """A tokenizer that runs a spec.

        >>> HfBpeTokenizer.from_spec(spec, eos_token="<|endoftext|>", add_eos_token=True)  # doctest: +SKIP
        """
        return cls(spec, **kwargs)

    @classmethod
    def train(cls, corpus: Any, vocab_size: int, **kwargs: Any) -> HfBpeTokenizer:
        """Train on a corpus (see `hf_bpe.train`, whose arguments are taken) and make a tokenizer with the other arguments.

        Special tokens named here (`eos_token`, `pad_token`, ...) need not be repeated in `special_tokens`; `vocab_size`
        includes them.

        >>> HfBpeTokenizer.train(["corpus.txt"], 32_000, eos_token="<|endoftext|>")  # doctest: +SKIP
        """
        from hf_bpe.training import setting_names, train  # few who load a tokenizer train one

        dialect = kwargs.pop("dialect", "byte_level")
        for_training = {name: kwargs.pop(name) for name in setting_names(dialect) if name in kwargs}
        named = [kwargs[name] for name in cls.SPECIAL_TOKENS_ATTRIBUTES if kwargs.get(name) is not None]
        named += kwargs.get("extra_special_tokens") or kwargs.get("additional_special_tokens") or []
        tokens = [*for_training.pop("special_tokens", ()), *map(str, named)]
        spec = train(corpus, vocab_size, dialect=dialect, special_tokens=list(dict.fromkeys(tokens)), **for_training)
        return cls(spec, **kwargs)

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: str | os.PathLike[str], *inputs: Any, **kwargs: Any) -> Any:
        """Load a folder or a repository on the Hub; arguments as in every transformers tokenizer.

        The folder need not have been saved by this class: it may hold GPT-2's files, a rank file of tiktoken, a tekken.json or a
        .model file only. Raises `FormatError` for damaged files and `ConversionRefused`, which names the reason, for a tokenizer
        that cannot be run exactly.

        pattern, special_tokens (text -> id): for a rank file, which says neither, unless a sidecar or, for the special tokens, a
            tokenizer_config.json does.
        """
        given = kwargs.pop("pattern", ...), kwargs.pop("special_tokens", None)
        origin = Origin.of(pretrained_model_name_or_path, kwargs, *given)
        try:
            return super().from_pretrained(pretrained_model_name_or_path, *inputs, origin=origin, **kwargs)
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            check_config_files(Path(pretrained_model_name_or_path) / file for file in CONFIG_FILES)
            raise FormatError(f"{pretrained_model_name_or_path}: a configuration file is damaged: {error}") from None

    @classmethod
    def _from_pretrained(cls, resolved_vocab_files: dict[str, Any], name: Any, *inputs: Any, **kwargs: Any) -> Any:
        """Read the vocabulary once, here: transformers would read it a second time and report damage without a name."""
        files = dict(resolved_vocab_files)
        origin = kwargs.pop("origin", None) or Origin(str(name))
        loaded = read_files(files.pop("tokenizer_file", None), files.pop("vocab_file", None), origin)
        check_config_files(filter(None, [files.get("tokenizer_config_file")]))
        if not loaded.is_complete:
            return super()._from_pretrained(files, name, *inputs, loaded=loaded, **kwargs)
        # What tokenizer_config.json says about bos and eos is out of date wherever there is a tokenizer.json.
        around = {key: kwargs.pop(key, None) for key in ("add_bos_token", "add_eos_token")}
        tokenizer = super()._from_pretrained(files, name, *inputs, loaded=loaded, **kwargs)
        if any(value is not None for value in around.values()):
            tokenizer._put_around(bool(around["add_bos_token"]), bool(around["add_eos_token"]))
        return tokenizer

    @classmethod
    def convert_to_native_format(cls, **kwargs: Any) -> dict[str, Any]:
        """Called by transformers between reading the configuration and making the tokenizer."""
        ignored = ("add_bos_token", "add_eos_token") if kwargs["loaded"].is_complete else ()
        return {key: value for key, value in kwargs.items() if key not in ignored}

    @classmethod
    def register_for_auto_class(cls, auto_class: Any = "AutoTokenizer") -> None:
        """Do nothing: otherwise the next save would copy this module's source into the folder."""

    # -- copies and pickles -------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["_special_tokens_map"] = dict(self._special_tokens_map)  # a copy must not share what assignment changes
        state["_extra_special_tokens"] = list(self._extra_special_tokens)
        state["deprecation_warnings"] = {}  # which warnings were given is no part of what a tokenizer is
        return state

    # -- vocabulary ---------------------------------------------------------------------------------------------------

    @property
    def spec(self) -> TokenizerSpec:
        """The description of what runs, tokens added at run time included."""
        return self._vocabulary.spec

    @property
    def vocab_size(self) -> int:
        """How many tokens there are without those added later; see `len` for all."""
        return self._vocabulary.base_size

    def __len__(self) -> int:
        return self._vocabulary.size

    def __bool__(self) -> bool:
        return True

    def get_vocab(self) -> dict[str, int]:
        """Token -> id, added tokens included; byte-level tokens in their printable spelling, pieces with `▁` for a space."""
        return self._vocabulary.ids()

    @property
    def vocab(self) -> dict[str, int]:
        """The same as `get_vocab()`."""
        return self.get_vocab()

    def get_added_vocab(self) -> dict[str, int]:
        """Text -> id of the added tokens. Not a copy: servers ask for it with every token."""
        return self._vocabulary.added_ids

    @property
    def added_tokens_encoder(self) -> dict[str, int]:
        """Text -> id of the added tokens."""
        return dict(self._vocabulary.added_ids)

    def _set_vocabulary(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._added_tokens_encoder = vocabulary.added_ids  # what transformers' own methods look at

    @property
    def _added_tokens_decoder(self) -> dict[int, tokenizers.AddedToken]:
        return self._vocabulary.library_tokens

    def _tokens_to_add(self, configured: dict[int, tokenizers.AddedToken]) -> list[tokenizers.AddedToken]:
        """Tokens that the configuration names and the vocabulary lacks, or that become special by the role they are given."""
        named = {str(token) for token in self._special_tokens_map.values() if token}
        told = [*self._vocabulary.library_tokens.values(), *(token for _, token in sorted(configured.items()))]
        known = {token.content: token for token in told}
        wanted = list(known.values())
        for token in [*self._special_tokens_map.values(), *self._extra_special_tokens]:
            if token is not None and str(token) not in known:
                wanted.append(library_token(token, special=isinstance(token, str) or None))
        return [library_token(token, special=True if str(token) in named else None) for token in wanted]

    def _add_tokens(self, new_tokens: Sequence[str | tokenizers.AddedToken], special_tokens: bool = False) -> int:
        if not self._complete:
            return 0
        wanted = [library_token(token, special=special_tokens or None) for token in new_tokens]
        vocabulary, changed = self._vocabulary.with_tokens(wanted)
        if changed:
            self._set_vocabulary(vocabulary)
        return changed

    # -- tokens and ids -----------------------------------------------------------------------------------------------

    def tokenize(self, text: str, pair: str | None = None, add_special_tokens: bool = False, **kwargs: Any) -> list[str]:
        """The tokens of a text, spelled as in `get_vocab`.

        >>> tokenizer.tokenize("Hello world")  # doctest: +SKIP
        ['Hello', 'Ġworld']
        """
        ids = self._encode_plus(text, text_pair=pair, add_special_tokens=add_special_tokens, **kwargs)["input_ids"]
        if len(ids) and not isinstance(ids[0], int):
            raise ValueError("tokenize takes one text, not a batch")
        tokens: list[str] = self.convert_ids_to_tokens(ids)
        return tokens

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        return self.tokenize(text, **kwargs)

    def _convert_token_to_id(self, token: str) -> int | None:
        return self._convert_token_to_id_with_added_voc(token)

    def _convert_token_to_id_with_added_voc(self, token: str) -> int | None:
        token_id = self._vocabulary.id_of(token)
        if token_id is not None:
            return token_id
        unknown = self._special_tokens_map.get("unk_token")
        return None if unknown is None else self._vocabulary.id_of(str(unknown))

    def _convert_id_to_token(self, index: int) -> str | None:
        return self._vocabulary.token_of(index)

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The token of an id, or the tokens of several; None for an id that is not in use."""
        if isinstance(ids, int):
            return self._vocabulary.token_of(ids)
        skipped = set(self.all_special_ids) if skip_special_tokens else ()
        return [self._vocabulary.token_of(token_id) for token_id in map(int, ids) if token_id not in skipped]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The text behind tokens.

        >>> tokenizer.convert_tokens_to_string(["Hello", "Ġworld"])  # doctest: +SKIP
        'Hello world'
        """
        return self._vocabulary.join(tokens)

    # -- special tokens around texts ----------------------------------------------------------------------------------

    @property
    def add_bos_token(self) -> bool:
        """Whether every text starts with the bos token."""
        first = self._template.single[0]
        return first.sequence is None and self.bos_token_id is not None and first.ids[:1] == (self.bos_token_id,)

    @add_bos_token.setter
    def add_bos_token(self, value: bool) -> None:
        self._put_around(value, self.add_eos_token)

    @property
    def add_eos_token(self) -> bool:
        """Whether every text ends with the eos token."""
        last = self._template.single[-1]
        return last.sequence is None and self.eos_token_id is not None and last.ids[-1:] == (self.eos_token_id,)

    @add_eos_token.setter
    def add_eos_token(self, value: bool) -> None:
        self._put_around(self.add_bos_token, value)

    def _put_around(self, bos: bool, eos: bool) -> None:
        chosen = {"bos_token": bos, "eos_token": eos}
        for name in (name for name, wanted in chosen.items() if wanted and getattr(self, name) is None):
            raise ValueError(f"add_{name}=True needs {name} to be set")
        tokens = {name: (getattr(self, name), getattr(self, f"{name}_id")) for name, wanted in chosen.items() if wanted}
        self._template = bos_eos_template(tokens.get("bos_token"), tokens.get("eos_token"))

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """How many special tokens come with a text, or with a pair of texts."""
        return self._template.count_added(pair)

    def build_inputs_with_special_tokens(self, token_ids_0: list[int], token_ids_1: list[int] | None = None) -> list[int]:
        """Ids of one or two texts with the special tokens around them."""
        return list(self._template.ids(token_ids_0, token_ids_1))

    def create_token_type_ids_from_sequences(self, token_ids_0: list[int], token_ids_1: list[int] | None = None) -> list[int]:
        """Which text each id of `build_inputs_with_special_tokens` belongs to, as 0 and 1."""
        return self._template.type_ids(len(token_ids_0), None if token_ids_1 is None else len(token_ids_1))

    def get_special_tokens_mask(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None, already_has_special_tokens: bool = False
    ) -> list[int]:
        """1 for special tokens, 0 for others: of `build_inputs_with_special_tokens`, or of ids that hold them already."""
        if already_has_special_tokens:
            mask: list[int] = super().get_special_tokens_mask(token_ids_0, token_ids_1, already_has_special_tokens=True)
            return mask
        return self._template.special_mask(len(token_ids_0), None if token_ids_1 is None else len(token_ids_1))

    # -- encoding -----------------------------------------------------------------------------------------------------

    def _encode_plus(
        self,
        text: Any,
        text_pair: Any = None,
        add_special_tokens: bool = True,
        padding_strategy: PaddingStrategy = PaddingStrategy.DO_NOT_PAD,
        truncation_strategy: TruncationStrategy = TruncationStrategy.DO_NOT_TRUNCATE,
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: Any = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        verbose: bool = True,
        split_special_tokens: bool | None = None,
        sanitize_control_tokens: bool = False,
        **kwargs: Any,
    ) -> BatchEncoding:
        """Where `__call__`, `encode` and `apply_chat_template` end, for one text and for batches."""
        _refuse_alignment(return_offsets_mapping=return_offsets_mapping, return_overflowing_tokens=return_overflowing_tokens)
        batch = read_inputs(text, text_pair, is_split_into_words)
        template = self._template if add_special_tokens else self._template.bare
        if sanitize_control_tokens:
            rows = self._encode_marked(batch, template)
        else:
            split = self.split_special_tokens if split_special_tokens is None else split_special_tokens
            rows = self._encode_batch(batch, split)
        if truncation_strategy != TruncationStrategy.DO_NOT_TRUNCATE and max_length is not None:
            room = [max(max_length - template.count_added(pair), 0) for pair in (False, True)]
            if stride > room[0]:
                raise ValueError(f"stride {stride} is longer than the {room[0]} tokens that max_length leaves room for")
            cuts = [Truncation(tokens, truncation_strategy.value, self.truncation_side, stride) for tokens in room]
            rows = [cuts[second is not None].apply(first, second) for first, second in rows]
        columns = self._columns(
            rows,
            template,
            token_type_ids=return_token_type_ids,
            attention_mask=return_attention_mask,
            special_tokens_mask=return_special_tokens_mask,
        )
        if padding_strategy != PaddingStrategy.DO_NOT_PAD:
            fixed = max_length if padding_strategy == PaddingStrategy.MAX_LENGTH else None
            columns = self._padded(columns, fixed, pad_to_multiple_of, padding_side)
        for ids in columns["input_ids"]:
            self._eventual_warn_about_too_long_sequence(ids, max_length, verbose)
        data: dict[str, Any] = dict(columns)
        if return_length:
            data["length"] = [len(ids) for ids in columns["input_ids"]]
        if not batch.is_batched and return_tensors is None:
            data = {name: rows[0] if isinstance(rows[0], list) else rows for name, rows in data.items()}
        return BatchEncoding(data, tensor_type=return_tensors)

    def _encode_batch(self, batch: Batch, split_special_tokens: bool) -> list[tuple[list[int], list[int] | None]]:
        encoder = self._vocabulary.encoder
        special: Any = () if split_special_tokens else "all"

        def encode_texts(texts: list[str]) -> list[list[int]]:
            if len(texts) == 1:  # no need to start threads
                return [encoder.encode(texts[0], allowed_special=special, disallowed_special=())]
            return encoder.encode_batch(texts, allowed_special=special, disallowed_special=())

        return batch.encode(encode_texts)

    def _encode_marked(self, batch: Batch, template: SequenceTemplate) -> list[tuple[list[int], list[int] | None]]:
        """Encode rendered chats in which transformers marked what looks like special tokens but came from a user."""
        from transformers.utils.chat_template_utils import encode_marked_chat

        if template.count_added(pair=False):
            raise NotImplementedError(
                "sanitize_control_tokens=True works with add_special_tokens=False, where the chat template writes special tokens"
            )
        if any(second is not None or not isinstance(first, str) for first, second in batch.rows):
            raise NotImplementedError("sanitize_control_tokens=True works with whole single texts, not with pairs or words")
        return [(encode_marked_chat(self, chat), None) for chat, _ in batch.rows]

    def _encode_without_added_tokens(self, text: str) -> list[int]:
        return self._vocabulary.plain_encoder.encode_ordinary(text)

    def _columns(
        self, rows: list[tuple[list[int], list[int] | None]], template: SequenceTemplate, **wanted: bool | None
    ) -> dict[str, list[list[int]]]:
        """The columns of the result. `wanted`: column -> yes, no, or None for what `model_input_names` says."""
        columns = {"input_ids": [template.ids(first, second) for first, second in rows]}
        lengths = [(len(first), None if second is None else len(second)) for first, second in rows]
        makers: dict[str, Callable[[], list[list[int]]]] = {
            "token_type_ids": lambda: [template.type_ids(*pair) for pair in lengths],
            "attention_mask": lambda: [[1] * len(ids) for ids in columns["input_ids"]],
            "special_tokens_mask": lambda: [template.special_mask(*pair) for pair in lengths],
        }
        for name, make in makers.items():
            if wanted[name] or (wanted[name] is None and name in self.model_input_names):
                columns[name] = make()
        return columns

    def _padded(
        self, columns: dict[str, list[list[int]]], fixed: int | None, multiple_of: int | None, side: str | None
    ) -> dict[str, list[list[int]]]:
        fill = {
            "input_ids": self.pad_token_id,
            "token_type_ids": self.pad_token_type_id,
            "attention_mask": 0,
            "special_tokens_mask": 1,
        }
        length = padded_length([len(ids) for ids in columns["input_ids"]], fixed, multiple_of)
        return pad_columns(columns, fill, length, self.padding_side if side is None else side)

    # -- decoding -----------------------------------------------------------------------------------------------------

    def decode(self, token_ids: Any, skip_special_tokens: bool = False, **kwargs: Any) -> Any:
        """The text behind ids, or the texts behind a batch of them; ids that are not in use give no text.

        skip_special_tokens: leave out every added token that is special.
        clean_up_tokenization_spaces: has no effect, as it would remove spaces that are part of the text.
        """
        if type(token_ids) is list and all(type(token_id) is int for token_id in token_ids):  # transformers walks lists slowly
            return self._decode(token_ids, skip_special_tokens, **kwargs)
        return super().decode(token_ids, skip_special_tokens=skip_special_tokens, **kwargs)

    def _decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Any,
    ) -> str:
        if isinstance(token_ids, dict):
            token_ids = token_ids["input_ids"]
        text = self._vocabulary.decode([token_ids] if isinstance(token_ids, int) else token_ids, skip_special_tokens)
        clean_up = self.clean_up_tokenization_spaces if clean_up_tokenization_spaces is None else clean_up_tokenization_spaces
        if clean_up and self.clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output:
            text = self.clean_up_tokenization(text)
        return text

    # -- saving -------------------------------------------------------------------------------------------------------

    def save_pretrained(
        self,
        save_directory: str | os.PathLike[str],
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
        push_to_hub: bool = False,
        *,
        auto: saving.Auto = "marker",
        save_jinja_files: bool = True,
        **kwargs: Any,
    ) -> tuple[str, ...]:
        """Save everything into a folder that this class, stock transformers and the `tokenizers` library load alike.

        The files are read back and compared before they take their names; on any error the folder is as it was.
        Returns the paths.

        auto: how `AutoTokenizer` is told of this class: by a "marker" (no code in the folder, loads everywhere), by the
            "class-name", or by "remote-code" for those who trust it; see docs/huggingface.md.
        push_to_hub: also push to `repo_id` (default: the name of the folder), with the arguments of `push_to_hub`.
        """
        if legacy_format:
            raise NotImplementedError(
                "save_pretrained writes tokenizer.json and tokenizer_config.json; it has no legacy_format"
            )
        record = self._record()
        files = saving.render(record, auto=auto, in_jinja_file=save_jinja_files)
        saving.check(record, files)
        paths = saving.write(save_directory, files, filename_prefix)
        if push_to_hub:
            from hf_bpe.plugin import hub

            hub.push(record, files, kwargs.pop("repo_id", None) or Path(save_directory).resolve().name, **kwargs)
        return paths

    def push_to_hub(self, repo_id: str, *, auto: saving.Auto = "marker", **kwargs: Any) -> Any:
        """Push the tokenizer with a model card to a repository on the Hub, made if missing. Returns the commit.

        auto: as in `save_pretrained`. kwargs: private, revision (a branch, made if missing), create_pr, commit_message,
        commit_description, token, tags, license, language, corpus, overwrite_card; see `hf_bpe.plugin.hub.push`.

        Raises `HubError`: `HubAccessDenied`, `HubNotFound`, `HubConflict` or `HubUnreachable`. Nothing is changed then.

        >>> tokenizer.push_to_hub("me/my-tokenizer", private=True)  # doctest: +SKIP
        """
        from hf_bpe.plugin import hub  # few who load a tokenizer push one

        record = self._record()
        files = saving.render(record, auto=auto)
        saving.check(record, files)
        return hub.push(record, files, repo_id, **kwargs)

    def model_card(self, repo_id: str, *, auto: saving.Auto = "marker", **kwargs: Any) -> str:
        """The card that `push_to_hub` would put beside the tokenizer. kwargs: tags, license, language, corpus, as there."""
        from hf_bpe.plugin import model_card

        record = self._record()
        return model_card.render(record, saving.render(record, auto=auto), repo_id, **kwargs)

    def save_vocabulary(self, save_directory: str, filename_prefix: str | None = None) -> tuple[str, ...]:
        """Save tokenizer.json alone. Returns its path."""
        record = self._record()
        files = {TOKENIZER_FILE: saving.render(record)[TOKENIZER_FILE]}
        saving.check(record, files)
        return saving.write(Path(save_directory), files, filename_prefix)

    def _record(self) -> saving.Record:
        """How the tokenizer is set up, with the values in force now."""
        settings = {name: getattr(self, name, value) for name, value in self.init_kwargs.items() if name not in saving.LEFT_OUT}
        settings |= {name: None for name in settings if name in self.SPECIAL_TOKENS_ATTRIBUTES}
        settings |= self.special_tokens_map
        named = {"model_max_length": self.model_max_length, "additional_special_tokens": self.extra_special_tokens}
        named |= {name: getattr(self, name, None) for name in ("response_template", "chat_control_tokens")}
        settings |= {name: value for name, value in named.items() if value or name == "model_max_length"}
        settings = self.convert_added_tokens(settings, save=True)
        return saving.Record(self._vocabulary, self._template, self.chat_template, settings, self.init_kwargs.get(MARKER))


def _refuse_alignment(**asked: bool) -> None:
    names: Iterable[str] = [name for name, value in asked.items() if value]
    if names:
        raise NotImplementedError(
            f"{', '.join(names)} is not supported by HfBpeTokenizer yet; ids, masks, token types, lengths, padding and truncation "
            "are. PreTrainedTokenizerFast.from_pretrained on the saved folder gives the same ids with alignment"
        )
