"""Where sentences and lines begin and end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold.text.sentences import MAX_SENTENCE, Span, lines, sentences
from tests.ctxfold.text.hostile import LONG, NAMES, within


def parts(text: str) -> list[str]:
    return [span.of(text) for span in sentences(text)]


@pytest.mark.parametrize(
    "one",
    [
        "Mr. Smith paid 3.14 dollars, e.g. for a coffee, etc. and left.",
        "See Fig. 3 and Sec. 4 of the report by J. Doe et al. for more.",
        "Upgrade to v1.2.3 or to 3.11 at once.",
        "The file os.path.join is in lib.py on example.com today.",
        "Item No. 5 is missing.",
        "1. First thing to do",
        "Wait... what happened here?",
    ],
)
def test_a_dot_inside_a_sentence_does_not_end_it(one):
    assert parts(one) == [one]


def test_sentences_end_at_their_marks():
    assert parts('It works. Does it? Yes! He said "Stop." Then (at last.) Nothing.') == [
        "It works.", "Does it?", "Yes!", 'He said "Stop."', "Then (at last.)", "Nothing.",
    ]  # fmt: skip


def test_sentences_of_scripts_without_spaces_end_at_theirs():
    assert parts("これは文です。次の文！「はい。」終わり") == ["これは文です。", "次の文！", "「はい。」", "終わり"]


def test_wrapped_prose_is_one_paragraph_again():
    text = "The interpreter reads the file from the start and\nstops at the first mistake. It then prints what it\nhas found so far.\n\nNext."
    assert parts(text) == [
        "The interpreter reads the file from the start and\nstops at the first mistake.",
        "It then prints what it\nhas found so far.",
        "Next.",
    ]


def test_headings_items_rows_and_code_stand_for_themselves():
    text = "Title\n- one item. It goes on.\n- another\n| a | b |\n>>> f(x). y\n    x = f. g\nName: Jane\nTotal: $12.50"
    assert parts(text) == [
        "Title", "- one item.", "It goes on.", "- another", "| a | b |", ">>> f(x). y", "    x = f. g", "Name: Jane", "Total: $12.50",
    ]  # fmt: skip


def test_a_fenced_block_is_cut_into_lines_only():
    assert parts("```\nOne. Two.\nThree. Four.\n```\nOne. Two.") == [
        "```",
        "One. Two.",
        "Three. Four.",
        "```",
        "One.",
        "Two.",
    ]


def test_a_line_without_an_end_is_cut_where_it_can_be():
    text = ",".join(f'"key{n}":{n}' for n in range(2000))
    found = sentences(text)
    assert max(span.end - span.start for span in found) <= MAX_SENTENCE
    assert "".join(span.of(text) for span in found) == text
    assert all(span.of(text).endswith(",") for span in found[:-1])


def test_lines_keep_their_indentation_and_nothing_at_their_end():
    text = "a  \r\n\r\n   b\rc\n \t \n"
    assert [span.of(text) for span in lines(text)] == ["a", "   b", "c"]


def covers(text: str, spans: list[Span]) -> bool:
    """In order, none empty, none overlapping, and nothing but white space left out."""
    at = 0
    for span in spans:
        if not (at <= span.start < span.end <= len(text)) or text[at : span.start].strip():
            return False
        at = span.end
    return not text[at:].strip()


TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(
        st.sampled_from(
            [
                "One two",
                "e.g",
                ".",
                "! ",
                "\n",
                "\n\n",
                "- ",
                "```\n",
                "    x = 1;",
                "。",
                " the\n",
                '"',
                "No",
                "5",
                "\r\n",
                " " * 90,
                "word " * 60,
            ]
        ),
        max_size=60,
    ).map("".join),
)


@given(TEXTS)
def test_sentences_cover_any_text_in_order(text):
    found = sentences(text)
    assert covers(text, found)
    assert all(span.end - span.start <= MAX_SENTENCE for span in found)


@given(TEXTS)
def test_lines_cover_any_text_in_order(text):
    assert covers(text, lines(text))


@pytest.mark.long
@pytest.mark.parametrize("text", LONG, ids=NAMES)
def test_much_of_one_thing_is_cut_in_time(text):
    within(5.0, lambda: sentences(text))
    within(5.0, lambda: lines(text))


def test_a_day_written_as_an_ordinal_ends_no_sentence() -> None:
    text = "Ship it to Straße des 17. Juni 135 by 3. März 2025. Then call. It was 17. Really."
    assert [span.of(text) for span in sentences(text)] == [
        "Ship it to Straße des 17. Juni 135 by 3. März 2025.",
        "Then call.",
        "It was 17.",
        "Really.",
    ]
