"""Lints about added tokens: how they are found in text, and which of them are special."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conversion.gguf.tokens import overlap_conflict
from conversion.json_shapes import content_of, dicts_in, is_id, list_at, object_at, quoted
from conversion.tokenizer_json.post_processor import named_ids
from hf_bpe.doctor.finding import Problem, lint
from hf_bpe.doctor.folder import CONFIG, SPECIALS, TOKENIZER, Folder
from hf_bpe.errors import some

_MANY = 5000
_FLAGS = ("special", "lstrip", "rstrip", "single_word", "normalized")


@lint("warning")
def prefix_special(folder: Folder) -> Iterator[Problem]:
    """A special token with which another one begins."""
    for place, contents in _specials(folder):
        pairs = [f"{quoted(short)} and {quoted(long)}" for short, long in _prefixes(contents)]
        if pairs:
            yield Problem(
                place,
                f"One special token begins another: {some(pairs)}. transformers takes the longest; tiktoken takes one or the other by "
                "the order of its table, so the same prompt gets other ids there",
                "Rename one of the two, so that neither begins the other (such names end with a character used nowhere else, like '>').",
            )


@lint("warning")
def overlapping_special(folder: Folder) -> Iterator[Problem]:
    """A special token that can begin inside another and reach beyond it."""
    for place, contents in _specials(folder):
        conflict = overlap_conflict([content for content in contents if content])
        if conflict is not None:
            yield Problem(
                place,
                f"{conflict}, as transformers and tiktoken do: a prompt with both gets other ids in llama.cpp and what is built on it",
                "Rename one of the two, so that no end of one is the beginning of the other.",
            )


def _specials(folder: Folder) -> Iterator[tuple[str, list[str]]]:
    """(place, texts) of the special tokens of each vocabulary file."""
    if folder.flags:
        yield f"{TOKENIZER}: $.added_tokens", [c for c, flags in folder.flags.items() if flags.get("special") is True]
    for reading in folder.readings:
        # In a SentencePiece model control pieces are never looked for in text.
        if reading.file != TOKENIZER and reading.spec is not None and reading.spec.sentencepiece is None:
            yield reading.file, [token.content for token in reading.spec.added_tokens if token.special]


def _prefixes(contents: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of which the first begins the second; of several the longest.

    >>> list(_prefixes(["<a>", "<b>", "<a><b>"]))
    [('<a>', '<a><b>')]
    """
    begun: list[str] = []  # in sorted order, all that begin a text stand before it, each beginning the next
    for content in sorted(set(contents)):
        while begun and not content.startswith(begun[-1]):
            begun.pop()
        if begun and begun[-1]:
            yield begun[-1], content
        begun.append(content)


@lint("error")
def added_token_twice(folder: Folder) -> Iterator[Problem]:
    """An added token with two ids, or an id with two added tokens."""
    ids: dict[str, int] = {}
    owner: dict[int, str] = {}
    vocab = object_at(folder.json(TOKENIZER), "model", "vocab")
    for content, token_id, place in folder.added_tokens():
        if not place.startswith(TOKENIZER):
            continue
        first = ids.setdefault(content, vocab[content] if is_id(vocab.get(content)) else token_id)
        other = owner.setdefault(token_id, content)
        if first != token_id:
            clash = f"{quoted(content)} has the ids {first} and {token_id}. tokenizers gives it the one of the vocabulary"
        elif other != content:
            clash = f"Id {token_id} is {quoted(other)} and {quoted(content)}. Decoding gives one of the two, the other is lost"
        else:
            continue
        yield Problem(place, f"{clash}; models trained with the other id get the wrong embedding row", "Keep one entry.")


@lint("error")
def renumbered_token(folder: Folder) -> Iterator[Problem]:
    """An added token that gets another id on loading than the one that stands in the file."""
    if folder.stock is None or folder.stock.tokenizer is None:
        return
    moved = []
    for content, token_id, place in folder.added_tokens():
        assigned = folder.stock.tokenizer.token_to_id(_encodable(content))
        if place.startswith(TOKENIZER) and assigned is not None and assigned != token_id:
            moved.append(f"{quoted(content)}: {token_id} becomes {assigned}")
    if moved:
        yield Problem(
            f"{TOKENIZER}: $.added_tokens",
            f"tokenizers and transformers number added tokens from the end of the vocabulary on, whatever stands in the file: "
            f"{some(moved)}. The model gets other embedding rows than it was trained with",
            "Put these tokens into $.model.vocab with the ids they shall have, and fill gaps with reserved tokens.",
        )


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@lint("error")
def post_processor_id(folder: Folder) -> Iterator[Problem]:
    """A post-processor that adds a token under another id than the vocabulary has."""
    wrong = []
    for token, token_id in named_ids(folder.json(TOKENIZER).get("post_processor")):
        own = folder.token_ids.get(token)
        if folder.token_ids and own != token_id:
            wrong.append(f"{quoted(token)}: {token_id} here, {'no id' if own is None else own} in the vocabulary")
    if wrong:
        yield Problem(
            f"{TOKENIZER}: $.post_processor",
            f"It adds tokens by other ids than theirs: {some(wrong)}. Every text begins or ends with a wrong token for whoever loads the "
            "file, and decoding shows another",
            "Write the ids of the vocabulary; they were not changed along when it was renumbered.",
        )


