"""The model card template and its sample texts, as files of a package so that an installed hf_bpe finds them too."""
