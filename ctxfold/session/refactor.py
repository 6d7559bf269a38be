"""Makes, checks and commits a refactoring, within the session's write transaction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ctxfold.decisions.refactor.apply import refactor
from ctxfold.decisions.refactor.checks import fault
from ctxfold.decisions.refactor.embedded import embedded, route
from ctxfold.decisions.refactor.values import OPERATORS, Case, Operator, Refactored, Refactoring, Refusal
from ctxfold.decisions.refactor.written import plain_text, written
from ctxfold.errors import InputError
from ctxfold.session.handle import Handle
from ctxfold.session.history.refactorings import put_refactoring, put_refusal
from ctxfold.session.record import Branch
from ctxfold.store.sqlite import Reading, Writing
from ctxfold.tokens import count
from ctxfold.view.show import show
from ctxfold.workspace.by import By, Decider
from ctxfold.workspace.guidance import shown_guidance
from ctxfold.workspace.workspace import Workspace

__all__ = ["Wish", "considered", "refactored", "wish_of"]

_HEALTHY = "nothing repeats, and the view stands below its high-water mark"


@dataclass(frozen=True, slots=True)
class Wish:
    """A refactoring as it is asked for. `operator`: which; `auto` for what the router says; `text`: what was written for it, as it was given; None for the embedded rules."""

    operator: Operator | Literal["auto"]
    text: object
    by: By
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Considered:
    """A wish thought through, nothing kept yet. `made`: the refactoring; None where none is to be applied; `after`: the workspace after it."""

    place: Branch
    made: Refactoring | None
    after: Workspace
    result: Refactored


def wish_of(operator: str, text: object, by: By, budget: int | None = None) -> Wish:
    """A wish from what a caller gave. Raises InputError: no such operator, or a text for `auto`."""
    known: tuple[Operator | Literal["auto"], ...] = ("auto", *OPERATORS)
    chosen = next((each for each in known if each == operator), None)
    if chosen is None:
        raise InputError(f"{operator!r} is no operator; use auto or one of {', '.join(OPERATORS)}")
    if chosen == "auto" and text is not None:
        raise InputError(f"a text needs an operator; name one of {', '.join(OPERATORS)}")
    return Wish(chosen, text, by, budget)


def considered(tx: Reading, now: Handle, wish: Wish) -> Considered:
    """What would become of a wish."""
    place = now.place(tx)
    budget, named = wish.budget or now.budget(tx), wish.operator != "auto"
    case = now.trail.case(tx, place.session, place.workspace, budget, now.settings, named)
    made = _made(case, wish)
    if isinstance(made, Refactoring):
        after = refactor(place.workspace, made)
        tokens = (_tokens(place.workspace), _tokens(after))
        before, behind = _shown(place.workspace, after, made)
        result = Refactored(made.operator, True, made.reason, made.decider, made.steps, before, behind, tokens)
        return Considered(place, made, after, result)
    tokens = (_tokens(place.workspace), _tokens(place.workspace))
    operator = "none" if wish.operator == "auto" else wish.operator
    result = Refactored(operator, False, made.reason, _decider(wish), tokens=tokens, values=made.values)
    return Considered(place, None, place.workspace, result)


def refactored(tx: Writing, now: Handle, wish: Wish) -> Refactored:
    """Refactor; where an operator was named and is refused, log why not. A history that the router leaves alone leaves no event."""
    done = considered(tx, now, wish)
    result, place = done.result, done.place
    if done.made is not None:
        state = put_refactoring(tx, place, done.made, done.after.guidance, wish.by.reason)
        now.became(state, done.after, place.workspace.tokens - done.after.tokens)
    elif wish.operator != "auto":
        cause = "; ".join(filter(None, (f"{result.operator} refused: {result.reason}", wish.by.reason)))
        now.became(put_refusal(tx, place, result.decider, cause), place.workspace, 0)
    return result


def _decider(wish: Wish) -> Decider:
    return "embedded" if wish.text is None else wish.by.decider


def _made(case: Case, wish: Wish) -> Refactoring | Refusal:
    """What is to be applied, checked; or why nothing may be."""
    if wish.operator == "auto":
        return route(case) or Refusal(_HEALTHY)
    if wish.text is None:
        made = embedded(wish.operator, case)
    else:
        try:
            text = plain_text(wish.text)
        except InputError as error:
            return Refusal(str(error))
        made = written(wish.operator, case, text, "model" if wish.by.decider == "model" else "host")
    if isinstance(made, Refusal):
        return made
    made = replace(made, decider=_decider(wish))
    return fault(case, made) or made


def _tokens(workspace: Workspace) -> int:
    """o200k tokens of the cover and of what refactorings left beside it."""
    said = _notes(workspace)
    return workspace.tokens + (count(said) if said else 0)


def _notes(workspace: Workspace) -> str:
    texts = [show(block).text for block in workspace.blocks]
    return shown_guidance(workspace.guidance.at(workspace.path_length), texts, 0)


def _shown(before: Workspace, after: Workspace, made: Refactoring) -> tuple[str, str]:
    """What stands in the view for what a refactoring changes, before and after."""
    inside = set(made.steps)
    same = before.guidance == after.guidance

    def shown(workspace: Workspace) -> str:
        blocks = [show(block).text for block in workspace.blocks if not inside.isdisjoint(block.steps)]
        return "\n".join(part for part in (*blocks, "" if same else _notes(workspace)) if part)

    return shown(before), shown(after)
