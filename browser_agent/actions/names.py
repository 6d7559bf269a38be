"""What actions call elements by, refs or names, and which elements of a page a name fits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from browser_agent.actions import union as act
from browser_agent.observation.inline import AREAS, FIELDS, INTERACTIVE, clean
from browser_agent.observation.values import Control

__all__ = ["BOXES", "find_named", "is_ref", "name_targets", "roles_taken", "with_targets"]

BOXES = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})
_REF = re.compile(r"(?:f\d+)?e\d+")
_WITH_ROLE = re.compile(r'([a-z]+) "(.+)"')
_NO_LETTERS = re.compile(r"[\W\d_]+")
_MARK = re.compile(r"\s+[^\w\s]|[^\w\s]+(?:\s|$)|[(\[]")
"""How the rest of a name begins behind words that may stand for all of it."""
_WORD = re.compile(rf"\s|{_MARK.pattern}")
"""The same for fields and boxes, which show what is put into them."""


def is_ref(target: str) -> bool:
    """Whether an element is called by its ref, and by no name."""
    return _REF.fullmatch(target) is not None


def name_targets(action: act.PageAction) -> tuple[str, ...]:
    """What an action calls the elements by that it acts on: refs or names."""
    match action:
        case act.FillForm(fields=fields):
            return tuple(field.ref for field in fields)
        case act.Drag(ref=ref, to=to):
            return ref, to
        case _:
            only: str | None = getattr(action, "ref", None)
            return () if only is None else (only,)


def with_targets(action: act.PageAction, change: Callable[[str], str]) -> act.PageAction:
    """An action with what it calls its elements by changed."""
    match action:
        case act.FillForm(fields=fields):
            changed = (field.model_copy(update={"ref": change(field.ref)}) for field in fields)
            return action.model_copy(update={"fields": tuple(changed)})
        case _:
            said = {part: getattr(action, part, None) for part in ("ref", "to")}
            return action.model_copy(update={part: change(ref) for part, ref in said.items() if isinstance(ref, str)})


def find_named(controls: Mapping[str, Control], name: str, takes: frozenset[str]) -> tuple[Control, ...]:
    """The elements that a name fits best: `Save`, or `button "Save"` with the role that a page is shown with.

    Args:
        controls: those of the page, by their refs.
        name: what the element is called.
        takes: roles that the action is meant for; they go first, then other controls, then anything that has a name.

    Returns:
        All that fit equally well. Numbers and marks count only where a name fits letter by letter, so `Reviews` is also `Reviews (12)`.
        Where none fits so, those that the action is meant for and whose name begins so: up to a mark, that of a field or box up to any word.
        Of links alike that lead to one address, the first.
    """
    with_role = _WITH_ROLE.fullmatch(name.strip())
    among = list(controls.values())
    exact = [control for control in among if control.name and _plain(control.name) == _plain(name)]
    if not exact and with_role is not None:
        role, name = with_role[1], with_role[2]
        among = [control for control in among if control.role == role]
        exact = [control for control in among if _plain(control.name) == _plain(name)]
    letters = _letters(name)
    near = [
        control for control in among if letters and not re.search(r"\d", name) and _letters(control.name) == letters
    ]
    for alike in (exact, near):
        for roles in (takes, INTERACTIVE, None):
            fit = [control for control in alike if roles is None or control.role in roles]
            if fit:
                return _without_copies(fit)
    return _without_copies([control for control in among if control.role in takes and _begins(control, name)])


def _without_copies(fit: Sequence[Control]) -> tuple[Control, ...]:
    return tuple({(one.role, one.url) if one.url else one.ref: one for one in reversed(fit)}.values())[::-1]


def _begins(control: Control, name: str) -> bool:
    """Whether a control is called by a name and more."""
    called, start = _plain(control.name), _plain(name)
    rest = _WORD if control.role in FIELDS | BOXES else _MARK
    return bool(start) and called.startswith(start) and rest.match(called[len(start) :]) is not None


def roles_taken(action: act.PageAction) -> frozenset[str]:
    """The roles of the elements that an action is meant for."""
    match action:
        case act.Type():
            return FIELDS
        case act.FillForm():
            return FIELDS | BOXES
        case act.Select():
            return frozenset({"combobox", "listbox"})
        case act.Check():
            return BOXES
        case act.Click() | act.Download():
            return INTERACTIVE - FIELDS
        case act.Hover() | act.Drag() | act.Press() | act.Upload():
            return INTERACTIVE
        case act.Read() | act.Scroll():
            return AREAS
        case act.Navigate() | act.Back() | act.Dialog() | act.Tab() | act.WaitFor() | act.Find() | act.Extract():
            return frozenset()
        case _:
            assert_never(action)


def _plain(name: str) -> str:
    return clean(name).casefold()


def _letters(name: str) -> str:
    return _NO_LETTERS.sub(" ", clean(name)).strip().casefold()
