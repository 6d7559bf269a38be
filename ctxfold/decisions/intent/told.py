"""A to-do that a host or a model wrote, checked against what is known: states change by evidence, and what is left out stays. It guesses nothing.

Source: U-Fold recomputes its to-do at every turn and can lose an item by saying nothing of it; here silence changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

from ctxfold.decisions.intent.evidence import Deed, fulfilled
from ctxfold.decisions.intent.likeness import best, content, kind
from ctxfold.decisions.intent.plan import Heard
from ctxfold.errors import InputError
from ctxfold.log.compact.outcome import succeeded
from ctxfold.workspace.intent import Intent, Item, State, number_of

__all__ = ["Log", "Wish", "told", "wishes"]

_STATES = ("open", "done", "dropped")
_TEXT = 2_000
_LIKE = 0.6
"""Share of an entry's telling words that an item must hold to be the one it means."""


class Log(Protocol):
    """What is asked of the log: whether an address shows that something was done, or said by the user."""

    def shows(self, ref: str) -> tuple[str, ...] | None:
        """The records behind an address that can be evidence: the user's words, a call that succeeded; None when there are none."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One entry of a to-do as it was given: empty fields were not said."""

    id: str = ""
    text: str = ""
    state: State | None = None
    evidence: tuple[str, ...] = ()


def wishes(given: object) -> tuple[Wish, ...]:
    """Entries from texts, or from `{"id"?, "text"?, "state"?, "evidence"?}`.

    Raises:
        InputError: something else.
    """
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise InputError('a to-do is a list of texts, or of {"id", "text", "state", "evidence"}; give a list')
    made: list[Wish] = []
    for each in given:
        entry = {"text": each} if isinstance(each, str) else each
        if not isinstance(entry, Mapping):
            raise InputError('an entry of a to-do is a text or {"id", "text", "state", "evidence"}; give one of these')
        name, text, state, evidence = (entry.get(key) for key in ("id", "text", "state", "evidence"))
        if not all(part is None or isinstance(part, str) for part in (name, text, state)) or not (name or text):
            raise InputError("an entry of a to-do needs a text, or the id of an item; give either as a string")
        if state is not None and state not in _STATES:
            raise InputError(f"{state!r} is not a state; use open, done or dropped")
        refs = [evidence] if isinstance(evidence, str) else () if evidence is None else evidence
        if not isinstance(refs, (list, tuple)) or not all(isinstance(ref, str) for ref in refs):
            raise InputError('evidence is a list of refs such as ["s12"]; give strings')
        words = " ".join((text or "").split())[:_TEXT]
        made.append(Wish(name or "", words, cast("State | None", state), tuple(refs)))
    return tuple(made)


def told(
    intent: Intent, given: Sequence[Wish], log: Log, events: Sequence[Heard | Deed], *, untrusted: bool = False
) -> tuple[Item, ...]:
    """The items that a given to-do adds or changes.

    Args:
        intent: as it stands.
        given: the entries.
        log: where evidence is looked up.
        events: what was said and done since the last plan: an item in the user's own words is theirs, and a state that names no evidence may find it there.
        untrusted: whether the writer had text of a tool or page before it.

    Raises:
        InputError: an unknown item, or a state that nothing shows.
    """
    items = {item.id: item for item in intent.items}
    changed: dict[str, Item] = {}
    heard = [event for event in events if isinstance(event, Heard)]
    deeds = [event for event in events if isinstance(event, Deed)]
    for wish in given:
        item = _meant(items, wish, frozenset(changed))
        if item is None:
            number = max((number_of(known) for known in items), default=0) + 1
            ref = next((turn.ref for turn in heard if wish.text in " ".join(turn.text.split())), "")
            item = Item(f"t{number}", wish.text, ref=ref, untrusted=untrusted and not ref)
            changed[item.id] = items[item.id] = item
        if wish.text and wish.text != item.text:
            item = replace(item, text=wish.text, untrusted=item.untrusted or untrusted)
        if wish.state is not None and wish.state != item.state:
            item = replace(item, state=wish.state, evidence=(*item.evidence, *_evidence(item, wish, log, deeds)))
        if item != items[item.id]:
            changed[item.id] = items[item.id] = item
    return tuple(changed.values())


def _meant(items: Mapping[str, Item], wish: Wish, taken: frozenset[str]) -> Item | None:
    """The item an entry speaks of: by its id, by its text, or the one that the user's words opened for the same act about the same thing."""
    if wish.id:
        if wish.id not in items:
            there = ", ".join(items) or "none yet"
            raise InputError(
                f"no item {wish.id!r} in the to-do, whose items are {there}; leave the id out for a new one"
            )
        return items[wish.id]
    plain = wish.text.casefold()
    same = next((item for item in items.values() if " ".join(item.text.split()).casefold() == plain), None)
    if same is not None:
        return same
    act, about = kind(wish.text), content(wish.text)
    like = [item for item in items.values() if item.ref and item.state == "open" and item.id not in taken]
    return best(about, [item for item in like if act and kind(item.text) == act], _LIKE) if len(about) > 1 else None


def _evidence(item: Item, wish: Wish, log: Log, deeds: Sequence[Deed]) -> tuple[str, ...]:
    found: list[str] = []
    for ref in wish.evidence:
        shown = log.shows(ref)
        if shown is None:
            raise InputError(
                f"{ref} does not show that {item.id} is {wish.state}: name a call that succeeded, or the user's words"
            )
        found += shown
    if not found and wish.state == "done":
        for deed in deeds:
            if succeeded(deed.text) and fulfilled(deed, [item]) is item:
                return (deed.call, deed.result)
    if not found:
        raise InputError(
            f"nothing shows that {item.id} is {wish.state}: give evidence, the ref of a call that succeeded or of the user's words, "
            f'as in {{"id": "{item.id}", "state": "{wish.state}", "evidence": ["s12"]}}'
        )
    return tuple(found)
