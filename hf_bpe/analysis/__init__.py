"""Looking at tokens: of a text, of a conversation, of several tokenizers, and one by itself; and tokenizers measured on texts.

>>> from hf_bpe.analysis import view
>>> from hf_bpe import TokenizerSpec
>>> [token.text for token in view(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()), "hi")]
['h', 'i']
"""

from typing import TYPE_CHECKING

from hf_bpe.analysis.card import Card, Cards
from hf_bpe.analysis.conversation import Conversation, Span, view_conversation
from hf_bpe.analysis.differences import Differences, Stretch, differences
from hf_bpe.analysis.examples import EXAMPLES, Example
from hf_bpe.analysis.loaded import LoadedExample, loaded_examples
from hf_bpe.analysis.merge_tree import MergeNode, merge_trees
from hf_bpe.analysis.pretokens import Alternative, Pretoken, pretokens
from hf_bpe.analysis.tokens import Entry, Kind, Token, View, Vocabulary, view
from hf_bpe.analysis.visible import Glyph, glyphs, glyphs_of_bytes, shown
from hf_bpe.lazy_names import lazy_names

if TYPE_CHECKING:
    from hf_bpe.analysis.comparing import compare
    from hf_bpe.analysis.comparison import Comparison

__all__ = [
    "EXAMPLES",
    "Alternative",
    "Card",
    "Cards",
    "Comparison",
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
    "compare",
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

# Measuring reads corpora, with all that takes; looking at tokens does without.
__getattr__ = lazy_names(
    "hf_bpe.analysis", {"hf_bpe.analysis.comparing": ("compare",), "hf_bpe.analysis.comparison": ("Comparison",)}
)
