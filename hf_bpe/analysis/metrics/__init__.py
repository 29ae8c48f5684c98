"""What a tokenizer makes of text, in figures: one file for each thing that is measured."""
