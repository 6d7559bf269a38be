"""The one door out: whatever went wrong, as one line that names the next call. It handles nothing and retries nothing.

The SDK passes a model only the text of its own `ToolError`; any other exception becomes a bare "Error executing tool". Everything that a tool,
a resource or a prompt raises therefore passes here. What a page or a tool said never does: the text is our errors' own, which hold none of it,
and of rejected arguments only the names.
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

__all__ = ["next_call", "told"]

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


def told(error: Exception, where: str) -> str:
    """What a model reads of a failure: one line, what is wrong and the next call.

    Args:
        error: what was raised, possibly wrapped by the SDK.
        where: the tool, resource or prompt it was raised in, by its own name.
    """
    match _root(error):
        case CtxfoldError() as ours:
            return f"{_sentence(str(ours))} {next_call(type(ours))}"
        case ValidationError() as refused:
            return f"{_sentence(f'{where}: {_complaints(refused)}')} {next_call(InputError)}"
        case unexpected:
            _log.error("%s failed", where, exc_info=unexpected)
            return _INSIDE


def next_call(kind: type[CtxfoldError]) -> str:
    """The call that helps after an error of this kind: its own, else that of its nearest parent."""
    return next(_NEXT[parent] for parent in kind.__mro__ if parent in _NEXT)


def _root(error: BaseException) -> BaseException:
    """The failure itself, out of the SDK's wrappers and a task group of one."""
    while not isinstance(error, CtxfoldError | ValidationError):
        inner = (
            error.exceptions[0]
            if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1
            else error.__cause__
        )
        if inner is None:
            break
        error = inner
    return error


def _complaints(refused: ValidationError) -> str:
    """Which arguments are wrong and how. pydantic's own text would also repeat their values."""
    found = [
        f"{_path(error['loc'])}: {_IN_JSON.get(error['type'], error['msg'])}"
        for error in refused.errors(include_url=False, include_context=False, include_input=False)
    ]
    return "; ".join(found[:4]) + (f"; and {len(found) - 4} more" if len(found) > 4 else "")


def _path(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) if isinstance(part, int) or _NAME.fullmatch(part) else "?" for part in loc) or "arguments"


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    short = text if len(text) <= _MOST else f"{text[:_MOST]}…"
    return short if short.endswith((".", "!", "?", "…")) else f"{short}."
