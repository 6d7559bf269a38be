"""Judges which actions have effects outside the page, such as paying or sending, and asks a person before they are done."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from browser_agent.actions.union import Click, Dialog, Download, Drag, Press, Type, Upload
from browser_agent.actions.union import PageAction as Acting
from browser_agent.deciders.decision import Decision
from browser_agent.network.egress import Egress, origin_of
from browser_agent.network.secrets import Secret, Secrets
from browser_agent.observation.values import Control, Observation

__all__ = ["Asked", "Confirm", "Safety", "Watch"]


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


def judge(action: Acting, observation: Observation | None) -> Consequence | None:
    """What an action would bring about outside the page.

    Returns:
        The consequence, None where there is none to be expected: moving, reading, typing without sending, searching.
    """
    match action:
        case Click(ref=ref):
            return _judge_click(_control(observation, ref), ref)
        case Type(ref=ref, submit=True) | Press(key="Enter" | "NumpadEnter", ref=str() as ref):
            return _judge_enter(_control(observation, ref), observation, ref)
        case Press(key="Enter" | "NumpadEnter" | "Space" | " ", ref=None):
            return Consequence("submit", None)
        case Press(key="Space" | " ", ref=str() as ref):
            return _judge_click(_control(observation, ref), ref)
        case Upload(ref=ref):
            return Consequence("send", ref)
        case Drag(to=to):
            return _judge_click(_control(observation, to), to)
        case Dialog(accept=True):
            return _judge_dialog(observation)
        case Download(ref=ref):
            return _judge_click(_control(observation, ref), ref)
        case _:
            return None


def _judge_click(control: Control | None, ref: str) -> Consequence | None:
    if control is None or control.role not in _PRESSES:
        return None
    kind = _match_words(control.name)
    if control.submits:
        return Consequence(kind or "submit", ref)
    if kind is None or (control.role == "link" and control.url and kind != "delete"):
        return None  # a link by address only moves
    if _SEARCH.search(control.name):
        return None
    return Consequence(kind, ref)


def _judge_enter(control: Control | None, observation: Observation | None, ref: str) -> Consequence | None:
    if control is not None and control.role in _PRESSES:
        return _judge_click(control, ref)
    search = observation.search if observation is not None else None
    by_get = search is not None and search.ref == ref and search.method == "get"
    if by_get or (control is not None and control.role == "searchbox"):
        return None
    return Consequence("submit", ref)


def _judge_dialog(observation: Observation | None) -> Consequence | None:
    dialog = observation.dialog if observation is not None else None
    if dialog is None or dialog.kind == "alert":
        return None
    return Consequence(_match_words(dialog.message) or "submit", None)


def _match_words(text: str) -> Kind | None:
    return next((kind for kind, words in _WORDS if words.search(text)), None)


def _control(observation: Observation | None, ref: str) -> Control | None:
    return observation.refs.get(ref) if observation is not None else None


Confirm = Literal["auto", "always", "never"]
"""When a person is asked before something consequential: where a model acts outside the start address, always, never."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a person.

    Attributes:
        did: what is about to be done, in a few words; it may hold names from the page, so show it made harmless.
        kinds: what that would bring about: submit, pay, delete, send.
        url: the page it is to be done on.
    """

    did: str
    kinds: tuple[str, ...]
    url: str


Ask = Callable[[Asked], Awaitable[bool]]
"""Asks a person, and gives their yes or no."""


@dataclass(frozen=True, slots=True)
class Safety:
    """What a run may reach, type and bring about.

    Args:
        allow: domains it may connect to, and no others; none for every public one. The start address may always be reached.
        secrets: values it may type by placeholder, each into its own domain.
        confirm: when a person is asked before something consequential.
        ask: who asks; None where nobody can be asked, and nothing consequential is then done unasked.
        local: whether who names addresses shares this machine. Over HTTP they do not: then only `allow` opens what is private, a start address included.
    """

    allow: tuple[str, ...] = ()
    secrets: tuple[Secret, ...] = ()
    confirm: Confirm = "auto"
    ask: Ask | None = None
    local: bool = True

    def egress(self, start_url: str | None) -> Egress:
        """Where the browser may connect.

        Raises:
            InputError: a domain that is none.
        """
        web = start_url if self.local and start_url is not None and origin_of(start_url) is not None else None
        return Egress.of(self.allow, web)


@dataclass(frozen=True, slots=True)
class Watch:
    """The safety of one run.

    Attributes:
        safety: its rules.
        start: the origin it began at; None where nobody named one.
        model_drives: whether a model decides; the explorer only opens addresses and is never asked about.
        secrets: what may be typed, and is kept out of everything written.
    """

    safety: Safety = field(default_factory=Safety)
    start: tuple[str, int] | None = None
    model_drives: bool = False
    secrets: Secrets = field(default_factory=Secrets)

    def consequences(self, decision: Decision, page: Observation | None) -> tuple[Consequence, ...]:
        """What a decision would bring about that a person must agree to first."""
        if self.safety.confirm == "never" or (self.safety.confirm == "auto" and not self._outside(page)):
            return ()
        found = (judge(action, page) for action in decision.page_actions)
        return tuple(one for one in found if one is not None)

    async def agreed(self, did: str, consequences: tuple[Consequence, ...], page: Observation | None) -> bool:
        """Ask a person; no where nobody can be asked."""
        if self.safety.ask is None:
            return False
        kinds = tuple(dict.fromkeys(one.kind for one in consequences))
        return await self.safety.ask(Asked(did, kinds, page.url if page is not None else ""))

    def _outside(self, page: Observation | None) -> bool:
        here = origin_of(page.url) if page is not None else None
        return self.model_drives and (self.start is None or here != self.start)
