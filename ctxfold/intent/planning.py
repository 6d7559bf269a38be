"""The embedded decider of intent: the user's words and what was done since, in order, to one resolved change. No model, no store, no network.

Source: U-Fold's summariser, whose to-do lists what is not yet done. Here an item is opened by the user's request, changed by the user's correction, closed by a
call that succeeded or by the user's word, and never lost: a dropped item stays and can come back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxfold.intent.cues import Clause, clauses, facts_of
from ctxfold.intent.evidence import Deed, fulfilled, succeeded
from ctxfold.intent.likeness import best, content, dimensions, instead_of, kind
from ctxfold.intent.register import bound
from ctxfold.intent.values import AMENDED, Cue, Intent, IntentChange, Item, Said, State, number_of

__all__ = ["Heard", "planned"]

_MATCH = 0.34
_SAME = 0.8
_SHORT = 4
"""Telling words up to which a correction is only a value, meant for whatever has such a value."""
_ITEM = 300
_COURSE = 160
_READ = 20_000
_BOUND_BY_TURN = 24
_ALL = re.compile(
    r"\b(?:everything|all of (?:it|them|that)|the whole (?:thing|trip|plan))\b|全部|都不|都取消|所有", re.I
)
_ALSO = re.compile(r"\b(?:also|as well|too|in addition|another)\b|还|另外|也", re.I)
_AMENDS = re.compile(
    r"\b(?:make (?:it|that|them)|change (?:it|that|this|them)|switch (?:it|that|them)? ?to|i meant?|let'?s (?:go|do|say))\b|改成|改为|换成|改到|换到|改一下|变更为",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Heard:
    """A message of the user: its record and its words."""

    ref: str
    text: str


def planned(
    intent: Intent, events: Sequence[Heard | Deed], first_constraint: int | None = None, *, todo: bool = True
) -> IntentChange:
    """What the user's words and the deeds since the last plan change.

    Args:
        intent: as it stands.
        events: messages and calls with their results, in path order.
        first_constraint: the number of the first new constraint.
        todo: whether the to-do is decided here too; off when a host or a model gave it.

    Returns:
        The change; `read` is left as it was.
    """
    draft = _Draft(intent)
    said: list[tuple[str, Clause]] = []
    course: list[Said] = []
    for event in events:
        match event:
            case Deed():
                if todo and succeeded(event.text):
                    draft.did(event)
            case Heard():
                read = clauses(event.text[:_READ])
                said += [(event.ref, clause) for clause in read if clause.binds or clause.corrects][:_BOUND_BY_TURN]
                if todo:
                    draft.heard(event.ref, read)
                course += _course(event, read)
    return IntentChange(tuple(course), draft.changed, bound(intent.constraints, said, first_constraint), intent.read)


def _course(turn: Heard, read: Sequence[Clause]) -> list[Said]:
    cues: tuple[tuple[str, Cue], ...] = (
        ("returns", "returned"), ("cancels", "cancelled"), ("corrects", "changed"), ("settles", "settled"), ("asks", "asked"),
    )  # fmt: skip
    for name, cue in cues:
        telling = next((clause for clause in read if getattr(clause, name)), None)
        if telling is not None:
            return [Said(turn.ref, cue, _head(telling.text, _COURSE))]
    return [Said(turn.ref, "asked", _head(read[0].text, _COURSE))] if read else []


def _head(text: str, most: int) -> str:
    """The start of a text, ended behind a word."""
    if len(text) <= most:
        return text
    cut = text.rfind(" ", most // 2, most)
    return text[: cut if cut > 0 else most]


class _Draft:
    """The to-do while a plan is made; it lives as long as one call."""

    def __init__(self, intent: Intent) -> None:
        self._items = {item.id: item for item in intent.items}
        self._before = dict(self._items)
        self._constraints = intent.constraints

    @property
    def changed(self) -> tuple[Item, ...]:
        return tuple(item for item in self._items.values() if self._before.get(item.id) != item)

    def _in(self, state: State) -> list[Item]:
        return [item for item in self._items.values() if item.state == state]

    def _set(self, item: Item, state: State, *evidence: str) -> None:
        fresh = tuple(ref for ref in evidence if ref not in item.evidence[-1:])
        self._items[item.id] = replace(item, state=state, evidence=(*item.evidence, *fresh))

    def _open(self, text: str, ref: str) -> None:
        about = content(text)
        for item in self._in("open"):
            there = content(item.text)
            if text == item.text or (
                about
                and there
                and kind(item.text) == kind(text)
                and set(facts_of(item.text)) == set(facts_of(text))
                and len(about & there) >= _SAME * max(len(about), len(there))
            ):
                return
        number = max((number_of(known) for known in self._items), default=0) + 1
        self._items[f"t{number}"] = Item(f"t{number}", _head(text, _ITEM), "open", ref)

    def did(self, deed: Deed) -> None:
        item = fulfilled(deed, self._in("open"))
        if item is not None:
            self._set(item, "done", deed.call, deed.result)

    def heard(self, ref: str, read: Sequence[Clause]) -> None:
        for at, clause in enumerate(read):
            about = content(clause.text)
            if clause.settles and self._settle(clause, about, ref):
                continue
            if clause.returns and self._come_back(clause, about, ref):
                continue
            if clause.cancels and self._cancel(clause, about, ref):
                continue
            if clause.corrects and not _ALSO.search(clause.text) and self._correct(clause, about, ref):
                continue
            if clause.asks:
                self._ask(clause, read[at - 1] if at else None, ref)

    def _settle(self, clause: Clause, about: frozenset[str], ref: str) -> bool:
        items = self._in("open")
        item = best(about, items, _MATCH) or (items[-1] if items and (clause.vague or not about) else None)
        if item is not None:
            self._set(item, "done", ref)
        return item is not None

    def _come_back(self, clause: Clause, about: frozenset[str], ref: str) -> bool:
        dropped = self._in("dropped")
        latest = max(dropped, key=lambda item: (_place(item.evidence[-1:]), number_of(item.id)), default=None)
        item = best(about, dropped, _MATCH) or (latest if not about else None)
        if item is None:
            amended = best(about, [item for item in self._in("open") if AMENDED in item.text], _MATCH)
            if amended is not None:
                self._amend(amended, clause, ref)
            return amended is not None
        for other in self._in("open"):
            if other.ref and other.ref in item.evidence and other.ref != item.ref:
                self._set(other, "dropped", ref)
        self._set(item, "open", ref)
        return True

    def _cancel(self, clause: Clause, about: frozenset[str], ref: str) -> bool:
        items = self._in("open")
        if _ALL.search(clause.text):
            for item in items:
                self._set(item, "dropped", ref)
            return bool(items)
        found = best(about, items, _MATCH) or (items[-1] if items and not about else None)
        if found is None:
            return not clause.asks
        if found.ref == ref and not about:
            return True
        self._set(found, "dropped", ref)
        return not (clause.asks and kind(found.text) in ("change", "find", "fix") and kind(clause.text) == "cancel")

    def _correct(self, clause: Clause, about: frozenset[str], ref: str) -> bool:
        """Drop what a correction replaces, or amend what it changes; True when nothing is left to open."""
        items = [item for item in self._in("open") if item.ref != ref] or self._in("open")
        gone = instead_of(clause.text)
        meant = best(gone, items, _MATCH) if gone else None
        sort = kind(clause.text)
        if clause.asks and sort and not _AMENDS.search(clause.text):
            like = [item for item in items if kind(item.text) == sort]
            match = meant or best(about, like, _MATCH) or (like[-1] if like else None)
            if match is not None:
                self._set(match, "dropped", ref)
            return False
        measured = dimensions(clause.text)
        by_measure = [item for item in items if len(about) <= _SHORT and measured & dimensions(item.text)]
        match = meant or best(about, items, _MATCH) or (by_measure[-1] if by_measure else None)
        if match is None and measured and any(measured & dimensions(each.text) for each in self._constraints):
            return True
        if match is None and len(items) == 1:
            match = items[0]
        if match is not None:
            self._amend(match, clause, ref)
        elif about and not clause.asks:
            self._open(clause.text, ref)
        return match is not None or not clause.asks

    def _amend(self, item: Item, clause: Clause, ref: str) -> None:
        text = f"{item.text}{AMENDED}{_head(clause.text, _ITEM)}"
        self._items[item.id] = replace(item, text=text, evidence=(*item.evidence, ref))

    def _ask(self, clause: Clause, before: Clause | None, ref: str) -> None:
        about = content(clause.text)
        if about or not clause.vague:
            if about or kind(clause.text):
                self._open(clause.text, ref)
        elif before is not None and not before.asks:
            self._open(f"{before.text} {clause.text}", ref)
        elif not self._in("open"):
            self._open(clause.text, ref)


def _place(refs: Sequence[str]) -> tuple[int, int]:
    """Where a record stands, to tell what came later."""
    if not refs:
        return (0, 0)
    step, _, record = refs[-1].removeprefix("s").partition(".")
    return (int(step), int(record or 0))
