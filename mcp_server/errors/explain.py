"""Explains an exception in one line: what is wrong, and the next call.

Everything that a tool, a resource or a prompt raises passes here, as the SDK passes on only the text of its own `ToolError`. The line is free of page
text; of rejected arguments only the names are said.
"""

from __future__ import annotations

import logging

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
from mcp_server.errors.arguments import Form

__all__ = ["explain_error", "name_next_call"]

_PUT_RIGHT = "Next: the same call, put right."

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
    InputError: _PUT_RIGHT,
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

_log = logging.getLogger(__name__)


def explain_error(error: Exception, where: str, form: Form | None = None) -> str:
    """What a model reads of a failure of `where`: one line, what is wrong and the next call. `form`: what that takes; None where nobody knows."""
    match _unwrap(error):
        case CtxfoldError() as ours:
            following = name_next_call(type(ours))
            return f"{_end_sentence(str(ours))} {following if following != _PUT_RIGHT else _ask_again(form)}"
        case ValidationError() as refused:
            wrong = form.list_complaints(refused) if form else "its arguments are not as it takes them"
            return f"{_end_sentence(f'{where}: {wrong}')} {_ask_again(form, refused)}"
        case unexpected:
            _log.error("%s failed", where, exc_info=unexpected)
            return _INSIDE


def _ask_again(form: Form | None, refused: ValidationError | None = None) -> str:
    """The same call, with an example of one that passes."""
    example = form.write_example(refused) if form else ""
    return f"{_PUT_RIGHT.removesuffix('.')}, such as: {example}" if example else _PUT_RIGHT


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


def _end_sentence(text: str) -> str:
    text = " ".join(text.split())
    short = text if len(text) <= _MOST else f"{text[:_MOST]}…"
    return short if short.endswith((".", "!", "?", "…")) else f"{short}."
