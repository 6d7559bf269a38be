"""Turns any exception into the one line that a host's model reads: what is wrong, and the next call.

Everything that a tool, a resource or a prompt raises passes here, as the SDK passes on only the text of its own `ToolError`. The line is free of page
text; of rejected arguments only the names are said.
"""

from __future__ import annotations

import logging
import re

from pydantic import ValidationError

from ctxfold.errors import (
    BranchError,
    BrowserError,
    BrowserGone,
    BudgetError,
    BusyStore,
    CtxfoldError,
    FoldError,
    FullDisk,
    InputError,
    ModelError,
    PageUnreachable,
    RefError,
    Refused,
    SessionNameError,
    StaleDecision,
    StoreError,
    UndoError,
    UnknownPage,
    UnknownRun,
    UnknownSession,
)

__all__ = ["explain_error", "name_next_call"]

_NEXT: dict[type[CtxfoldError], str] = {
    SessionNameError: "Next: the same call with a name of lower-case letters, digits and hyphens, such as paris-trip.",
    UnknownSession: "Next: open_session with this name; it makes the session.",
    RefError: "Next: context to see which refs there are, or recall with query to search.",
    BudgetError: "Next: the same call with a larger budget, or without one.",
    FoldError: "Next: context to see the steps and blocks, then fold again.",
    BranchError: "Next: context to see where this session stands.",
    UndoError: "Next: context to see what stands.",
    UnknownPage: "Next: page_open with the address to go on from.",
    UnknownRun: "Next: context with that name, if it was a run's, to see what it found; or browse again.",
    StaleDecision: "Another writer moved on. Next: context, then decide again.",
    InputError: "Next: the same call, put right.",
    BusyStore: "Next: the same call again.",
    FullDisk: "Next: ask the user to free space, then make the same call again.",
    StoreError: "Next: ask the user to run `ctxfold doctor`, then make the same call again.",
    ModelError: "Next: the same call with your own text; that needs no other model.",
    Refused: "Next: the same call with something else.",
    BrowserGone: "Next: the same call again, or page_open with the address to go on from.",
    PageUnreachable: "Next: the same call with another address.",
    BrowserError: "Next: ask the user to run `ctxfold doctor`.",
    CtxfoldError: "Next: ask the user to run `ctxfold doctor`.",
}

_INSIDE = "ctxfold failed inside; everything recorded before is kept. Next: context to see what stands, and ask the user to run `ctxfold doctor`."
_MOST = 600
_IN_JSON = {"tuple_type": "Input should be a list", "dict_type": "Input should be an object"}
"""What pydantic names as Python does, in the words of who writes JSON."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")

_log = logging.getLogger(__name__)


def explain_error(error: Exception, where: str) -> str:
    """What a model reads of a failure: one line, what is wrong and the next call."""
    match _unwrap(error):
        case CtxfoldError() as ours:
            return f"{_end_sentence(str(ours))} {name_next_call(type(ours))}"
        case ValidationError() as refused:
            return f"{_end_sentence(f'{where}: {_list_complaints(refused)}')} {name_next_call(InputError)}"
        case unexpected:
            _log.error("%s failed", where, exc_info=unexpected)
            return _INSIDE


def name_next_call(kind: type[CtxfoldError]) -> str:
    """The call that helps after an error of this kind: its own, else that of its nearest parent."""
    return next(_NEXT[parent] for parent in kind.__mro__ if parent in _NEXT)


def _unwrap(error: BaseException) -> BaseException:
    """The failure itself, out of the SDK's wrappers and a task group of one."""
    while not isinstance(error, CtxfoldError | ValidationError):
        match error:
            case BaseExceptionGroup(exceptions=(inner,)):
                error = inner
            case BaseException(__cause__=BaseException() as inner):
                error = inner
            case _:
                break
    return error


def _list_complaints(refused: ValidationError) -> str:
    """Which arguments are wrong and how. pydantic's own text would also repeat their values."""
    found = [
        f"{_name_argument(error['loc'])}: {_IN_JSON.get(error['type'], error['msg'])}"
        for error in refused.errors(include_url=False, include_context=False, include_input=False)
    ]
    return "; ".join(found[:4]) + (f"; and {len(found) - 4} more" if len(found) > 4 else "")


def _name_argument(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) if isinstance(part, int) or _NAME.fullmatch(part) else "?" for part in loc) or "arguments"


def _end_sentence(text: str) -> str:
    text = " ".join(text.split())
    short = text if len(text) <= _MOST else f"{text[:_MOST]}…"
    return short if short.endswith((".", "!", "?", "…")) else f"{short}."
