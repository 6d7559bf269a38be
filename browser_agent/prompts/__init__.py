"""The texts that the browser agent sends to a model, one file each."""
