"""The frozen values that say what came of actions; their messages are free of page text."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from browser_agent.actions.union import PageAction
from browser_agent.observation.heading import without_repeats
from browser_agent.observation.values import Control, Observation

__all__ = ["ActionResult", "Outcome", "OutcomeKind"]


OutcomeKind = Literal[
    "done",  # everything asked was done
    "page_changed",  # stopped early: an action replaced the page, so the refs of the rest were void
    "unknown_ref",  # a ref that is not in the last observation
    "stale_ref",  # its element has left the page since the last observation
    "not_possible",  # the element is there but cannot take this action (disabled, covered, not a field, no option)
    "timed_out",  # the page answered, but not in time
    "unreachable",  # the address could not be opened
    "http_error",  # the server answered with an error page, which is shown
    "refused",  # a safety rule stopped it
    "dialog_open",  # a dialog must be answered first
    "nothing_to_do",  # no history, no dialog, no such tab, no download came
    "page_recovered",  # the page hung or crashed; a new one stands in its place
    "browser_gone",  # the browser died and could not be brought back
]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ActionResult(_Value):
    """One action and what came of it.

    Attributes:
        seen: what one that reads showed, where others followed it.
        late: what the page was kept from sending after the action before.
        note: what its caller would not expect of one that was done.
        named: the elements that it called by their names; `action` has their refs.
    """

    action: PageAction
    kind: OutcomeKind
    message: str
    seen: Observation | None = None
    late: str = ""
    note: str = ""
    named: tuple[Control, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return self.kind == "done"


class Outcome(_Value):
    """What came of one decision's actions.

    Attributes:
        results: one for each action that was tried, in order.
        observation: the page afterwards, behind an open dialog that alone; None where there is no page to look at.
        skipped: how many actions were left undone.
        downloads: paths of the files that arrived.
    """

    kind: OutcomeKind
    message: str
    observation: Observation | None
    results: tuple[ActionResult, ...]
    skipped: int = 0
    downloads: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """What was seen, in order, the page afterwards last; title and address of a page once."""
        seen = [*(result.seen for result in self.results), self.observation]
        return without_repeats([one for one in seen if one is not None])

    @property
    def late(self) -> bool:
        """Whether the page was kept from sending something after actions that were over."""
        return any(result.late for result in self.results)

    @property
    def notes(self) -> str:
        """What the page was kept from sending after actions that were over, and what is to be said of those that were done; empty where there is nothing."""
        return "; ".join(said for result in self.results for said in (result.late, result.note) if said)

    @property
    def ok(self) -> bool:
        """Whether every action was done, or the last one done replaced the page, so that the rest was left."""
        return self.kind in ("done", "page_changed")


class Said(NamedTuple):
    """What is said of an action that was done, and what its caller would not expect of it."""

    message: str
    note: str = ""


class Stop(Exception):
    """An action was not done, for a reason in one line; `covered` where another element lies over the one meant."""

    def __init__(self, kind: OutcomeKind, message: str, covered: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.covered = covered
