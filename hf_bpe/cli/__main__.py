"""`python -m hf_bpe.cli`: the command where its script is not on the path."""

from hf_bpe.cli.app import main

main()
