"""The lints, one module per family. `hf_bpe.doctor.registry` asks all of them."""
