"""Values of a page by a schema: from its tables, lists and labels, as the type that is wanted, and nothing made up."""

from typing import Any

import pytest

from browser_agent.observation.rows import extract
from ctxfold.log.page import parse

pytestmark = pytest.mark.anyio

PAGE = """
- main:
  - heading "Hotel Rivoli" [level=1]
  - generic:
    - term: Price
    - definition: 180 EUR
  - paragraph: "City: Paris"
  - table:
    - rowgroup:
      - row:
        - rowheader "Stars"
        - cell "4"
  - table:
    - rowgroup:
      - row:
        - columnheader "Room"
        - columnheader "rate_EUR"
      - row:
        - cell:
          - link "Single" [ref=e1]:
            - /url: /r1
        - cell "1,120.50"
      - row:
        - cell "Double"
        - cell "on request"
  - list:
    - listitem:
      - heading "Card one" [level=3]
      - paragraph: "Price: 10"
    - listitem:
      - heading "Card two" [level=3]
      - paragraph: "Price: 20"
  - textbox "Guest": Ann
  - checkbox "News" [checked]
"""


def thing(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


TEXT, NUMBER, WHOLE, BOOLEAN = ({"type": kind} for kind in ("string", "number", "integer", "boolean"))


def test_single_values_are_taken_from_every_kind_of_label() -> None:
    wanted = thing(title=TEXT, price=NUMBER, city=TEXT, stars=WHOLE, guest=TEXT, news=BOOLEAN)
    filled = extract(parse(PAGE), wanted)
    expected = {"title": "Hotel Rivoli", "price": 180, "city": "Paris", "stars": 4, "guest": "Ann", "news": True}
    assert filled.value == expected
    assert filled.missing == ()


def test_rows_are_taken_from_the_table_or_list_that_fits_and_only_whole_ones() -> None:
    rooms = {"type": "array", "items": thing(room=TEXT, rate=NUMBER)}
    assert extract(parse(PAGE), rooms).value == [{"room": "Single", "rate": 1120.5}]
    cards = {"type": "array", "items": {"$ref": "#/$defs/Card"}, "$defs": {"Card": thing(title=TEXT, price=WHOLE)}}
    assert extract(parse(PAGE), cards).value == [{"title": "Card one", "price": 10}, {"title": "Card two", "price": 20}]
    assert extract(parse(PAGE), thing(room={"type": "array", "items": TEXT})).value == {"room": ["Single", "Double"]}
    links = {"type": "array", "items": thing(room=TEXT, url=TEXT)}
    found = extract(parse(PAGE), links, "https://h.example/x").value
    assert found == [{"room": "Single", "url": "https://h.example/r1"}]


def test_what_is_not_labelled_is_missing_and_never_made_up() -> None:
    filled = extract(parse(PAGE), thing(price=NUMBER, phone=TEXT, owner=thing(age=WHOLE)))
    assert filled.value == {"price": 180}
    assert filled.missing == ("phone", "owner.age")
    assert extract(parse("- main"), thing(price=NUMBER)).value is None
    assert extract(parse(PAGE), {"type": "array", "items": thing(isbn=TEXT)}).value is None
    itself = {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}}}
    assert extract(parse(PAGE), itself).value is None


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("1,204", "integer", 1204), ("1'204.5", "number", 1204.5), ("−3 °C", "integer", -3), ("0,5 l", "number", 0.5),
        ("12.50", "integer", None), ("3 to 5", "number", None), ("none", "number", None), ("✓", "boolean", True),
        ("yes", "boolean", None), ("✗", "boolean", False), ("x", ["null", "string"], "x"), ("x", "object", None),
    ],
)  # fmt: skip
def test_a_text_is_read_as_the_type_that_is_wanted_only_where_it_is_one(text: str, kind: Any, value: object) -> None:
    page = parse(f'- table:\n  - row:\n    - rowheader "Depth"\n    - cell "{text}"')
    found = extract(page, {"type": "object", "properties": {"depth": {"type": kind}}})
    assert found.value == (None if value is None else {"depth": value})
