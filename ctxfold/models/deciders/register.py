"""Asks a model what the user's newest words change in the register: to-do, constraints, decisions and goal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ctxfold.decisions.register import PlanWritten
from ctxfold.errors import StaleDecision
from ctxfold.log import place_of
from ctxfold.models.deciders.loop import ModelQuestion, RequestKind, check_values, write_plan
from ctxfold.models.deciders.memory import fill_register, find_last_message, show_log, split_log
from ctxfold.prompts import prompt
from ctxfold.session.recall import Recalled
from ctxfold.session.session import Session
from ctxfold.tokens import count, head
from ctxfold.workspace import By, Intent

NEW = 16_000
"""o200k tokens of log in one request for a plan. A longer message goes on in the next one."""
_RESULT = 500
"""o200k tokens that a plan reads of a result: what it changes is said by its start, and by the assistant."""
PASSES = 8
"""The most requests in which a log is read with its calls and results; of a longer one the messages are read."""


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """Write down what changes in the register.

    Attributes:
        part: the records to read.
        following: the ref of the record that the next part begins with: that one is not read to its end.
    """

    part: Sequence[Recalled] = ()
    following: str = ""
    kind: ClassVar[RequestKind[PlanWritten]] = RequestKind.of(PlanWritten, "plan", "plan", rules=prompt("plan_rules"))

    def ask(self, session: Session, by: By) -> ModelQuestion[PlanWritten, Intent]:
        """Ask for the changes, from the register as it is and the log since the last plan."""
        workspace = session.workspace
        last, _ = find_last_message(session, workspace)
        read = max((place_of(each.ref) for each in self.part if each.ref != self.following), default=(0, 0))
        tools = ", ".join(tool.partition("(")[0] for tool in session.known_tools)
        blanks = {"new": show_log(self.part, 2 * NEW, NEW), "tools": tools and f"The agent's tools: {tools}"}
        text = prompt("plan_request", **blanks, **fill_register(workspace)).strip()

        def apply(session: Session, written: PlanWritten) -> Intent:
            if find_last_message(session, session.workspace)[0] != last:
                raise StaleDecision("the user spoke while the plan was written; plan again")
            return write_plan(session, written, by, read)

        def check(session: Session, written: PlanWritten) -> None:
            check_values(session, "\n".join(written.texts))

        return ModelQuestion(text, apply, "its evidence", None, check)

    def fall_back(self, session: Session, _why: str) -> Intent:
        """Leave the register as it is: without a model no plan is guessed."""
        return session.intent


def read_unread(session: Session) -> list[list[Recalled]]:
    """Return the records of the path that no plan has read, in parts for one request each, the oldest first.

    Messages are read whole, a long one in several parts; results from their start. There is always one part.
    """
    read = session.workspace.intent.read
    log = session.read_records(session.list_steps(read[0] - 1), reading=True)
    pieces = [piece for each in log if place_of(each.ref) > read for piece in _cut(each)]
    parts = split_log(pieces, NEW, NEW)
    if len(parts) > PASSES:
        parts = split_log([each for each in pieces if each.kind in ("user", "assistant")], NEW, NEW)
    return parts or [[]]


def _cut(record: Recalled) -> Iterator[Recalled]:
    """A message whole, in pieces that fit one request; the start of any other record."""
    if record.kind not in ("user", "assistant"):
        is_short = len(record.text) <= _RESULT or count(record.text) <= _RESULT
        yield record if is_short else replace(record, text=f"{head(record.text, _RESULT)} …")
        return
    left = record.text
    while left:
        piece = head(left, NEW - 1)
        yield replace(record, text=piece)
        left = left[len(piece) :]
