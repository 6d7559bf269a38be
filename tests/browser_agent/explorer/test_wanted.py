"""What a question wants more closely than its kind: its subject, the measure of a figure, an error by name; and what that moves to the front."""

import pytest

from browser_agent.deciders.explorer.matching import Matcher
from browser_agent.deciders.explorer.question import parse, wanted
from browser_agent.deciders.explorer.ranking import Library
from browser_agent.observation import Section
from tests.browser_agent.explorer.pages import definition, heading, page


def first(asked: str, *sections: Section) -> str:
    library = Library(parse(asked))
    library.add(page("kiln.html", "The kiln", *sections))
    return library.best(1)[0].passage.text


@pytest.mark.parametrize(
    ("asked", "about"),
    [
        ("What does fire do with a cracked pot?", "fire"),
        ("When is kiln.cool called?", "cool"),
        ("Which glaze shines?", ""),
    ],
)
def test_the_name_in_the_place_of_the_subject_is_what_a_question_is_about(asked: str, about: str):
    assert wanted(asked).about == about


def test_a_figure_counts_where_it_is_of_the_measure_that_is_asked_for():
    asked = wanted("How long does the kiln stay hot?")
    assert asked.measured("It stays so for six hours.")
    assert not asked.measured("It stays so at 900 degrees.")
    assert wanted("On which port does the kiln listen?").measured("It listens on port 7000.")


def test_an_error_counts_only_where_one_is_asked_for():
    assert wanted("What is raised by a cold kiln?").raises("A ColdError says so.")
    assert not wanted("What is in a cold kiln?").raises("A ColdError says so.")
    assert not wanted("What is raised by a cold kiln?").raises("A cold kiln says so.")


def test_the_share_of_a_text_that_is_about_the_question_is_told():
    matcher = Matcher(parse("Which glaze shines?"))
    assert matcher.focus("glaze shines") == 1.0
    assert 0 < matcher.focus("glaze of an ancient potter from the hills shines") < 0.5
    assert matcher.focus("") == 0.0


def test_a_passage_with_a_figure_of_the_measure_goes_before_one_that_only_shares_its_words():
    said = "The kiln stays hot after firing."
    assert "hours" in first(
        "How long does the kiln stay hot?",
        heading("Heat", said, "Fans help."),
        heading("Hours", "The kiln stays hot for six hours."),
    )


def test_what_stands_under_the_subject_goes_before_what_speaks_of_it_elsewhere():
    asked = "What does fire do with a cracked pot?"
    elsewhere = definition("kiln.pot", "kiln.pot(fire)", "Says whether a cracked pot stands the fire.")
    under = definition("kiln.fire", "kiln.fire(pot)", "Heats a pot, cracked or not.")
    assert "Heats" in first(asked, elsewhere, under)
