"""What a summary may say: values its source holds, however numbers and dates are written; a planted one is found every time."""

import string

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ctxfold.decisions.marks import find_invented

SOURCE = """s4 ai: Looked up the order.
> get_order id=#W2378156
< order_id|status|total|items
< #W2378156|delivered|1,245.50|HAT045, M61CQM
< cancel fee 45 EUR, user mia_li_3668, mail mia.li@example.com, 2024-05-16T10:30, path /srv/data/in.csv, v2.10.1
< see https://a.example/x?y=1 and "the late policy"
s5 ai: paid with credit_card_4421486; 10,20,30; seats 12A, 12B; getUser(id) returned HTTP 404; 3 bags
> write {"text": "All is well.\\nMissing seats\\nOther errors: ~"}"""
STEPS = frozenset({4, 5})


@pytest.mark.parametrize(
    "summary",
    [
        "Order #W2378156 was delivered (total $1,245.50; fee 45 EUR).",
        "On 2024-05-16 at 10:30 mia_li_3668 (mia.li@example.com) paid with credit_card_4421486.",
        "See s4, s5.1, s4:2-3 and s4-s5.",
        "Codes HAT045,M61CQM; id=#W2378156; w2378156's status.",
        "Twenty people and/or Lisbon; e.g. nothing, i.e. ok. It's the user's fee.",
        "On 16 May 2024 or 05/16/2024 at 10:30am; 4 of 20 orders, the 2nd of 12.",
        "It quotes “the late … policy” and the JSON of the URL.",
        "",
    ],
)
def test_what_the_source_holds_may_be_said(summary: str):
    assert find_invented(summary, SOURCE, STEPS) == ()


@pytest.mark.parametrize(
    ("summary", "value"),
    [
        ("Order W9999999 was delivered.", "W9999999"),
        ("Order W237815.", "W237815"),
        ("A fee of 46 EUR.", "46"),
        ("A total of 245.50.", "245.50"),
        ("Seat 12C.", "12C"),
        ("Mail mia.li@example.org.", "mia.li@example.org"),
        ("At 10:31.", "10:31"),
        ("On 2024-05-16T10:31.", "2024-05-16T10:31"),
        ("Two fees of 90.", "90"),
        ("Recall s4-s9.", "s4-s9"),
        ("Booking NTIRXF.", "NTIRXF"),
        ("Version v2.10.", "v2.10"),
        ("Card credit_card_442148.", "credit_card_442148"),
        ("He has 24 bags.", "24"),
        ("On 17 May 2024.", "17 May 2024"),
        ('It says "the early policy".', "the early policy"),
        ("order:W111", "W111"),
        ("Fee １２.", "１２"),
    ],
)
def test_what_it_does_not_hold_is_found(summary: str, value: str):
    assert find_invented(summary, SOURCE, STEPS) == (value,)


def test_a_sum_of_the_log_may_be_told_apart_from_what_the_log_says() -> None:
    source = '{"fares": [{"price": 71}, {"price": 60}], "paid": 161}'
    assert find_invented("Of $161 the fares were $131, so $30 is for insurance.", source, STEPS) == ()
    assert find_invented("Of $161 the fares were $132, so $30 is for insurance.", source, STEPS) == ("$132", "$30")


_LETTERS = st.text(string.ascii_uppercase, min_size=1, max_size=4)
_DIGITS = st.integers(10_000, 999_999_999).map(str)
_IDS = st.one_of(
    st.builds("{}{}".format, _LETTERS, _DIGITS),
    st.builds("{}-{}".format, _LETTERS, _DIGITS),
    st.builds("#{}".format, _DIGITS),
    st.builds("user_{}".format, _DIGITS),
    st.builds("{}.{}@post.example".format, _LETTERS, _DIGITS),
    st.builds("/srv/{}/{}.txt".format, _LETTERS, _DIGITS),
    st.builds("{}.{:02}".format, _DIGITS, st.integers(1, 99)),
    st.uuids().map(str),
    st.dates().map(str),
    _DIGITS,
)
_FRAMES = st.sampled_from(
    ["Order {} was paid.", "({})", "id={}", "Its id: {}", "{}", "'{}'", "the {}'s owner", "a, {}, b", "{}."]
)


@given(value=_IDS, frame=_FRAMES)
@example(value="W0", frame="{}")
def test_a_planted_value_is_always_found(value: str, frame: str):
    assume(value.lower().lstrip("#") not in SOURCE.lower())
    assert find_invented(f"Order #W2378156 was delivered. {frame.format(value)}", SOURCE, STEPS)


_SPOKEN = st.lists(st.one_of(_IDS, st.sampled_from("the order total status paid by and".split())), max_size=12)


@given(lines=st.lists(_SPOKEN.map(" ".join), min_size=1, max_size=6), at=st.integers(0, 5))
def test_a_line_copied_from_the_source_is_never_refused(lines: list[str], at: int):
    assert find_invented(lines[at % len(lines)], "\n".join(lines), STEPS) == ()


def test_numbers_of_any_length_are_compared():
    long = "7" * 6_000
    assert find_invented(f"It is {long}.", long, STEPS) == ()
    assert find_invented(f"It is {long[:-1]}8.", long, STEPS) == (f"{long[:-1]}8",)
    assert find_invented("It is 5.", '{"n": 1e999999999, "m": [' + long + "]}", STEPS) == ()


@given(summary=st.text(max_size=300), source=st.text(max_size=300))
def test_no_text_makes_it_raise(summary: str, source: str):
    assert all(isinstance(value, str) for value in find_invented(summary, source, STEPS))
