"""The text form of a directive: what is taken, what is refused and why, and that nothing a model writes gets past the parser as an exception."""

import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ctxfold import Session
from ctxfold.decisions.fold import FoldDirective
from ctxfold.decisions.marks import find_invented
from ctxfold.decisions.reply import Compliance, Parsed, parse
from ctxfold.workspace import By
from tests.ctxfold.decisions.fold.malformed import (
    FOLD,
    GOOD,
    NOT_FITTING,
    NOT_WELL_FORMED,
    SILENT,
    compress,
    context,
    fold,
    ids,
)
from tests.support.sessions import add_steps, cover


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """b1 is s1-s3, then s4 to s8 raw."""
    with Session.open("folding", store=":memory:") as opened:
        add_steps(opened, 8)
        opened.fold("Read three pages.", 1, 3)
        yield opened


def read(session: Session, reply: object) -> Parsed:
    return parse(reply, session.workspace)


@pytest.mark.parametrize(("reply", "why"), NOT_WELL_FORMED + NOT_FITTING)
def test_a_malformed_directive_folds_nothing_changes_nothing_and_says_why(session: Session, reply: object, why: str):
    before = (session.workspace, session.history(1000), session.view().text)
    parsed = read(session, reply)
    assert parsed.directive is None
    assert parsed.reason is not None
    assert any(word in parsed.reason for word in why.split("|")), parsed.reason
    assert "\n" not in parsed.reason
    assert len(parsed.reason) < 400
    assert (parsed.compliance.replies, parsed.compliance.folds, parsed.compliance.refused) == (1, 0, 1)
    assert (session.workspace, session.history(1000), session.view().text) == before


@pytest.mark.parametrize("reply", SILENT)
def test_a_reply_that_asks_for_no_fold_is_neither_a_fold_nor_a_fault(session: Session, reply: str):
    parsed = read(session, reply)
    assert (parsed.directive, parsed.reason) == (None, None)
    assert parsed.compliance == Compliance(replies=1, silent=1)


@pytest.mark.parametrize(
    ("reply", "first", "last"),
    [
        (GOOD, 4, 5),
        (ids("s5", "s4"), 4, 5),
        (ids("b1"), 1, 3),
        (ids("s1-s3", "s4"), 1, 4),
        (ids("s8"), 8, 8),
        (fold(type="granular_condensation", target={"ids": []}), 8, 8),
        (context({"fold": FOLD, "latest": {"step": 8, "action": {"name": "read"}}}), 4, 5),
        (compress([4, 5]), 4, 5),
        (compress([8]), 8, 8),
    ],
)
def test_a_well_formed_directive_names_its_first_and_last_step(session: Session, reply: str, first: int, last: int):
    parsed = read(session, reply)
    assert parsed.directive is not None, parsed.reason
    assert (parsed.directive.first_step, parsed.directive.last_step) == (first, last)
    assert parsed.compliance == Compliance(replies=1, folds=1)
    assert parsed.text == ""


def test_the_last_well_formed_block_counts(session: Session):
    two = f"{ids('s6')}\nNo, rather:\n{ids('s7')}"
    assert read(session, two).directive == FoldDirective(summary="Read two pages.", first_step=7, last_step=7)
    broken = f"{ids('s6')}\n<context>{{]</context>"
    parsed = read(session, broken)
    assert parsed.directive is not None
    assert parsed.directive.first_step == 6
    assert parsed.compliance == Compliance(replies=1, folds=1, malformed=1)
    mixed = f"{ids('s6')} {compress([7, 8])}"
    assert read(session, mixed).directive == FoldDirective(summary="Read pages.", first_step=7, last_step=8)


def test_a_tag_that_is_only_spoken_of_does_not_hide_the_block(session: Session):
    for talk in ("I use the <context> tag now. ", "`<context>` it is: ", "```\n<context>{\n```\n"):
        assert read(session, talk + GOOD).directive is not None, talk
    spoken = fold(summary_text="Wrote a <context> block.")
    parsed = read(session, spoken)
    assert parsed.directive is not None
    assert parsed.directive.summary == "Wrote a <context> block."


