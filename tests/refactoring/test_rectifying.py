"""Which prose contradicts what newer events say, and which does not: only what can be tied to a named thing and a field."""

import json

import pytest

from ctxfold import Session
from tests.support.faults import called
from tests.support.sessions import settled

OLD = {
    "booking_id": "BK-7731",
    "cabin": "economy",
    "total": 129.5,
    "date": "2026-05-27",
    "insured": "no",
    "seat": "14C",
}
NEW = {
    "booking_id": "BK-7731",
    "cabin": "business",
    "total": 99.5,
    "date": "2026-06-03",
    "insured": "yes",
    "seat": "2A",
}
OTHER = {
    "booking_id": "BK-9042",
    "cabin": "business",
    "total": 310.0,
    "date": "2026-05-27",
    "insured": "no",
    "seat": "9F",
}


def told(session: Session, booking: dict[str, object]) -> int:
    """One look at a booking."""
    return called(
        session,
        "get_booking",
        {"booking_id": booking["booking_id"]},
        json.dumps(booking),
        "Looking it up for the user.",
    )


def summed_up(summary: str) -> Session:
    """Two bookings looked up and folded; then one of them is told anew."""
    session = Session.open("trip", store=":memory:")
    session.record_turn(user="What about my bookings, please?")
    told(session, OLD)
    told(session, OTHER)
    session.fold(summary=summary, first_step=1, last_step=2)
    told(session, NEW)
    session.record_reply("I have looked at it again.")
    return session


@pytest.mark.parametrize(
    ("summary", "rectified"),
    [
        ("BK-7731 is in economy.", "BK-7731 is in business (s3.3)."),
        ("BK-7731: cabin=economy.", "BK-7731: cabin=business (s3.3)."),
        ("Booking BK-7731 costs 129.5 EUR.", "Booking BK-7731 costs 99.5 (s3.3) EUR."),
        ("BK-7731 has total 130.", "BK-7731 has total 99.5 (s3.3)."),
        ("Read BK-7731. Its date is 2026-05-27.", "Read BK-7731. Its date is 2026-06-03 (s3.3)."),
        ("BK-7731 flies on 2026-05-27, seat 14C.", "BK-7731 flies on 2026-06-03 (s3.3), seat 2A (s3.3)."),
        ("BK-9042 is in business; BK-7731 is in economy.", "BK-9042 is in business; BK-7731 is in business (s3.3)."),
        ("BK-7731 has insured: no.", "BK-7731 has insured: yes (s3.3)."),
    ],
)
def test_the_older_value_is_replaced_where_it_stands(summary: str, rectified: str):
    with summed_up(summary) as session:
        done = session.refactor()
        assert (done.operator, done.applied) == ("fact_rectify", True), done.reason
        assert rectified in settled(session)


@pytest.mark.parametrize(
    "summary",
    [
        "BK-7731 is in business, as BK-9042 is.",
        "BK-9042 is for 310.0 on 2026-05-27, not insured.",
        "BK-7731 was economy and is now business.",
        "BK-7731 was moved from 2026-05-27.",
        "The user asked for economy prices.",
        "Looked up both bookings; economy is sold out.",
        "BK-7731 and BK-9042 were read.",
        "BK-77310 is in economy.",
        "129.5 was paid for something else.",
        "BK-7731 has 3 bags.",
    ],
)
def test_what_is_no_contradiction_is_left_alone(summary: str):
    with summed_up(summary) as session:
        assert session.refactor().operator == "none"


def test_a_value_of_one_thing_inside_another_is_not_held_against_it():
    """The same flight costs another price in another booking: neither is wrong."""
    with Session.open("trip", store=":memory:") as session:
        session.record_turn(user="Look at both, please, and tell me what they cost.")
        for booking, price in (("BK-7731", 120), ("BK-9042", 480)):
            told(session, {"booking_id": booking, "flights": [{"flight_number": "HAT083", "price": price}]})
        session.record_reply("Both have flight HAT083, at quite different prices for what is one and the same plane.")
        session.fold(summary="BK-7731 has flight HAT083 at price 120.", first_step=1, last_step=1)
        assert session.refactor().operator == "none"


