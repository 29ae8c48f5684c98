"""Looking at tokens: of a text, of a conversation, of several tokenizers, and one by itself.

>>> from hf_bpe.analysis import view
>>> from hf_bpe import TokenizerSpec
>>> [token.text for token in view(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()), "hi")]
['h', 'i']
"""

from hf_bpe.analysis.card import Card, Cards
from hf_bpe.analysis.conversation import Conversation, Span, view_conversation
from hf_bpe.analysis.differences import Differences, Stretch, differences
from hf_bpe.analysis.examples import EXAMPLES, Example
from hf_bpe.analysis.loaded import LoadedExample, loaded_examples
from hf_bpe.analysis.merge_tree import MergeNode, merge_trees
from hf_bpe.analysis.pretokens import Alternative, Pretoken, pretokens
from hf_bpe.analysis.tokens import Entry, Kind, Token, View, Vocabulary, view
from hf_bpe.analysis.visible import Glyph, glyphs, glyphs_of_bytes, shown

__all__ = [
    "EXAMPLES",
    "Alternative",
    "Card",
    "Cards",
    "Conversation",
    "Differences",
    "Entry",
    "Example",
    "Glyph",
    "Kind",
    "LoadedExample",
    "MergeNode",
    "Pretoken",
    "Span",
    "Stretch",
    "Token",
    "View",
    "Vocabulary",
    "differences",
    "glyphs",
    "glyphs_of_bytes",
    "loaded_examples",
    "merge_trees",
    "pretokens",
    "shown",
    "view",
    "view_conversation",
]
