"""Rows of a table in a text stay under the header that names their cells; a text that is none stays line by line."""

import pytest

from ctxfold import Session
from ctxfold.view.headed import headed
from tests.support.sessions import settled

TABLES = {
    "Markdown": "Results:\n| id | total |\n|----|:-----:|\n| a | 1 |\n| b | 2 |\nThat is all.",
    "a database's shell": "id | name\n----+------\n1 | x\n2 | y\n(2 rows)",
    "another's": "+----+------+\n| id | name |\n+----+------+\n| 1 | x |\n| 2 | y |\n+----+------+",
    "a shell": "NAME   READY   STATUS    RESTARTS   AGE\npod-1  1/1  Running 0 3d\npod-2 0/1 Crash 7 3d",
    "one blank apart": "USER PID %CPU %MEM\nroot 1 0 0\nme 2 0 0",
    "a data frame": "df:\n          date region  units\n0   2023-01-03   EMEA     12\n10  2023-01-04   APAC      7\n[2 rows x 3 columns]",
    "commas": 'id,total,when\na,1,"x, y"\nb,2,3',
    "tabs": "id\ttotal\na\t1\nb\t2",
}


@pytest.mark.parametrize("name", list(TABLES))
def test_rows_are_told_from_the_header_they_stand_under(name: str) -> None:
    """Two rows each; what stands before and behind is no row, and no line but a rule is left out."""
    lines = TABLES[name].splitlines()
    found = headed(lines)
    rows = [at for at, (_, row) in enumerate(found) if row]
    assert len(rows) == 2
    assert rows[1] == rows[0] + 1
    assert not any("---" in text for text, row in found if row)
    assert [text for text, _ in found if text.strip("-|+: ")] == [text for text in lines if text.strip("-|+: ")]


@pytest.mark.parametrize(
    "text",
    [
        "First, second, third\nand, so, on\nyes, we, can",
        "  he said so\nand we all went there\nor I did not go",
        "a,b,c = 1,2,3\nprint(a,b,c)\nx,y,z",
        "Title here\n----------\nSome text follows.\nMore of it here.",
        "total 12\n-rw-r--r-- 1 a b 12 x\n-rw-r--r-- 1 a b 12 y",
        "id,total,when\na,1\nb,2,3",
        "| one | row |\n|---|---|\n| is | none |",
    ],
)
def test_prose_code_and_lists_are_no_tables(text: str) -> None:
    """Commas, dashes and columns do not make a table by themselves."""
    assert headed(text.splitlines()) == [(line, False) for line in text.splitlines()]


def test_a_fold_that_keeps_a_row_keeps_its_header() -> None:
    """The cells of a pod that crashed read under their names."""
    rows = [f"pod-{n:03}   1/1   Running   {n}   {n}d" for n in range(120)]
    rows[70] = "lantern-db   0/1   CrashLoopBackOff   42   9d"
    with Session.open("trip", goal="Why does lantern-db crash?", store=":memory:") as session:
        session.record_step(
            explanation="",
            calls=[{"name": "shell", "args": {"command": "kubectl get pods"}, "id": "c"}],
            results=[{"id": "c", "text": "\n".join(["NAME   READY   STATUS   RESTARTS   AGE", *rows])}],
        )
        session.record_reply("I look at its log.")
        session.fold(first_step=1, last_step=1)
        shown = settled(session)
    assert shown.index("NAME   READY   STATUS") < shown.index("lantern-db   0/1")
    assert "pod-003" not in shown


@pytest.mark.parametrize("line", ["-" * 400_000 + "x", "| " * 200_000 + "x", "A " * 200_000 + "x", " " * 400_000 + "x"])
def test_no_line_is_looked_at_in_every_way_it_could_be_split(line: str) -> None:
    """A pattern that tried them all would not end."""
    assert headed([line] * 3) == [(line, False)] * 3
