"""The public double for tests of programs built on ctxfold: a model that follows a script."""

from ctxfold.models.script import ScriptedModel

__all__ = ["ScriptedModel"]
