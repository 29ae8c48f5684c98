"""transformers' own common tokenizer tests, run against `HfBpeTokenizer`: `make transformers-tests`."""