@lint("error")
def special_missing(folder: Folder) -> Iterator[Problem]:
    """A special token in the configuration that no vocabulary holds."""
    ids = folder.token_ids
    if not ids:
        return
    named = [(f"{name}: $.{role}", content) for role, (content, name) in folder.roles.items()]
    for name in (CONFIG, SPECIALS):
        for key in ("additional_special_tokens", "extra_special_tokens"):
            found = folder.json(name).get(key)
            listed = list(found.values()) if isinstance(found, dict) else list_at(folder.json(name), key)
            named += [(f"{name}: $.{key}", content) for token in listed if (content := content_of(token)) is not None]
    for place in dict.fromkeys(place for place, _ in named):
        missing = [content for where, content in named if where == place and content and content not in ids]
        if missing:
            yield Problem(
                place,
                f"{some([quoted(content) for content in missing])} {'is' if len(missing) == 1 else 'are'} in no vocabulary. "
                f"transformers adds a new id from {folder.ids_needed} on, for which the model has no trained row or none at all "
                "(index out of range)",
                "Name a token that exists, or add it to tokenizer.json and resize the embedding.",
            )


@lint("warning")
def special_not_flagged(folder: Folder) -> Iterator[Problem]:
    """A special token that is not marked as special."""
    flags = folder.flags
    for role, (content, _) in folder.roles.items():
        known = flags.get(content)
        listed = f"{TOKENIZER}: $.added_tokens"
        if known is not None and known.get("special") is False:
            yield Problem(
                listed,
                f"The {role} {quoted(content)} has special: false. skip_special_tokens leaves it in decoded text, and "
                "split_special_tokens does not keep users from writing it",
                "Set special to true.",
            )
        elif known is None and flags and content in folder.token_ids and role in ("bos_token", "eos_token"):
            yield Problem(
                listed,
                f"The {role} {quoted(content)} is only in the vocabulary. The tokenizers library and text-generation-inference do not "
                "find it in a prompt and encode its letters; transformers adds it on loading",
                "Add it to added_tokens with its id and special: true.",
            )


@lint("warning")
def flags_disagree(folder: Folder) -> Iterator[Problem]:
    """An added token with other flags in tokenizer_config.json than in tokenizer.json."""
    flags = folder.flags
    for key, token in object_at(folder.json(CONFIG), "added_tokens_decoder").items():
        known = flags.get(content_of(token) or "", {})
        differ = [
            name for name in _FLAGS if name in known and isinstance(token, dict) and token.get(name, known[name]) != known[name]
        ]
        if differ:
            shown = ", ".join(f"{name} is {quoted(token[name])} here and {quoted(known[name])} there" for name in differ)
            yield Problem(
                f"{CONFIG}: $.added_tokens_decoder[{quoted(key)}]",
                f"{quoted(content_of(token))} against {TOKENIZER}: {shown}. transformers goes by this file, everything else by the other: "
                "text around the token is encoded or decoded differently",
                "Write both the same; save_pretrained of transformers 5 leaves added_tokens_decoder out of the question.",
            )


@lint("warning")
def normalized_special(folder: Folder) -> Iterator[Problem]:
    """A special token that the normalizer changes before it is looked for."""
    normalizer = folder.stock.tokenizer.normalizer if folder.stock and folder.stock.tokenizer else None
    if normalizer is None:
        return
    for content, token in folder.flags.items():
        if token.get("special") is not True or token.get("normalized") is not True:
            continue
        changed = normalizer.normalize_str(_encodable(content))
        if changed != content:
            yield Problem(
                f"{TOKENIZER}: $.added_tokens",
                f"{quoted(content)} has normalized: true, and the normalizer makes {quoted(changed)} of it. tokenizers and transformers "
                "look for that in normalised text: not found inside a text, or found where a user wrote something else",
                "Set normalized to false.",
            )


@lint("warning")
def space_in_special(folder: Folder) -> Iterator[Problem]:
    """An added token that begins or ends with white space, or is empty."""
    flagged = [content for content, token in folder.flags.items() if token.get("special") is True]
    spaced = [content for content in flagged if content != content.strip()]
    if spaced:
        yield Problem(
            f"{TOKENIZER}: $.added_tokens",
            f"White space belongs to {some([quoted(content) for content in spaced])}. Prompts without just that space do not hold the "
            "token, and editors and templates strip it unseen",
            "Write the token without the space, and set lstrip or rstrip if spaces beside it shall go.",
        )
    if any(token.get("content") == "" for token in dicts_in(folder.json(TOKENIZER).get("added_tokens"))):
        yield Problem(
            f"{TOKENIZER}: $.added_tokens",
            "An added token has no text. It is never found, and tokenizers leaves it out, so later tokens can get other ids",
            "Remove it, or give it a name.",
        )


@lint("hint")
def many_added_tokens(folder: Folder) -> Iterator[Problem]:
    """So many added tokens that loading and encoding take long."""
    count = len(folder.flags)
    if count > _MANY:
        yield Problem(
            f"{TOKENIZER}: $.added_tokens",
            f"{count} added tokens, each looked for in every text: transformers 4 takes minutes to load them, and servers that ask for "
            "get_added_vocab() for each token get slow",
            "Train a vocabulary that holds ordinary words as merges; added tokens are for markers.",
        )


@lint("hint")
def pad_is_eos(folder: Folder) -> Iterator[Problem]:
    """One token for padding and for the end of the text."""
    pad, eos = folder.roles.get("pad_token"), folder.roles.get("eos_token")
    if pad is not None and eos is not None and pad[0] == eos[0]:
        yield Problem(
            f"{pad[1]}: $.pad_token",
            f"It is the eos_token {quoted(eos[0])}. Data collators mask padding out of the labels, so a model trained with them never "
            "learns to stop",
            "Use a reserved token for padding, or mask labels by the attention mask instead of by id.",
        )
