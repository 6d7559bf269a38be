"""The explorer searches, follows, answers with a quote, and says when it found nothing."""

import pytest

from browser_agent.actions import Answer, GiveUp, Navigate
from browser_agent.deciders.explorer import Explorer
from browser_agent.deciders.explorer.explorer import MOST_LOADS
from browser_agent.deciders.protocol import Decided, Situation
from browser_agent.observation import Observation
from ctxfold.view.render import View
from tests.browser_agent.explorer.pages import COPYING, ORIGIN, WATCHING, heading, page

pytestmark = pytest.mark.anyio

VIEW = View("", [], 0, 0, (), 8000, 0)
LIBRARY = {"files: work with files": "library/files.html", "watch: follow changes": "library/watch.html"}


async def explore(task: str, site: dict[str, Observation]) -> tuple[Decided, list[str], list[str]]:
    """Run the explorer over pages; the last decision, the addresses opened, and the summaries of its folds."""
    explorer, opened, folds = Explorer(task), [""], []
    while True:
        observed = site.get(opened[-1], page(opened[-1], "Gone", status=404))
        decided = await explorer.decide(Situation(task, VIEW, observed, "", len(opened), 200))
        if decided.decision.fold is not None:
            folds.append(decided.decision.fold.summary or "")
        (action,) = decided.decision.actions
        if not isinstance(action, Navigate):
            return decided, opened, folds
        opened.append(action.url.removeprefix(ORIGIN).partition("#")[0])


async def test_it_follows_links_to_the_answer_and_quotes_it():
    site = {"": page("", "Home", links={"About us": "about", **LIBRARY}), "library/files.html": COPYING}
    decided, opened, _ = await explore("Which exception does files.copy raise for the same file?", site)
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
    site = {"": page("", "Home", search=True), "search?q=files.copy": found, "library/files.html": COPYING}
    decided, opened, folds = await explore("Which exception does files.copy raise?", site)
    assert opened[1].startswith("search?")
    assert "q=files.copy" in opened[1]
    assert isinstance(decided.decision.actions[0], Answer | GiveUp)
    assert folds


async def test_a_search_that_fails_is_asked_once():
    site = {"": page("", "Home", links=LIBRARY, search=True), "library/files.html": COPYING}
    decided, opened, folds = await explore("Which exception is raised when source and target are the same file?", site)
    assert sum(path.startswith("search") for path in opened) == 1
    assert isinstance(decided.decision.actions[0], Answer)
    assert any("did not answer" in fold for fold in folds)


async def test_where_a_site_answers_no_more_a_passage_that_is_trusted_is_given():
    task = "Which exception is raised when source and target are the same file?"
    links = {f"copy the same file {n}": f"copy-{n}" for n in range(9)}
    blank = page("", "").model_copy(update={"url": "about:blank", "status": None})
    observed = page("", "Files", *COPYING.sections, links=links)
    explorer, opened = Explorer(task), 0
    while True:
        decided = await explorer.decide(Situation(task, VIEW, observed, "", opened + 1, 200))
        if not isinstance(decided.decision.actions[0], Navigate):
            break
        opened, observed = opened + 1, blank
    assert isinstance(decided.decision.actions[0], Answer)
    assert opened == 2


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


async def test_a_parameter_that_a_function_does_not_have_is_not_explained():
    site = {"": page("", "Home", links=LIBRARY), "library/files.html": COPYING, "library/watch.html": WATCHING}
    decided, _, _ = await explore("What does the password parameter of files.copy do?", site)
    assert isinstance(decided.decision.actions[0], GiveUp)


async def test_a_dead_end_is_folded_as_one_failed_stretch():
    dull = {f"copy-{n}": page(f"copy-{n}", f"Copy {n}", heading("Copy", "Nothing here.")) for n in range(7)}
    links = {f"files.copy link {n}": f"copy-{n}" for n in range(7)}
    _, _, folds = await explore("What does files.copy do with a link?", {"": page("", "Home", links=links), **dull})
    assert any(fold.startswith("Dead end, failed") for fold in folds)


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


ABOUT = page(
    "about.html",
    "About us",
    heading("About us", "Our shop is open Tuesday to Saturday from 10 to 18.", "Twelve people work here.", level=1),
)
SHELVES = {
    f"shelf {n}": page(f"shelf{n}.html", f"Shelf {n}", heading(f"Shelf {n}", "Lamps of glass.")) for n in range(3)
}


async def test_what_a_page_about_the_house_says_is_found_when_the_others_do_not():
    """Such a page is opened last, not never."""
    links = {
        "About us": "about.html",
        "Log out": "logout.html",
        **{name: f"{name.replace(' ', '')}.html" for name in SHELVES},
    }
    site = {
        "": page("", "Lamps", links=links),
        "about.html": ABOUT,
        **{f"{name.replace(' ', '')}.html": one for name, one in SHELVES.items()},
    }
    decided, opened, _ = await explore("When is the shop open?", site)
    (answer,) = decided.decision.actions
    assert isinstance(answer, Answer)
    assert "Tuesday to Saturday" in (answer.quote or "")
    assert opened.index("about.html") == len(opened) - 1
    assert "logout.html" not in opened


async def test_a_page_few_questions_are_about_is_opened_first_where_the_question_names_it():
    links = {**{name: f"{name.replace(' ', '')}.html" for name in SHELVES}, "License": "license.html"}
    terms = page(
        "license.html", "License", heading("License", "Pictures may be used under the Lamp License 2.", level=1)
    )
    site = {
        "": page("", "Lamps", links=links),
        "license.html": terms,
        **{f"{name.replace(' ', '')}.html": one for name, one in SHELVES.items()},
    }
    _, opened, _ = await explore("Under which license may the pictures be used?", site)
    assert opened[1] == "license.html"