def test_the_user_sees_the_reply_without_its_directives(session: Session):
    assert read(session, f"Found it.\n\n{GOOD}\n").text == "Found it."
    assert read(session, f"{GOOD}\nFound it.").text == "Found it."
    assert read(session, f"One.\n{GOOD}\nTwo. {ids('s99')} Three.").text == "One.\nTwo.\nThree."
    assert read(session, 'Found it. <context>{"fold": {"ty').text == "Found it."
    assert read(session, "Found it. " + GOOD.replace("<", "&lt;").replace(">", "&gt;")).text == "Found it."
    for kept in (f"```\n{GOOD}\n```", "The <context> tag.", "a <context>few words</context> b", "  plain  \n"):
        assert read(session, kept).text == kept


def test_an_empty_session_has_nothing_to_fold():
    with Session.open("empty", store=":memory:") as empty:
        for reply in (GOOD, compress([1]), fold(type="granular_condensation", target=...)):
            parsed = parse(reply, empty.workspace)
            assert parsed.directive is None
            assert "nothing to fold yet" in (parsed.reason or "")
        assert parse(context({"fold": None}), empty.workspace).reason is None


def test_a_path_after_a_fork_is_read_in_its_own_order():
    with Session.open("forked", store=":memory:") as forked:
        add_steps(forked, 5)
        forked.branch("create", at=2, to="other")
        add_steps(forked, 2, first=6)
        parsed = parse(ids("s2", "s6"), forked.workspace)
        assert parsed.directive is not None, parsed.reason
        tile = forked.fold("Two.", parsed.directive.first_step, parsed.directive.last_step)
        assert tile.steps == (2, 6)
        assert parse(ids("s3"), forked.workspace).directive is None
        assert parse(ids("s2, s6"), forked.workspace).directive is not None


def test_hostile_replies_are_read_in_linear_time(session: Session):
    hostile = (
        "<context>" * 60_000,
        "<context>{" * 60_000,
        "<context>{</context>" * 30_000,
        "```\n" * 60_000 + GOOD,
        "```\nx\n```\n<context>\n" * 20_000,
        "&lt;context&gt;{" * 40_000,
        "<think></think>" * 40_000,
        "`<context>`" * 40_000,
        "<context>" + " " * 500_000,
    )
    for reply in hostile:
        began = time.process_time()
        assert read(session, reply).compliance.replies == 1
        assert time.process_time() - began < 5


_PIECES = st.sampled_from(
    [
        *("<context>", "</context>", "<compress>", "</compress>", "```", "\n```\n", "`", "~~~", "<think>", "</think>"),
        *(
            "{",
            "}",
            '{"fold":',
            '"target":{"ids":["s4"]}',
            "&lt;context&gt;",
            "null",
            GOOD,
            compress([4, 5]),
            ids("s7"),
        ),
    ]
)
_REPLIES = st.lists(st.one_of(_PIECES, st.text(max_size=12)), max_size=14).map("".join)


@st.composite
def _damaged(draw: st.DrawFn) -> str:
    """A directive with a few places cut out, doubled or overwritten."""
    text = draw(st.sampled_from([GOOD, compress([4, 5, 6]), fold(type="granular_condensation", target=...)]))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = min(len(text), at + draw(st.integers(0, 12)))
        text = (
            text[:at]
            + draw(st.sampled_from(["", text[at:end] * 2, '"', "}", "\\", "s9", "<", "0", "\x00"]))
            + text[end:]
        )
    return text


@given(reply=st.one_of(_REPLIES, _damaged()))
@example(reply="<context>{}</context>")
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_written_a_directive_that_comes_out_can_be_applied(session: Session, reply: str):
    before = session.workspace
    parsed = parse(reply, before)
    assert session.workspace == before
    count = parsed.compliance
    assert (count.replies, count.folds + count.silent + count.refused) == (1, 1)
    assert (parsed.directive is None) == (count.folds == 0)
    assert (parsed.reason is None) == (count.refused == 0)
    wish = parsed.directive
    if wish is not None and len(wish.summary or "") < 200 and not find_invented(wish.summary or "", "", frozenset()):
        session.fold(wish.summary, wish.first_step, wish.last_step, by=By("model"))
        assert [step for tile in cover(session) for step in tile] == list(range(1, 9))
        session.undo()
    assert cover(session) == [(1, 2, 3), (4,), (5,), (6,), (7,), (8,)]
