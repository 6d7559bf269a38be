"""Looks for reasons to extract after recording, and extracts where there is one."""

from __future__ import annotations

from ctxfold.decisions.intent.triggers import Trigger, folded, lost_reference, newest_fold, pressing
from ctxfold.log.refs import place_of
from ctxfold.session.evidence import Sources, end_of
from ctxfold.session.handle import Handle
from ctxfold.session.intent import Wanted, extracted
from ctxfold.store.sqlite import Reading, Writing
from ctxfold.workspace.by import By
from ctxfold.workspace.workspace import Workspace

__all__ = ["extraction_of", "maintained", "room", "triggers"]

_SHARE, _FEW, _MOST = 3, 64, 400
"""An extraction that nobody asked for takes a third of what the cover leaves of the budget, within these bounds in o200k tokens."""


def room(limit: int, taken: int) -> int:
    """o200k tokens that an extraction of a trigger may take of a view's."""
    return min(max((limit - taken) // _SHARE, _FEW), _MOST)


def triggers(tx: Reading, now: Handle, limit: int, *, taken: bool) -> tuple[Trigger, ...]:
    """Why lines of the log should be extracted now; most often for no reason. `taken`: the caller acts on it, so that this handle names no reason twice."""
    state = now.refresh(tx, reach=limit)
    workspace = now.workspace
    upto = max(workspace.intent.looked, now.looked)
    before, log = workspace.intent.extraction, Sources(tx, now.session)
    seen = max(now.pressed, workspace.intent.passed.seen, 0 if before is None else before.seen)
    found = (
        [
            lost_reference(workspace, lambda line: place_of(line.ref) > upto, lambda name: log.holds(name, upto)),
            pressing(workspace, seen),
        ]
        if folded(workspace)
        else []
    )
    due = tuple(trigger for trigger in found if trigger is not None)
    if taken or not due:
        now.looked = end_of(tx, now.session, state.tip)
    if taken:
        now.pressed = max(now.pressed, newest_fold(workspace))
    return due


def maintained(tx: Writing, now: Handle, limit: int) -> tuple[Trigger, ...]:
    """Extract for the triggers of the newest revision. Returns them."""
    due = triggers(tx, now, limit, taken=True)
    wanted = extraction_of(due, now.workspace, limit)
    if wanted is not None:
        extracted(tx, now, wanted, By("embedded", str(wanted.trigger)))
    return due


def extraction_of(due: tuple[Trigger, ...], workspace: Workspace, limit: int) -> Wanted | None:
    """The extraction that triggers call for, of which the first counts; None where there is none, or where all of the path stands."""
    if not due or not folded(workspace):
        return None
    return Wanted(due[0].need or None, None, room(limit, workspace.tokens), due[0])
