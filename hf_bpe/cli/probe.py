"""Runs in a process of its own: what `AutoTokenizer` makes of a saved folder.

Reads {"folder": path, "texts": [...]} as JSON from standard input, writes what it found as one line of JSON. It does not
import this package: whether that is imported is up to who starts the process (see `demo`).
"""

import json
import sys

from transformers import AutoTokenizer

task = json.load(sys.stdin)
tokenizer = AutoTokenizer.from_pretrained(task["folder"])
ids = [tokenizer.encode(text) for text in task["texts"]]
found = {
    "class": type(tokenizer).__name__,
    "hf_bpe_imported": "hf_bpe" in sys.modules,
    "ids": ids,
    "texts": [tokenizer.decode(each) for each in ids],
}
sys.stdout.write("\n" + json.dumps(found))
