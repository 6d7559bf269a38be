"""Two shops compared: each on a branch of its own, and back, with what both came to in view."""

from collections.abc import Callable
from pathlib import Path

import pytest

from browser_agent.settings import Keeping
from ctxfold import Session
from tests.browser_agent.agent.scripts import browse, decide, script
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]

SHOPS = {
    "/": "<title>Town</title><main><h1>Two shops</h1></main>",
    "/north": "<title>North</title><main><h1>North</h1><p>Lamp L-71 costs 48 euros, delivery 6 euros.</p></main>",
    "/south": "<title>South</title><main><h1>South</h1><p>Lamp L-71 costs 45 euros, delivery 12 euros.</p></main>",
}


async def test_two_shops_are_compared_on_branches_and_one_comes_back(serve: Serve, tmp_path: Path) -> None:
    site = serve(SHOPS)
    south = {"action": "create", "to": "south", "at": 1, "found": "North asks 48 and 6 euros for L-71."}
    back = {"action": "switch", "to": "main", "found": "South asks 45 and 12 euros for L-71."}
    model = script(
        tmp_path,
        decide("North first.", {"kind": "navigate", "url": f"{site.url}/north"}),
        {**decide("Now south.", {"kind": "navigate", "url": f"{site.url}/south"}), "branch": south},
        {**decide("Nowhere.", {"kind": "navigate", "url": f"{site.url}/north"}), "branch": {**back, "to": "east"}},
        {
            **decide(
                "North is 3 cheaper.",
                {"kind": "answer", "text": "North, 54 euros.", "quote": "Lamp L-71 costs 48 euros"},
            ),
            "branch": back,
        },
    )
    result, told = await browse("Where is lamp L-71 cheaper?", site.url, model, Keeping("lamps"))
    assert (result.status, result.answer) == ("answered", "North, 54 euros.")
    assert "no branch east" in told[3].note
    with Session.open("lamps", create=False) as session:
        assert session.branch_name == "main"
        (topic,) = session.tree()
        assert [(branch.name, branch.forked_at) for branch in topic.branches] == [("main", 0), ("south", 1)]
        text = session.view(2_000).text
        for words in ("North asks 48 and 6 euros", "South asks 45 and 12 euros", "North, 54 euros."):
            assert words in text
        assert [event.decider for event in session.history() if event.kind == "moved"] == ["model", "model"]
