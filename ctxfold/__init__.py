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
    from ctxfold.messages import Call, Message, Opaque, Result, Text
    from ctxfold.messages.apis import read_messages
    from ctxfold.session.branches import BranchInfo, Move, Topic
    from ctxfold.session.recall import Hit, Recalled
    from ctxfold.session.redact import Redaction
    from ctxfold.session.session import Session
    from ctxfold.session.telling import Event
    from ctxfold.session.tools import SessionTool
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
    "BranchInfo",
    "By",
    "Call",
    "Constraint",
    "CtxfoldError",
    "Event",
    "Extract",
    "Extraction",
    "FoldDirective",
    "FoldSettings",
    "Hit",
    "Intent",
    "Item",
    "Message",
    "Move",
    "Opaque",
    "RawStep",
    "Recalled",
    "RecordRef",
    "Redaction",
    "Refactored",
    "Result",
    "Session",
    "SessionInfo",
    "SessionTool",
    "StepRef",
    "Text",
    "Tile",
    "Topic",
    "Trigger",
    "View",
    "Workspace",
    "__version__",
    "delete_session",
    "export_session",
    "import_session",
    "read_messages",
    "sessions",
    "verify_session",
]

_NAMES = {
    "decisions.fold": "FoldDirective FoldSettings",
    "decisions.refactor": "Refactored",
    "decisions.register": "Trigger",
    "errors": "CtxfoldError",
    "log": "RecordRef StepRef",
    "messages": "Call Message Opaque Result Text",
    "messages.apis": "read_messages",
    "session.branches": "BranchInfo Move Topic",
    "session.recall": "Hit Recalled",
    "session.redact": "Redaction",
    "session.session": "Session",
    "session.telling": "Event",
    "session.tools": "SessionTool",
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
