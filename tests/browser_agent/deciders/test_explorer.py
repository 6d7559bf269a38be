"""The explorer searches, follows, answers with a quote, and says when it found nothing."""

from urllib.parse import urlencode

import pytest

from browser_agent.actions import Answer, GiveUp, Navigate
from browser_agent.deciders import DecidedStep, Situation
from browser_agent.deciders.explorer import MOST_LOADS, Explorer, split_task
from browser_agent.observation import IndexedPage, IndexedWord, Observation, SiteIndex
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
        decided = await explorer.decide(Situation(task, VIEW, observed, "", len(opened), 200))
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


async def test_a_search_that_fails_is_asked_once():
    site = {"": page("", "Home", links=LIBRARY, search=True), "library/files.html": COPYING}
    decided, opened, folds = await explore("What is raised when source and target are the same file?", site)
    assert sum(path.startswith("search") for path in opened) == 1
    assert isinstance(decided.decision.actions[0], Answer)
    assert any("could not be read" in fold for fold in folds)


async def test_where_a_site_answers_no_more_it_ends_with_what_it_has():
    task = "What is raised when source and target are the same file?"
    links = {f"copy the same file {n}": f"copy-{n}" for n in range(9)}
    blank = page("", "").model_copy(update={"url": "about:blank", "status": None})
    observed = page("", "Files", *COPYING.sections, links=links)
    explorer, opened = Explorer(task), 0
    while True:
        decided = await explorer.decide(Situation(task, VIEW, observed, "", opened + 1, 200))
        if not isinstance(decided.decision.actions[0], Navigate):
            break
        opened, observed = opened + 1, blank
    assert "SameFileError" in decided.candidates[0].quote
    assert opened == 4


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


async def test_three_distinct_passages_are_shown_whether_or_not_the_first_is_sure():
    site = {"": page("", "Home", links=LIBRARY), "library/files.html": COPYING, "library/watch.html": WATCHING}
    for task in (
        "Which exception does files.copy raise for the same file?",
        "Is a symbolic link followed when Oracle databases are copied?",
    ):
        decided, _, _ = await explore(task, site)
        quotes = [source.quote for source in decided.candidates]
        assert len(set(quotes)) == 3
        texts = [text for one in (COPYING, WATCHING) for part in one.sections for text in (part.title, part.text)]
        assert all(any(quote in text for text in texts) for quote in quotes)


async def test_a_sites_index_says_which_pages_are_read_first():
    task = "What is raised when source and target are the same file?"
    paths = ("library/tempfiles.html", "library/files.html", "library/watch.html")
    pages = tuple(IndexedPage(url=f"{ORIGIN}{path}", title=path) for path in paths)
    told = {"source": (1,), "target": (1,), "file": (0, 1), "raised": (1,)}
    index = SiteIndex(pages=pages, words=tuple(IndexedWord(word=word, pages=listed) for word, listed in told.items()))
    results = page(
        f"search?{urlencode({'area': 'all', 'q': task.removesuffix('?')})}",
        "Results",
        heading("Results", "None."),
        links={"Home": ""},
        search=True,
    )
    site = {
        "": page("", "Home", search=True),
        results.url.removeprefix(ORIGIN): results.model_copy(update={"index": index}),
    }
    site["library/files.html"] = COPYING
    decided, opened, _ = await explore(task, site)
    assert opened[1].startswith("search?")
    assert opened[2] == "library/files.html"
    assert isinstance(decided.decision.actions[0], Answer)


async def test_once_the_answer_stands_no_other_page_is_opened():
    task = "What does files.copy raise when source and target are the same file?"
    others = {f"Shelf {n}": f"shelf-{n}.html" for n in range(6)}
    site = {"": page("", "Home", links={**LIBRARY, **others}), "library/files.html": COPYING}
    decided, opened, _ = await explore(task, site)
    assert opened == ["", "library/files.html"]
    assert isinstance(decided.decision.actions[0], Answer)


