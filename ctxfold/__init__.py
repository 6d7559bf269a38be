"""Version control for an agent's context: a lossless log below, a lean view above, under a hard token budget.

Public names are imported when they are first used, so that `ctxfold --help` starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxfold.decisions.branch.values import Move
    from ctxfold.decisions.fold.directive import FoldDirective
    from ctxfold.decisions.intent.dropped import Dropped, Lost
    from ctxfold.decisions.intent.triggers import Trigger
    from ctxfold.decisions.refactor.values import Refactored
    from ctxfold.errors import CtxfoldError
    from ctxfold.log.refs import RecordRef, StepRef
    from ctxfold.session.history.events import Event
    from ctxfold.session.history.export import SessionInfo, delete_session, export_session, sessions, verify_session
    from ctxfold.session.history.redact import Redaction
    from ctxfold.session.history.restore import import_session
    from ctxfold.session.history.tree import BranchInfo, Topic
    from ctxfold.session.recall import Recalled
    from ctxfold.session.search import Hit
    from ctxfold.session.session import Session
    from ctxfold.session.tools import SessionTool
    from ctxfold.session.transcripts.values import AssistantSaid, Called, HostCompacted, ToolAnswered, UserSaid
    from ctxfold.view.render import View
    from ctxfold.workspace.by import By
    from ctxfold.workspace.intent import Constraint, Extract, Extraction, Intent, Item
    from ctxfold.workspace.workspace import RawStep, Tile, Workspace

__version__ = "0.1.0"

__all__ = [
    "AssistantSaid",
    "BranchInfo",
    "By",
    "Called",
    "Constraint",
    "CtxfoldError",
    "Dropped",
    "Event",
    "Extract",
    "Extraction",
    "FoldDirective",
    "Hit",
    "HostCompacted",
    "Intent",
    "Item",
    "Lost",
    "Move",
    "RawStep",
    "Recalled",
    "RecordRef",
    "Redaction",
    "Refactored",
    "Session",
    "SessionInfo",
    "SessionTool",
    "StepRef",
    "Tile",
    "ToolAnswered",
    "Topic",
    "Trigger",
    "UserSaid",
    "View",
    "Workspace",
    "__version__",
    "delete_session",
    "export_session",
    "import_session",
    "sessions",
    "verify_session",
]

_HOMES = {
    "AssistantSaid": "session.transcripts.values",
    "BranchInfo": "session.history.tree",
    "By": "workspace.by",
    "Called": "session.transcripts.values",
    "Constraint": "workspace.intent",
    "CtxfoldError": "errors",
    "Dropped": "decisions.intent.dropped",
    "Event": "session.history.events",
    "Extract": "workspace.intent",
    "Extraction": "workspace.intent",
    "FoldDirective": "decisions.fold.directive",
    "Hit": "session.search",
    "HostCompacted": "session.transcripts.values",
    "Intent": "workspace.intent",
    "Item": "workspace.intent",
    "Lost": "decisions.intent.dropped",
    "Move": "decisions.branch.values",
    "RawStep": "workspace.workspace",
    "Recalled": "session.recall",
    "RecordRef": "log.refs",
    "Redaction": "session.history.redact",
    "Refactored": "decisions.refactor.values",
    "Session": "session.session",
    "SessionInfo": "session.history.export",
    "SessionTool": "session.tools",
    "StepRef": "log.refs",
    "Tile": "workspace.workspace",
    "ToolAnswered": "session.transcripts.values",
    "Topic": "session.history.tree",
    "Trigger": "decisions.intent.triggers",
    "UserSaid": "session.transcripts.values",
    "View": "view.render",
    "Workspace": "workspace.workspace",
    "delete_session": "session.history.export",
    "export_session": "session.history.export",
    "import_session": "session.history.restore",
    "sessions": "session.history.export",
    "verify_session": "session.history.export",
}


def __getattr__(name: str) -> object:
    """A public name, from the module that holds it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
