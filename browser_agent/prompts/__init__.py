"""The browser agent's words for a model, one file each. No prompt is written anywhere else in this package."""
