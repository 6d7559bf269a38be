"""A live page in, a frozen, budgeted `Observation` out. It acts on nothing."""

from browser_agent.observation.values import (
    Control,
    Cut,
    Link,
    Observation,
    OpenDialog,
    SearchBox,
    Section,
    TabInfo,
)

__all__ = ["Control", "Cut", "Link", "Observation", "OpenDialog", "SearchBox", "Section", "TabInfo"]
