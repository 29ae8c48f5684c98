"""The playground: a local page on which to look at text as tokens. `hf-bpe playground` starts it; docs/playground.md says what
it shows.
"""

from hf_bpe.playground.launching import launch, shelf_of

__all__ = ["launch", "shelf_of"]
