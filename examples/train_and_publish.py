"""Train on files, save as a Hugging Face folder, load it as everybody would: train_and_publish.py FOLDER TEXTFILE..."""

import sys

from transformers import AutoTokenizer

import hf_bpe


def main(folder: str, *corpus: str) -> object:
    """Do it, and return what was loaded."""
    tokenizer = hf_bpe.HfBpeTokenizer.train(list(corpus), vocab_size=1_000, eos_token="<|endoftext|>")  # noqa: S106
    tokenizer.save_pretrained(folder)  # tokenizer.push_to_hub("you/your-tokenizer") publishes it
    loaded = AutoTokenizer.from_pretrained(folder)
    print(f"{type(loaded).__name__} with {len(loaded)} tokens in {folder}: 'Hello world' is {loaded.encode('Hello world')}")
    return loaded


if __name__ == "__main__":
    main(*sys.argv[1:])