async def test_once_the_entry_that_is_named_was_read_the_rest_of_the_site_is_left_also_without_an_answer():
    others = {f"files, copied {n}": f"copied-{n}.html" for n in range(6)}
    site = {"": page("", "Home", links={**LIBRARY, **others}), "library/files.html": COPYING}
    decided, opened, _ = await explore("How many gigabytes does files.rmtree free in an hour?", site)
    assert opened == ["", "library/files.html"]
    assert isinstance(decided.decision.actions[0], GiveUp)
    assert "Delete a whole folder" in decided.candidates[0].quote


async def test_a_passage_under_no_heading_is_kept_without_one():
    site = {"": page("", "Home", heading("", "Lamps shine on files."), links=LIBRARY), "library/files.html": COPYING}
    _, _, folds = await explore("Do lamps shine on walls?", site)
    assert folds[0] == "Read docs.test (Home): best so far: “Lamps shine on files.”"


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


async def test_the_nearest_link_goes_first_and_no_file_that_is_no_page():
    links = {"Shelf one": "one.html", "Lamp License": "license.html", "License as PDF": "license.pdf"}
    terms = page(
        "license.html", "License", heading("License", "Pictures may be used under the Lamp License 2.", level=1)
    )
    site = {"": page("", "Lamps", links=links), "license.html": terms}
    _, opened, _ = await explore("Under which license may the pictures be used?", site)
    assert opened[1] == "license.html"
    assert "license.pdf" not in opened


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


async def test_a_small_site_is_read_to_its_end():
    links = {f"Shelf {n}": f"shelf-{n}" for n in range(14)}
    shelves = {f"shelf-{n}": page(f"shelf-{n}", f"Shelf {n}", heading("Things", "Cups.")) for n in range(14)}
    shelves["shelf-13"] = page("shelf-13", "Shelf 13", heading("Things", "The astrolabe is from Nuremberg."))
    decided, opened, _ = await explore("Where is the astrolabe from?", {"": page("", "Home", links=links), **shelves})
    assert len(opened) == 15
    assert isinstance(decided.decision.actions[0], Answer)


async def test_several_questions_are_answered_one_by_one_each_with_its_source():
    decided, opened, _ = await explore("How much is delivery to Europe? And is the floor vase heavy?", SHOP)
    (answer,) = decided.decision.actions
    assert isinstance(answer, Answer)
    assert [source.url.removeprefix(ORIGIN) for source in decided.sources] == ["delivery", "vases"]
    assert [source.question for source in decided.sources] == [
        "How much is delivery to Europe?",
        "And is the floor vase heavy?",
    ]
    assert all(source.quote in answer.text for source in decided.sources)
    assert len(opened) == len(set(opened))


async def test_where_one_of_several_questions_has_no_answer_it_is_named():
    decided, _, _ = await explore("How much is delivery to Europe?\nDo you repair bicycles?", SHOP)
    (end,) = decided.decision.actions
    assert isinstance(end, GiveUp)
    assert "bicycles" in end.reason
    assert "Europe" not in end.reason
    assert "£14" in decided.candidates[0].quote


@pytest.mark.parametrize(
    ("task", "questions"),
    [
        ("Find the mug", ["Find the mug"]),
        (
            "I use a handler. Will the log roll over? It is 3.11.",
            ["I use a handler. Will the log roll over? It is 3.11."],
        ),
        ("1. Who founded Acme?\n2. Where is the office?\n", ["Who founded Acme?", "Where is the office?"]),
        ("Find the mug\nFind the vase", ["Find the mug", "Find the vase"]),
        ("What does the mug cost? And why?", ["What does the mug cost? And why?"]),
        ("", [""]),
    ],
)
def test_a_task_is_split_at_its_question_marks_else_at_its_lines(task, questions):
    assert list(split_task(task)) == questions
