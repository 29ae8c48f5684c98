"""The engines that the published tokenizers run on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import tiktoken
from tokenizers import Regex, pre_tokenizers

# tiktoken 0.14, tiktoken_ext/openai_public.py
TIKTOKEN_PATTERNS = {
    "gpt2": r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s""",
    "cl100k": r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s""",
    "o200k": "|".join(
        [
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""\p{N}{1,3}""",
            r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
            r"""\s*[\r\n]+""",
            r"""\s+(?!\S)""",
            r"""\s+""",
        ]
    ),
    # meta-llama/llama3, llama/tokenizer.py
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    # Qwen/Qwen-7B, tokenization_qwen.py
    "qwen2": r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
    # transformers models/qwen3_5/tokenization_qwen3_5.py
    "qwen3.5": r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
    # mistral_common/data/tekken_240911.json, config.pattern
    "tekken": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    # moonshotai/Kimi-K2-Instruct, tokenization_kimi.py
    "kimi": "|".join(
        [
            r"""[\p{Han}]+""",
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""\p{N}{1,3}""",
            r""" ?[^\s\p{L}\p{N}]+[\r\n]*""",
            r"""\s*[\r\n]+""",
            r"""\s+(?!\S)""",
            r"""\s+""",
        ]
    ),
    # ByteDance-Seed/Seed-Coder-8B-Base, tokenizer.json
    "seed-coder": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+",
}
# Published nowhere but here; the engines must agree on them all the same.
_WORD = r"\p{L}[\p{L}\p{M}\x{200c}\x{200d}]*"
_AFTER_WORDS = r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_END, _NO_END = ".!?\u2026\u0964\u0965\u06d4\u061f", "[^\\r\\n\\p{N}.!?\u2026\u0964\u0965\u06d4\u061f]"
_ON = rf"[{_END}]+[^\s\p{{N}}{_END}]{_NO_END}*"
TIKTOKEN_PATTERNS |= {
    "indic": rf"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?{_WORD}{_AFTER_WORDS}",
    "sentences": rf"(?:{_NO_END}+|{_ON})(?:{_ON})*[{_END}]*(?:\s*[\r\n]+)?|[{_END}]+(?:\s*[\r\n]+)?|\p{{N}}{{1,3}}|\s*[\r\n]+",
}
# deepseek-ai/DeepSeek-V3, tokenizer.json: pre_tokenizer.pretokenizers
DEEPSEEK_STAGES = (
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
)

# Published as successive splits, which only `tokenizers` runs.
STAGES: dict[str, tuple[str, ...]] = {
    "deepseek-v3": DEEPSEEK_STAGES,
    # bigcode/starcoder2, HuggingFaceTB/SmolLM2, tokenizer.json: Digits, then ByteLevel, whose split is GPT-2's
    "starcoder": (r"\p{N}", r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),
}


def tiktoken_ids_of_pieces(pattern: str, text: str, pieces: Sequence[str]) -> tuple[list[int], list[int]]:
    """What tiktoken gives for a text, and what it gives if and only if it splits the text into these very pieces.

    tiktoken shows no pieces, so it gets a vocabulary that holds each piece, and each two neighbours joined. Had it split
    elsewhere, then either a token crosses a border, or two neighbours would have merged.
    """
    encoded = [piece.encode() for piece in pieces]
    ranks = {bytes([byte]): byte for byte in range(256)}
    for token in (*encoded, *(left + right for left, right in pairwise(encoded))):
        ranks.setdefault(token, len(ranks))
    encoding = tiktoken.Encoding("pieces", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return encoding.encode_ordinary(text), [ranks[token] for token in encoded]


def oniguruma_pieces(stages: Sequence[str], text: str) -> list[str]:
    """The pieces of `tokenizers`: successive splits, matches and what stands between them both kept."""
    splits = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(stage), "isolated") for stage in stages])
    return [piece for piece, _ in splits.pre_tokenize_str(text)]
