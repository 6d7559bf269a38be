"""Data in a tool's text comes out as the value it holds, whatever it is wrapped in; what is no data stays as it stands."""

import json
import string
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold import Session
from ctxfold.log.compact.cells import parse
from ctxfold.log.compact.literal import literal
from ctxfold.log.compact.unwrap import Tree, Words, trees_of, unwrapped
from tests.support.sessions import WIDE, settled

ORDERS = [{"id": f"ord_{n}", "total": 7.5 + n, "status": ["open", "sent"][n % 2], "paid": None} for n in range(4)]
LOG = "\n".join(f"compiled module_{n}.c in {n * 3} ms" for n in range(12))

Wrapping = Callable[[list[dict[str, Any]]], str]

WRAPPINGS: dict[str, Wrapping] = {
    "indented": lambda rows: json.dumps(rows, indent=2),
    "between sentences": lambda rows: f"Found {len(rows)}:\n{json.dumps(rows, indent=2)}\nSay more to see more.",
    "behind a word": lambda rows: f"Result: {json.dumps(rows)}",
    "in a code fence": lambda rows: f"Here:\n```json\n{json.dumps(rows, indent=1)}\n```\n",
    "one a line": lambda rows: "\n".join(map(json.dumps, rows)),
    "as a content block": lambda rows: json.dumps([{"type": "text", "text": json.dumps(rows), "annotations": None}]),
    "in a string": lambda rows: json.dumps({"result": json.dumps(rows)}),
    "as a string": lambda rows: json.dumps(json.dumps(rows, indent=1)),
    "in Python": str,
    "in Python behind a word": lambda rows: f"6 hits\n{rows}\n",
    "in Python one a line": lambda rows: "\n".join(map(str, rows)),
    "broken off": lambda rows: json.dumps([*rows, {"id": "ord_9", "total": 1}])[:-20] + "... [cut]",
}


@pytest.mark.parametrize("wrapping", list(WRAPPINGS))
def test_records_stand_as_the_same_rows_whatever_they_are_wrapped_in(wrapping: str) -> None:
    """The rows of a plain list are in the view, and no brace of the wrapping is left."""
    plain, shown = (rendered(make(ORDERS)) for make in (json.dumps, WRAPPINGS[wrapping]))
    assert plain.removeprefix("< ") in shown
    assert '"total"' not in shown.replace('{"id": "ord_9"', "")


