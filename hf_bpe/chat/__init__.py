"""Chat: templates, conversations encoded so that users cannot forge special tokens, and filling in the middle.

>>> import hf_bpe.chat
>>> sorted(hf_bpe.chat.TEMPLATES)
['chatml', 'llama3', 'mistral']
"""

from hf_bpe.chat.encoding import EncodedConversation, encode_conversation, with_template_tokens
from hf_bpe.chat.fim import FIM_TOKENS, FimTokens, fim_example, fim_prompt, split_for_fim, with_random_fim
from hf_bpe.chat.origins import trusted
from hf_bpe.chat.own import own_template
from hf_bpe.chat.ready import TEMPLATES, ReadyTemplate, find_template
from hf_bpe.chat.rendering import Rendered, render

__all__ = [
    "FIM_TOKENS",
    "TEMPLATES",
    "EncodedConversation",
    "FimTokens",
    "ReadyTemplate",
    "Rendered",
    "encode_conversation",
    "fim_example",
    "fim_prompt",
    "find_template",
    "own_template",
    "render",
    "split_for_fim",
    "trusted",
    "with_random_fim",
    "with_template_tokens",
]
