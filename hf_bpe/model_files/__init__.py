"""What the files of a model hold: heads of .safetensors files, names of tensors, the parts of config.json. Nothing is changed here."""
