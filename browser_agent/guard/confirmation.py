"""Which actions have consequences outside the page: a pure judgement on an action, the element it meets, and where.

It can only judge by what is known before acting: the kind of action, and how the page names and builds the element. A page
that lies about its buttons can still mislead it; that is what the egress rule is for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from browser_agent.actions.union import (
    Click,
    Dialog,
    Download,
    Press,
    Type,
    Upload,
)
from browser_agent.actions.union import PageAction as Acting
from browser_agent.observation.values import Control, Observation

Kind = Literal["submit", "pay", "delete", "send"]

_WORDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("pay", re.compile(r"\b(pay|buy|purchase|order|checkout|check out|donate|subscribe|bid|transfer|withdraw|upgrade)\b", re.I)),
    ("delete", re.compile(r"\b(delete|remove|erase|destroy|discard|purge|wipe|trash|revoke|deactivate|terminate|unsubscribe"
                          r"|close (?:my )?account|reset)\b", re.I)),
    ("send", re.compile(r"\b(send|post|publish|share|reply|tweet|comment|invite|email|message|upload|forward|broadcast)\b", re.I)),
    ("submit", re.compile(r"\b(submit|save|confirm|apply|sign up|register|create|add|update|approve|accept|agree|authori[sz]e"
                          r"|grant|allow|install|finish|place|book|reserve|merge|deploy|sign in|log in|login)\b", re.I)),
)  # fmt: skip
_PRESSES = frozenset({"button", "menuitem", "link", "switch", "tab", "option", "generic", "img"})
_SEARCH = re.compile(r"\b(search|find|filter|query|go to|look up)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Consequence:
    """Why an action needs a yes: its kind, the ref it meets (None for the page itself), in words of ours."""

    kind: Kind
    ref: str | None

    def __str__(self) -> str:
        where = f" with {self.ref}" if self.ref else ""
        return f"{self.kind}{where}"


def consequence(action: Acting, observation: Observation | None) -> Consequence | None:
    """What an action would bring about outside the page.

    Args:
        action: what is about to be done.
        observation: the page it is about to be done on, as last seen.

    Returns:
        The consequence, None where there is none to be expected: moving, reading, typing without sending, searching.
    """
    match action:
        case Click(ref=ref):
            return _of_click(_control(observation, ref), ref)
        case Type(ref=ref, submit=True) | Press(key="Enter" | "NumpadEnter", ref=str() as ref):
            return _of_enter(_control(observation, ref), observation, ref)
        case Press(key="Enter" | "NumpadEnter" | "Space" | " ", ref=None):
            return Consequence("submit", None)
        case Press(key="Space" | " ", ref=str() as ref):
            return _of_click(_control(observation, ref), ref)
        case Upload(ref=ref):
            return Consequence("send", ref)
        case Dialog(accept=True):
            return _of_dialog(observation)
        case Download(ref=ref):
            return _of_click(_control(observation, ref), ref)
        case _:
            return None


def _of_click(control: Control | None, ref: str) -> Consequence | None:
    if control is None or control.role not in _PRESSES:
        return None
    kind = _kind(control.name)
    if control.submits:
        return Consequence(kind or "submit", ref)
    if kind is None or (control.role == "link" and control.url and kind != "delete"):
        return None  # a link by address only moves
    if _SEARCH.search(control.name):
        return None
    return Consequence(kind, ref)


def _of_enter(control: Control | None, observation: Observation | None, ref: str) -> Consequence | None:
    if control is not None and control.role in _PRESSES:
        return _of_click(control, ref)
    search = observation.search if observation is not None else None
    by_get = search is not None and search.ref == ref and search.method == "get"
    if by_get or (control is not None and control.role == "searchbox"):
        return None
    return Consequence("submit", ref)


def _of_dialog(observation: Observation | None) -> Consequence | None:
    dialog = observation.dialog if observation is not None else None
    if dialog is None or dialog.kind == "alert":
        return None
    return Consequence(_kind(dialog.message) or "submit", None)


def _kind(text: str) -> Kind | None:
    return next((kind for kind, words in _WORDS if words.search(text)), None)


def _control(observation: Observation | None, ref: str) -> Control | None:
    return observation.refs.get(ref) if observation is not None else None
