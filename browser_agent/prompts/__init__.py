"""The texts that the browser agent sends to a model, one file each."""

PROMPTS = __name__
"""Where `ctxfold.prompts.prompt` finds these texts."""
