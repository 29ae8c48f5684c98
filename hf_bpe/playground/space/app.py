"""The hf-bpe playground on port 7860, with the tokenizers of the folder `tokenizers`."""

import os
from functools import partial
from pathlib import Path

from hf_bpe.playground import launch

if __name__ == "__main__":
    tokenizers = sorted(Path(__file__).parent.glob("tokenizers/*"))
    # A Space is reached from outside of its machine.
    launch(
        tokenizers,
        host="0.0.0.0",  # noqa: S104
        port=int(os.environ.get("PORT", "7860")),
        ready=partial(print, "The playground is at", flush=True),
    )
