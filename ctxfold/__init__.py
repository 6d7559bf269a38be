"""Version control for an agent's context: a lossless log below, a lean view above, under a hard token budget.

Public names are imported when they are first used, so that `ctxfold --help` starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxfold.decisions.fold import FoldDirective, FoldSettings
    from ctxfold.decisions.refactor import Refactored
    from ctxfold.decisions.register import Trigger
    from ctxfold.errors import CtxfoldError
    from ctxfold.log import RecordRef, StepRef
    from ctxfold.session.branches import BranchInfo, Move, Topic
    from ctxfold.session.recall import Hit, Recalled
    from ctxfold.session.redact import Redaction
    from ctxfold.session.session import Session
    from ctxfold.session.telling import Event
    from ctxfold.session.tools import SessionTool
    from ctxfold.session.transcripts.values import AssistantSaid, Called, HostCompacted, ToolAnswered, UserSaid
    from ctxfold.session.transfer import (
        SessionInfo,
        delete_session,
        export_session,
        import_session,
        sessions,
        verify_session,
    )
    from ctxfold.view.render import View
    from ctxfold.workspace import By, Constraint, Extract, Extraction, Intent, Item, RawStep, Tile, Workspace

__version__ = "0.1.0"

__all__ = [
    "AssistantSaid",
    "BranchInfo",
    "By",
    "Called",
    "Constraint",
    "CtxfoldError",
    "Event",
    "Extract",
    "Extraction",
    "FoldDirective",
    "FoldSettings",
    "Hit",
    "HostCompacted",
    "Intent",
    "Item",
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
    "decisions.fold": "FoldDirective FoldSettings",
    "decisions.refactor": "Refactored",
    "decisions.register": "Trigger",
    "errors": "CtxfoldError",
    "log": "RecordRef StepRef",
    "session.branches": "BranchInfo Move Topic",
    "session.recall": "Hit Recalled",
    "session.redact": "Redaction",
    "session.session": "Session",
    "session.telling": "Event",
    "session.tools": "SessionTool",
    "session.transcripts.values": "AssistantSaid Called HostCompacted ToolAnswered UserSaid",
    "session.transfer": "SessionInfo delete_session export_session import_session sessions verify_session",
    "view.render": "View",
    "workspace": "By Constraint Extract Extraction Intent Item RawStep Tile Workspace",
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
