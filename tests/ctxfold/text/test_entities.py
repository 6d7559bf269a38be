"""What in a text carries a value."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold.text.sentences import Span
from ctxfold.text.values import entities
from tests.ctxfold.text.hostile import LONG, NAMES, within


def found(text: str) -> list[str]:
    return [span.of(text) for span in entities(text)]


@pytest.mark.parametrize(
    "value",
    [
        "https://example.com/a?b=1&c=2",
        "ftp://host/x_(1)",
        "mia.li+x@example.co.uk",
        "/usr/share/doc",
        "./src/lib",
        "C:\\Users\\mia",
        "report-final.pdf",
        "index.html",
        "os.path.join",
        "2026-03-05",
        "2026-03-05T12:30:00Z",
        "March 5, 2026",
        "5 March 2026",
        "12:30",
        "3:30 pm",
        "1.2.3",
        "v1.2.3-rc1",
        "L1002",
        "#W2378156",
        "AB-123-X",
        "mia_li_3668",
        "basic_economy",
        "123e4567-e89b-12d3-a456-426614174000",
        "deadbeef1",
        "0x7fff",
        "JFK",
        "$12.50",
        "$ 12",
        "1,299.00 USD",
        "12 MB",
        "5 seconds",
        "8 %",
        "90°C",
        "--no-cache",
        "@mia",
        "1,234,567",
    ],
)
def test_a_value_in_running_text_is_found_whole(value):
    for text in (f"we said {value} and went on", f"It was ({value}).", value):
        assert value in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "and/or",
        "he said so",
        "e.g. this, i.e. that",
        "Wait... what?",
        "well-known facts",
        "A B",
        "one of us",
        "WE DO NOT SHOUT AT ANYONE HERE",
        "1. First",
    ],
)
def test_plain_words_carry_no_value(text):
    assert found(text) == []


def test_quoted_strings_are_found_without_their_quotes():
    assert found("He pressed \"Add to cart\" and then “Buy now”, not `rm` or 'cancel it'.") == [
        "Add to cart",
        "Buy now",
        "rm",
        "cancel it",
    ]


def test_the_apostrophe_of_a_word_opens_no_quote():
    assert found("It's the users' file, isn't it") == []


def test_pairs_are_found_with_their_names():
    assert "user_id = mia" in found("so user_id = mia was set")
    assert 'name="Mia Li"' in found('with name="Mia Li" given')
    assert found(
        "Status: shipped today\nwe wrote: this is what happened there and it goes on and on until the very end of it all."
    ) == ["Status: shipped today"]


def test_of_json_the_values_are_found_and_not_the_keys():
    assert found('{"id": "L1002", "state": "active", "days": 15}') == ["L1002", "active", "15"]


def test_values_between_characters_of_another_script_are_found():
    assert found("订单号AB123已发货，2024年3月") == ["AB123", "2024年3月"]


def test_a_run_without_blanks_is_cut():
    assert [len(value) for value in found("data " + "A1" * 5000)] == [200]
    assert [len(value) for value in found("https://e.com/" + "x" * 5000)] == [200]


TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(
        st.sampled_from(
            [
                "word ",
                "A1",
                "://",
                "@",
                "a.b",
                '"',
                "'",
                "=",
                ": ",
                "\n",
                "$",
                "1,",
                "000",
                " ",
                "/",
                "\\",
                "March ",
                "5",
                "JFK ",
                "(",
                ")",
                "文",
                "“",
            ]
        ),
        max_size=60,
    ).map("".join),
)


def is_ordered(text: str, spans: list[Span]) -> bool:
    return all(0 <= span.start < span.end <= len(text) for span in spans) and all(
        one.end < two.start for one, two in pairwise(spans)
    )


@given(TEXTS)
def test_entities_are_exact_and_in_order(text):
    assert is_ordered(text, entities(text))


@given(
    st.lists(st.sampled_from(["plain", "words", "only", "here"]), max_size=20), st.from_regex(r"\A[A-Z]{1,3}\d{2,6}\Z")
)
def test_an_id_nobody_foresaw_is_found_wherever_it_stands(around, code):
    text = " ".join([*around, code, *around])
    assert any(code in span.of(text) for span in entities(text))


@pytest.mark.parametrize("text", LONG, ids=NAMES)
def test_much_of_one_thing_is_searched_in_time(text):
    within(5.0, lambda: entities(text))
