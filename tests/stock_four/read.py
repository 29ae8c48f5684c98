"""Run by a Python that has transformers 4 and not this package. Prints a line for each folder; exits with 1 if any is not as expected."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", HF_MODULES_CACHE=str(Path(sys.argv[1], "modules").resolve()))

import transformers
from transformers import AutoTokenizer


def wrong(folder: Path, expected: dict[str, Any], trusted: bool) -> list[str]:
    """What is not as expected of a folder."""
    try:
        loaded = AutoTokenizer.from_pretrained(folder, trust_remote_code=trusted)
    except ValueError as error:
        known = expected["auto"] == "class-name" and "HfBpeTokenizer does not exist" in str(error)
        return [] if known else [repr(error)]
    if expected["auto"] == "class-name":
        return ["the class name, which transformers 4 does not know, was accepted"]
    ids = loaded(expected["texts"])["input_ids"]
    found = {
        "ids": ids,
        "pairs": loaded(expected["texts"][0], "pair")["input_ids"],
        "decoded": loaded.batch_decode(ids, clean_up_tokenization_spaces=False),
        "special": sorted(loaded.all_special_tokens),
        "size": len(loaded),
        "chat": expected["chat"] and loaded.apply_chat_template([{"role": "user", "content": "hi"}], tokenize=False),
    }
    return [name for name, value in found.items() if value != (sorted(expected[name]) if name == "special" else expected[name])]


def main() -> int:
    """Every folder, with every model type beside it, trusted and not."""
    if not transformers.__version__.startswith("4."):
        raise SystemExit(f"this needs transformers 4, not {transformers.__version__}")
    failures = 0
    for folder in sorted(path.parent for path in Path(sys.argv[1]).glob("*/expected.json")):
        expected = json.loads((folder / "expected.json").read_text())
        config = folder / "tokenizer" / "config.json"
        for model_type in expected["model_types"]:
            config.unlink(missing_ok=True)
            if model_type:
                config.write_text(json.dumps({"model_type": model_type}))
            for trusted in (False, True):
                found = wrong(folder / "tokenizer", expected, trusted)
                failures += bool(found)
                if found:
                    print(f"{folder.name}, {model_type}, trust_remote_code={trusted}: {', '.join(found)}")
    print(f"transformers {transformers.__version__}: {failures} not as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
