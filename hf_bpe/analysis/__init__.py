"""Looking at tokens: of a text, of a conversation, of several tokenizers, and one by itself.

>>> import hf_bpe.analysis
>>> "view" in hf_bpe.analysis.__all__
True
"""

from hf_bpe.analysis.tokens import Entry, Token, View, Vocabulary, view

__all__ = ["Entry", "Token", "View", "Vocabulary", "view"]
