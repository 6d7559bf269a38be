"""Values of a page by a schema: what the page labels so, as the type that is wanted, and nothing made up."""

from collections.abc import Callable
from typing import Any

import pytest

from browser_agent.actions import Extract, perform
from browser_agent.browser.window import Window
from browser_agent.observation.fields import extract
from browser_agent.observation.labelled import NOTHING, coerce
from ctxfold.log.snapshot import parse
from tests.browser_agent.doing import seen, visit
from tests.sites.server import Site

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
        - columnheader "Rate (EUR)"
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
    assert filled.value == {
        "title": "Hotel Rivoli",
        "price": 180,
        "city": "Paris",
        "stars": 4,
        "guest": "Ann",
        "news": True,
    }
    assert filled.missing == ()


def test_rows_are_taken_from_the_table_or_list_that_fits_and_only_whole_ones() -> None:
    rooms = {"type": "array", "items": thing(room=TEXT, rate=NUMBER)}
    assert extract(parse(PAGE), rooms).value == [{"room": "Single", "rate": 1120.5}]
    cards = {"type": "array", "items": {"$ref": "#/$defs/Card"}, "$defs": {"Card": thing(title=TEXT, price=WHOLE)}}
    assert extract(parse(PAGE), cards).value == [{"title": "Card one", "price": 10}, {"title": "Card two", "price": 20}]
    assert extract(parse(PAGE), thing(rooms={"type": "array", "items": TEXT})).value == {"rooms": ["Single", "Double"]}
    links = {"type": "array", "items": thing(room=TEXT, url=TEXT)}
    assert extract(parse(PAGE), links, "https://h.example/x").value == [
        {"room": "Single", "url": "https://h.example/r1"}
    ]


ITEMS = (("Oak lamp", "19.99", "4.5"), ("Pine table", "1,204.50", "3.8"), ("Steel chair", "89.50", "4.1"))
GRIDS = {
    "articles": "<ol>{}</ol>|<li class=col><article class=pod><a href=/p/{0}><img src=x.png alt='{0}'></a><h3><a href=/p/{0}>{0}</a></h3>"
    "<div class=pod_price><p class=price_color>{1} EUR</p><p class=stock>In stock</p></div><p class=rating aria-label='Rated {2}'></p></article></li>",
    "divs by their classes": "<div class=grid>{}</div>|<div class=product-card><a class=product-card__title href=/p/{0}>{0}</a><s class=product-card__old>7 €</s>"
    "<div class=product-card__price>{1} €</div><div class=product-card__rating><span class=avg>{2}</span><span class=count>(128)</span></div></div>",
    "divs whose classes say nothing": "<div class=grid>{}</div>|<div class='p-4 shadow'><h3 class=text-lg>{0}</h3><span class=text-sm>Rating: {2}</span><p class=bold>${1}</p>"
    "<p hidden>$1</p></div>",
}


@pytest.mark.parametrize("grid", GRIDS)
async def test_cards_beside_each_other_are_read_as_rows(window: Window, serve: Callable[..., Site], grid: str) -> None:
    around, _, card = GRIDS[grid].partition("|")
    menu = "<nav><ul><li><a href=/>Home</a><li><a href=/b>Price</a></ul></nav>"
    page = f"{menu}<main><h1>All</h1>{around.format(''.join(card.format(*item) for item in ITEMS))}</main>"
    await visit(window, serve({"/": page}).url)
    wanted = {"type": "array", "items": thing(name=TEXT, price=NUMBER, rating=NUMBER)}
    shown = seen(await perform(window, [Extract(kind="extract", wanted=wanted)]))
    assert shown.extracted is not None
    assert shown.extracted.value == [
        {"name": name, "price": float(price.replace(",", "")), "rating": float(rating)} for name, price, rating in ITEMS
    ]
    wanted = {"type": "array", "items": thing(name=TEXT, price=NUMBER, isbn=TEXT)}
    shown = seen(await perform(window, [Extract(kind="extract", wanted=wanted)]))
    assert "not found on this page: items.isbn" in shown.text


