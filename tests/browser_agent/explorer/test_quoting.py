"""A quote is an exact slice of one section's text, at most 80 words, whatever the text."""

from hypothesis import given
from hypothesis import strategies as st

from browser_agent.deciders.explorer.matching import Matcher
from browser_agent.deciders.explorer.passages import MOST_WORDS, Quoting, places
from browser_agent.deciders.explorer.question import parse
from tests.browser_agent.explorer.pages import COPYING, definition, heading, page

LINES = st.lists(
    st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=400)
    | st.lists(st.sampled_from(["Set it.", "word", "a.b()", "Why?", "x = 1", ">>> run"]), max_size=120).map(" ".join),
    max_size=8,
)


def quoting(task: str = "Which word does x set?") -> Quoting:
    question = parse(task)
    return Quoting(question, Matcher(question), (1 / max(1, len(question.terms)),) * len(question.terms))


@given(LINES)
def test_every_quote_is_an_exact_slice_of_at_most_eighty_words(lines: list[str]):
    observed = page("any", "Any", heading("Any", *lines), definition("any.name", "any.name(x)", *lines))
    for place in places(observed):
        for passage in place.passages():
            words = quoting().quote(passage)
            assert words in (place.section.title if passage.part == "title" else place.section.text)
            assert len(words.split()) <= MOST_WORDS


def test_a_quote_holds_more_of_what_is_asked_where_80_words_have_room_for_it():
    copy = next(place for place in places(COPYING) if place.name == "files.copy")
    second = next(passage for passage in copy.passages() if "symbolic" in passage.text)
    assert quoting("What does files.copy do with a symbolic link?").quote(second) == copy.section.text


def test_of_a_long_section_a_quote_takes_the_part_that_was_asked_for():
    filler = ["The weather was fine that day and nobody thought of anything but fishing." for _ in range(20)]
    observed = page("log", "Log", heading("Log", *filler, "The anchor weighs 900 kg.", *filler))
    passages = [passage for place in places(observed) for passage in place.passages()]
    quoted = quoting("How much does the anchor weigh?").quote(passages[0])
    assert "900 kg" in quoted


def test_where_definitions_stand_within_a_quote_keeps_to_one_paragraph():
    outer = definition("Box", "class Box()", "Holds one thing.", "Not two.")
    observed = page("box", "Box", outer, definition("Box.open", "open()", "Open it."))
    first = next(iter(places(observed)))
    assert [quoting().quote(passage) for passage in first.passages()] == ["class Box()", "Holds one thing.", "Not two."]
