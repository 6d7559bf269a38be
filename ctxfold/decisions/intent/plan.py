"""The embedded decider of intent: the user's words and what was done since, in order, to one resolved change. No model, no store, no network.

Source: U-Fold's summariser, whose to-do lists what is not yet done. Here an item is opened by the user's request, changed by the user's correction, closed by a
call that succeeded or by the user's word, and never lost: a dropped item stays and can come back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxfold.decisions.intent.answered import accepted
from ctxfold.decisions.intent.cues import Clause, clauses
from ctxfold.decisions.intent.evidence import Deed, fulfilled
from ctxfold.decisions.intent.likeness import altered, best, content, dimensions, given_up, instead_of, kind, overlap
from ctxfold.decisions.intent.register import bound
from ctxfold.decisions.intent.restated import restated
from ctxfold.decisions.intent.unsaid import unsaid
from ctxfold.log.compact.outcome import succeeded
from ctxfold.text.phrases import pattern
from ctxfold.text.values import facts_of
from ctxfold.workspace.intent import AMENDED, Cue, Intent, IntentChange, Item, Said, State, number_of

__all__ = ["Heard", "planned"]

_MATCH = 0.34
_SAME = 0.8
_SURE = 0.5
_SHORT = 4
"""Telling words up to which a correction is only a value, meant for whatever has such a value."""
_ITEM = 300
_COURSE = 160
_READ = 20_000
_BOUND_BY_TURN = 24
_ALL = re.compile(
    r"\b(?:everything|all of (?:it|them|that)|the whole (?:thing|trip|plan))\b|全部|都不|都取消|所有", re.I
)
_ALSO = re.compile(r"\b(?:also|as well|too(?! [a-z])|in addition|another)\b|还(?!是)|另外|也", re.I)
_AMENDS = re.compile(
    r"\b(?:make (?:it|that|them)|change (?:it|that|this|them)|switch (?:it|that|them)? ?to|i meant?|let'?s (?:go|do|say))\b|改成|改为|换成|改到|换到|改一下|变更为",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Heard:
    """A message of the user.

    Attributes:
        ref: its record.
        text: its words.
        reply: what the assistant had said before it, without a call; empty for nothing.
        asked: the user's records that this replied to.
    """

    ref: str
    text: str
    reply: str = ""
    asked: tuple[str, ...] = ()


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
                    draft.heard(event, read)
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
        self._answered: frozenset[str] = frozenset()

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

    def heard(self, event: Heard, read: Sequence[Clause]) -> None:
        ref = event.ref
        answered = accepted(self._in("open"), event.reply, event.asked, event.text)
        self._answered = frozenset(item.id for item in answered)
        for at, clause in enumerate(read):
            about = content(clause.text)
            if clause.settles and self._settle(clause, about, ref):
                continue
            if clause.again and not given_up(clause.text) and self._prefers(clause, about, ref):
                continue
            if clause.returns and self._come_back(clause, about, ref):
                continue
            if clause.cancels and self._cancel(clause, about, ref):
                continue
            if clause.corrects and not _ALSO.search(clause.text):
                wished = any(later.asks for later in read[at + 1 :])
                if self._correct(clause, about, ref, reason=wished):
                    continue
            if clause.asks and not (
                self._refine(clause, about, ref) or self._alter(clause, about, ref) or self._restate(clause, ref)
            ):
                self._ask(clause, read[at - 1] if at else None, ref)
        if not any(_speaks(clause) for clause in read):
            self._turn(event)
        for item in answered:
            if self._items[item.id] == item:
                self._set(item, "done", ref)
        self._answered = frozenset()

    def _turn(self, event: Heard) -> None:
        """What a message without a cue changes all the same."""
        turned = unsaid(event.text, self._meant(), self._in("dropped"))
        if turned is None:
            return
        match turned.does:
            case "drop":
                self._set(turned.item, "dropped", event.ref)
            case "reopen":
                self._set(turned.item, "open", event.ref)
            case "amend":
                self._amend(turned.item, Clause(event.text), event.ref)

    def _meant(self) -> list[Item]:
        """The open items that the user's words may be about: those that were just answered only where there is no other."""
        items = self._in("open")
        return [item for item in items if item.id not in self._answered] or items

    def _prefers(self, clause: Clause, about: frozenset[str], ref: str) -> bool:
        """Come back to what was given up, where a preference names that and nothing that is open."""
        gone, there = best(about, self._in("dropped"), _MATCH), best(about, self._in("open"), _MATCH, signs=False)
        if gone is None or (there and overlap(about, content(there.text)) >= overlap(about, content(gone.text))):
            return False
        return self._come_back(clause, about, ref)

    def _alter(self, clause: Clause, about: frozenset[str], ref: str) -> bool:
        """Amend what is not done yet, where that is asked to be changed: a thing that was to be booked on another day is booked once."""
        if kind(clause.text) != "change" or _ALSO.search(clause.text):
            return False
        thing = altered(clause.text)
        others = {"find", "cancel"} if thing else {"find", "cancel", "change"}
        items = [item for item in self._meant() if kind(item.text) not in others and item.ref != ref]
        match = best(thing or about, items, _SURE, signs=False)
        if match is not None:
            self._amend(match, clause, ref)
        return match is not None

    def _refine(self, clause: Clause, about: frozenset[str], ref: str) -> bool:
        """Amend what the same message has just corrected, where the rest of it is about the same, as in `500 is too many. Let's print 200`."""
        for item in self._in("open"):
            bare = frozenset(word for word in about if not word.isdigit())
            if item.ref != ref and item.evidence[-1:] == (ref,) and AMENDED in item.text and bare <= content(item.text):
                self._amend(item, clause, ref)
                return True
        return False

    def _restate(self, clause: Clause, ref: str) -> bool:
        """Amend what is wanted in another size or kind, where a wish names no thing of its own: "we need the big one"."""
        bare = pattern("clause.bare").search(clause.text) is not None
        items = [item for item in self._meant() if item.ref != ref]
        item = restated([clause.text], items) if bare else None
        if item is not None:
            self._amend(item, clause, ref)
        return item is not None

    def _settle(self, clause: Clause, about: frozenset[str], ref: str) -> bool:
        items = self._in("open")
        bare = frozenset(word for word in about if not word.isdigit())
        item = best(bare or about, items, _MATCH) or (items[-1] if items and (clause.vague or not about) else None)
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
        items = self._meant()
        if _ALL.search(clause.text):
            for item in self._in("open"):
                self._set(item, "dropped", ref)
            return bool(items)
        gone = given_up(clause.text)
        found = best(gone, items, _MATCH) or best(about, items, _MATCH) or (items[-1] if items and not about else None)
        if found is None:
            return not clause.asks
        if found.ref == ref and not about:
            return True
        self._set(found, "dropped", ref)
        return not (clause.asks and kind(found.text) in ("change", "find", "fix") and kind(clause.text) == "cancel")

    def _correct(self, clause: Clause, about: frozenset[str], ref: str, *, reason: bool) -> bool:
        """Drop what a correction replaces, or amend what it changes; True when nothing is left to open. With `reason` a wish follows, and it opens none."""
        items = [item for item in self._meant() if item.ref != ref] or self._in("open")
        gone = instead_of(clause.text)
        meant = best(gone, items, _MATCH) if gone else None
        sort = kind(clause.text)
        if clause.asks and sort and not _AMENDS.search(clause.text):
            if self._alter(clause, about, ref):
                return True
            like = [item for item in items if kind(item.text) == sort]
            match = meant or best(about, like, _MATCH) or (like[-1] if like else None)
            if match is not None:
                self._set(match, "dropped", ref)
            return False
        match, measured = self._changed(clause, about, items) if meant is None else meant, dimensions(clause.text)
        if match is None and measured and any(measured & dimensions(each.text) for each in self._constraints):
            return True
        if clause.complains and not clause.asks and not measured:
            return True
        if match is not None:
            self._amend(match, clause, ref)
        elif about and not (clause.asks or clause.complains or reason):
            self._open(clause.text, ref)
        return match is not None or not clause.asks

    def _changed(self, clause: Clause, about: frozenset[str], items: list[Item]) -> Item | None:
        """Which item a correction changes: by its words, else by what its values measure, else the newest, where it can mean no other."""
        measured = dimensions(clause.text)
        by_measure = [item for item in items if len(about) <= _SHORT and measured & dimensions(item.text)]
        by_measure.sort(key=lambda item: len(about & content(item.text)))
        match = best(about, items, _MATCH, signs=False) or (by_measure[-1] if by_measure else None)
        match = match or best(about, items, _MATCH)
        if match is not None or not items:
            return match
        if measured and any(measured & dimensions(each.text) for each in self._constraints):
            return None
        alone = len(items) == 1 or _AMENDS.search(clause.text) is not None or (clause.again and not clause.asks)
        return items[-1] if alone else None

    def _amend(self, item: Item, clause: Clause, ref: str) -> None:
        text = f"{item.text}{AMENDED}{_head(clause.text, _ITEM)}"
        fresh = () if ref in item.evidence[-1:] else (ref,)
        self._items[item.id] = replace(item, text=text, evidence=(*item.evidence, *fresh))

    def _ask(self, clause: Clause, before: Clause | None, ref: str) -> None:
        about = content(clause.text)
        again = [
            item for item in self._in("dropped") if about and len(about & content(item.text)) >= _SAME * len(about)
        ]
        if again:
            self._set(again[-1], "open", ref)
        elif about or not clause.vague:
            if about or kind(clause.text):
                self._open(clause.text, ref)
        elif before is not None and not before.asks:
            self._open(f"{before.text} {clause.text}", ref)
        elif not self._in("open"):
            self._open(clause.text, ref)


def _speaks(clause: Clause) -> bool:
    """Whether a clause says what it does; an excess found in something does not say what is wanted."""
    return (
        clause.asks or clause.cancels or clause.returns or clause.settles or (clause.corrects and not clause.complains)
    )


def _place(refs: Sequence[str]) -> tuple[int, int]:
    """Where a record stands, to tell what came later."""
    if not refs:
        return (0, 0)
    step, _, record = refs[-1].removeprefix("s").partition(".")
    return (int(step), int(record or 0))
