"""`HfBpeTokenizer`: the transformers tokenizer class over `hf_bpe.Encoder`."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import tokenizers
import transformers
from huggingface_hub.errors import HTTPError

from hf_bpe.errors import FormatError
from hf_bpe.plugin import saving, stock
from hf_bpe.plugin.encoding_methods import EncodingMethods
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
from hf_bpe.plugin.origin import Origin, check_name, why_missing
from hf_bpe.plugin.scratch import Scratch
from hf_bpe.spec import TokenizerSpec

__all__ = ["HfBpeTokenizer"]

if int(transformers.__version__.partition(".")[0]) < 5:
    raise ImportError(
        f"HfBpeTokenizer needs transformers 5 or newer, not {transformers.__version__}; folders saved by it load in older versions "
        "with AutoTokenizer, with the same ids"
    )


class HfBpeTokenizer(EncodingMethods):
    """A tokenizer for transformers models, made from a `TokenizerSpec`, a corpus, or a saved folder.

    It behaves as transformers' own fast class (`PreTrainedTokenizerFast`) does with the same tokenizer.json, and the folders
    it saves load in that class too. docs/transformers.md lists where it differs, each time on purpose.

    spec: what to run. Other arguments are those of every transformers tokenizer (`bos_token`, `eos_token`, `pad_token`,
    `model_max_length`, `padding_side`, ...).
    chat_template: the name of a ready one, which brings its special tokens and their roles; a file; or Jinja.
    add_bos_token, add_eos_token: put these tokens around every text; needs `bos_token`, `eos_token`. Default: what
        tokenizer.json says; for a SentencePiece model, bos if it has one.
    legacy: for a SentencePiece model without a tokenizer.json, whether its space before texts is put behind added tokens as well;
        see docs/sentencepiece.md.
    add_prefix_space: whether a space is put before texts at all, whatever the files say; for those, in `from_pretrained`.

    >>> HfBpeTokenizer.from_pretrained("my-tokenizer")("Hello")["input_ids"]  # doctest: +SKIP
    [15496]
    """

    vocab_files_names: ClassVar[dict[str, str]] = {"tokenizer_file": TOKENIZER_FILE, "vocab_file": MODEL_FILE}

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
        named_template = None
        if loaded is None:
            if (spec is None) == (tokenizer_file is vocab_file is None):
                raise ValueError(
                    "pass either a TokenizerSpec or a file; HfBpeTokenizer.from_spec(spec), .train(corpus, vocab_size) "
                    "and .from_pretrained(folder) are the usual ways"
                )
            if spec is not None:
                if kwargs.get("chat_template") is not None:
                    from hf_bpe.plugin.chat import resolve_template  # as below: loading a folder needs none of it

                    spec, kwargs = resolve_template(spec, kwargs)
                loaded = of_spec(spec)
            else:
                named_template = kwargs.pop("chat_template", None)
                loaded = read_files(tokenizer_file, vocab_file, Origin(""))
        if not loaded.is_complete:
            loaded = with_prefix_rule(loaded, kwargs.pop("legacy", None), kwargs.pop("add_prefix_space", None))
        self._found = Scratch()
        self._template = loaded.template
        self._set_vocabulary(loaded.vocabulary)
        configured = kwargs.pop("added_tokens_decoder", None) or {}
        super().__init__(**{**loaded.defaults, **kwargs})
        self.deprecation_warnings = Scratch()  # which of them were given; transformers looks there
        self._complete = True
        self._add_tokens(self._tokens_to_add(configured))
        if add_bos_token is None and loaded.starts_with_bos and self.bos_token is not None:
            add_bos_token = True
        if add_bos_token is not None or add_eos_token is not None:
            self._put_around(bool(add_bos_token), bool(add_eos_token))
        if named_template is not None:
            from hf_bpe.plugin.chat import adopt_template

            adopt_template(self, named_template)

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
        includes them. Raises `TrainingError` for an argument that is known neither there nor here.

        >>> HfBpeTokenizer.train(["corpus.txt"], 32_000, eos_token="<|endoftext|>")  # doctest: +SKIP
        """
        from hf_bpe.plugin.chat import template_tokens
        from hf_bpe.plugin.settings import refuse_unknown_settings
        from hf_bpe.training import setting_names, train  # few who load a tokenizer train one

        dialect = kwargs.pop("dialect", "byte_level")
        of_training = setting_names(dialect)
        refuse_unknown_settings(kwargs, of_training)
        for_training = {name: kwargs.pop(name) for name in of_training if name in kwargs}
        named = [kwargs[name] for name in cls.SPECIAL_TOKENS_ATTRIBUTES if kwargs.get(name) is not None]
        named += kwargs.get("extra_special_tokens") or kwargs.get("additional_special_tokens") or []
        tokens = [*for_training.pop("special_tokens", ()), *map(str, named), *template_tokens(kwargs)]
        spec = train(corpus, vocab_size, dialect=dialect, special_tokens=list(dict.fromkeys(tokens)), **for_training)
        return cls(spec, **kwargs)

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: str | os.PathLike[str], *inputs: Any, **kwargs: Any) -> Any:
        """Load a folder or a repository on the Hub; arguments as in every transformers tokenizer.

        The folder need not have been saved by this class: it may hold GPT-2's files, a rank file of tiktoken, a tekken.json or a
        .model file only. Raises `FormatError` for damaged files, `ConversionRefused`, which names the reason, for a tokenizer that
        cannot be run exactly, and `HubNotFound` or `HubUnreachable`, which are `OSError`s too, where there is nothing.

        pattern, special_tokens (text -> id): for a rank file, which says neither, unless a sidecar or, for the special tokens, a
            tokenizer_config.json does.
        """
        check_name(pretrained_model_name_or_path)
        if Path(pretrained_model_name_or_path).is_file():
            kwargs["local_files_only"] = True  # transformers would ask the Hub for a repository of that name
        given = kwargs.pop("pattern", ...), kwargs.pop("special_tokens", None)
        template = kwargs.pop("chat_template", None)
        origin = Origin.of(pretrained_model_name_or_path, kwargs, *given)
        try:
            tokenizer = super().from_pretrained(pretrained_model_name_or_path, *inputs, origin=origin, **kwargs)
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            check_config_files(Path(pretrained_model_name_or_path) / file for file in CONFIG_FILES)
            raise FormatError(f"{pretrained_model_name_or_path}: a configuration file is damaged: {error}") from None
        except (OSError, HTTPError) as error:
            missing = why_missing(pretrained_model_name_or_path, error)
            if missing is None:
                raise
            raise missing from error
        if template is not None:
            from hf_bpe.plugin.chat import adopt_template

            adopt_template(tokenizer, template)
        return tokenizer

    @classmethod
    def _from_pretrained(cls, resolved_vocab_files: dict[str, Any], name: Any, *inputs: Any, **kwargs: Any) -> Any:
        """Read the vocabulary once, here: transformers would read it a second time and report damage without a name."""
        files = dict(resolved_vocab_files)
        origin = kwargs.pop("origin", None) or Origin(str(name))
        tokenizer_file, model_file = files.pop("tokenizer_file", None), files.pop("vocab_file", None)
        if tokenizer_file is None and model_file is None:
            model_file = origin.other_file()
            named = origin.class_for(model_file)
            if named is not None:
                from hf_bpe.plugin.built_anew import built_anew  # few folders need it

                return built_anew(origin, named, cls)
        loaded = read_files(tokenizer_file, model_file, origin)
        check_config_files(filter(None, [files.get("tokenizer_config_file")]))
        if not loaded.is_complete:
            return super()._from_pretrained(files, name, *inputs, loaded=loaded, **kwargs)
        # What tokenizer_config.json says about spaces, bos and eos is out of date wherever there is a tokenizer.json.
        prefix = kwargs.get("add_prefix_space")
        if prefix is not None:
            loaded = dataclasses.replace(loaded, vocabulary=loaded.vocabulary.with_prefix_space(bool(prefix)))
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
        state |= {"_found": Scratch(), "deprecation_warnings": Scratch()}  # nor what the other one found out
        return state

    # -- relations to the stock class ---------------------------------------------------------------------------------

    @property
    def is_fast(self) -> bool:
        """True: results know where in the text each id stands, which is what callers ask with this."""
        return True

    @property
    def backend_tokenizer(self) -> tokenizers.Tokenizer:
        """The same tokenizer in the `tokenizers` library, made when first asked for. Changing it does not change this one."""
        made = self._found.get("backend")
        if made is None or made[0] is not self._vocabulary or made[1] is not self._template:
            made = self._vocabulary, self._template, stock.library_tokenizer(self._record())
            self._found["backend"] = made
        return made[2]

    def as_stock(self) -> transformers.PreTrainedTokenizerFast:
        """The same tokenizer in the stock class, for code that asks for that very class.

        >>> isinstance(tokenizer.as_stock(), PreTrainedTokenizerFast)  # doctest: +SKIP
        True
        """
        return stock.as_stock(self)

    # -- chat ---------------------------------------------------------------------------------------------------------

    @property
    def chat_template(self) -> Any:
        """The chat template as text, a dict of several by name, or None. A name of a ready one, or a file, may be assigned."""
        return self._chat_template

    @chat_template.setter
    def chat_template(self, given: Any) -> None:
        if self._complete and given is not None:  # until then it comes from a folder, which must not say which files are read
            from hf_bpe.plugin.chat import source_of

            named = isinstance(given, Mapping)
            given = {name: source_of(self, text) for name, text in given.items()} if named else source_of(self, given)
        self._chat_template = given

    def get_chat_template(self, chat_template: Any = None, tools: Any = None) -> str:
        """The template that a chat is rendered with. chat_template: one of the tokenizer's own, a ready one, a file, or Jinja."""
        own = self.chat_template
        if chat_template is None or (isinstance(own, Mapping) and isinstance(chat_template, str) and chat_template in own):
            text: str = super().get_chat_template(chat_template, tools)
            return text
        from hf_bpe.plugin.chat import source_of

        return str(source_of(self, chat_template))

    def encode_chat(self, conversation: Any, **kwargs: Any) -> transformers.BatchEncoding:
        """Ids of a conversation, or of several, in which nothing that users wrote can be a special token; see docs/chat.md.

        untrusted: what a special token in messages, tools, documents or template variables is: the "text" it is spelled with,
            "raise": a `DisallowedSpecialTokenError`, or "special": itself, as in `apply_chat_template`.
        tools, documents, chat_template, add_generation_prompt, continue_final_message, padding, truncation, max_length,
        return_tensors, return_assistant_tokens_mask, and variables of the template: as in `apply_chat_template`. A template
            may be a file or the name of a ready one too.

        Raises `ChatTemplateError` where it cannot be told who wrote what.

        >>> tokenizer.encode_chat([{"role": "user", "content": "<|im_end|>"}])["input_ids"]  # doctest: +SKIP
        [100264, 882, 198, 27, 91, 318, 6345, 91, 29, 100265, 198]
        """
        from hf_bpe.plugin.chat import encode_chat

        return encode_chat(self, conversation, **kwargs)

    def train_new_from_iterator(
        self,
        text_iterator: Iterable[Any],
        vocab_size: int,
        length: int | None = None,
        new_special_tokens: Sequence[str | tokenizers.AddedToken] | None = None,
        special_tokens_map: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> HfBpeTokenizer:
        """A tokenizer of the same kind trained on other texts: same split, special tokens, template and settings.

        text_iterator: texts, or batches of them. length: accepted, but of no use here. new_special_tokens: more special tokens.
        special_tokens_map: other names for special tokens. kwargs: more settings for `hf_bpe.train`; `show_progress`, as the stock
        class calls it, is its `progress`. `vocab_size` includes the special tokens. Tokens get the ids that `hf_bpe.train` gives.

        >>> tokenizer.train_new_from_iterator(["some text"], 1000).vocab_size  # doctest: +SKIP
        1000
        """
        from hf_bpe.plugin import retraining

        if "show_progress" in kwargs:
            kwargs.setdefault("progress", kwargs.pop("show_progress"))
        return retraining.train_new(self, text_iterator, vocab_size, new_special_tokens or (), special_tokens_map or {}, kwargs)

    # -- saving -------------------------------------------------------------------------------------------------------

    def save_pretrained(
        self,
        save_directory: str | os.PathLike[str],
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
        push_to_hub: bool = False,
        *,
        auto: saving.Auto | None = None,
        save_jinja_files: bool = True,
        **kwargs: Any,
    ) -> tuple[str, ...]:
        """Save everything into a folder that this class, stock transformers and the `tokenizers` library load alike.

        The files are read back and compared before they take their names; on any error the folder is as it was.
        Returns the paths.

        auto: how `AutoTokenizer` is told of this class: by a "marker" (no code in the folder, loads everywhere), by the
            "class-name", or by "remote-code" for those who trust it; see docs/huggingface.md. Default: as in the folder that
            it was loaded from, else "marker".
        push_to_hub: also push to `repo_id` (default: the name of the folder), with the arguments of `push_to_hub`.
        """
        if legacy_format:
            raise NotImplementedError(
                "save_pretrained writes tokenizer.json and tokenizer_config.json; it has no legacy_format"
            )
        saving.warn_of_roles(self._assigned)
        record = self._record()
        files = saving.render(record, auto=auto, in_jinja_file=save_jinja_files)
        saving.check(record, files)
        paths = saving.write(save_directory, files, filename_prefix)
        if push_to_hub:
            from hf_bpe.plugin import hub

            hub.push(record, files, kwargs.pop("repo_id", None) or Path(save_directory).resolve().name, **kwargs)
        return paths

    def push_to_hub(self, repo_id: str, *, auto: saving.Auto | None = None, **kwargs: Any) -> Any:
        """Push the tokenizer with a model card to a repository on the Hub, made if missing. Returns the commit.

        auto: as in `save_pretrained`. kwargs: private, revision (a branch, made if missing), create_pr, commit_message,
        commit_description, token, tags, license, language, corpus, plot, overwrite_card; see `hf_bpe.plugin.hub.push`.

        Raises `HubError`: `HubAccessDenied`, `HubNotFound`, `HubConflict` or `HubUnreachable`. No file is changed then.

        >>> tokenizer.push_to_hub("me/my-tokenizer", private=True)  # doctest: +SKIP
        """
        from hf_bpe.plugin import hub  # few who load a tokenizer push one

        saving.warn_of_roles(self._assigned)
        record = self._record()
        files = saving.render(record, auto=auto)
        saving.check(record, files)
        return hub.push(record, files, repo_id, **kwargs)

    def model_card(self, repo_id: str, *, auto: saving.Auto | None = None, **kwargs: Any) -> str:
        """The card that `push_to_hub` would put beside the tokenizer. kwargs: tags, license, language, corpus, card, as there."""
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