def test_a_note_of_the_model_is_corrected_and_the_log_keeps_what_it_said():
    with Session.open("trip", store=":memory:") as session:
        session.record_turn(user="What about my booking, please?")
        told(session, OLD)
        session.record_note("BK-7731 has cabin: economy.")
        noted = session.record_reply("Noted.").step
        told(session, NEW)
        session.record_reply("I have looked at it again.")
        assert session.refactor().applied
        assert "note: BK-7731 has cabin: business (s3.3)." in settled(session)
        assert "BK-7731 has cabin: economy." in session.recall(f"s{noted}").text


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ('{"balance": 1250.5, "currency": "EUR"}', '{"balance": 980.25, "currency": "EUR"}'),
        ("Account overview\nbalance: 1250.5\ncurrency: EUR", "Account overview\nbalance: 980.25\ncurrency: EUR"),
        ("balance=1250.5", "balance=980.25"),
    ],
)
def test_what_a_call_was_about_names_a_result_that_names_nothing(older: str, newer: str):
    with Session.open("bank", store=":memory:") as session:
        session.record_turn(user="What is on my two accounts, and what was booked there?")
        called(session, "get_balance", {"account_id": "AC-77"}, older, "Looking it up for the user, who asked for it.")
        called(session, "get_balance", {"account_id": "AC-88"}, '{"balance": 10.0}')
        session.fold(summary="Account AC-77 has a balance of 1250.5.", first_step=1, last_step=2)
        called(session, "get_balance", {"account_id": "AC-77"}, newer)
        session.record_reply("Looked again.")
        assert session.refactor().operator == "fact_rectify"
        assert "a balance of 980.25 (s3.2)." in settled(session)


def test_corrections_of_a_host_are_held_against_the_event_they_cite():
    with summed_up("Looked at BK-7731; it is refundable.") as session:
        before = settled(session)
        for text in (
            "it is refundable => it is not refundable",
            "it is cheap => it is in business (s3.3)",
            "it is refundable => it is in first class (s3.3)",
            "it is refundable => it is in business (s9.9)",
            "rewrite it all",
        ):
            assert session.refactor("fact_rectify", text).refused, text
            assert settled(session) == before
        assert session.refactor("fact_rectify", "refundable => business (s3.3)").applied
        assert "it is business (s3.3)." in settled(session)


def test_values_that_changed_are_marked_when_it_is_asked_for():
    """No prose is at fault: the older row stands, and the end of the view says what it gave way to."""
    with Session.open("trip", store=":memory:") as session:
        told(session, OLD)
        told(session, NEW)
        session.record_reply("I have looked at it again.")
        assert session.refactor().operator == "none"
        assert session.refactor("fact_rectify").applied
        assert "BK-7731 cabin: business (s2.3), not economy (s1.3)" in settled(session)
        assert session.refactor("fact_rectify").refused


def test_a_constraint_the_user_took_back_is_corrected_in_a_summary():
    with Session.open("trip", store=":memory:") as session:
        session.record_turn(user="Find a flat in Porto. The rent must be at most 900 EUR.")
        session.plan(constraints=["The rent must be at most 900 EUR."])
        called(
            session, "search", {"city": "Porto"}, "A long list of flats, of which none is free before the spring. " * 4
        )
        session.fold(summary="Looking for flats; the rent must be at most 900 EUR.", first_step=1, last_step=1)
        session.record_turn(user="Actually, make the rent at most 1100 EUR.")
        session.plan(constraints=[{"id": "c1", "text": "Actually, make the rent at most 1100 EUR."}])
        session.record_reply("Fine.")
        done = session.refactor("fact_rectify")
        assert done.applied, done.reason
        assert "at most 1100 EUR (s2.1)" in settled(session)
