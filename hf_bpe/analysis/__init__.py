"""Looking at tokens: of a text, of a conversation, of several tokenizers, and one by itself; and tokenizers measured on texts.

>>> import hf_bpe.analysis
>>> "view" in hf_bpe.analysis.__all__
True
"""

from typing import TYPE_CHECKING

from hf_bpe.analysis.tokens import Entry, Token, View, Vocabulary, view
from hf_bpe.lazy_names import lazy_names

if TYPE_CHECKING:
    from hf_bpe.analysis.comparing import compare
    from hf_bpe.analysis.comparison import Comparison

__all__ = ["Comparison", "Entry", "Token", "View", "Vocabulary", "compare", "view"]

# Measuring reads corpora, with all that takes; looking at tokens does without.
__getattr__ = lazy_names(
    "hf_bpe.analysis", {"hf_bpe.analysis.comparing": ("compare",), "hf_bpe.analysis.comparison": ("Comparison",)}
)
