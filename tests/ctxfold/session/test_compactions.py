"""What a host's summary dropped is told by kind, and comes back as exact lines of the log."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxfold import AssistantSaid, Called, HostCompacted, Session, ToolAnswered, UserSaid
from ctxfold.decisions.intent.dropped import Dropped
from ctxfold.errors import InputError

SUMMARY = "Refund ORD-118 in full. Work goes on in refunds.py; never send mail."


@pytest.fixture
def session() -> Iterator[Session]:
    with Session.open("host", store=":memory:") as opened:
        opened.record_transcript(
            [
                UserSaid("u1", "Refund what is late. Never send mail.\nPay at most 40.50 EUR each."),
                Called("c1", "list_late_orders", {"status": "late"}),
                ToolAnswered("c1", "ORD-118 late ACC-9001\nORD-204 late ACC-9002\nORD-777 late ACC-9003"),
                AssistantSaid("a1", "ORD-118 and ORD-204 it is."),
                Called("c2", "Read", {"file_path": "/srv/shop/refunds.py"}),
                ToolAnswered("c2", "import mail"),
                Called("c3", "Edit", {"file_path": "/srv/shop/accounts/rules.toml", "old": "a", "new": "b"}),
                ToolAnswered("c3", "ok"),
                HostCompacted("k1", SUMMARY),
                Called("c4", "pay", {"account": "ACC-9002"}),
                Called("c5", "list_late_orders", {}),
                ToolAnswered("c5", "none"),
                ToolAnswered("c4", "done"),
            ]
        )
        yield opened


def lost(found: Dropped, kind: str) -> list[str]:
    return [each.text for each in found.lost if each.kind == kind]


def test_what_the_summary_holds_is_kept_and_the_rest_is_named_by_kind(session: Session) -> None:
    found = session.dropped()
    assert lost(found, "rule") == ["Pay at most 40.50 EUR each.", "Refund what is late."]
    assert lost(found, "value") == ["ACC-9002", "ORD-204"], "used since first; of those nothing named, none"
    assert lost(found, "file") == ["/srv/shop/accounts/rules.toml"]
    assert (found.compaction, found.of, dict(found.kept)) == (1, 1, {"rule": 1, "value": 1, "file": 1})


def test_each_loss_has_the_line_that_holds_it_and_how_often_it_was_named(session: Session) -> None:
    for each in session.dropped().lost:
        assert each.text in session.recall(each.ref).text
    account = next(each for each in session.dropped().lost if each.text == "ACC-9002")
    assert (account.before, account.after) == (0, 1)


def test_what_calls_named_and_a_text_leaves_out_is_named_as_it_was_written(session: Session) -> None:
    assert session.named("work goes on in /SRV/shop/refunds.py", 1_000) == (
        "/srv/shop/accounts/rules.toml",
        "ACC-9002",
    )
    assert session.named("", 16) == ("ACC-9002",), "the newest first where not all fit"
    assert session.named("", 0) == ()


def test_a_value_that_is_part_of_another_is_named_once() -> None:
    with Session.open("host", store=":memory:") as opened:
        for at, path in enumerate(("/srv/app/x.py", "app/x.py", "/srv/app/x.py")):
            opened.record_step("", [{"name": "Read", "args": {"file_path": path}, "id": f"c{at}"}])
        assert opened.named("", 1_000) == ("/srv/app/x.py",)


def test_a_constraint_of_the_register_is_a_rule_and_what_an_open_item_holds_is_in_use(session: Session) -> None:
    session.plan(todo=["ask about ORD-777"], constraints=["refund in euros only"])
    found = session.dropped()
    assert lost(found, "rule")[0] == "refund in euros only"
    assert "ORD-777" in lost(found, "value")


def test_restoring_puts_exact_lines_into_the_view_and_undo_takes_them_out(session: Session) -> None:
    made = session.restore()
    assert [each.text for each in made.extracts[:2]] == ["Pay at most 40.50 EUR each.", "ORD-204 late ACC-9002"]
    assert made.cause == "compaction"
    assert session.view().text.rstrip().endswith("\n".join(made.extracts[-1].text.splitlines()[-1:]))
    assert session.history(1)[0].steps
    session.restore()
    assert session.undo().kind == "extracted"
    assert session.intent.extraction is None


def test_each_compaction_is_compared_with_all_before_it(session: Session) -> None:
    session.record_transcript([HostCompacted("k2", "Pay at most 40.50 EUR each. ACC-9002 was paid.")])
    second = session.dropped()
    assert (second.compaction, second.of) == (2, 2)
    assert lost(second, "rule") == ["Never send mail.", "Refund what is late."]
    assert session.dropped(1) != second


def test_without_such_a_compaction_the_error_says_which_there_are(session: Session) -> None:
    with pytest.raises(InputError, match="there is no compaction 2: this session has 1"):
        session.dropped(2)
    with (
        Session.open("none", store=":memory:") as none,
        pytest.raises(InputError, match="known from a host's transcript"),
    ):
        none.restore()
    session.record_transcript([HostCompacted("k3", " ".join(session.recall(f"s{n}").text for n in range(1, 5)))])
    with pytest.raises(InputError, match="compaction 2 dropped nothing"):
        session.restore()
