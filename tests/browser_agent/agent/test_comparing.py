"""Two shops compared: each on a branch of its own, and back, with what both came to in view."""

from collections.abc import Callable
from pathlib import Path

import pytest

from browser_agent.agent.settings import Keeping, RunLimits
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


LISTS = {
    "/": "<title>Town</title><main><h1>Lamps</h1><ul><li><a href='/aurora'>Aurora lamp</a></li><li><a href='/boreal'>Boreal lamp</a></li></ul></main>",
    "/aurora": "<title>Aurora lamp</title><main><h1>Aurora lamp</h1><h2>Price</h2><p>The price of the Aurora lamp is 89 EUR. It weighs 2 kg.</p></main>",
    "/boreal": "<title>Boreal lamp</title><main><h1>Boreal lamp</h1><h2>Price</h2><p>The price of the Boreal lamp is 74 EUR. It weighs 3 kg.</p></main>",
    "/north": "<title>North</title><main><table><tr><th>Lamp<th>Price<tr><td>lamp 7<td>48 EUR<tr><td>lamp 70<td>20 EUR</table></main>",
    "/south": "<title>South</title><main><table><tr><th>Lamp<th>Price<tr><td>lamp 7<td>45 EUR<tr><td>lamp 71<td>19 EUR</table></main>",
    "/closed": "<title>Closed</title><main><p>We are closed.</p></main>",
}


async def test_the_explorer_compares_what_a_task_names_on_a_branch_each_and_answers_from_both(serve: Serve) -> None:
    site = serve(LISTS)
    result, _ = await browse(
        "Which is cheaper: the Aurora lamp or the Boreal lamp?", site.url, keeping=Keeping("lamps")
    )
    assert result.status == "answered"
    assert result.answer is not None
    assert result.answer.startswith("Cheaper: boreal-lamp.")
    assert "89 EUR" in result.answer
    assert "74 EUR" in result.answer
    assert [source.url for source in result.sources] == [f"{site.url}/aurora", f"{site.url}/boreal"]
    with Session.open("lamps", create=False) as session:
        assert session.branch_name == "main"
        ((main, *alternatives),) = [topic.branches for topic in session.tree()]
        assert main.name == "main"
        assert [branch.name for branch in alternatives] == ["aurora-lamp", "boreal-lamp"]
        assert all(source.quote.split()[0] in session.recall(source.ref).text for source in result.sources)
        assert "74 EUR" in session.view().text


async def test_the_explorer_compares_two_listings_by_the_row_that_is_asked_for(serve: Serve) -> None:
    site = serve(LISTS)
    starts = [f"{site.url}/north", f"{site.url}/south"]
    result, told = await browse("Which shop sells lamp 7 cheaper?", starts, keeping=Keeping("shops"))
    assert result.answer is not None
    assert result.answer.startswith("Cheaper: south. north: lamp 7: 48 EUR")
    assert [source.quote for source in result.sources] == ["lamp 7\t48 EUR", "lamp 7\t45 EUR"]
    assert len(told) == 3
    with Session.open("shops", create=False) as session:
        (branches,) = [topic.branches for topic in session.tree()]
        assert {branch.name for branch in branches} == {"main", "north", "south"}


async def test_an_alternative_that_cannot_be_told_is_named_and_nothing_is_guessed(serve: Serve) -> None:
    site = serve(LISTS)
    starts = [f"{site.url}/north", f"{site.url}/closed"]
    result, _ = await browse("Which shop sells lamp 7 cheaper?", starts, keeping=Keeping("half"))
    assert result.status == "none_found"
    assert "nothing sure was found for closed" in result.reason
    assert "48 EUR" in result.reason
    assert [source.quote for source in result.sources][:1] == ["lamp 7\t48 EUR"]


async def test_a_comparison_that_was_cut_short_goes_on_with_the_alternatives_that_are_left(serve: Serve) -> None:
    site = serve(LISTS)
    starts = [f"{site.url}/north", f"{site.url}/south"]
    cut, _ = await browse("Which shop sells lamp 7 cheaper?", starts, keeping=Keeping("cut"), limits=RunLimits(steps=2))
    assert cut.status == "stopped"
    result, told = await browse("", None, keeping=Keeping("cut", resume=True))
    assert [step.url for step in told][:1] == [f"{site.url}/south"]
    assert result.answer is not None
    assert result.answer.startswith("Cheaper: south. north: lamp 7: 48 EUR")
    assert [source.quote for source in result.sources] == ["lamp 7\t48 EUR", "lamp 7\t45 EUR"]
    with Session.open("cut", create=False) as session:
        assert session.branch_name == "main"
        (branches,) = [topic.branches for topic in session.tree()]
        assert [branch.name for branch in branches] == ["main", "north", "south"]


async def test_a_comparison_cut_short_before_anything_is_told_goes_on_with_the_first(serve: Serve) -> None:
    site = serve(LISTS)
    task = "Which is cheaper: the Aurora lamp or the Boreal lamp?"
    cut, _ = await browse(task, site.url, keeping=Keeping("lamp"), limits=RunLimits(steps=2))
    assert cut.status == "stopped"
    result, _ = await browse("", None, keeping=Keeping("lamp", resume=True))
    assert result.answer is not None
    assert result.answer.startswith("Cheaper: boreal-lamp.")
    with Session.open("lamp", create=False) as session:
        assert session.branch_name == "main"
