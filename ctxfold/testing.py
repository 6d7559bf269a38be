"""The test double for programs that use ctxfold: a model that follows a script."""

from ctxfold.models.script import ScriptedModel

__all__ = ["ScriptedModel"]
