"""What a driver has done after it records: the triggers are looked for, and where there is one the embedded deciders plan and extract. It folds nothing.

Looking reads what is new since this handle last looked, in a read transaction; most steps end there.
"""

from __future__ import annotations

from ctxfold.decisions.intent.plan import Heard, planned
from ctxfold.decisions.intent.triggers import Trigger, changing, folded, leaning, newest_fold, pressing
from ctxfold.log.lines import Line
from ctxfold.session.evidence import Place, Sources, since
from ctxfold.session.handle import Handle
from ctxfold.session.intent import Wanted, extracted, plan
from ctxfold.store.protocol import Reading, Writing
from ctxfold.workspace.by import By
from ctxfold.workspace.workspace import Workspace

__all__ = ["maintained", "room", "triggers"]

_SHARE, _FEW, _MOST = 3, 64, 400
"""An extraction that nobody asked for takes a third of what the cover leaves of the budget, within these bounds in o200k tokens."""


def room(limit: int, taken: int) -> int:
    """o200k tokens that an extraction of a trigger may take of a view's.

    Args:
        limit: of the view.
        taken: by the settled cover.
    """
    return min(max((limit - taken) // _SHARE, _FEW), _MOST)


def triggers(tx: Reading, now: Handle, limit: int, *, taken: bool) -> tuple[Trigger, ...]:
    """Why the intent should be looked at now; most often for no reason.

    Args:
        tx: an open transaction.
        now: the handle's branch.
        limit: o200k tokens of the view it is for.
        taken: whether the caller will see to it, so that this handle names no reason twice.

    Returns:
        The reasons, a change of intent first.
    """
    state = now.refresh(tx, reach=limit)
    workspace = now.workspace
    upto = max(workspace.intent.looked, now.looked)
    events, read = since(tx, now.session, state.tip, upto)
    found = [changing(workspace.intent, planned(workspace.intent, events, 1))]
    heard = [event.text for event in events if isinstance(event, Heard)]
    if folded(workspace):
        held = Sources(tx, now.session)
        found.append(leaning(workspace, heard, lambda line: _place(line) > upto, lambda name: held.holds(name, upto)))
        found.append(_pressed(workspace, max(now.pressed, workspace.intent.passed.seen)))
    due = tuple(trigger for trigger in found if trigger is not None)
    if taken or not due:
        now.looked = read
        if taken:
            now.pressed = max(now.pressed, newest_fold(workspace))
    return due


def maintained(tx: Writing, now: Handle, limit: int) -> tuple[Trigger, ...]:
    """See to the triggers of the newest revision: plan on a change of intent, extract where something is folded away.

    Args:
        tx: an open write transaction.
        now: the handle's branch.
        limit: o200k tokens of the view it is for.

    Returns:
        What was seen to; each is the cause of its event.
    """
    due = triggers(tx, now, limit, taken=True)
    for trigger in due:
        if trigger.cause == "intent change":
            plan(tx, now, None, None, By("embedded", str(trigger)), trigger)
    wanted = extraction_of(due, now.workspace, limit)
    if wanted is not None:
        extracted(tx, now, wanted, By("embedded", str(wanted.trigger)))
    return due


def extraction_of(due: tuple[Trigger, ...], workspace: Workspace, limit: int) -> Wanted | None:
    """What triggers call for an extraction of: words that lean on the log before a change of intent, that before pressure; nothing where all stands."""
    if not due or not folded(workspace):
        return None
    order = ("unresolved reference", "intent change", "budget pressure")
    first = min(due, key=lambda trigger: order.index(trigger.cause) if trigger.cause in order else len(order))
    return Wanted(first.need or None, None, room(limit, workspace.tokens), first)


def _pressed(workspace: Workspace, pressed: int) -> Trigger | None:
    before = workspace.intent.extraction
    return pressing(workspace, max(pressed, 0 if before is None else before.seen))


def _place(line: Line) -> Place:
    """Where a line's record stands; at the beginning for a line of a tile's own, which is never new."""
    if not line.ref.startswith("s"):
        return (0, 0)
    step, _, record = line.ref.removeprefix("s").partition(":")[0].partition(".")
    return (int(step.partition("-")[0]), int(record or 0))
