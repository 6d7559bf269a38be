"""What a model is shown of a session when it plans or extracts: the dialogue since the last plan, or numbered lines of the log. It asks nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ctxfold.log.compact.ditto import spelled
from ctxfold.log.json_lines import line_form
from ctxfold.log.lines import Line
from ctxfold.log.refs import parse_ref
from ctxfold.session.intent import Wanted
from ctxfold.session.session import Session
from ctxfold.tokens import count, head
from ctxfold.workspace.intent import Intent
from ctxfold.workspace.workspace import Workspace

__all__ = ["Material", "for_extract", "for_plan"]

NEW, LOG = 16_000, 10_000
"""o200k tokens of dialogue, and of lines, that a model is shown at most."""
RECORD = 160
"""Lines of one record that it is shown, around those that fit best."""
HITS = 12


@dataclass(frozen=True)
class Material:
    """What a model is shown.

    Attributes:
        blanks: what fills the prompt.
        steps: the steps it may point at.
        last: the user's last message, by its record.
    """

    blanks: Mapping[str, str]
    steps: frozenset[int]
    last: str

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.blanks.values())

    def stands(self, workspace: Workspace) -> bool:
        """Whether the user has said nothing since."""
        return _last(workspace) == self.last


def for_plan(session: Session) -> Material:
    """What a plan is made of: what is known, and the dialogue since it was last read, each line under its address."""
    workspace = session.workspace
    intent = workspace.intent
    new: list[str] = []
    left = NEW
    for line in reversed([line for line in _lines(workspace) if _place(line.ref) > intent.looked]):
        said = f"{line.ref} {line.text}"
        said = said if line.tokens <= NEW // 4 else f"{head(said, NEW // 4)} …"
        left -= count(said) + 1
        if left < 0:
            break
        new.append(said)
    settled = "\n".join(f"{each.id} {each.text} ({each.ref})" for each in intent.decisions if each.holds) or "none"
    blanks = {**_known(workspace), "course": intent.summary or "nothing yet", "new": "\n".join(reversed(new))}
    blanks["decisions"] = settled
    return Material(blanks, _steps(workspace), _last(workspace))


def for_extract(session: Session, wanted: Wanted) -> Material:
    """What lines are chosen from: the records of the log that fit what is wanted, their lines numbered."""
    workspace = session.workspace
    said = [line.text for line in _lines(workspace) if line.kind == "user"]
    about = [wanted.need] if wanted.need else [*(item.text for item in workspace.intent.open), *said[-1:]]
    query = "\n".join(about) or workspace.goal
    blanks = {**_known(workspace), "need": wanted.need or "what the to-do needs", "budget": str(wanted.budget)}
    blanks["latest"] = said[-1] if said else "nothing"
    blanks["log"] = "\n".join(_numbered(session, query)) or "nothing fits"
    return Material(blanks, _steps(workspace), _last(workspace))


def _numbered(session: Session, query: str) -> Iterator[str]:
    left = LOG
    for hit in session.recall(query=query, limit=HITS) if query.strip() else ():
        ref, _, near = hit.ref.partition(":")
        lines = line_form(session.recall(ref).text)
        first = max(0, int(near.partition("-")[0] or 1) - RECORD // 2)
        shown = [f"{at}| {text[:2_000]}" for at, text in enumerate(lines[first : first + RECORD], first + 1)]
        block = "\n".join([f"{ref}, {len(lines)} lines", *shown])
        left -= count(block)
        if left < 0:
            return
        yield block


def _known(workspace: Workspace) -> dict[str, str]:
    intent: Intent = workspace.intent
    todo = [f"{item.id} {item.state}: {item.text}" for item in intent.items]
    binding = [f"{each.id} {each.text} ({each.ref})" for each in intent.binding]
    return {
        "goal": " / ".join(note.text for note in workspace.notes) or "not said",
        "todo": "\n".join(todo) or "empty",
        "constraints": "\n".join(binding) or "none",
    }


def _lines(workspace: Workspace) -> Iterator[Line]:
    for block in workspace.blocks:
        yield from spelled(block.lines)


def _last(workspace: Workspace) -> str:
    return next((line.ref for line in reversed([*_lines(workspace)]) if line.kind == "user"), "")


def _steps(workspace: Workspace) -> frozenset[int]:
    return frozenset(step for block in workspace.blocks for step in block.steps)


def _place(ref: str) -> tuple[int, int]:
    named = parse_ref(ref)
    return (getattr(named, "step", 0), getattr(named, "record", 0) or 0)
