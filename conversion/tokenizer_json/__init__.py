"""The file of the tokenizers library, for byte-level BPE and for SentencePiece models."""

from conversion.tokenizer_json.file import FORMAT
from conversion.tokenizer_json.reading import from_dict
from conversion.tokenizer_json.writing import to_dict

__all__ = ["FORMAT", "from_dict", "to_dict"]
