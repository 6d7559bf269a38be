"""From a wish to a committed refactoring: evidence is read, an operator routed and decided, its result checked, applied and kept. A fault keeps the history as it was.

It works inside a transaction that the session opens. What is committed is resolved: replaying it decides nothing again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ctxfold.decisions.refactor.apply import refactor
from ctxfold.decisions.refactor.checks import fault
from ctxfold.decisions.refactor.parse import worded
from ctxfold.decisions.refactor.router import decided, features, route
from ctxfold.decisions.refactor.values import OPERATORS, Case, Operator, Refactored, Refactoring, Route
from ctxfold.errors import InputError
from ctxfold.session.handle import Handle
from ctxfold.session.history.refactorings import put_refactoring, put_route
from ctxfold.session.record import Branch
from ctxfold.store.protocol import Reading, Writing
from ctxfold.tokens import count
from ctxfold.view.ladder import show
from ctxfold.workspace.by import By, Decider
from ctxfold.workspace.guidance import shown_guidance
from ctxfold.workspace.workspace import Block, Origin, Workspace

__all__ = ["Asked", "considered", "refactored", "wish_of"]


Asked = Operator | Literal["auto", "none"]
"""An operator, `auto` for what the router says, or `none`: a router of the caller's own saw nothing."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A refactoring as it is asked for.

    Attributes:
        operator: which.
        text: what was written for it, as it was given; None for the embedded rules.
        by: who wrote, or routed, and why.
        budget: o200k tokens of the view it is for; None for the session's own.
    """

    operator: Asked
    text: object
    by: By
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Considered:
    """A wish thought through, nothing kept yet.

    Attributes:
        place: the branch it was decided on.
        case: the evidence.
        made: the refactoring; None where none is to be applied.
        after: the workspace after it.
        result: what there is to say of it.
        routed: whether a router chose.
    """

    place: Branch
    case: Case
    made: Refactoring | None
    after: Workspace
    result: Refactored
    routed: bool


def wish_of(operator: str, text: object, by: By, budget: int | None = None) -> Wish:
    """A wish from what a caller gave.

    Raises:
        InputError: no such operator.
    """
    known: tuple[Asked, ...] = ("auto", "none", *OPERATORS)
    chosen = next((each for each in known if each == operator), None)
    if chosen is None:
        raise InputError(f"{operator!r} is no operator; use auto or one of {', '.join(OPERATORS)}")
    return Wish(chosen, text, by, budget)


def considered(tx: Reading, now: Handle, wish: Wish) -> Considered:
    """What would become of a wish.

    Args:
        tx: an open transaction.
        now: the handle's branch.
        wish: what is asked for.
    """
    place = now.place(tx)
    budget = wish.budget or now.budget(tx)
    named = wish.operator not in ("auto", "none")
    case = now.trail.case(tx, place.session, place.workspace, budget, named)
    chosen = _routed(case, wish)
    routed = not named
    if chosen.operator is None:
        return _left(place, case, Refactored("none", False, chosen.reason, chosen.decider), routed)
    made = _made(case, chosen.operator, wish)
    if isinstance(made, str):
        by: Decider = "embedded" if wish.text is None else wish.by.decider
        return _left(place, case, Refactored(chosen.operator, False, made, by), routed)
    after = refactor(place.workspace, made)
    before, behind = _shown(place.workspace, after, made)
    tokens = (_tokens(place.workspace), _tokens(after))
    result = Refactored(made.operator, True, made.reason, made.decider, made.steps, before, behind, tokens)
    return Considered(place, case, made, after, result, routed)


def refactored(tx: Writing, now: Handle, wish: Wish) -> Refactored:
    """Refactor, or log why not.

    Args:
        tx: an open write transaction.
        now: the handle's branch.
        wish: what is asked for.
    """
    done = considered(tx, now, wish)
    result, place = done.result, done.place
    learnt = {
        "operator": result.operator,
        "routed": done.routed,
        "verdict": "applied" if result.applied else "left" if result.operator == "none" else "refused",
        "features": features(done.case),
        "tokens": list(result.tokens),
    }
    if done.made is None:
        cause = result.reason if result.operator == "none" else f"{result.operator} refused: {result.reason}"
        now.became(put_route(tx, place, result.decider, cause, learnt), place.workspace, 0)
        return result
    state = put_refactoring(tx, place, done.made, done.after.guidance, learnt)
    now.became(state, done.after, place.workspace.tokens - done.after.tokens)
    return result


def _routed(case: Case, wish: Wish) -> Route:
    match wish.operator:
        case "auto":
            return route(case)
        case "none":
            return Route(None, wish.by.reason, wish.by.decider)
        case operator:
            return Route(operator, wish.by.reason, wish.by.decider)


def _made(case: Case, operator: Operator, wish: Wish) -> Refactoring | str:
    """What an operator makes of it, checked; or why it may not stand."""
    text, origin = None, "embedded"
    if wish.text is not None:
        words = worded(wish.text)
        if words.fault:
            return words.fault
        text, origin = words.text, "model" if wish.by.decider == "model" else "host"
    made = decided(operator, case, text, _origin(origin))
    if not isinstance(made, Refactoring):
        return made.reason
    made = replace(made, decider="embedded" if text is None else wish.by.decider)
    return fault(case, made) or made


def _origin(name: str) -> Origin:
    match name:
        case "model" | "host":
            return name
        case _:
            return "embedded"


def _left(place: Branch, case: Case, result: Refactored, routed: bool) -> Considered:
    tokens = _tokens(place.workspace)
    return Considered(place, case, None, place.workspace, replace(result, tokens=(tokens, tokens)), routed)


def _tokens(workspace: Workspace) -> int:
    """o200k tokens of the cover and of what refactorings left beside it."""
    said = shown_guidance(workspace.guidance.at(workspace.path_length), _texts(workspace), 0)
    return workspace.tokens + (count(said) if said else 0)


def _texts(workspace: Workspace) -> list[str]:
    return [show(block).text for block in workspace.blocks]


def _shown(before: Workspace, after: Workspace, made: Refactoring) -> tuple[str, str]:
    """What stands in the view for what a refactoring changes, before and after."""
    inside = set(made.steps)

    def said(workspace: Workspace) -> str:
        blocks: list[Block] = [block for block in workspace.blocks if not inside.isdisjoint(block.steps)]
        notes = (
            ""
            if before.guidance == after.guidance
            else shown_guidance(workspace.guidance.at(workspace.path_length), _texts(workspace), 0)
        )
        return "\n".join(part for part in (*(show(block).text for block in blocks), notes) if part)

    return said(before), said(after)
