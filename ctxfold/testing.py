"""The test double for programs that use ctxfold: a model that follows a script."""

from ctxfold.models.named import ScriptedModel

__all__ = ["ScriptedModel"]
