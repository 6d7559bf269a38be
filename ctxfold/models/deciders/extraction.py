"""Asks a model for the lines of the log that serve the plan of a session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, Field

from ctxfold.decisions.extraction import LinesWritten
from ctxfold.errors import InputError, RefError
from ctxfold.log import place_of
from ctxfold.log.json import line_form
from ctxfold.models.deciders.loop import ModelQuestion, RequestKind
from ctxfold.models.deciders.memory import fill_register, find_last_message, split_log
from ctxfold.prompts import prompt
from ctxfold.session.recall import Recalled
from ctxfold.session.session import Session
from ctxfold.session.sources import Place
from ctxfold.tokens import count, head
from ctxfold.workspace import By, Extraction

LOG = 10_000
"""o200k tokens of lines that a model is shown."""
PASSES = 8
"""The most requests in which a log is read."""
RECORD, HITS = 160, 12
"""Lines of one record that it is shown, around the best one, and the most records."""


Part = tuple[Place, Place]
"""A part of the log: its first and last record."""


class LinesChosen(BaseModel, frozen=True, extra="forbid"):
    """The choice of a model; empty if nothing serves."""

    selections: tuple[LinesWritten, ...] = Field(default=(), max_length=24, description="The most wanted first.")


@dataclass(frozen=True, slots=True)
class ChooseLines:
    """Choose lines of the log for a need, or for the to-do.

    Attributes:
        need: what to look for, in words.
        budget: o200k tokens that all of it may cost.
        part: the first and the last record to read; None for all that fits, or the hits of a search.
    """

    need: str | None
    budget: int
    part: Part | None = None
    kind: ClassVar[RequestKind[LinesChosen]] = RequestKind.of(LinesChosen, "extract", "extract")

    def ask(self, session: Session, _by: By) -> ModelQuestion[LinesChosen, Sequence[LinesWritten]]:
        """Ask for lines of the records that fit the request."""
        workspace = session.workspace
        latest = find_last_message(session, workspace)[1]
        about = [self.need] if self.need else [*(item.text for item in workspace.intent.open), latest]
        query = "\n".join(filter(None, about)) or workspace.goal
        log = _number_lines(session, query, self.part) or "nothing fits"

        def apply(session: Session, written: LinesChosen) -> Sequence[LinesWritten]:
            if written.selections and not any(_is_recorded(session, lines.ref) for lines in written.selections):
                raise InputError("none of these refs is in the log; copy them from it, such as s12.2:4-8")
            return written.selections

        blanks = {"need": self.need or "what the to-do needs", "budget": self.budget, "latest": latest or "nothing"}
        text = prompt("extract_request", log=log, **blanks, **fill_register(workspace))
        return ModelQuestion(text, apply, "its lines")

    def fall_back(self, _session: Session, _why: str) -> Sequence[LinesWritten]:
        """Choose none: the embedded extractor searches the log at the end, if no part was read."""
        return ()


def _is_recorded(session: Session, ref: str) -> bool:
    try:
        session.recall(ref)
    except RefError:
        return False
    return True


def extract_chosen(
    session: Session, need: str | None, budget: int, chosen: Sequence[LinesWritten], model: str, note: str
) -> tuple[Extraction, str]:
    """Extract the lines that a model chose, else those that the embedded extractor finds. Returns the reason too.

    `note`: why the model could not choose; a model that chose nothing leaves the view as it is.
    """
    if model and not chosen and not note:
        return Extraction((), need=need or ""), ""
    if chosen:
        try:
            selections = [lines.model_dump() for lines in chosen]
            return session.extract(need, selections, budget, By("model", f"chosen by {model}")), ""
        except InputError as error:
            note = str(error)
    return session.extract(need, None, budget, By("embedded", note)), note


def find_bounds(parts: Sequence[Sequence[Recalled]]) -> list[Part]:
    """Return the first and the last record of each part of a log."""
    return [(place_of(part[0].ref), place_of(part[-1].ref)) for part in parts]


def read_part(session: Session, part: Part | None = None) -> list[Recalled]:
    """Return the records of a part of the path; None for all of it."""
    log = session.read_records(session.list_steps(), reading=True)
    return [each for each in log if part is None or part[0] <= place_of(each.ref) <= part[1]]


def line_parts(session: Session) -> list[Part | None]:
    """Return the parts in which a whole log is read; None for one part, or too many."""
    parts = find_bounds(_split_lines(read_part(session)))
    return [*parts] if 1 < len(parts) <= PASSES else [None]


def _number_lines(session: Session, query: str, part: Part | None) -> str:
    """The lines of a part of the log with their numbers; of all of it if that is little, else around a query's hits."""
    log = read_part(session, part)
    if part is not None or len(_split_lines(log)) < 2:
        return head("\n".join(_number(each.ref, each.text) for each in log), LOG)
    shown, left = dict[Place, str](), LOG
    for hit in session.recall(query=query, limit=HITS) if query.strip() else ():
        ref, _, near = hit.ref.partition(":")
        block = _number(ref, session.recall(ref).text, max(0, int(near.partition("-")[0] or 1) - RECORD // 2))
        left -= count(block)
        if left < 0:
            break
        shown[place_of(ref)] = block
    return "\n".join(block for _, block in sorted(shown.items()))


def _split_lines(log: Sequence[Recalled]) -> list[list[Recalled]]:
    """Parts of a log; the numbers of its lines about double its cost, so each has half of `LOG`."""
    return split_log(log, LOG // 2, LOG // 2)


def _number(ref: str, text: str, first: int = 0) -> str:
    """Lines of a record under its ref, numbered."""
    lines = line_form(text)
    shown = (f"{at}| {each[:2_000]}" for at, each in enumerate(lines[first : first + RECORD], first + 1))
    return "\n".join([f"{ref}, {len(lines)} lines", *shown])
