"""Records each browser step in a session: its calls before they are done, their results after, with secrets masked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from browser_agent.actions import Outcome
from browser_agent.actions.union import Answer, FillForm, GiveUp, PageAction
from browser_agent.observation import Observation
from ctxfold import Session
from ctxfold.errors import InputError

__all__ = ["AT", "LOOK", "begin_step", "end_step", "forget_typed", "refuse_step", "scrub_action", "scrub_values"]

LOOK = "look"
"""The call whose result is the page as it stands after a step."""

KEEP = "keep"
"""The call that stands for a decision's fold, to-do and recalled lines where any of them was refused; its result says why."""

AT = "now_at"
"""The field of an action's result that holds the page's address after it."""

_LEAST_FORGOTTEN = 6
"""Characters from which a password is also taken out of what was written before: a shorter one would take ordinary text with it."""

Scrub = Callable[[str], str]

_NO_TEXT = ("kind", "ref", "to", "op", "direction", "event")
"""The fields of an action that hold no free text: a password may well be the word `click`."""


def begin_step(
    session: Session,
    thought: str,
    actions: Sequence[PageAction | Answer | GiveUp],
    scrub: Scrub,
    refused: str = "",
    found: str = "",
    need: str = "",
) -> int:
    """Record a step without its results, before it is done: should the process die now, the log says what was tried.

    Args:
        session: where.
        thought: why.
        actions: what is to be done.
        scrub: masks secrets.
        refused: what of the decision beside its actions was refused, and why; empty where nothing was.
        found: what was found on pages before it, which every view then holds.
        need: what is looked for on the page after it.
    """
    calls: list[dict[str, object]] = [
        {
            "name": action.kind,
            "args": scrub_values(action.model_dump(mode="json", exclude={"kind"}, exclude_defaults=True), scrub),
            "id": f"c{at}",
        }
        for at, action in enumerate(actions, 1)
    ]
    calls.append({"name": LOOK, "args": {"need": scrub(need)} if need else {}, "id": LOOK})
    if not refused:
        return session.record_step(scrub(thought), calls=calls, found=scrub(found)).step
    calls.append({"name": KEEP, "args": {}, "id": KEEP})
    kept = [{"id": KEEP, "text": scrub(refused)}]
    return session.record_step(scrub(thought), calls=calls, results=kept, found=scrub(found)).step


def end_step(session: Session, step: int, asked: int, outcome: Outcome, undone: str = "left undone") -> tuple[str, str]:
    """Record what came of a step: a result for each action, then the page in full.

    Args:
        session: where.
        step: which step.
        asked: how many actions it holds.
        outcome: what came of those that were tried.
        undone: what is said of the others.

    Returns:
        The ref of the page's snapshot, empty where there was no page to look at; and that of the values last taken off pages, empty for none.
    """
    values = ""
    observation = outcome.observation
    for at in range(1, asked + 1):
        seen = outcome.results[at - 1].seen if at <= len(outcome.results) else None
        if at == len(outcome.results) and observation is not None and observation.extracted is not None:
            seen = observation
        if seen is not None:
            ref = _record_seen(session, step, f"c{at}", seen)
            values = ref if seen.extracted is not None else values
            continue
        done = outcome.results[at - 1].message if at <= len(outcome.results) else undone
        if at == len(outcome.results) and observation is not None:
            arrived = json.dumps({"done": done, AT: observation.url}, ensure_ascii=False)
            session.record_result(step, f"c{at}", arrived, shown=done)
        else:
            session.record_result(step, f"c{at}", done)
    if observation is None:
        session.record_result(step, LOOK, "there is no page to look at")
        return "", values
    taken = observation.extracted is not None and observation.extracted.value is not None
    shown = (observation.heading or observation.url) if taken else observation.text
    return str(session.record_result(step, LOOK, observation.full, origin="page", shown=shown)), values


def _record_seen(session: Session, step: int, call: str, seen: Observation) -> str:
    """Record what an action that reads showed: the values it took off pages, all of them with their address, or the page in full."""
    if seen.extracted is None:
        return str(session.record_result(step, call, seen.full, origin="page", shown=seen.text))
    found = {AT: seen.url, "extracted": seen.extracted.value}
    lacking = {"missing": seen.extracted.missing} if seen.extracted.missing else {}
    return str(session.record_result(step, call, json.dumps(found | lacking, ensure_ascii=False), origin="page"))


def forget_typed(session: Session, values: Sequence[str]) -> None:
    """Take passwords that were just typed out of what the session held before, such as the words of a task that named them."""
    for value in values:
        if len(value) >= _LEAST_FORGOTTEN:
            with suppress(InputError):  # it stands nowhere
                session.redact(re.escape(value), names=False)


def refuse_step(session: Session, step: int, asked: int, reason: str) -> None:
    """Record that a step was not done: each of its calls is answered with the reason."""
    for at in range(1, asked + 1):
        session.record_result(step, f"c{at}", reason)
    session.record_result(step, LOOK, "the page was left as it is")


def scrub_action(action: PageAction, scrub: Scrub) -> PageAction:
    """Scrub each free text of an action, such as one that turned out to be a password only as it was typed."""
    if isinstance(action, FillForm):
        fields = tuple(field.model_copy(update={"value": scrub(field.value)}) for field in action.fields)
        return action.model_copy(update={"fields": fields})
    texts = {name: scrub_values(part, scrub) for name, part in action if name not in _NO_TEXT}
    return action.model_copy(update=texts)


def scrub_values(value: object, scrub: Scrub) -> object:
    """Scrub each text in a value of JSON, such as a call's arguments."""
    match value:
        case str():
            return scrub(value)
        case dict():
            return {name: scrub_values(part, scrub) for name, part in value.items()}
        case list():
            return [scrub_values(part, scrub) for part in value]
        case tuple():
            return tuple(scrub_values(part, scrub) for part in value)
        case _:
            return value
