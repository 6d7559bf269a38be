import json
import random
import re
from time import process_time

import pytest

from ctxfold import Session
from ctxfold.errors import BudgetError
from ctxfold.tokens import count
from ctxfold.view.result import LEAST, EarlierResult, ToolResult, shorten_result
from tests.support.sessions import add_call

BUDGET = 2_000


def log(lines: int, odd: dict[int, str] | None = None) -> str:
    chance = random.Random(3)
    made = [
        f"10:{at // 60:02}:{at % 60:02} INFO worker-{at % 7} req_{chance.getrandbits(40):010x} served"
        for at in range(lines)
    ]
    for at, line in (odd or {}).items():
        made[at] = line
    return "\n".join(made)


def orders(many: int) -> list[dict[str, object]]:
    chance = random.Random(5)
    return [
        {
            "id": f"ord_{chance.getrandbits(20):05x}",
            "city": chance.choice(["Paris", "Lyon"]),
            "total": at * 3,
            "note": f"number {at} of them all",
        }
        for at in range(many)
    ]


@pytest.mark.parametrize("budget", [LEAST, 150, 256, 2_000])
@pytest.mark.parametrize(
    "text",
    [
        log(900),
        "x" * 60_000,
        " " * 60_000 + "end",
        "\n" * 30_000 + "end",
        "記録は残る。" * 4_000,
        "<|endoftext|>" * 3_000,
        json.dumps(orders(400)),
        json.dumps({"a": {"b": [{"c": [1, 2, {"d": "e" * 9_000}]}] * 50}}),
        json.dumps([{"name": "a", "children": [{"name": f"f{at}.py", "type": "file"} for at in range(900)]}]),
        str(orders(400)),
        "\n".join(f"/srv/app/{at % 9}/file_{at}.txt" for at in range(900)),
        json.dumps(list(range(9_000))),
    ],
    ids=["log", "run", "blanks", "newlines", "cjk", "special", "table", "deep", "tree", "python", "paths", "numbers"],
)  # fmt: skip
def test_no_result_costs_more_than_its_budget(text: str, budget: int) -> None:
    for earlier in (None, EarlierResult(text, "s1.2"), EarlierResult(text[:-3], "s1.2")):
        made = shorten_result(ToolResult(text, "s2.2", earlier=earlier), "end 77", budget)
        assert made.tokens <= budget
        assert made.tokens == count(made.text)
        assert made.form == "whole" or made.text.startswith("[s2.2")


def test_a_budget_below_the_least_is_refused() -> None:
    with pytest.raises(BudgetError):
        shorten_result(ToolResult("a", "s1.2"), budget=LEAST - 1)


def test_lines_unlike_all_others_stand_with_the_first_and_the_last() -> None:
    text = log(2_000, {700: "10:11:40 ERROR worker-0 connection refused by db-3"})
    made = shorten_result(ToolResult(text, "s1.2"))
    lines = text.split("\n")
    assert {lines[0], lines[700], lines[-1]} <= set(made.text.split("\n"))


WORDS = "login logout signup search cart checkout invoice refund profile avatar address payment coupon".split()


@pytest.mark.parametrize(
    "form", ["{name} ... {verdict}", "{verdict} {name} on host", "check {name} {verdict} in 7 ms", "{name}: {verdict}"]
)
def test_the_one_line_with_another_verdict_stands_among_like_ones(form: str) -> None:
    names = [f"{first}_{second}" for first in WORDS for second in WORDS]
    lines = [form.format(name=name, verdict="passed" if at != 77 else "failed") for at, name in enumerate(names)]
    assert lines[77] in shorten_result(ToolResult("\n".join(lines), "s1.2"), budget=700).text.split("\n")
    with Session.open("checks", store=":memory:") as session:
        add_call(session, "check", None, "\n".join(lines), "Checking.")
        for at in range(4):
            session.record_step(f"Looking at {WORDS[at]}.")
        assert lines[77] in session.view(400).text.split("\n")


def test_the_one_row_with_another_verdict_stands_among_like_ones() -> None:
    rows = [
        {"case": f"case-{at}", "verdict": "FAIL" if at == 77 else "PASS", "note": f"walked {at} doors to {word}"}
        for at, word in enumerate(WORDS * 12)
    ]
    assert "FAIL" in shorten_result(ToolResult(json.dumps(rows), "s1.2"), budget=700).text


def test_lines_and_parts_of_lines_never_run_together() -> None:
    long = " ".join(f"The lamp W-{at} was lit by keeper {at * 7}." for at in range(60))
    made = shorten_result(ToolResult("\n".join([long, *log(300).split("\n"), long]), "s1.2"), "W-7 W-59", 500)
    for row in made.text.split("\n")[1:]:
        for part in row.split("…"):
            assert part.strip() in long or part.strip() in log(300) or re.fullmatch(r" \d+-\d+", part)
    assert made.text.split("\n")[1].endswith("…"), "the first line is cut"


def test_a_long_result_is_bounded_in_time() -> None:
    text = log(9_000)
    count(text)
    start = process_time()
    shorten_result(ToolResult(text, "s1.2"), "what became of worker-3")
    assert process_time() - start < 0.6


def test_what_the_need_asks_for_stands() -> None:
    text = log(2_000)
    wanted = text.split("\n")[1_234]
    made = shorten_result(ToolResult(text, "s1.2"), need=f"what became of {wanted.split()[3]}")
    assert wanted in made.text.split("\n")


def test_gaps_and_lines_tile_the_text() -> None:
    text = log(2_000, {at: f"odd {at}" for at in range(0, 2_000, 97)})
    body = shorten_result(ToolResult(text, "s1.2")).text.split("\n")[1:]
    lines, at = text.split("\n"), 0
    for shown in body:
        gap = re.fullmatch(r"… (\d+)-(\d+)", shown)
        if gap:
            assert int(gap[1]) == at + 1
            assert int(gap[2]) > at + 1
            at = int(gap[2])
        else:
            assert shown in ("…", lines[at])
            at += 1
    assert at == len(lines)


def test_records_stand_as_exact_rows_where_they_fit() -> None:
    rows = orders(70)
    text = json.dumps(rows, indent=2)
    made = shorten_result(ToolResult(text, "s1.2"))
    assert made.form == "rows"
    assert made.raw > BUDGET
    assert all(f"{row['id']} | {row['city']} | {row['total']} | {row['note']}" in made.text for row in rows)


def test_an_answer_that_hardly_changed_stands_as_its_change() -> None:
    before = log(1_000)
    lines = before.split("\n")
    lines[500] = "something new"
    made = shorten_result(ToolResult("\n".join(lines), "s2.2", earlier=EarlierResult(before, "s1.2")))
    assert made.form == "change"
    assert "s1.2" in made.text
    assert "+something new" in made.text
    assert f"-{before.split(chr(10))[500]}" in made.text
    assert made.tokens < 200


def test_a_result_bounded_before_it_has_an_address_is_given_one() -> None:
    made = shorten_result(ToolResult(log(900), "s999999.99"))
    moved = made.at("s12.2")
    assert moved.ref == "s12.2"
    assert moved.text.startswith("[s12.2:")
    assert "s999999" not in moved.text
    assert moved.tokens == count(moved.text) <= made.tokens
    assert moved.text.endswith(made.body)
    assert "recall(" not in made.body
    small = shorten_result(ToolResult("a", "s999999.99"))
    assert (small.at("s1.2").text, small.body) == ("a", "a")
