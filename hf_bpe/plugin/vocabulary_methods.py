"""What `HfBpeTokenizer` does with a vocabulary: sizes, look-ups, added tokens, and decoding."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any

import tokenizers
from transformers import PreTrainedTokenizer

from hf_bpe.plugin.scratch import Scratch
from hf_bpe.plugin.vocabulary import Vocabulary, library_token
from hf_bpe.spec import TokenizerSpec
from hf_bpe.streaming.rules import DecodingRules

__all__ = ["VocabularyMethods"]


class VocabularyMethods(PreTrainedTokenizer):  # type: ignore[misc]  # transformers has no types
    """Serves a `Vocabulary` as transformers' tokenizers do theirs."""

    _complete = False  # until then, transformers' own constructor must not add tokens: it would lose their flags
    _vocabulary: Vocabulary
    _found: Scratch

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
        """Text -> id of the added tokens. It cannot be changed, only copied: servers ask for it with every token."""
        return self._vocabulary.shown_added_ids

    @property
    def added_tokens_encoder(self) -> dict[str, int]:
        """Text -> id of the added tokens."""
        return dict(self._vocabulary.added_ids)

    @property
    def added_tokens_decoder(self) -> dict[int, tokenizers.AddedToken]:
        """Id -> added token. The caller's own: changing it changes nothing here."""
        return self._vocabulary.new_library_tokens()

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

    @property
    def _assigned(self) -> dict[str, Any]:
        """Roles, and extra special tokens, that were assigned to what is no special token. Whatever loads a folder makes it one."""
        added = self._vocabulary.by_content
        special = {content for content, token in added.items() if token.special}
        roles = {
            name: token for name, token in self._special_tokens_map.items() if token is not None and str(token) not in special
        }
        extra = [token for token in self._extra_special_tokens if str(token) not in added]
        return roles | ({"extra_special_tokens": extra} if extra else {})

    @property
    def all_special_ids(self) -> list[int]:
        """Ids of the special tokens that have a role or are named as extra ones. Found out again only when those change."""
        named, extra = self._special_tokens_map, self._extra_special_tokens
        state = [self._vocabulary, extra, len(extra), *named.values()]
        known = self._found.get("special ids")
        if known is None or len(known[0]) != len(state) or not all(map(is_, known[0], state)):
            known = state, self.convert_tokens_to_ids(self.all_special_tokens)
            self._found["special ids"] = known
        return list(known[1])

    # -- tokens and ids -----------------------------------------------------------------------------------------------

    def tokenize(self, text: str, pair: str | None = None, add_special_tokens: bool = False, **kwargs: Any) -> list[str]:
        """The tokens of a text, or of the first of a batch, spelled as in `get_vocab`.

        >>> tokenizer.tokenize("Hello world")  # doctest: +SKIP
        ['Hello', 'Ġworld']
        """
        ids = self._encode_plus(text, text_pair=pair, add_special_tokens=add_special_tokens, **kwargs)["input_ids"]
        if len(ids) and not isinstance(ids[0], int):
            ids = ids[0]
        tokens: list[str] = self.convert_ids_to_tokens(ids)
        return tokens

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        return self.tokenize(text, **kwargs)

    def _convert_token_to_id(self, token: str) -> int | None:
        return self._convert_token_to_id_with_added_voc(token)

    def _convert_token_to_id_with_added_voc(self, token: str) -> int | None:
        token_id = self._vocabulary.known_ids[token]
        return self._unknown_id() if token_id is None else token_id

    def _unknown_id(self) -> int | None:
        unknown = self._special_tokens_map.get("unk_token")
        return None if unknown is None else self._vocabulary.id_of(str(unknown))

    def _convert_id_to_token(self, index: int) -> str | None:
        return self._vocabulary.known_tokens[index]

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The token of an id, or the tokens of several; None for an id that is not in use."""
        if isinstance(ids, int):
            return self._vocabulary.known_tokens[ids]
        tokens = self._vocabulary.known_tokens
        if not skip_special_tokens:
            return [tokens[token_id] for token_id in map(int, ids)]
        skipped = set(self.all_special_ids)
        return [tokens[token_id] for token_id in map(int, ids) if token_id not in skipped]

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The id of a token, or the ids of several; for one that is not known that of `unk_token`, or None."""
        if isinstance(tokens, str):
            return self._convert_token_to_id_with_added_voc(tokens)
        known = self._vocabulary.known_ids
        ids = [known[token] for token in tokens]
        if None not in ids:
            return ids
        unknown = self._unknown_id()
        return [unknown if token_id is None else token_id for token_id in ids]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The text behind tokens.

        >>> tokenizer.convert_tokens_to_string(["Hello", "Ġworld"])  # doctest: +SKIP
        'Hello world'
        """
        return self._vocabulary.join(tokens)

    # -- decoding -----------------------------------------------------------------------------------------------------

    def decode(self, token_ids: Any, skip_special_tokens: bool = False, **kwargs: Any) -> Any:
        """The text behind ids, or the texts behind a batch of them; ids that are not in use give no text.

        skip_special_tokens: leave out every added token that is special.
        clean_up_tokenization_spaces: has no effect, as it would remove spaces that are part of the text.
        """
        if type(token_ids) is list and all(type(token_id) is int for token_id in token_ids):  # transformers walks lists slowly
            return self._decode(token_ids, skip_special_tokens, **kwargs)
        return super().decode(token_ids, skip_special_tokens=skip_special_tokens, **kwargs)

    def decoding_rules(self) -> DecodingRules:
        """How `decode` makes text, for `hf_bpe.streaming.StreamingDecoder`. Tokens added later need a new stream."""
        return self._vocabulary.decoding_rules

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
