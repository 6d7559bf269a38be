"""A step with a page, as it is written into a session: what is about to be done, then what came of it. It decides nothing and knows no run.

Everything here is sync and works on a handle that its caller holds; what is written holds no value of a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from browser_agent.actions import Outcome
from browser_agent.actions.union import Answer, GiveUp, PageAction
from browser_agent.observation import Observation
from ctxfold import Session

__all__ = ["LOOK", "begin_step", "end_step", "refuse_step"]

LOOK = "look"
"""The call whose result is the page as it stands after a step."""

Scrub = Callable[[str], str]

_HEADER = re.compile(r"^## s\d+\.(\d+) (\w+)", re.MULTILINE)


def begin_step(session: Session, thought: str, actions: Sequence[PageAction | Answer | GiveUp], scrub: Scrub) -> int:
    """Write a step without its results, before it is done: should we die now, the log says what was tried.

    Args:
        session: where.
        thought: why.
        actions: what is about to be done, in order; none for a mere look.
        scrub: takes the values of secrets out of a text.

    Returns:
        The step. Its calls are `c1`, `c2` … and the look after them.
    """
    calls: list[dict[str, object]] = [
        {
            "name": action.kind,
            "args": _scrubbed(action.model_dump(mode="json", exclude={"kind"}, exclude_none=True), scrub),
            "id": f"c{at}",
        }
        for at, action in enumerate(actions, 1)
    ]
    calls.append({"name": LOOK, "args": {}, "id": LOOK})
    return session.record_step(scrub(thought), calls=calls).step


def end_step(session: Session, step: int, asked: int, outcome: Outcome) -> str:
    """Write what came of a step: a line for each action, then the page in full.

    Args:
        session: where.
        step: the step.
        asked: how many actions it was to do.
        outcome: what came of them.

    Returns:
        The ref of the page's snapshot; empty where there was no page to look at.
    """
    observation = outcome.observation
    for at in range(1, asked + 1):
        if at == len(outcome.results) and observation is not None and observation.extracted is not None:
            found = json.dumps(observation.extracted.value, ensure_ascii=False)
            session.record_result(step, f"c{at}", found, origin="page", shown=f"extracted; now at {observation.url}")
            continue
        done = outcome.results[at - 1].message if at <= len(outcome.results) else "left undone"
        here = f"; now at {observation.url}" if observation is not None and at == len(outcome.results) else ""
        session.record_result(step, f"c{at}", done + here)
    if observation is None:
        session.record_result(step, LOOK, "there is no page to look at")
        return ""
    return _looked(session, step, observation)


def refuse_step(session: Session, step: int, asked: int, reason: str) -> None:
    """Write that a step was not done: each of its calls is answered with the reason.

    Args:
        session: where.
        step: the step.
        asked: how many actions it was to do.
        reason: why not, in words of ours.
    """
    for at in range(1, asked + 1):
        session.record_result(step, f"c{at}", reason)
    session.record_result(step, LOOK, "the page was left as it is")


def _looked(session: Session, step: int, observation: Observation) -> str:
    session.record_result(step, LOOK, observation.full, origin="page", shown=observation.text)
    whole = session.recall(f"s{step}").text
    before = whole[: len(whole) - len(observation.full)]
    headers = _HEADER.findall(before)
    return f"s{step}.{headers[-1][0]}" if headers else f"s{step}"


def _scrubbed(value: object, scrub: Scrub) -> object:
    """A call's arguments without the value of a secret."""
    match value:
        case str():
            return scrub(value)
        case dict():
            return {name: _scrubbed(part, scrub) for name, part in value.items()}
        case list():
            return [_scrubbed(part, scrub) for part in value]
        case _:
            return value
