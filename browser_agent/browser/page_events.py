"""Follows the loads, open requests and HTTP status of one page, and says when it has changed or come to rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from playwright.async_api import Error, Frame, Page, Request, Response

from browser_agent.network.egress import REFUSED_HEADER, EgressRefusal, origin_of

_AWAITED = frozenset({"document", "script", "stylesheet", "fetch", "xhr"})
_PARTS = 3
_NO_DOCUMENT = frozenset({204, 205})


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment in a page's life, to find out afterwards what an action set in motion."""

    documents: int
    requests: int
    url: str


class PageEvents:
    """Listens to one page. `until` waits for its events; nothing here polls.

    Attributes:
        status: the HTTP status of its document.
        kind: the media type of its document.
        pulse: is set by every event.
        barred: the host and port of a document that the filter proxy did not let through.
        silent_since: when it was first asked without an answer; None if it answered since.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.status: int | None = None
        self.crashed = False
        self.barred: tuple[str, int] | None = None
        self.silent_since: float | None = None
        self.kind = ""
        self._hosts: set[tuple[str, int]] = set()
        self._documents = 0
        self._navigating = False
        self._uncommitted = False
        self._requests = 0
        self._open: dict[Request, int] = {}
        self.pulse = asyncio.Event()
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfinished", self._on_end)
        page.on("requestfailed", self._on_failure)
        page.on("framenavigated", self._on_commit)
        page.on("domcontentloaded", self._on_load)
        page.on("crash", self._on_crash)
        page.on("close", lambda _: self.pulse.set())
        page.on("download", lambda _: self.pulse.set())

    def mark(self) -> Mark:
        """Return the state of the page now."""
        return Mark(self._documents, self._requests, _address(self.page.url))

    def has_moved(self, since: Mark) -> bool:
        """Return whether the page has another document, or another address apart from its fragment, since `since`."""
        return self._documents != since.documents or self._navigating or _address(self.page.url) != since.url

    def is_loading(self) -> bool:
        """Return whether a document is on its way, or here and not yet read to its end."""
        return self._navigating

    def is_unanswered(self) -> bool:
        """Return whether a document was asked for and its server has not answered: the old one gives no answers until
        then.

        Where the server answered and the document does not come, the old page hangs and does not let go.
        """
        return self._uncommitted and self.status is None

    def is_fetching(self, since: Mark) -> bool:
        """Return whether a request after `since` that shapes the page is still open."""
        return any(number > since.requests for number in self._open.values())

    def in_flight(self) -> int:
        """Return how many requests of any kind are open."""
        return len(self._open)

    async def until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait for `condition`, checked after every event. Returns whether it came true within `seconds`."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not condition():
            if self.crashed or self.page.is_closed():
                return False
            self.pulse.clear()
            left = deadline - asyncio.get_running_loop().time()
            try:
                await asyncio.wait_for(self.pulse.wait(), max(left, 0))
            except TimeoutError:
                return condition()
        return True

    def list_barred(self, refusals: Sequence[EgressRefusal]) -> tuple[str, ...]:
        """Return the frames of this page that led into this machine or its network and were refused, as `HOST:PORT`."""
        refused = {(refusal.host, refusal.port) for refusal in refusals if refusal.reason == "private"}
        return tuple(f"{host}:{port}" for host, port in sorted(self._hosts & refused)[:_PARTS])

    def _on_request(self, request: Request) -> None:
        """Note a request that begins, and a document that is asked for."""
        self._requests += 1
        if request.is_navigation_request() and (origin := origin_of(request.url)) is not None:
            self._hosts.add(origin)
        self._open[request] = self._requests if request.resource_type in _AWAITED else 0  # above no mark: not awaited
        if self._is_document(request):
            self._navigating = self._uncommitted = True
            self.status = self.barred = None
            self.kind = ""
            self._hosts.clear()
        self.pulse.set()

    def _on_response(self, response: Response) -> None:
        """Note the status and kind of a document that a server answers with."""
        if self._is_document(response.request):
            self.status = response.status
            self.kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            self.barred = origin_of(response.url) if REFUSED_HEADER.lower() in response.headers else None
            if response.status in _NO_DOCUMENT:
                self._navigating = self._uncommitted = False
        self.pulse.set()

    def _on_end(self, request: Request) -> None:
        self._open.pop(request, None)
        self.pulse.set()

    def _on_failure(self, request: Request) -> None:
        self._on_end(request)
        if self._is_document(request):
            self._navigating = self._uncommitted = False
            if request.failure and "TUNNEL_CONNECTION_FAILED" in request.failure:
                self.barred = origin_of(request.url)

    def _on_commit(self, frame: Frame) -> None:
        if frame == self.page.main_frame:
            self._uncommitted = False
            if frame.url == "about:blank":
                self.status = self.barred = None
            self.pulse.set()

    def _on_load(self, _: Page) -> None:
        self._documents += 1
        self._navigating = self._uncommitted = False
        self.pulse.set()

    def _on_crash(self, _: Page) -> None:
        self.crashed = True
        self.pulse.set()

    def _is_document(self, request: Request) -> bool:
        """Return whether `request` loads the page's own document, not a frame's."""
        if not request.is_navigation_request():
            return False
        frame: Frame | None = None
        with suppress(Error):  # a page that is just opening has no frame to name yet: it is the page's own then
            frame = request.frame
        return frame is None or frame == self.page.main_frame


def _address(url: str) -> str:
    return url.partition("#")[0]
