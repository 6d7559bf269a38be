"""Passages are ranked by the question's terms, the name they stand under and the kind of answer they hold."""

from browser_agent.explorer.question import parse
from browser_agent.explorer.ranking import Found, Library
from tests.browser_agent.explorer.pages import COPYING, WATCHING


def best(task: str) -> Found:
    library = Library(parse(task))
    for page in (COPYING, WATCHING):
        library.add(page)
    return library.best(1)[0]


def test_a_passage_under_the_name_asked_for_goes_before_one_that_only_mentions_it():
    found = best("What happens when files.copy meets a symbolic link?")
    assert found.passage.place.name == "files.copy"
    assert "symbolic link" in found.passage.text


def test_an_exception_asked_for_must_be_named():
    assert "SameFileError" in best("Which exception does files.copy raise?").passage.text


def test_a_definition_is_found_by_what_it_does():
    assert best("Which function deletes a whole folder?").passage.place.name == "files.rmtree"


def test_words_for_the_same_thing_meet():
    assert best("Which function removes an entire directory?").passage.place.name == "files.rmtree"


def test_a_version_is_found_where_the_name_is_only_in_the_heading():
    assert "2.4" in best("In which version was the files module added?").passage.text


def test_a_page_taken_in_twice_counts_once():
    library = Library(parse("Which function moves a folder?"))
    library.add(COPYING)
    before = library.weights()
    library.add(COPYING)
    assert library.weights() == before
