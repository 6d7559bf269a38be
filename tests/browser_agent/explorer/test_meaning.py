"""An encoder helps to rank passages by what they mean, and to tell how sure one is; without it, words alone do."""

from collections.abc import Sequence

from browser_agent.explorer.confidence import confidence
from browser_agent.explorer.question import parse
from browser_agent.explorer.ranking import Library
from tests.browser_agent.explorer.pages import heading, page

ASKED = "When do cookies of the jar end?"
JAR = page(
    "jar.html",
    "The jar",
    heading("The jar", "A cookie of the jar is made of oats and butter."),
    heading("Sessions", "What the jar keeps is gone after twelve days."),
)


class Pointing:
    """Knows one text that means what was asked; everything else means something else."""

    def __init__(self, right: str) -> None:
        self.right = right
        self.given: list[str] = []

    def encode(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        self.given += texts
        return [(1.0, 0.0) if text == ASKED or self.right in text else (0.0, 1.0) for text in texts]


def library(encoder: Pointing | None) -> Library:
    found = Library(parse(ASKED), encoder)
    found.add(JAR)
    return found


def test_a_passage_that_means_what_is_asked_goes_before_one_that_only_shares_its_words():
    assert "oats" in library(None).best(1)[0].passage.text
    assert "twelve days" in library(Pointing("twelve days")).best(1)[0].passage.text


def test_nearness_in_meaning_makes_surer():
    near, far = library(Pointing("twelve days")), library(Pointing("nothing like it"))
    assert near.best(1)[0].meant == 1.0
    assert library(None).best(1)[0].meant is None
    assert confidence(near.best(9), near.missing()) > confidence(far.best(9), far.missing())


def test_a_text_is_given_to_the_encoder_once():
    encoder = Pointing("twelve days")
    found = library(encoder)
    found.best(1)
    before = [text for text in encoder.given if text != ASKED]
    found.add(page("other.html", "Other", heading("Other", "Cookies again.")))
    found.best(1)
    after = [text for text in encoder.given if text != ASKED]
    assert len(after) > len(before)
    assert len(after) == len(set(after))
