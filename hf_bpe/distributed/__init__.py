"""Beyond one machine: counting and encoding on a Ray cluster, with the results of one process. docs/scale.md says how."""

from hf_bpe.distributed.counting import count
from hf_bpe.distributed.encoding import encode_files

__all__ = ["count", "encode_files"]
