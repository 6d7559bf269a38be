"""A run that repeats itself is mended, and no other: the tries are folded into a failed tile, the decider is told to make a new plan, and the log keeps all."""

from collections.abc import Callable
from pathlib import Path

import pytest

from browser_agent.agent.settings import Keeping
from ctxfold import Session
from tests.browser_agent.agent.scripts import browse, decide, script
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]

HOME = "<title>Harbour</title><main><h1>Harbour</h1><p>Berth HB-22 is free.</p><a href=/tides>Tides</a></main>"
TIDES = "<title>Tides</title><main><h1>Tides</h1><p>A spring tide comes twice a month.</p></main>"
PRESS = {"kind": "press", "key": "a"}


async def test_the_third_try_on_one_page_forces_a_prune_and_a_new_plan(serve: Serve, tmp_path: Path):
    site = serve({"/": HOME, "/tides": TIDES})
    model = script(
        tmp_path,
        *[decide("Perhaps now.", PRESS) for _ in range(3)],
        decide("Another way.", {"kind": "navigate", "url": f"{site.url}/tides"}),
        decide("There.", {"kind": "answer", "text": "Twice a month.", "quote": "twice a month"}),
    )
    result, told = await browse("How often is spring tide?", site.url, model, Keeping("tides"))
    assert result.status == "answered"
    assert [step.ok for step in told] == [True, True, True, False, True, True]
    with Session.open("tides", create=False) as session:
        pruned = [event for event in session.history() if event.kind == "refactored"]
        assert [event.cause.partition(":")[0] for event in pruned] == ["path_prune"]
        assert pruned[0].steps == (2, 3)
        view = session.view().text
        assert "s2-s3 failed" in view
        assert "HB-22" in view
        assert "new plan" in session.recall("s4").text
        assert "Perhaps now." in session.recall("s2").text
