"""Reads corpora document by document: text, JSON lines and Parquet files, compressed or not, however large."""
