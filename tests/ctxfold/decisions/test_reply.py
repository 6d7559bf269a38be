"""The `<context>` block: what is read, what is refused and why, and that no text of a model gets past as an exception."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ctxfold import FoldDirective, Parsed, Session, parse
from ctxfold.workspace import By, MemoryParts
from tests.support.sessions import add_steps, cover


def context(**fields: object) -> str:
    """A block with these fields."""
    return f"<context>{json.dumps(fields)}</context>"


def fold(first: object = 4, last: object = 5, summary: object = "Read two pages.", **more: object) -> str:
    """A block with a fold as the tool takes it."""
    return context(fold={"summary": summary, "first_step": first, "last_step": last, **more})


GOOD = fold()
BARE = GOOD.removeprefix("<context>").removesuffix("</context>")


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """b1 is s1-s3, then s4 to s8 raw."""
    with Session.open("folding", store=":memory:") as opened:
        add_steps(opened, 8)
        opened.fold("Read three pages.", 1, 3)
        yield opened


def read(session: Session, reply: str) -> Parsed:
    return parse(reply, session.workspace)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("<context>\n" + BARE[:40], "cannot be read; write <context>"),
        (f"<context>{BARE[:60]}</context>", "cannot be read; write <context>"),
        (f"<context>{BARE}{BARE}</context>", "strict JSON"),
        ("<context>{'fold': null}</context>", "strict JSON"),
        ('<context>{"fold": null,}</context>', "strict JSON"),
        ('<context>{"fold": NaN}</context>', "strict JSON"),
        ('<context>{"fold": null, "fold": null}</context>', "strict JSON"),
        ('<context>{"a": ' + "[" * 15_000 + "]" * 15_000 + "}</context>", "strict JSON"),
        (fold(summary="x" * 40_000), "cannot be read"),
        (context(fold="s4-s5"), "cannot be read"),
        (context(Fold={"summary": "x"}), "cannot be read"),
        (fold(keep=True), "cannot be read"),
        (fold(summary=["Read", "two"]), "cannot be read"),
        (context(memory={"wants": "x"}), "the parts of a memory are wanted, laid_down, state"),
        (context(memory={"wanted": 7}), "cannot be read"),
        (fold(summary=" \n\t "), "empty"),
        (fold(5, 4), "comes after"),
        (fold(2, 5), "inside a folded block"),
        (fold(8, 99), "s99 is not on this branch"),
    ],
)
def test_a_block_that_cannot_be_used_folds_nothing_and_says_what_to_write(session: Session, reply: str, why: str):
    before = session.workspace
    parsed = read(session, reply)
    assert (parsed.directive, parsed.memory, parsed.text) == (None, None, "")
    assert why in (parsed.reason or ""), parsed.reason
    assert "\n" not in (parsed.reason or "")
    assert session.workspace == before


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "  plain  \n",
        "The <context> tag holds what to fold; write it when you are done.",
        "a <context>few words</context> b",
        f"```\n{GOOD}\n```",
        f"````\n```\n{GOOD}\n```\n````",
        f"Write `{GOOD}` to fold.",
        f"{GOOD}</think>Done.",
        GOOD.replace("<", "&lt;"),
        GOOD.replace("<context>", "<context id=1>"),
    ],
)
def test_a_reply_that_only_talks_of_a_block_is_left_as_it_is(session: Session, reply: str):
    assert read(session, reply) == Parsed(text=reply)


@pytest.mark.parametrize(
    ("reply", "first", "last"),
    [
        (GOOD, 4, 5),
        (fold(1, 3), 1, 3),
        (context(fold={"summary": "Read a page."}), 8, 8),
        (context(fold={"summary": "Read.", "first_step": 7}, latest={"step": 8, "action": {"name": "read"}}), 7, 8),
    ],
)
def test_a_fold_names_its_first_and_last_step(session: Session, reply: str, first: int, last: int):
    parsed = read(session, reply)
    assert parsed.directive is not None, parsed.reason
    assert (parsed.directive.first_step, parsed.directive.last_step) == (first, last)
    assert parsed.text == ""


def test_a_fold_tells_its_sub_task_in_a_reply_as_in_the_tool(session: Session):
    sub_task = {"status": "failed", "goal": "Log in", "outcome": "The shop refused it.", "todo": "t3"}
    parsed = read(session, fold(**sub_task))
    assert parsed.directive is not None
    assert parsed.directive.told == sub_task
    assert read(session, fold(status="lost")).reason


def test_a_memory_is_read_part_by_part_with_or_without_a_fold(session: Session):
    memory = {"wanted": "A hotel (s1.1).", "laid_down": "Under 100 EUR.", "next": "Book it."}
    assert read(session, context(memory=memory)) == Parsed(memory=MemoryParts(**memory))
    assert read(session, context(memory=memory, fold={"summary": "Read."})).directive is not None


def test_the_last_well_formed_block_counts(session: Session):
    two = f"{fold(6, 6)}\nNo, rather:\n{fold(7, 7)}"
    assert read(session, two).directive == FoldDirective(summary="Read two pages.", first_step=7, last_step=7)
    broken = read(session, f"{fold(6, 6)}\n<context>{{]</context>")
    assert broken.directive is not None
    assert broken.directive.first_step == 6


def test_a_tag_that_is_only_talked_about_does_not_hide_the_block(session: Session):
    for talk in ("I use the <context> tag now. ", "`<context>` it is: ", "```\n<context>{\n```\n"):
        assert read(session, talk + GOOD).directive is not None, talk
    parsed = read(session, fold(summary="Wrote a <context> block with ```."))
    assert parsed.directive is not None
    assert parsed.directive.summary == "Wrote a <context> block with ```."


def test_the_user_sees_the_reply_without_its_blocks(session: Session):
    assert read(session, f"Found it.\n\n{GOOD}\n").text == "Found it."
    assert read(session, f"{GOOD}\nFound it.").text == "Found it."
    assert read(session, f"One.\n{GOOD}\nTwo. {fold(99)} Three.").text == "One.\nTwo.\nThree."
    assert read(session, 'Found it. <context>{"fold": {"ty').text == "Found it."


def test_an_empty_session_has_nothing_to_fold():
    with Session.open("empty", store=":memory:") as empty:
        assert "nothing to fold yet" in (parse(GOOD, empty.workspace).reason or "")
        assert parse(context(fold=None), empty.workspace).reason is None


def test_a_path_after_a_fork_is_read_in_its_own_order():
    with Session.open("forked", store=":memory:") as forked:
        add_steps(forked, 5)
        forked.branch("create", at=2, to="other")
        add_steps(forked, 2, first=6)
        parsed = parse(fold(2, 6), forked.workspace)
        assert parsed.directive is not None, parsed.reason
        assert forked.fold("Two.", parsed.directive.first_step, parsed.directive.last_step).steps == (2, 6)
        assert parse(fold(3, 3), forked.workspace).directive is None


def test_hostile_replies_are_read_in_linear_time(session: Session):
    hostile = (
        "<context>" * 60_000,
        "<context>{" * 60_000,
        "<context>{</context>" * 30_000,
        "```\n" * 60_000 + GOOD,
        "```\nx\n```\n<context>\n" * 20_000,
        "<think></think>" * 40_000,
        "`<context>`" * 40_000,
        "<context>" + " " * 500_000,
    )
    for reply in hostile:
        began = time.process_time()
        read(session, reply)
        assert time.process_time() - began < 5


_PIECES = st.sampled_from(
    ["<context>", "</context>", "```", "\n```\n", "`", "~~~", "<think>", "</think>", "{", "}", '{"fold":', "null", GOOD]
)
_REPLIES = st.lists(st.one_of(_PIECES, st.text(max_size=12)), max_size=14).map("".join)


@st.composite
def _damaged(draw: st.DrawFn) -> str:
    """A block with a few places cut out, doubled or overwritten."""
    text = draw(st.sampled_from([GOOD, fold(7, 7), context(fold={"summary": "Read."}, memory={"facts": "x"})]))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = min(len(text), at + draw(st.integers(0, 12)))
        put = draw(st.sampled_from(["", text[at:end] * 2, '"', "}", "\\", "s9", "<", "0", "\x00"]))
        text = text[:at] + put + text[end:]
    return text


@given(reply=st.one_of(_REPLIES, _damaged()))
@example(reply="<context>{}</context>")
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_written_a_fold_that_comes_out_can_be_applied(session: Session, reply: str):
    before = session.workspace
    parsed = parse(reply, before)
    assert session.workspace == before
    assert parsed.directive is None or parsed.reason is None
    wish = parsed.directive
    if wish is not None and len(wish.summary or "") < 200:
        session.fold(wish.summary, wish.first_step, wish.last_step, by=By("model"))
        assert [step for tile in cover(session) for step in tile] == list(range(1, 9))
        session.undo()
    assert cover(session) == [(1, 2, 3), (4,), (5,), (6,), (7,), (8,)]
