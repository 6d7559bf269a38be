"""Values of a summary that the log holds stay as they are, in any usual notation; each planted one is marked."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctxfold.decisions.marks import MARK, LogEvidence

LOG = (
    "Any seat for order #W2378156? I am mia.li@example.com, user mia_li_3668, and it cost 1,245.50 EUR.",
    "order_id|status|total|items\n#W2378156|delivered|1,245.50|HAT045, M61CQM\ncancel fee 45 EUR, 2024-05-16T10:30:00Z",
    '{"name": "write", "args": {"path": "/srv/app/src/server/routes.py", "text": "All is well.\\nMissing seats\\n~"}}',
    "class Session:\n    def read_log(self): ...  # src/server/routes.py:12\n  40 passed, 13 failed in 1200 ms; seats 12A, 12B",
    'GET https://shop.example/api/orders?page=17 returned 404; v2.10.1, 5.0.0; "the late policy"; getUser(id), 3 bags',
)
STEPS = range(1, 20)


@pytest.mark.parametrize(
    "summary",
    [
        "Order #W2378156 was delivered (total $1,245.50, or 1245.5; fee €45.00).",
        "On 2024-05-16 at 10:30 **mia_li_3668** (mia.li@example.com) asked; id=#W2378156, W2378156's state, 2024-05-16.",
        "See s4, s5.1, s4:2-3, s12.2:40-80 and s4-s9.",
        "Codes HAT045,M61CQM; of 40 tests 13 failed: 13/40, 12-40, 40-13; the 2nd of 3 bags, 4-step, 5x.",
        "`src/server/routes.py`, `server/routes.py:12-40`, .../routes.py:12, ~/src/server/routes.py, …/app/src/server/routes.py.",
        "`Session.read_log`, Session.read_log() and `read_log`; getUser, HAT045/M61CQM, and/or; e.g. nothing, i.e. ok.",
        "GET /api/orders returned 404 (https://shop.example/api/orders?page=17); 2.10.1, v2.10, 5.0.0; 12A/12B; HAT045s.",
        'It quotes “the late … policy”, "Any seat for order", `is well` and "Missing seats"; 1,200 ms took 1200ms, 45EUR; 10:30-10:30, $45.00/seat.',
        "<b>404</b> and 订单W2378156已送达，共45欧元。Fee ４５. Twenty people; IT IS DONE.",
        "",
    ],
)
def test_what_the_log_holds_is_not_marked(summary: str) -> None:
    assert LogEvidence(LOG, STEPS).mark(summary) == (summary, ())


@pytest.mark.parametrize(
    ("summary", "marked"),
    [
        ("Order W9999999 was delivered.", "Order W9999999 [not in the log] was delivered."),
        ("Order W237815.", "Order W237815 [not in the log]."),
        (
            "A fee of $46, 47% or 48 EUR",
            "A fee of $46 [not in the log], 47% [not in the log] or 48 [not in the log] EUR",
        ),
        ("Seat 12C, mail mia.li@example.org", "Seat 12C [not in the log], mail mia.li@example.org [not in the log]"),
        ("At 10:31 on 2024-05-17T10:30.", "At 10:31 [not in the log] on 2024-05-17T10:30 [not in the log]."),
        ("Recall s4-s90, s77.", "Recall s4-s90 [not in the log], s77 [not in the log]."),
        ("**NTIRXF** `src/routes.py`.", "**NTIRXF** [not in the log] `src/routes.py` [not in the log]."),
        ("/srv/app/server/routes.py:12", "/srv/app/server/routes.py [not in the log]:12"),
        ("/src/server/routes.py", "/src/server/routes.py [not in the log]"),
        ("Session.readAll, user_name", "Session.readAll [not in the log], user_name [not in the log]"),
        ('He said "the early policy", or.', 'He said "the early policy" [not in the log], or.'),
        ("W111 and W111 [not in the log] again", "W111 [not in the log] and W111 [not in the log] again"),
        ("HAT045 [not in the log] left", "HAT045 left"),
        ("Fee １９.", "Fee １９ [not in the log]."),
        ("src/handlers/users", "src/handlers/users [not in the log]"),
    ],
)
def test_what_it_lacks_is_marked_where_it_is_said(summary: str, marked: str) -> None:
    text, values = LogEvidence(LOG, STEPS).mark(summary)
    assert (text, bool(values)) == (marked, MARK in marked)
    assert all(value in summary for value in values)


_LETTERS = st.text(string.ascii_letters, min_size=1, max_size=4)
_DIGITS = st.integers(10, 999_999_999).map(str)
_WORDS = st.lists(
    st.sampled_from("late policy never seat order twice delivered is the".split()), min_size=3, max_size=6
)
_PLANTED = st.one_of(
    st.builds("{}{}".format, _LETTERS.map(str.upper), _DIGITS),
    st.builds("{}-{}".format, _LETTERS.map(str.upper), _DIGITS),
    st.builds("{}_{}".format, _LETTERS, st.sampled_from(["li_3668", "id", "orders"])),
    st.builds("#{}".format, _DIGITS),
    st.builds("{}.{}@post.example".format, _LETTERS, _DIGITS),
    st.builds("/srv/app/{}/{}.{}".format, _LETTERS, _LETTERS, st.sampled_from(["py", "txt"])),
    st.builds("src/{}/routes.py".format, _LETTERS),
    st.builds("{}.{:02}".format, _DIGITS, st.integers(1, 99)),
    st.builds("{:,}".format, st.integers(1_000, 9_999_999)),
    st.uuids().map(str),
    st.dates().map(str),
    st.times().map(lambda time: f"{time:%H:%M}"),
    _DIGITS,
    _WORDS.map(" ".join).map('"{}"'.format),
)
_FRAMES = [
    "Order {} was paid.",
    "({})",
    "id={}",
    "Its id: {}",
    "{}",
    "**{}**",
    "`{}` is",
    "a, {}, b",
    "- {}: done",
    "{}.",
]


@given(value=_PLANTED, frame=st.sampled_from(_FRAMES))
def test_a_planted_value_is_always_marked(value: str, frame: str) -> None:
    plain = value.strip('"#').lower().replace(",", "")
    held = rf"(?<![a-z0-9]){re.escape(plain)}(?![a-z0-9])"
    log = "\n".join(
        LOG
    ).lower()  # `1,245.50` may be one number or a list: what stands between its commas counts as held
    assume(not re.search(held, log) and not re.search(held, log.replace(",", "")))
    text, values = LogEvidence(LOG, STEPS).mark(f"Order #W2378156 was delivered. {frame.format(value)}")
    assert values
    assert MARK in text.partition(value)[2]


_SPOKEN = st.lists(st.one_of(_PLANTED, st.sampled_from("the order total status paid by and".split())), max_size=12)


@given(lines=st.lists(_SPOKEN.map(" ".join), min_size=1, max_size=6), at=st.integers(0, 5))
def test_a_line_copied_from_the_log_is_never_marked(lines: list[str], at: int) -> None:
    copied = lines[at % len(lines)]
    assert LogEvidence(lines).mark(copied) == (copied, ())


@given(summary=st.text(max_size=300), log=st.lists(st.text(max_size=300), max_size=3))
def test_no_text_makes_it_raise_and_nothing_but_marks_is_added(summary: str, log: list[str]) -> None:
    assert LogEvidence(log).mark(summary)[0].replace(MARK, "") == summary.replace(MARK, "")
