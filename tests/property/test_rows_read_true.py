"""What a reader makes of a view's rows is what the records say: ditto marks, shared columns and rows named by other rows never mislead."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ctxfold import Session
from tests.support.reader import Reader, pairs, split

few = st.sampled_from
IDS = {"order_id": ("A-1", "A-2", 7), "user_id": ("U-1", "U-2", 7)}
CELLS = few(("Lyon", "Porto", "open", "new york", 7, 512, None, True, "", "2031-05-07"))
PARCEL = st.fixed_dictionaries({"track": few(("T-1", "T-2", "T-3")), "depot": few(("Lyon", "Porto"))})
HOME = few(
    (
        {"street": "Rua da Escola Politécnica", "town": "Lisboa", "zip": "1250-099"},
        {"street": "Calçada do Combro", "town": "Lisboa", "zip": "1200-110"},
        {"street": "Rua Augusta", "town": "Porto"},
        {"box": 7},
    )
)


@st.composite
def orders(draw: st.DrawFn) -> dict[str, Any]:
    """An object that names itself, of one of a few shapes."""
    field = draw(few(("order_id", "order_id", "user_id")))
    made: dict[str, Any] = {field: draw(few(IDS[field]))}
    for name in ("place", "state", "carrier", "grams")[: draw(st.integers(2, 4))]:
        made[name] = draw(CELLS)
    if draw(st.booleans()):
        made["who"] = {"first": draw(CELLS), "last": draw(CELLS)}
    if draw(few((False, False, True))):
        made["home"] = draw(HOME)
    if draw(few((False, False, True))):
        made["notes"] = draw(st.lists(few(("a", "b c", 5)), min_size=1, max_size=2))
    if draw(st.booleans()):
        made["parcels"] = draw(st.lists(PARCEL, max_size=3))
    if draw(few((False, False, True))):
        made["deep"] = [[1, [2, 3]], {"x": {"y": {"z": 1}}}]
    return made


NESTED = st.fixed_dictionaries(
    {
        "price": CELLS,
        "made": few(
            (
                {"town": "Porto"},
                [{"town": "Porto"}],
                {"town": "São Mamede (old) ]"},
                {"box": 7, "note": "(a=b)"},
                {},
                [],
            )
        ),
        "size": CELLS,
    }
)
"""Records whose nested parts differ, so that each says its own names in one cell."""
RECORD = st.one_of(
    orders(),
    st.lists(orders(), max_size=4),
    st.lists(NESTED, min_size=2, max_size=4),
    st.fixed_dictionaries({"stock": st.dictionaries(few(("A-1", "A-2", "A-3")), NESTED, max_size=3)}),
    st.fixed_dictionaries({"list": st.lists(orders(), max_size=3), "one": orders()}),
)


@given(st.lists(RECORD, min_size=2, max_size=7))
def test_a_reader_finds_in_each_row_what_its_record_says(answers: list[Any]) -> None:
    with Session.open("parcels", store=":memory:") as session:
        for at, answer in enumerate(answers):
            call = {"name": "get", "args": {"at": at}, "id": "c"}
            session.record_step("", [call], [{"id": "c", "text": json.dumps(answer)}])
        lines = [line for block in session.workspace.blocks for line in block.lines]
    told = {f"s{at}.2": list(things(answer)) for at, answer in enumerate(answers, 1)}
    for read in Reader().read(lines):
        assert any(said(read.cells, thing) for thing in told[read.ref]), (read, told[read.ref])


def things(value: Any) -> list[dict[tuple[str, ...], Any]]:
    """Every object in a value, its cells by path."""
    found: list[dict[tuple[str, ...], Any]] = []
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        found.extend(things(each))
    if isinstance(value, dict):
        cells: dict[tuple[str, ...], Any] = {}
        for name, child in value.items():
            inner = child if isinstance(child, dict) else {}
            cells.update({(name, key): each for key, each in inner.items()})
            cells[(name,)] = child
        found.append(cells)
    return found


def said(cells: dict[tuple[str, ...], str], thing: dict[tuple[str, ...], Any]) -> bool:
    """Whether each cell that was read is what the thing holds there."""
    return all(path in thing and holds(cell, thing[path]) for path, cell in cells.items())


def holds(cell: str, value: Any) -> bool:
    """Whether a cell is the way to write a value: an object in parentheses, a list in brackets, or the address of either."""
    if cell.startswith("="):
        return isinstance(value, (dict, list))
    if isinstance(value, dict) and value:
        inside = cell[1:-1] if cell[0] + cell[-1] == "()" else ""
        return dict(pairs(split(inside))) == {(name,): spelled(each) for name, each in value.items()}
    return cell[0] + cell[-1] == "[]" if isinstance(value, list) else cell == spelled(value)


def spelled(value: Any) -> str:
    """A scalar as a row writes it."""
    if isinstance(value, str):
        return value if value and not set(value) & set(" =()[]") else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)