def test_an_amount_of_money_needs_no_label_and_a_number_behind_letters_is_none() -> None:
    cards = [
        [(("", text, ""), ("heading", "One", "")) for text in texts]
        for texts in (("PEP 8", "RFC 9110"), ("$5", "7.50 €"))
    ]
    wanted = {"type": "array", "items": thing(name=TEXT, price=NUMBER)}
    assert extract(parse("- main"), wanted, "", cards[:1]).value is None
    assert extract(parse("- main"), wanted, "", cards).value == [
        {"name": "One", "price": 5},
        {"name": "One", "price": 7.5},
    ]


def columns(*ratings: str) -> str:
    """A table of lamps with these ratings."""
    head = '- table:\n  - row:\n    - columnheader "Name"\n    - columnheader "Rating"\n'
    return head + "".join(f'  - row:\n    - cell "L{n}"\n    - cell "{one}"\n' for n, one in enumerate(ratings))


@pytest.mark.parametrize(
    ("ratings", "read"),
    [
        (("4.5 out of 5", "3,8 out of 5", "new"), [4.5, 3.8]),
        (("4.5 ★", "3 ★"), [4.5, 3]),
        (("4.5/5 (128)", "4/5 (7)"), [4.5, 4]),
        (("3 to 5", "2 to 4"), None),  # another second number in each: that is no scale
        (("3 to 5 days", "3 to 5 days"), None),  # the first tells as little as the second
        (("4.5 out of 5", "12 May 2026"), None),
    ],
)
def test_a_number_at_the_head_of_its_cells_is_read_where_the_column_is_on_a_scale(
    ratings: tuple[str, ...], read: list[float] | None
) -> None:
    page = parse(columns(*ratings))
    found = extract(page, {"type": "array", "items": thing(name=TEXT, rating=NUMBER)}).value
    assert (found and [row["rating"] for row in found]) == read
    words = extract(page, {"type": "array", "items": thing(name=TEXT, rating=TEXT)}).value
    assert [row["rating"] for row in words] == list(ratings)


def test_what_is_not_labelled_is_missing_and_never_made_up() -> None:
    filled = extract(parse(PAGE), thing(price=NUMBER, phone=TEXT, owner=thing(age=WHOLE)))
    assert filled.value == {"price": 180}
    assert filled.missing == ("phone", "owner.age")
    assert extract(parse("- main"), thing(price=NUMBER)).value is None
    assert extract(parse(PAGE), {"type": "array", "items": thing(isbn=TEXT)}).value is None


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("1,204", "integer", 1204), ("1.204,50 EUR", "number", 1204.5), ("1'204.5", "number", 1204.5), ("−3", "integer", -3), ("-3", "integer", -3),
        ("0,5 l", "number", 0.5), ("0,125", "number", 0.125), ("12.50", "integer", NOTHING), ("3 to 5", "number", NOTHING), ("none", "number", NOTHING), ("1.000.000", "integer", 1000000),
        ("true", "boolean", True), ("✓", "boolean", True), ("yes", "boolean", NOTHING), ("✗", "boolean", False), ("maybe", "boolean", NOTHING), ("x", "string", "x"), ("x", "object", NOTHING),
    ],
)  # fmt: skip
def test_a_text_is_read_as_the_type_that_is_wanted_where_it_plainly_is_one(text: str, kind: str, value: object) -> None:
    assert coerce(text, {"type": kind}) == value


def test_an_enumeration_takes_its_own_spelling_and_nothing_else() -> None:
    assert coerce("open", {"enum": ["Open", "Closed"]}) == "Open"
    assert coerce("ajar", {"enum": ["Open", "Closed"]}) is NOTHING
    assert coerce("7", {"type": ["integer", "null"]}) == 7
