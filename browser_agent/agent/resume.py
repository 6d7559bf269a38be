"""Finds where a run that was cut off stood, and leads the refs its decider was shown to the page as it was opened again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from browser_agent.actions import FillForm, PageAction
from browser_agent.agent.steps import AT
from browser_agent.deciders.decision import Decision
from browser_agent.deciders.sources import address
from ctxfold import Session
from ctxfold.errors import RefError
from ctxfold.session.recall import Recalled

__all__ = ["CutOff", "Logged", "cut_off", "match_refs", "pages_seen", "rename_refs"]

_REF = re.compile(r"\[ref=([^\]\s]+)\]")
_GONE = "e0"
"""A ref that no page has."""


@dataclass(frozen=True, slots=True)
class CutOff:
    """Where a session's last run stood when it was last written.

    Attributes:
        address: the page's address; None where none was opened.
        steps: steps taken since the user's last words.
        full: the page's whole snapshot after the last step; empty where that step did not come to its end.
        ref: where that is in the log.
    """

    address: str | None = None
    steps: int = 0
    full: str = ""
    ref: str = ""


def cut_off(session: Session) -> CutOff:
    """Where the last run stood, by what the log says of its steps."""
    tip = session.tip
    address: str | None = None
    last: tuple[Recalled, ...] = ()
    steps = 0
    asked = False
    for step in range(tip, 0, -1):
        records = _records(session, step)
        last = last or records
        kinds = [record.kind for record in records]
        steps += not asked and "call" in kinds
        asked |= "user" in kinds
        address = address or _address(records)
        if asked and address is not None:
            break
    results = [record for record in last if record.kind == "result"]
    whole = bool(results) and len(results) == sum(record.kind == "call" for record in last)
    page = results[-1] if whole and results[-1].origin == "page" else None
    return CutOff(address, steps, page.text if page is not None else "", page.ref if page is not None else "")


@dataclass(frozen=True, slots=True)
class Logged:
    """A page as the log has it: its address, its whole snapshot, and that snapshot's ref."""

    url: str
    full: str
    ref: str


def pages_seen(session: Session, most: int) -> tuple[Logged, ...]:
    """The pages that a session's runs have seen, each as it last stood there: the newest `most`, oldest first."""
    found: dict[str, Logged] = {}
    for step in range(session.tip, 0, -1):
        records = _records(session, step)
        results = [record for record in records if record.kind == "result"]
        where = _address(records)
        page = results[-1] if results and results[-1].origin == "page" else None
        if where is not None and page is not None:
            found.setdefault(address(where), Logged(where, page.text, page.ref))
        if len(found) == most:
            break
    return tuple(reversed(found.values()))


def match_refs(shown: str, now: str) -> Mapping[str, str] | None:
    """For each ref of a page's snapshot the one that stands at its place now; None where it is no longer the same page."""
    if _REF.sub("", shown) != _REF.sub("", now):
        return None
    return dict(zip(_REF.findall(shown), _REF.findall(now), strict=False))  # as many: the texts between are the same


def rename_refs(decision: Decision, renamed: Mapping[str, str]) -> Decision:
    """A decision with its refs as the page has them now: those alone, and no word that only looks like one."""
    if not renamed:
        return decision
    actions = tuple(_renamed(action, renamed) for action in decision.page_actions)
    return decision.model_copy(update={"actions": actions}) if actions else decision


def _renamed(action: PageAction, renamed: Mapping[str, str]) -> PageAction:
    named = {name: getattr(action, name, None) for name in ("ref", "to")}
    changes: dict[str, object] = {name: renamed.get(ref, _GONE) for name, ref in named.items() if isinstance(ref, str)}
    if isinstance(action, FillForm):
        fields = tuple(one.model_copy(update={"ref": renamed.get(one.ref, _GONE)}) for one in action.fields)
        changes["fields"] = fields
    return action.model_copy(update=changes)


def _records(session: Session, step: int) -> tuple[Recalled, ...]:
    """The records of a step, in order."""
    found: list[Recalled] = []
    with suppress(RefError):  # the first number that names no record ends the step
        while True:
            found.append(session.recall(f"s{step}.{len(found) + 1}"))
    return tuple(found)


def _address(records: tuple[Recalled, ...]) -> str | None:
    """The page's address after the last action of a step; None where its results name none. What a page said is not read."""
    for record in reversed(records):
        if record.kind == "result" and record.origin == "tool":
            with suppress(ValueError):
                result = json.loads(record.text)
                if isinstance(result, dict) and result.keys() == {"done", AT}:
                    return str(result[AT])
    return None
