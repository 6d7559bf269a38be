"""Asks a model for the lines of the log that serve the plan of a session, and for a hint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from pydantic import BaseModel, Field

from ctxfold.config import has_principles
from ctxfold.decisions.extraction import LinesWritten, Material, NumberedRow, show_rows
from ctxfold.errors import InputError, RefError
from ctxfold.models.deciders.loop import Decided, ModelQuestion, RequestKind, check_values
from ctxfold.models.deciders.memory import fill_register, find_last_message
from ctxfold.prompts import prompt
from ctxfold.session.session import Session
from ctxfold.workspace import By, Extraction


class LinesChosen(BaseModel, frozen=True, extra="forbid"):
    """The choice of a model; empty if nothing serves."""

    selections: tuple[LinesWritten, ...] = Field(default=(), max_length=24, description="The most wanted first.")
    hint: str = Field(default="", max_length=600, description="What to do next and to heed, in a sentence or two.")

    @property
    def claims(self) -> str:
        """The constraints and the hint: the texts with values to look for in the log."""
        return "\n".join([*chain.from_iterable(lines.constraints for lines in self.selections), self.hint])


_PLAIN = RequestKind.of(LinesChosen, "extract", "extract")
_GUIDED = replace(_PLAIN, system=f"{_PLAIN.system}\n\n{prompt('extract_principles')}")


@dataclass(frozen=True, slots=True)
class ChooseLines:
    """Choose lines of a part of the log for a need, or for the to-do.

    Attributes:
        need: what to look for, in words.
        budget: o200k tokens that all of it may cost.
        rows: the lines that are shown.
        steps: the steps of the session, in which the values of its own words are looked for.
    """

    need: str | None
    budget: int
    rows: Sequence[NumberedRow]
    steps: tuple[int, ...]

    @property
    def kind(self) -> RequestKind[LinesChosen]:
        """The parts that its requests share, with the rules for hints unless they are switched off."""
        return _GUIDED if has_principles() else _PLAIN

    def ask(self, session: Session, _by: By) -> ModelQuestion[LinesChosen, LinesChosen]:
        """Ask for lines, their constraints and a hint."""
        workspace = session.workspace

        def apply(session: Session, written: LinesChosen) -> LinesChosen:
            if written.selections and not any(_is_recorded(session, lines.ref) for lines in written.selections):
                raise InputError("none of these refs is in the log; copy them from it, such as s12.2:4-8")
            return written

        def check(session: Session, written: LinesChosen) -> None:
            check_values(session, written.claims, self.steps)

        latest, tools = find_last_message(session, workspace)[1], "\n".join(session.known_tools)
        blanks = {"need": self.need or "what the to-do needs", "budget": self.budget, "latest": latest or "nothing"}
        blanks |= {"tools": tools or "not known", "log": show_rows(self.rows)}
        text = prompt("extract_request", **blanks, **fill_register(workspace))
        return ModelQuestion(text, apply, "its lines", check=check)

    def fall_back(self, _session: Session, _why: str) -> LinesChosen:
        """Choose none: the embedded extractor searches the log at the end, if no part was read."""
        return LinesChosen()


def _is_recorded(session: Session, ref: str) -> bool:
    try:
        session.recall(ref)
    except RefError:
        return False
    return True


def extract_chosen(
    session: Session,
    need: str | None,
    budget: int,
    material: Material,
    parts: Sequence[Decided[LinesChosen]],
    model: str,
) -> Decided[Extraction]:
    """Extract the lines that a model chose in the parts of a material, the best of each first, with its newest hint.

    Where it chose nothing, the lines of before are taken away; where it answered for no part, or none of its lines is
    in the log, the embedded extractor finds some.
    """
    answers = [part.made for part in parts if part.decider == "model"]
    asked = zip(material.parts, parts, strict=True)
    missed = [row.source.step for rows, part in asked if part.decider != "model" for row in rows]
    note = "; ".join(dict.fromkeys(part.note for part in parts if part.note))
    read = replace(material, unread=tuple(sorted({*material.unread, *missed}))) if answers else None
    if answers:
        ranked = zip_longest(*(answer.selections for answer in answers))
        selections = [lines.model_dump() for best in ranked for lines in best if lines is not None]
        hint = next((answer.hint for answer in reversed(answers) if answer.hint), "")
        try:
            by = By("model", f"chosen by {model}")
            return Decided(session.extract(need, selections, budget, by, hint, read), "model")
        except InputError as error:
            note = str(error)
    made = session.extract(need, None, budget, By("embedded", note), "", read)
    return Decided(made, "embedded", note)
