"""A run that was cut off opens its last page again, as a step, and goes on from there."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.settings import Keeping, RunLimits
from ctxfold import Session
from ctxfold.errors import ModelUnavailable
from ctxfold.models import Reply, Request
from ctxfold.models.anthropic import body
from tests.browser_agent.agent.scripts import decide
from tests.sites.server import Site
from tests.support.messages.server import Answer, Decide, MessagesServer

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]

HOME = "<title>Harbour</title><main><h1>Harbour</h1><p>Ships and tides.</p><a href=/form>Form</a></main>"
FORM = (
    "<title>Form</title><main><h1>Form</h1><p>Berths are given by name.</p><form action=/echo>"
    "<label>Ship <input name=ship></label><button>Ask</button></form></main>"
)


class Cut:
    """A model that decides by a list, keeps what it was sent, and is lost when the list ends."""

    name = "script:cut"

    def __init__(self, decisions: Sequence[Any]) -> None:
        self.sent: list[str] = []
        self._left = iter(decisions)

    async def decide(self, request: Request) -> Reply:
        self.sent.append(json.dumps(body("claude-cut", request)))
        decision = next(self._left, None)
        if decision is None:
            raise ModelUnavailable("lost")
        return Reply(arguments=decision)


async def test_the_last_page_is_opened_again_as_a_step_and_the_model_is_told(serve: Serve):
    site = serve({"/": HOME, "/form": FORM})
    first = Cut([decide("On.", {"kind": "navigate", "url": f"{site.url}/form"})])
    async with BrowserAgent(first, keeping=Keeping("other")) as agent:
        with pytest.raises(ModelUnavailable):
            await agent.run("Ask for a berth.", site.url)
    site.pages["/form"] = FORM.replace("by name", "by length")
    again = Cut([decide("Done.", {"kind": "answer", "text": "By length.", "quote": "given by length"})])
    async with BrowserAgent(again, keeping=Keeping("other", resume=True)) as agent:
        result = await agent.run("")
    assert result.status == "answered"
    assert "The browser was started anew" in again.sent[0]
    assert "by length" in again.sent[0]


BERTHS = {
    "/": "<title>Berths</title><main><h1>Berths</h1><p>One night at the long quay costs 18 EUR.</p>"
    "<a href=/one>One</a> <a href=/two>Two</a></main>",
    "/one": "<title>One</title><main><h1>One</h1><p>Ropes are sold here.</p></main>",
    "/two": "<title>Two</title><main><h1>Two</h1><p>Sails are mended here.</p></main>",
}


async def test_the_explorer_answers_from_a_page_that_only_the_run_before_has_seen(serve: Serve):
    site = serve(BERTHS)
    task = "Which price has a night at the long quay?"
    async with BrowserAgent(limits=RunLimits(steps=3), keeping=Keeping("berths")) as agent:
        assert (await agent.run(task, site.url)).status == "none_found"
    site.pages["/"] = "<title>Closed</title><p>Nothing."
    site.seen.clear()
    async with BrowserAgent(keeping=Keeping("berths", resume=True)) as agent:
        result = await agent.run("")
    assert result.status == "answered", result.reason
    (source,) = result.sources
    assert source.quote.startswith("One night at the long quay costs 18 EUR.")
    assert "/" not in site.seen
    with Session.open("berths", create=False) as session:
        assert "One night at the long quay costs 18 EUR." in session.recall(source.ref).text


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_process_that_was_killed_is_gone_on_with(serve: Serve, tmp_path: Path):
    site = serve({"/": HOME, "/form": FORM})
    running: list[subprocess.Popen[bytes]] = []
    visits = ("form", "", "form", "")

    def answer(request: dict[str, Any]) -> Answer:
        asked = len(server.journal)
        if len(running) == 1 and asked == len(visits):
            os.kill(running[0].pid, signal.SIGKILL)
        if len(running) == 2:
            return Decide(decide("Enough.", {"kind": "give_up", "reason": "seen it"}))
        where = visits[min(asked, len(visits) - 1)]
        return Decide(
            {**decide("On.", {"kind": "navigate", "url": f"{site.url}/{where}"}), "fold": {"summary": "Seen."}}
        )

    with MessagesServer(answer) as server:
        environment = os.environ | {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "any",
            "CTXFOLD_HOME": str(tmp_path),
        }
        shared = [sys.executable, "-m", "ctxfold", "browse", "--session", "cut", "--model", "claude-sonnet-5-5"]
        for words in (["Look around.", "--start-url", site.url], ["--resume"]):
            running.append(subprocess.Popen([*shared, *words], env=environment, stderr=subprocess.DEVNULL))
            running[-1].wait()
        before, after = (json.dumps(exchange.body) for exchange in server.journal[-2:])
    assert running[0].returncode == -signal.SIGKILL
    assert "The browser was started anew" not in before
    assert "The browser was started anew" in after
