"""Looking for text, or tokenizers, on which this package differs from tiktoken, from sentencepiece or from its own reference.

Not part of the suite: it runs for as long as it is told to, on other input for every seed. `python -m tests.fuzz --help`.
"""
