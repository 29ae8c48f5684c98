"""tiktoken's interface over the engine of this package: `from hf_bpe import tiktoken` in place of `import tiktoken`.

The same names, results and errors as tiktoken 0.14; what differs on purpose is listed in docs/tiktoken.md.

>>> from hf_bpe import tiktoken
>>> tiktoken.get_encoding("cl100k_base").encode("hello world")  # doctest: +SKIP
[15339, 1917]
"""

from hf_bpe.tiktoken.core import Encoding
from hf_bpe.tiktoken.model import encoding_for_model, encoding_name_for_model
from hf_bpe.tiktoken.registry import get_encoding, list_encoding_names, register_encoding

__version__ = "0.14.0"
"""The tiktoken whose interface this is; `hf_bpe.__version__` is this package's."""

__all__ = [
    "Encoding",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
    "register_encoding",
]
