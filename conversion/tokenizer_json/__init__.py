"""The file of the tokenizers library, for byte-level BPE and for SentencePiece models."""

from conversion.tokenizer_json.file import FORMAT, from_dict, to_dict

__all__ = ["FORMAT", "from_dict", "to_dict"]
