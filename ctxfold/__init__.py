"""Version control for an agent's context: a lossless log below, a lean view above, under a hard token budget.

`Session` is the door. It knows no browser, no MCP and no command line; those stand on it. A public name is imported when it is
first used: `ctxfold --help` and the modules beside this one do not wait for what they have no use for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxfold.archive import SessionInfo, delete_session, export_session, sessions, verify_session
    from ctxfold.errors import CtxfoldError
    from ctxfold.events import Event
    from ctxfold.finding import Hit
    from ctxfold.folding import FoldDirective
    from ctxfold.forest import BranchInfo, Move, Topic
    from ctxfold.importing import import_session
    from ctxfold.intent import Extraction, Intent
    from ctxfold.recalling import Recalled
    from ctxfold.redaction import Redaction
    from ctxfold.refactoring import Refactored
    from ctxfold.render import View
    from ctxfold.router_pairs import export_router_pairs
    from ctxfold.session import Session
    from ctxfold.workspace import Tile

__version__ = "0.1.0"

__all__ = [
    "BranchInfo",
    "CtxfoldError",
    "Event",
    "Extraction",
    "FoldDirective",
    "Hit",
    "Intent",
    "Move",
    "Recalled",
    "Redaction",
    "Refactored",
    "Session",
    "SessionInfo",
    "Tile",
    "Topic",
    "View",
    "__version__",
    "delete_session",
    "export_router_pairs",
    "export_session",
    "import_session",
    "sessions",
    "verify_session",
]

_HOMES = {
    "BranchInfo": "forest",
    "CtxfoldError": "errors",
    "Event": "events",
    "Extraction": "intent",
    "FoldDirective": "folding",
    "Hit": "finding",
    "Intent": "intent",
    "Move": "forest",
    "Recalled": "recalling",
    "Redaction": "redaction",
    "Refactored": "refactoring",
    "Session": "session",
    "SessionInfo": "archive",
    "Tile": "workspace",
    "Topic": "forest",
    "View": "render",
    "delete_session": "archive",
    "export_router_pairs": "router_pairs",
    "export_session": "archive",
    "import_session": "importing",
    "sessions": "archive",
    "verify_session": "archive",
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
