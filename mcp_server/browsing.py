"""What one desk has under way in browsers: live pages. It is made at first use, so that a server nobody browses with loads no browser library.

It drives no page: that is `browser_agent.hosted`. It lends a session's handle and ends everything when the desk closes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from browser_agent.settings import BrowserChoice

if TYPE_CHECKING:
    from browser_agent.guard.secrets import Secret
    from browser_agent.hosted.pages import Pages
    from browser_agent.safety import Confirm

__all__ = ["Browsing", "Web"]


@dataclass(frozen=True, slots=True)
class Web:
    """How a server browses, as whoever started it said.

    Attributes:
        allow: domains that may be reached, and no others; none for every public one.
        secrets: values that may be typed by placeholder.
        confirm: when a person is asked before something consequential.
        choice: which browser is started.
        uploads: folders that files may be uploaded from.
    """

    allow: tuple[str, ...] = ()
    secrets: tuple[Secret, ...] = ()
    confirm: Confirm = "auto"
    choice: BrowserChoice = field(default_factory=BrowserChoice)
    uploads: tuple[Path, ...] = ()


class Browsing:
    """The browsers of one desk.

    Args:
        web: how it browses.
        downloads: tells the folder below which downloads go, when it is first needed.
    """

    def __init__(self, web: Web, downloads: Callable[[], Path]) -> None:
        self._web = web
        self._downloads = downloads
        self._pages: Pages | None = None

    @property
    def pages(self) -> Pages:
        """The live pages."""
        if self._pages is None:
            from browser_agent.hosted.pages import Means, Pages
            from browser_agent.safety import Safety

            web = self._web
            safety = Safety(web.allow, web.secrets, web.confirm)
            self._pages = Pages(Means(self._downloads(), safety, web.choice, web.uploads))
        return self._pages

    async def close(self) -> None:
        """End every browser at once."""
        if self._pages is not None:
            await self._pages.close()
