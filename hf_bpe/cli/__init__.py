"""The `hf-bpe` command. Every command is one call into the layers below."""

from hf_bpe.cli.app import app, main

__all__ = ["app", "main"]