def rendered(text: str) -> str:
    """What a view shows of a result, by itself."""
    with Session.open("trip", store=":memory:") as session:
        session.record_step(
            explanation="", calls=[{"name": "get", "args": {}, "id": "c"}], results=[{"id": "c", "text": text}]
        )
        return settled(session).partition("> get\n")[2]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(string.printable, max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
"""JSON of any form."""


@given(st.dictionaries(st.text(max_size=6), VALUES, min_size=1, max_size=4) | st.lists(VALUES, min_size=1, max_size=4))
def test_a_python_literal_says_what_its_json_says(value: Any) -> None:
    """`literal(repr(x))` is x, wherever it reads it at all; it reads all that hold a quote, as only those differ from JSON."""
    text = repr(value)
    read = literal(text)
    if "'" in text:
        assert read == value
    else:
        assert read is None


@pytest.mark.parametrize(
    "text",
    [
        "{'when': datetime.datetime(2024, 1, 1)}",
        "{'a', 'b'}",
        "['a' 'b']",
        "{'a': nan}",
        "{'a': 1",
        "{'a': 1, 'a': 2}",
        r"['\d']",
        "['a', __import__('os')]",
        "['" + "x" * 400_000 + "']",
        "[" * 5_000 + "'" + "]" * 5_000,
    ],
)
def test_what_is_no_literal_of_plain_values_stays_text(text: str) -> None:
    """Nothing is run, nothing is guessed."""
    assert literal(text) is None
    assert unwrapped(text) == (Words(text),)


def test_a_tuple_is_a_list_and_a_key_that_is_a_number_its_digits() -> None:
    """What JSON has no form for comes out as what is nearest."""
    assert literal("{'a': (1, (2,), ()), 3: 'x', None: True}") == {"a": [1, [2], []], "3": "x", "null": True}


@given(VALUES.filter(lambda value: bool(value) and isinstance(value, (dict, list))))
def test_plain_json_without_long_texts_is_one_tree(value: Any) -> None:
    """What could be read before is read as it was."""
    text = json.dumps(value)
    if parse(text) is not None and "\\" not in text and '"type": "text"' not in text:
        assert trees_of(text) == (value,)


def test_a_long_text_inside_a_value_stands_in_its_own_lines_under_its_name() -> None:
    """Escaped into one row it could neither be read nor cut; what stands beside it stays a row."""
    shown = rendered(json.dumps({"run": {"stdout": LOG, "stderr": ""}, "exit_code": 0}))
    assert shown == f'< run(stderr="") exit_code=0\n<<s1.2 run.stdout\n{LOG}\ns1.2>>'


def test_a_folded_long_text_keeps_its_name_before_the_lines_that_stay() -> None:
    """A line of an error stream does not read as one of the other stream."""
    with Session.open("trip", goal="Why did module_77 fail?", store=":memory:") as session:
        streams = {name: "\n".join(f"{name} {n}: {'x' * 40}" for n in range(60)) for name in ("stdout", "stderr")}
        streams["stderr"] += "\nmodule_77.c:12: error: unknown type Lantern"
        session.record_step(
            explanation="",
            calls=[{"name": "make", "args": {}, "id": "c"}],
            results=[{"id": "c", "text": json.dumps(streams)}],
        )
        session.record_reply("It failed.")
        session.fold(first_step=1, last_step=1)
        shown = settled(session)
    error = shown.index("module_77.c:12")
    assert shown.rindex("stderr:", 0, error) > shown.rfind("stdout", 0, error)


def test_a_call_result_of_the_protocol_reads_as_what_it_says() -> None:
    """Content blocks are their texts; a block that is more than text stays as it is."""
    assert unwrapped(json.dumps([{"type": "text", "text": "Done."}])) == (Words("Done."),)
    whole = {"content": [{"type": "text", "text": "Found 4:\n" + json.dumps(ORDERS)}], "isError": False}
    assert unwrapped(json.dumps(whole)) == (Tree({"isError": False}), Words("Found 4:", "content"), Tree(ORDERS))
    image = [{"type": "text", "text": "See"}, {"type": "image", "data": "aGk="}]
    assert unwrapped(json.dumps(image)) == (Tree(image),)


@pytest.mark.parametrize(
    "text",
    [
        "Use {braces} and [brackets] as you like.\n" * 20,
        "\n".join(f"[2024-01-0{n}] worker started" for n in range(1, 9)),
        "def f():\n    return {'a': 1}\n" * 10,
        "A page about configuration, of many words and one example.\n" * 20
        + json.dumps(ORDERS)
        + "\nAnd so on.\n" * 20,
        '{"a": 1} {"b": 2}',
        "[1, 2",
        "",
    ],
)
def test_a_text_that_is_mostly_words_stays_as_it_is(text: str) -> None:
    """A file that is read is shown line by line: what is edited later must be found as it stands."""
    assert unwrapped(text) == (Words(text),)


@given(st.text(alphabet="[]{}\",:'\\ \n`1ax", max_size=80))
def test_any_text_comes_apart_without_harm(text: str) -> None:
    """No text raises, and none becomes nothing."""
    assert unwrapped(text)


def test_openings_that_lead_nowhere_are_given_up_after_a_few() -> None:
    """Trying each of a hundred thousand to the end of the text would not end."""
    for text in ("[\n" * 100_000, '{"a":\n' * 100_000, '[{"a": 1},\n' * 50_000, "[{'a': [\n" * 50_000):
        assert unwrapped(text)


def test_an_earlier_row_inside_a_wrapping_is_known_again() -> None:
    """Of an order that stood in a content block what changed is told when it comes back alone."""
    with Session.open("trip", store=":memory:") as session:
        for text in (WRAPPINGS["as a content block"](ORDERS), json.dumps({**ORDERS[2], "status": "lost"})):
            session.record_step(
                explanation="", calls=[{"name": "get", "args": {}, "id": "c"}], results=[{"id": "c", "text": text}]
            )
        shown = session.view(WIDE).text
    assert shown.splitlines()[-1] == "< ord_2 status=lost (was open) rest as before"


def test_a_redacted_value_inside_a_wrapping_leaves_no_trace() -> None:
    """What another record's row took from it, and a fold of it, go with it."""
    first = {**ORDERS[1], "secret": "hunter-22-lantern", "carrier": "Lantern Freight", "weight": 12}
    with Session.open("trip", store=":memory:") as session:
        for row in (first, {**first, "secret": "other"}):
            session.record_step(
                explanation="",
                calls=[{"name": "get", "args": {}, "id": "c"}],
                results=[{"id": "c", "text": str(row)}],
            )
        assert "was hunter-22-lantern" in session.view(WIDE).text
        session.redact("s1.2")
        assert "hunter-22" not in session.view(WIDE).text
