"""The one file of code that a repository may hold, for `AutoTokenizer.from_pretrained(..., trust_remote_code=True)`.

transformers looks through such a file for packages it needs, and refuses to run it where one is missing; imports inside
try/except are passed over. So the file runs with this package and without it.
"""

from __future__ import annotations

__all__ = ["AUTO_MAP", "CODE_FILE", "SOURCE"]

CODE_FILE = "tokenization_hf_bpe.py"

AUTO_MAP = {"AutoTokenizer": ["tokenization_hf_bpe.HfBpeTokenizer", None]}
"""What tokenizer_config.json says of it. transformers calls the two a slow and a fast class, and takes the one there is."""

SOURCE = '''"""The tokenizer class of hf_bpe where that is installed, else the stock class of transformers: the ids are the same."""

try:
    from hf_bpe import HfBpeTokenizer
except ImportError:  # not installed, or not for this version of transformers
    from transformers import PreTrainedTokenizerFast

    class HfBpeTokenizer(PreTrainedTokenizerFast):
        """The stock class, under the name that tokenizer_config.json gives."""
'''
