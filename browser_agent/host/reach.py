"""Judges which addresses a host's model may open, by their names."""

# A model may have been talked into an address by a page it read. So what a person listed with `--allow` always holds; without a list every public
# address may be opened, and a private one only while nothing from the open internet was shown: after that a person must agree. An address of the link
# itself, where clouds keep their secrets, is opened only where it was listed. The filter proxy judges every connection besides.

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Literal

from browser_agent.network.egress import Egress, is_link_local, is_public, origin_of
from ctxfold.errors import InputError, Refused

__all__ = ["Reach", "Word"]

Word = Literal["open", "permit", "ask"]
"""Open it as it is; open it and let its private origin be reached; ask a person first."""

Origin = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Reach:
    """What a host may open. A frozen value: what was shown and agreed to gives another.

    For a host that does not share this machine (`local`), what is private here is opened only where a person listed it.
    """

    rule: Egress
    agreed: frozenset[Origin] = frozenset()
    public_seen: bool = False
    local: bool = True

    def judge(self, url: str) -> Word:
        """What is to be done about an address. Raises InputError: it is no web address; Refused: it may not be opened at a host's word."""
        origin = origin_of(url)
        if origin is None:
            raise InputError("that is no full web address; give one such as https://host/path")
        host, port = origin
        if self.rule.judge_name(host, port) != "allowed":
            raise Refused("that domain is not among those the user allowed with --allow; they can add it and restart")
        if not _private(host) or self.rule.judge_address(host, port, host) == "allowed":
            return "open"
        if is_link_local(host):
            raise Refused("that address belongs to this machine's own link; only the user can allow it, with --allow")
        if not self.local:
            raise Refused(
                "this server is reached over HTTP, so an address in its machine or network is opened only where whoever started it listed it with --allow HOST:PORT"
            )
        return "permit" if origin in self.agreed or not self.public_seen else "ask"

    def with_agreed(self, url: str) -> Reach:
        """This, with the origin of `url` agreed to."""
        origin = origin_of(url)
        return self if origin is None else replace(self, agreed=self.agreed | {origin})

    def after_showing(self, url: str) -> Reach:
        """This, after a page at `url` was shown."""
        origin = origin_of(url)
        return self if origin is None or _private(origin[0]) else replace(self, public_seen=True)


def _private(host: str) -> bool:
    """Whether a host is, by its name alone, in this machine or its network."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        ip_address(host)
    except ValueError:
        return False
    return not is_public(host)
