"""Version control for an agent's context: a lossless log below, a lean view above, under a hard token budget.

Public names are imported when they are first used, so that `ctxfold --help` starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxfold.config import FoldSettings as FoldSettings
    from ctxfold.decisions.extraction import Material as Material
    from ctxfold.decisions.fold import FoldDirective as FoldDirective
    from ctxfold.decisions.memory import MemoryDue as MemoryDue
    from ctxfold.decisions.refactor import Refactored as Refactored
    from ctxfold.decisions.reply import Parsed as Parsed
    from ctxfold.decisions.reply import parse as parse
    from ctxfold.errors import CtxfoldError as CtxfoldError
    from ctxfold.log import RecordRef as RecordRef
    from ctxfold.log import StepRef as StepRef
    from ctxfold.messages import Call as Call
    from ctxfold.messages import Message as Message
    from ctxfold.messages import Opaque as Opaque
    from ctxfold.messages import Result as Result
    from ctxfold.messages import Text as Text
    from ctxfold.messages.apis import read_messages as read_messages
    from ctxfold.session.branches import BranchInfo as BranchInfo
    from ctxfold.session.branches import Move as Move
    from ctxfold.session.branches import Topic as Topic
    from ctxfold.session.recall import Hit as Hit
    from ctxfold.session.recall import Recalled as Recalled
    from ctxfold.session.redact import Redaction as Redaction
    from ctxfold.session.session import Session as Session
    from ctxfold.session.telling import Event as Event
    from ctxfold.session.tools import SessionTool as SessionTool
    from ctxfold.session.transfer import SessionInfo as SessionInfo
    from ctxfold.session.transfer import delete_session as delete_session
    from ctxfold.session.transfer import export_session as export_session
    from ctxfold.session.transfer import import_session as import_session
    from ctxfold.session.transfer import recall_all as recall_all
    from ctxfold.session.transfer import sessions as sessions
    from ctxfold.session.transfer import verify_session as verify_session
    from ctxfold.view.render import View as View
    from ctxfold.workspace import By as By
    from ctxfold.workspace import Constraint as Constraint
    from ctxfold.workspace import Extract as Extract
    from ctxfold.workspace import Extraction as Extraction
    from ctxfold.workspace import Intent as Intent
    from ctxfold.workspace import Item as Item
    from ctxfold.workspace import RawStep as RawStep
    from ctxfold.workspace import Tile as Tile
    from ctxfold.workspace import Workspace as Workspace

__version__ = "0.1.0"

_NAMES = {
    "config": "FoldSettings",
    "decisions.extraction": "Material",
    "decisions.fold": "FoldDirective",
    "decisions.memory": "MemoryDue",
    "decisions.refactor": "Refactored",
    "decisions.reply": "Parsed parse",
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
    "session.transfer": "SessionInfo delete_session export_session import_session recall_all sessions verify_session",
    "view.render": "View",
    "workspace": "By Constraint Extract Extraction Intent Item RawStep Tile Workspace",
}
"""The modules that hold public names, and the names in each."""
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
__all__ = sorted(("__version__", *_HOMES))  # noqa: PLE0605 - one table names them


def __getattr__(name: str) -> object:
    """Import a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
