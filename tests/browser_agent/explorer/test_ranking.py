"""Passages are ranked by the question's terms, the name they stand under and the kind of answer they hold."""

from browser_agent.deciders.explorer.question import parse
from browser_agent.deciders.explorer.ranking import Found, Library
from tests.browser_agent.explorer.pages import COPYING, WATCHING, definition, heading, page


def best(task: str) -> Found:
    library = Library(parse(task))
    for known in (COPYING, WATCHING):
        library.add(known)
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


def test_of_two_sections_the_one_that_says_the_words_side_by_side_goes_before_the_other():
    apart = page(
        "a",
        "Guide",
        heading("One", "The lock of a file is held by one thread at a time, and the thread that waits..."),
    )
    beside = page(
        "b", "Guide", heading("Two", "A file lock keeps others out of the list for a while, whatever they do there.")
    )
    library = Library(parse("What is a file lock good for?"))
    library.add(apart)
    library.add(beside)
    assert library.best(1)[0].passage.place.url.endswith("b")


def test_a_word_in_every_title_tells_little():
    library = Library(parse("Where are the logs of Paint?"))
    for n in range(4):
        library.add(page(f"p{n}", f"Page {n} of Paint", heading("Brushes", "Brushes are small.")))
    telling = dict(zip([term.text for term in library.question.terms], library.weights(), strict=True))
    assert telling["Paint"] < telling["logs"] / 2


def test_a_question_for_yes_or_no_is_answered_where_something_is_ruled_in_or_out():
    library = Library(parse("Can a cupboard be shared by several cooks?"))
    library.add(
        page(
            "cupboard.html",
            "Cupboards",
            heading("Made", "A cupboard shared by cooks has several shelves."),
            heading("Used", "A cupboard cannot be shared by several cooks."),
        )
    )
    assert "cannot" in library.best(1)[0].passage.text


def test_what_a_heading_says_of_the_bare_definition_below_it_is_the_answer():
    library = Library(parse("What does kiln.fire do?"))
    library.add(
        page(
            "kiln.html",
            "The kiln",
            heading("fire()", "Heats a pot until it rings.", level=3),
            definition("kiln.fire", "kiln.fire(pot)"),
        )
    )
    found = library.best(1)[0].passage
    assert found.text == "Heats a pot until it rings."
    assert found.place.name == "kiln.fire"
