"""One browser for all tests of this package, a fresh window for each, and sites on loopback."""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace

import pytest

from browser_agent.browser.browser import Browser
from browser_agent.browser.limits import LIMITS
from browser_agent.browser.window import Window
from tests.sites.server import LAB, Site


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Playwright knows asyncio alone; one loop holds the one browser."""
    return "asyncio"


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The browser all tests share."""
    async with await Browser.launch() as running:
        yield running


@pytest.fixture
async def window(browser: Browser) -> AsyncIterator[Window]:
    """A window of this test alone."""
    opened = await browser.window()
    opened.limits = LIMITS  # those of a quiet machine, until something is late
    yield opened
    await opened.close()


@pytest.fixture
def reader(window: Window) -> Window:
    """A window whose reader keeps what it saw, with the room of an answer over MCP."""
    window.settings = replace(window.settings, keeps=True, budget=900)
    return window


@pytest.fixture(scope="session")
def lab() -> Iterator[str]:
    """The address of the lab site."""
    with Site(LAB) as site:
        yield site.url


@pytest.fixture
def serve() -> Iterator[Callable[[dict[str, str]], Site]]:
    """Serves pages given as text, by path, for as long as the test runs."""
    sites: list[Site] = []

    def start(pages: dict[str, str]) -> Site:
        sites.append(Site(pages=pages))
        return sites[-1]

    yield start
    for site in sites:
        site.close()
