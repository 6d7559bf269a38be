"""Turns a live page into a frozen `Observation` within a token budget."""

from browser_agent.observation.values import (
    Control,
    Cut,
    IndexedPage,
    Link,
    Listed,
    Observation,
    OpenDialog,
    SearchBox,
    Section,
    SiteIndex,
    TabInfo,
)

__all__ = [
    "Control",
    "Cut",
    "IndexedPage",
    "Link",
    "Listed",
    "Observation",
    "OpenDialog",
    "SearchBox",
    "Section",
    "SiteIndex",
    "TabInfo",
]
