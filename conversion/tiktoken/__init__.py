"""tiktoken: rank files, and folders that tiktoken finds as plugins."""

from conversion.tiktoken.file import FORMAT, to_tiktoken_encoding
from conversion.tiktoken.plugin import FORMAT as PLUGIN_FORMAT

__all__ = ["FORMAT", "PLUGIN_FORMAT", "to_tiktoken_encoding"]
