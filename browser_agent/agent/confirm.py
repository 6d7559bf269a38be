"""What a run may reach, type and send: the rules a person gave, and the gate and the filter made of them."""

from __future__ import annotations

from dataclasses import dataclass

from browser_agent.browser.gate import Gate
from browser_agent.network.effects import Ask, Asked, Confirm, Trust
from browser_agent.network.egress import Egress, origin_of, read_domain
from browser_agent.network.secrets import Secret

__all__ = ["Asked", "Confirm", "Safety"]


@dataclass(frozen=True, slots=True)
class Safety:
    """What a run may reach, type and bring about.

    Args:
        allow: domains it may connect to, and no others; none for every public one. The start address may always be reached.
        secrets: values it may type by placeholder, each into its own domain.
        confirm: when a person is asked before a page sends something with effects.
        ask: who asks; None where nobody can be asked, and nothing of that kind is then sent unless it is trusted.
        local: whether who names addresses shares this machine. Over HTTP they do not: then only `allow` opens what is private, a start address included.
        trust: domains whose pages may send what they like after an act, unasked.
        trust_start: whether a person gave the start address: then its origin is trusted too.

    Raises:
        InputError: a domain that is none.
    """

    allow: tuple[str, ...] = ()
    secrets: tuple[Secret, ...] = ()
    confirm: Confirm = "auto"
    ask: Ask | None = None
    local: bool = True
    trust: tuple[str, ...] = ()
    trust_start: bool = True

    def __post_init__(self) -> None:
        for domain in self.trust:
            read_domain(domain)

    def egress(self, start_url: str | None) -> Egress:
        """Where the browser may connect.

        Raises:
            InputError: a domain that is none.
        """
        web = start_url if self.local and start_url is not None and origin_of(start_url) is not None else None
        return Egress.of(self.allow, web)

    def gate(self, start_url: str | None, model_drives: bool) -> Gate | None:
        """What holds back the effects of acts; None where nothing is to be asked.

        Args:
            start_url: the address that this call names to begin at.
            model_drives: whether a model decides; the explorer only opens addresses.
        """
        if self.confirm == "never" or (self.confirm == "auto" and not model_drives):
            return None
        start = origin_of(start_url) if start_url is not None and self.trust_start else None
        domains = tuple(read_domain(domain) for domain in self.trust)
        return Gate(Trust(self.confirm == "always", start, domains), self.ask)
