"""What `HfBpeTokenizer` does with text: where `__call__`, `encode`, `tokenize` and `apply_chat_template` end."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from typing import Any

from transformers import BatchEncoding, PreTrainedTokenizer
from transformers.tokenization_utils_base import TruncationStrategy
from transformers.utils import PaddingStrategy

from hf_bpe.plugin import rows
from hf_bpe.plugin.alignment import Recipe
from hf_bpe.plugin.encoding import Encoding
from hf_bpe.plugin.inputs import Batch, read_inputs
from hf_bpe.plugin.shaping import Padding, Truncation, check_sizes, padded_length
from hf_bpe.plugin.template import SequenceTemplate, bos_eos_template
from hf_bpe.plugin.vocabulary_methods import VocabularyMethods

__all__ = ["EncodingMethods"]

_OFFSETS = {"return_offsets_mapping": True}
_OF_ENCODING = frozenset(
    {
        "text_pair",
        "add_special_tokens",
        "padding",
        "truncation",
        "max_length",
        "stride",
        "is_split_into_words",
        "pad_to_multiple_of",
        "padding_side",
        "return_tensors",
        "return_token_type_ids",
        "return_attention_mask",
        "return_overflowing_tokens",
        "return_special_tokens_mask",
        "return_offsets_mapping",
        "return_length",
        "verbose",
        "split_special_tokens",
    }
)
"""Arguments of a call that are passed on to where texts are encoded, as they are or read together."""


@functools.lru_cache
def _usual(names: tuple[str, ...]) -> Sequence[str]:
    """The columns beside the ids, in their order, that a result has where `model_input_names` are these."""
    return [name for name in ("token_type_ids", "attention_mask", "special_tokens_mask") if name in names]


class EncodingMethods(VocabularyMethods):
    """Encodes with a `Vocabulary` and a `SequenceTemplate`."""

    _template: SequenceTemplate

    # -- special tokens around texts ----------------------------------------------------------------------------------

    @property
    def add_bos_token(self) -> bool:
        """Whether every text starts with the bos token."""
        first = self._template.single[0]
        return first.sequence is None and self.bos_token_id is not None and first.ids[:1] == (self.bos_token_id,)

    @add_bos_token.setter
    def add_bos_token(self, value: bool) -> None:
        self._put_around(value and self._has_token_to_add("bos_token"), self.add_eos_token)

    @property
    def add_eos_token(self) -> bool:
        """Whether every text ends with the eos token."""
        last = self._template.single[-1]
        return last.sequence is None and self.eos_token_id is not None and last.ids[-1:] == (self.eos_token_id,)

    @add_eos_token.setter
    def add_eos_token(self, value: bool) -> None:
        self._put_around(self.add_bos_token, value and self._has_token_to_add("eos_token"))

    def _has_token_to_add(self, name: str) -> bool:
        """Whether it is set; warns if not. Stock classes let such an assignment pass without a word."""
        if getattr(self, name) is None:
            warnings.warn(
                f"add_{name} = True has no effect: the tokenizer has no {name}; set it first", RuntimeWarning, stacklevel=3
            )
            return False
        return True

    @property
    def add_prefix_space(self) -> bool:
        """Whether a space is put before text that does not begin with one."""
        rules = self.spec.sentencepiece
        return self.spec.add_prefix_space if rules is None else rules.prepend_scheme != "never"

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

    @functools.wraps(PreTrainedTokenizer.__call__)  # callers look at the signature
    def __call__(self, text: Any = None, *arguments: Any, **options: Any) -> BatchEncoding:
        """Encode one text or pair, or a batch; as in every transformers tokenizer."""
        if text is None or arguments or not options.keys() <= _OF_ENCODING:
            return super().__call__(text, *arguments, **options)
        if type(text) is str and (
            not options or (options == _OFFSETS and not self._template.trims)
        ):  # by far the most frequent calls
            recipe = Recipe(self._vocabulary, self._template, () if self.split_special_tokens else "all")
            return self._encode_one(recipe, text, _usual(tuple(self.model_input_names)), with_offsets=bool(options))
        # What transformers does, without the half of it that goes through arguments which were not passed.
        padding, truncation, max_length, _ = self._get_padding_truncation_strategies(
            padding=options.pop("padding", False),
            truncation=options.pop("truncation", None),
            max_length=options.pop("max_length", None),
            pad_to_multiple_of=options.get("pad_to_multiple_of"),
            verbose=options.get("verbose", True),
        )
        return self._encode_plus(
            text, padding_strategy=padding, truncation_strategy=truncation, max_length=max_length, **options
        )

    def _encode_one(
        self,
        recipe: Recipe,
        text: str,
        names: Sequence[str],
        *,
        with_offsets: bool = False,
        max_length: int | None = None,
        verbose: bool = True,
    ) -> BatchEncoding:
        """A single text, with neither padding nor tensors: the same as for batches in a third of the time."""
        encoder = recipe.vocabulary.encoder
        if with_offsets:
            ids, offsets = encoder.place(text, allowed_special=recipe.special, disallowed_special=())
            data = rows.columns(recipe, (ids, None), names, (offsets, None))
        else:
            ids = encoder.encode(text, allowed_special=recipe.special, disallowed_special=())
            data = rows.columns(recipe, (ids, None), names)
        self._eventual_warn_about_too_long_sequence(data["input_ids"], max_length, verbose)
        result = BatchEncoding(None, [Encoding(recipe, (text, None))], n_sequences=1)
        result.data = data  # passed above, it would be copied key by key: a tenth of what all this takes
        return result

    def _switch_to_input_mode(self) -> None:
        """Nothing to do. Without it, transformers searches the class for it in every call: a fifth of what a short call takes."""

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
        check_sizes(max_length=max_length)
        template = self._template if add_special_tokens else self._template.bare
        split = self.split_special_tokens if split_special_tokens is None else split_special_tokens
        recipe = Recipe(self._vocabulary, template, () if split else "all")
        if truncation_strategy != TruncationStrategy.DO_NOT_TRUNCATE and max_length is not None:
            recipe = recipe._replace(cuts=_cuts(template, max_length, truncation_strategy, self.truncation_side, stride))
        names = self._columns(
            token_type_ids=return_token_type_ids,
            attention_mask=return_attention_mask,
            special_tokens_mask=return_special_tokens_mask,
            offset_mapping=return_offsets_mapping,
        )
        is_single = type(text) is str and text_pair is None and not is_split_into_words
        if (
            is_single
            and padding_strategy == PaddingStrategy.DO_NOT_PAD
            and not (return_tensors or return_overflowing_tokens or return_length or sanitize_control_tokens)
            and not (return_offsets_mapping and template.trims)
        ):
            return self._encode_one(
                recipe, text, names, with_offsets=return_offsets_mapping, max_length=max_length, verbose=verbose
            )
        batch = read_inputs(text, text_pair, is_split_into_words)
        choose = self._padding_for(padding_strategy, max_length, pad_to_multiple_of, padding_side)
        if sanitize_control_tokens:
            encoded = self._encode_marked(batch, template)
            result = rows.in_lists(recipe, batch, encoded, names, choose)._replace(encodings=None)
        elif return_overflowing_tokens:
            result = rows.in_windows(recipe, batch, names, choose)
        elif return_offsets_mapping:
            result = rows.with_offsets(recipe, batch, names, choose)
        else:
            result = rows.plain(recipe, batch, names, choose, tensors=return_tensors)
        self._eventual_warn_about_too_long_sequence(range(max(result.lengths, default=0)), max_length, verbose)
        data = result.columns
        if return_length:
            data["length"] = result.lengths
        if return_overflowing_tokens:
            data["overflow_to_sample_mapping"] = result.samples
        elif not batch.is_batched and return_tensors is None:
            data = {name: values[0] if isinstance(values[0], list) else values for name, values in data.items()}
        sequences = 1 if batch.rows and batch.rows[0][1] is None else 2  # else the first row would be aligned to find out
        return BatchEncoding(
            data, result.encodings, tensor_type=return_tensors, n_sequences=sequences if result.encodings else None
        )

    def pad(
        self,
        encoded_inputs: Any,
        padding: Any = True,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_attention_mask: bool | None = None,
        return_tensors: Any = None,
        verbose: bool = True,
    ) -> BatchEncoding:
        """Fill up what was encoded before; as in every transformers tokenizer."""
        check_sizes(max_length=max_length, pad_to_multiple_of=pad_to_multiple_of)
        return super().pad(
            encoded_inputs,
            padding,
            max_length,
            pad_to_multiple_of or None,
            padding_side,
            return_attention_mask,
            return_tensors,
            verbose,
        )

    def _columns(self, **wanted: bool | None) -> list[str]:
        """The columns of the result. `wanted`: column -> yes, no, or None for what `model_input_names` says."""
        usual = self.model_input_names
        return ["input_ids", *(name for name, want in wanted.items() if want or (want is None and name in usual))]

    def _padding_for(
        self, strategy: PaddingStrategy, max_length: int | None, multiple_of: int | None, side: str | None
    ) -> rows.ChoosePadding:
        """What says, of rows of such lengths, how they are filled up."""
        if strategy == PaddingStrategy.DO_NOT_PAD:
            return lambda lengths: None
        check_sizes(pad_to_multiple_of=multiple_of)
        fixed = max_length if strategy == PaddingStrategy.MAX_LENGTH else None
        side = self.padding_side if side is None else side
        if side not in ("left", "right"):
            raise ValueError(f"padding_side must be 'left' or 'right', not {side!r}")
        fill = {
            "input_ids": self.pad_token_id,
            "token_type_ids": self.pad_token_type_id,
            "attention_mask": 0,
            "special_tokens_mask": 1,
            "offset_mapping": (0, 0),
            "words": None,
        }
        return lambda lengths: Padding(padded_length(lengths, fixed, multiple_of), side, fill)

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


def _cuts(
    template: SequenceTemplate, max_length: int, strategy: TruncationStrategy, side: str, stride: int
) -> tuple[Truncation, Truncation]:
    """How single texts and pairs are cut."""
    check_sizes(stride=stride)
    room = [max(max_length - template.count_added(pair), 0) for pair in (False, True)]
    if stride > room[0]:
        raise ValueError(f"stride {stride} is longer than the {room[0]} tokens that max_length leaves room for")
    single, pair = (Truncation(tokens, strategy.value, side, stride) for tokens in room)
    return single, pair
