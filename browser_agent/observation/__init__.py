"""A live page in, a frozen, budgeted `Observation` out. It acts on nothing."""

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
