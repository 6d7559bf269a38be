"""The explorer searches, follows, answers with a quote, and says when it found nothing."""

import pytest

from browser_agent.actions import Answer, GiveUp, Navigate
from browser_agent.deciders import DecidedStep, Situation
from browser_agent.deciders.explorer import MOST_LOADS, Explorer
from browser_agent.observation import Observation
from ctxfold import Session
from tests.browser_agent.deciders.pages import COPYING, ORIGIN, WATCHING, heading, page

pytestmark = pytest.mark.anyio

with Session.open("empty", store=":memory:") as session:
    VIEW = session.view(8_000)
LIBRARY = {"files: work with files": "library/files.html", "watch: follow changes": "library/watch.html"}


async def explore(task: str, site: dict[str, Observation]) -> tuple[DecidedStep, list[str], list[str]]:
    """Run the explorer over pages; the last decision, the addresses opened, and the summaries of its folds."""
    explorer, opened, folds = Explorer(task), [""], []
    while True:
        observed = site.get(opened[-1], page(opened[-1], "Gone", status=404))
        decided = await explorer.decide(Situation(VIEW, observed, "", len(opened), 200))
        if decided.decision.fold is not None:
            folds.append(decided.decision.fold.summary or "")
        (action,) = decided.decision.actions
        if not isinstance(action, Navigate):
            return decided, opened, folds
        opened.append(action.url.removeprefix(ORIGIN).partition("#")[0])


async def test_it_follows_links_to_the_answer_and_quotes_it():
    site = {"": page("", "Home", links={"About us": "about", **LIBRARY}), "library/files.html": COPYING}
    decided, opened, _ = await explore("What does files.copy raise when source and target are the same file?", site)
    (answer,) = decided.decision.actions
    assert isinstance(answer, Answer)
    assert "SameFileError" in answer.text
    assert answer.quote
    assert answer.quote in next(s.text for s in COPYING.sections if s.defined_name == "files.copy")
    assert answer.url == f"{ORIGIN}library/files.html#files.copy"
    assert opened[1] == "library/files.html"
    assert decided.decider == "explorer"


async def test_it_asks_the_sites_search_first_by_address_alone():
    found = page("search?q=files.copy", "Results", heading("Results"), links=LIBRARY, search=True)
    site = {"": page("", "Home", search=True), "search?area=all&q=files.copy": found, "library/files.html": COPYING}
    decided, opened, folds = await explore("Which exception does files.copy raise?", site)
    assert opened[1].startswith("search?area=all&q=Which")
    assert isinstance(decided.decision.actions[0], Answer | GiveUp)
    assert folds


async def test_what_no_page_answers_is_declined_with_the_nearest_passages():
    site = {
        "": page("", "Home", links=LIBRARY),
        "library/files.html": COPYING,
        "library/watch.html": WATCHING,
    }
    decided, _, _ = await explore("How much does a commercial licence of the Oracle database cost?", site)
    (end,) = decided.decision.actions
    assert isinstance(end, GiveUp)
    assert "no passage" in end.reason
    decided, _, _ = await explore("Which exception does numpy.linalg.svd raise for a singular matrix?", site)
    assert isinstance(decided.decision.actions[0], GiveUp)


async def test_it_opens_no_more_pages_than_it_may():
    endless = {
        f"files-{n}": page(f"files-{n}", "Files", links={"copy files": f"files-{n + 1}"}, search=True)
        for n in range(200)
    }
    site = {"": page("", "Home", links={"copy files": "files-0"}, search=True), **endless}
    decided, opened, _ = await explore("Which function copies files?", site)
    assert len(opened) <= MOST_LOADS
    assert isinstance(decided.decision.actions[0], GiveUp)


async def test_it_stays_on_its_site_and_opens_no_page_twice():
    links = {"files.copy elsewhere": "http://other.test/files.copy", "files.copy": "library/files.html", "Home": ""}
    site = {"": page("", "Home", links=links), "library/files.html": COPYING.model_copy(update={"search": None})}
    _, opened, _ = await explore("Which module has files.copy?", site)
    assert len(opened) == len(set(opened))
    assert not any("other.test" in path for path in opened)


SHOP = {
    "": page("", "Clay", links={"Delivery": "delivery", "Vases": "vases", "Classes": "classes"}),
    "delivery": page("delivery", "Delivery", heading("Prices", "Postage in Britain is £4.50. To Europe it is £14.")),
    "vases": page(
        "vases", "Vases", heading("Floor vase", "62 cm high and 9 kg heavy."), heading("Bud vase", "For one stem.")
    ),
    "classes": page("classes", "Classes", heading("Evening class", "Six Wednesdays, at most eight people.")),
}


async def test_on_a_site_it_has_read_whole_half_of_the_question_is_enough():
    decided, opened, _ = await explore("How much is delivery to Europe?", SHOP)
    (answer,) = decided.decision.actions
    assert isinstance(answer, Answer)
    assert "£14" in answer.text
    assert set(opened) == set(SHOP)
    for task in ("Do you deliver gift vouchers to Europe?", "Who glazes the floor vase?"):
        decided, _, _ = await explore(task, SHOP)
        assert isinstance(decided.decision.actions[0], GiveUp), task
