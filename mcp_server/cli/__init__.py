"""Commands of this package, one a file, found through the `ctxfold.commands` entry points."""
