"""Passages are ranked by BM25 and by the name they are defined under; each is an exact slice of its page."""

import pytest

from browser_agent.deciders.explorer import MOST_WORDS, Found, Library, Question
from tests.browser_agent.deciders.pages import COPYING, WATCHING, definition, heading, page


def rank(task: str, *pages: object) -> list[Found]:
    library = Library(Question.read(task))
    for known in pages or (COPYING, WATCHING):
        library.add(known)  # type: ignore[arg-type]
    return library.rank()


def test_the_entry_of_a_name_goes_before_what_only_mentions_it():
    first = rank("What happens when files.copy meets a symbolic link?")[0]
    assert first.named
    assert first.passage.place.name == "files.copy"
    assert "target becomes a link too" in first.passage.quote


@pytest.mark.parametrize("name", ["files.copy", "copy()", "`copy`"])
def test_a_name_is_known_by_its_form(name: str):
    assert rank(f"What does {name} return?")[0].passage.place.name == "files.copy"


def test_a_plain_word_is_no_name():
    assert Question.read("How do I copy a file?").names == ()


def test_a_rare_word_tells_more_than_a_common_one():
    first = rank("Which functions delete a folder?")[0]
    assert first.passage.place.name == "files.rmtree"


def test_a_quote_is_a_slice_of_the_page_of_at_most_eighty_words():
    long = " ".join(f"word{n} lamp." for n in range(200))
    one = page("long", "Long", heading("Lamps", long, "A last lamp line."))
    for found in rank("lamp", one):
        assert found.passage.quote in one.sections[0].text
        assert len(found.passage.quote.split()) <= MOST_WORDS


def test_candidates_do_not_overlap_and_may_share_a_section():
    long = heading("Lamps", *(f"Lamp {n} " + "shines on and on. " * 15 for n in range(9)))
    found = rank("lamp", page("long", "Long", long))
    assert len(found) == 3
    assert not any(a.passage.overlaps(b.passage) for a in found for b in found if a is not b)


def test_two_names_of_one_text_both_have_it():
    flags = page("flags", "Flags", definition("-q", "-q"), definition("--quiet", "--quiet", "Say nothing at all."))
    assert {one.passage.place.name for one in rank("What says nothing?", flags)} & {"-q", "--quiet"}


def test_lines_that_are_nothing_but_links_are_no_passages():
    listed = page("list", "List", heading("Contents", "Copy a lamp", "A lamp shines."), links={"Copy a lamp": "copy"})
    assert all("Copy a lamp" not in one.passage.quote for one in rank("Copy a lamp", listed))


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
    assert rank("What does xml.tree.parse report?", tree)[0].named
    assert not rank("What does json.parse report?", tree)[0].named


def test_the_text_of_an_entry_goes_before_the_line_that_defines_it():
    quotes = [one.passage.quote for one in rank("What does files.rmtree delete?")]
    assert quotes[0].startswith("Delete a whole folder")
    assert not any("retries=3" in quote for quote in quotes)
