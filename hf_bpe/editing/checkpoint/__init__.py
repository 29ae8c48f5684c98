"""Checkpoints in .safetensors files: reading, choosing the tensors with a row for each id, and writing them with other rows.

No framework is loaded, and no tensor is held as a whole: rows are moved as bytes, whatever their dtype.
"""
