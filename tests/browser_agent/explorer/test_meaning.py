"""An encoder helps to rank passages by what they mean, and to tell how sure one is; without it, words alone do."""

from collections.abc import Sequence

from browser_agent.deciders.explorer.confidence import confidence, trusted
from browser_agent.deciders.explorer.question import parse
from browser_agent.deciders.explorer.ranking import Library
from ctxfold.text.encoder import Likeness
from tests.browser_agent.explorer.pages import heading, page

ASKED = "When do cookies of the jar end?"
JAR = page(
    "jar.html",
    "The jar",
    heading("The jar", "A cookie of the jar is made of oats and butter."),
    heading("Sessions", "What the jar keeps is gone after twelve days."),
)


class Pointing:
    """Knows one text that means what was asked; everything else means something else. Word by word all are as near as it is told."""

    def __init__(self, right: str, words: float = 0.5) -> None:
        self.right, self.words = right, words
        self.given: list[str] = []

    def compare(self, asked: str, texts: Sequence[str]) -> list[Likeness]:
        assert asked == ASKED
        self.given += texts
        return [Likeness(float(self.right in text), self.words) for text in texts]


def library(encoder: Pointing | None) -> Library:
    found = Library(parse(ASKED), encoder)
    found.add(JAR)
    return found


def test_a_passage_that_means_what_is_asked_goes_before_one_that_only_shares_its_words():
    assert "oats" in library(None).best(1)[0].passage.text
    assert "twelve days" in library(Pointing("twelve days")).best(1)[0].passage.text


def test_nearness_in_meaning_makes_surer():
    near, far = library(Pointing("twelve days")), library(Pointing("nothing like it"))
    assert near.best(1)[0].meant == Likeness(1.0, 0.5)
    assert library(None).best(1)[0].meant is None
    assert confidence(near.best(9), near.missing()) > confidence(far.best(9), far.missing())


def test_a_passage_that_passes_over_a_word_of_the_question_makes_less_sure():
    every, some = library(Pointing("twelve days", 0.7)), library(Pointing("twelve days", 0.4))
    assert [found.score for found in every.best(9)] == [found.score for found in some.best(9)]
    assert confidence(every.best(9), every.missing()) > confidence(some.best(9), some.missing())


def test_what_means_nothing_of_the_question_is_not_given_as_its_answer():
    every, none = library(Pointing("twelve days", 0.9)), library(Pointing("nothing like it", 0.0))
    assert trusted(every.best(9), every.missing())
    assert not trusted(none.best(9), none.missing())
    assert not trusted((), 0.0)


def test_signs_tell_likeness_beside_the_score_of_words():
    alone, both = library(None).signs(9), library(Pointing("twelve days")).signs(9)
    assert [(found.passage, found.score) for found, _ in alone] == [(found.passage, found.score) for found, _ in both]
    assert {found.meant for found, _ in alone} == {None}
    assert {found.meant for found, _ in both} == {Likeness(1.0, 0.5), Likeness(0.0, 0.5)}


def test_a_text_is_given_to_the_encoder_once():
    encoder = Pointing("twelve days")
    found = library(encoder)
    found.best(1)
    before = len(encoder.given)
    found.add(page("other.html", "Other", heading("Other", "Cookies again.")))
    found.best(1)
    assert len(encoder.given) > before
    assert len(encoder.given) == len(set(encoder.given))
