"""What a run may do to the world, and who is asked first. It judges and asks; it acts on nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from browser_agent.decision import Decision
from browser_agent.guard.confirmation import Consequence, consequence
from browser_agent.guard.egress import Egress, origin_of
from browser_agent.guard.secrets import Secret, Secrets
from browser_agent.observation import Observation

__all__ = ["Asked", "Confirm", "Safety", "Watch"]

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
    """

    allow: tuple[str, ...] = ()
    secrets: tuple[Secret, ...] = ()
    confirm: Confirm = "auto"
    ask: Ask | None = None

    def egress(self, start_url: str | None) -> Egress:
        """Where the browser may connect.

        Raises:
            InputError: a domain that is none.
        """
        web = start_url if start_url is not None and origin_of(start_url) is not None else None
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
        found = (consequence(action, page) for action in decision.page_actions)
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
