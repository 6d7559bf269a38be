"""Version control for an agent's context: a lossless log below, a lean view above, under a hard token budget.

Public names are imported when they are first used, so that `ctxfold --help` starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxfold.decisions.branch.values import Move
    from ctxfold.decisions.fold.directive import FoldDirective
    from ctxfold.decisions.fold.settings import FoldSettings
    from ctxfold.decisions.intent.dropped import Dropped, Lost
    from ctxfold.decisions.intent.triggers import Trigger
    from ctxfold.decisions.refactor.values import Refactored
    from ctxfold.errors import CtxfoldError
    from ctxfold.log.refs import RecordRef, StepRef
    from ctxfold.session.history.export import SessionInfo, delete_session, export_session, sessions, verify_session
    from ctxfold.session.history.redact import Redaction
    from ctxfold.session.history.restore import import_session
    from ctxfold.session.history.telling import Event
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
    "FoldSettings",
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

_NAMES = {
    "decisions.branch.values": "Move",
    "decisions.fold.directive": "FoldDirective",
    "decisions.fold.settings": "FoldSettings",
    "decisions.intent.dropped": "Dropped Lost",
    "decisions.intent.triggers": "Trigger",
    "decisions.refactor.values": "Refactored",
    "errors": "CtxfoldError",
    "log.refs": "RecordRef StepRef",
    "session.history.telling": "Event",
    "session.history.export": "SessionInfo delete_session export_session sessions verify_session",
    "session.history.redact": "Redaction",
    "session.history.restore": "import_session",
    "session.history.tree": "BranchInfo Topic",
    "session.recall": "Recalled",
    "session.search": "Hit",
    "session.session": "Session",
    "session.tools": "SessionTool",
    "session.transcripts.values": "AssistantSaid Called HostCompacted ToolAnswered UserSaid",
    "view.render": "View",
    "workspace.by": "By",
    "workspace.intent": "Constraint Extract Extraction Intent Item",
    "workspace.workspace": "RawStep Tile Workspace",
}
"""Where public names live: the modules, and the names in each."""
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """A public name, from the module that holds it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
