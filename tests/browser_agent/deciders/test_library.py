"""Passages are ranked by BM25 and by the name they are defined under; each is an exact slice of its page."""

from browser_agent.deciders.explorer import Library, Passage, Question
from tests.browser_agent.deciders.pages import COPYING, WATCHING, definition, heading, page


def rank(task: str, *pages: object) -> list[Passage]:
    library = Library(Question.read(task))
    for known in pages or (COPYING, WATCHING):
        library.add(known)  # type: ignore[arg-type]
    return library.rank()


def test_the_entry_of_a_name_goes_before_what_only_mentions_it():
    first = rank("What happens when files.copy meets a symbolic link?")[0]
    assert first.is_named
    assert first.name == "files.copy"
    assert "target becomes a link too" in first.quote


def test_lines_that_are_nothing_but_links_are_no_passages():
    listed = page("list", "List", heading("Contents", "Copy a lamp", "A lamp shines."), links={"Copy a lamp": "copy"})
    assert all("Copy a lamp" not in one.quote for one in rank("Copy a lamp", listed))


def test_a_page_is_taken_in_once():
    library = Library(Question.read("symbolic link"))
    library.add(COPYING)
    before = library.rank()
    library.add(COPYING)
    assert library.rank() == before


def test_a_name_is_known_by_what_stands_above_its_entry():
    tree = page(
        "xml.tree.html",
        "module xml.tree",
        definition("parse", "parse(source, events)", "Read events."),
        COPYING.sections[0],
    )
    assert rank("What does xml.tree.parse report?", tree)[0].is_named
    assert not rank("What does json.parse report?", tree)[0].is_named


def test_the_text_of_an_entry_goes_before_the_line_that_defines_it():
    quotes = [one.quote for one in rank("What does files.rmtree delete?")]
    assert quotes[0].startswith("Delete a whole folder")
    assert not any("retries=3" in quote for quote in quotes)
