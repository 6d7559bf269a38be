"""Values of a page by a schema: what the page labels so, as the type that is wanted, and nothing made up."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from browser_agent.actions import Extract, Find
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from browser_agent.observation.capture import Card
from browser_agent.observation.fields import extract
from browser_agent.observation.rows import NOTHING, coerce
from ctxfold.log.page import parse
from ctxfold.tokens import count
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


BOAT = """<title>Nerine</title><header><p>Basket $0.00</p></header><main><h1>Nerine</h1>
<div><p><b>$120.50</b> <span style="text-decoration: line-through">$150</span></p><p>7 berths</p><p>Berths by the week only, as long as there are any</p></div>
<button>12 moorings</button> {}<h2>Others</h2><ul><li><h3>Aster</h3><b>$90</b> 4 berths</li><li><h3>Iris</h3><b>$95</b> 5 berths</li></ul></main>"""


@pytest.mark.parametrize(("more", "price"), [("", {"price_a_day": "$120.50"}), ("<p>Deposit</p><p>$300</p>", {})])
async def test_the_one_amount_of_a_page_and_a_phrase_that_names_itself_need_no_label(
    window: Window, serve: Callable[..., Site], more: str, price: dict[str, str]
) -> None:
    """What is struck out, of other things or of a menu counts for nothing; of several amounts none is taken."""
    await visit(window, serve({"/": BOAT.format(more)}).url)
    wanted = thing(name=TEXT, price_a_day=TEXT, berths=WHOLE, moorings=WHOLE)
    shown = seen(await perform(window, [Extract(kind="extract", wanted=wanted)]))
    assert shown.extracted is not None
    assert shown.extracted.value == {"name": "Nerine", **price, "berths": 7}
    assert shown.extracted.missing == (*(() if price else ("price_a_day",)), "moorings")


def rows_of(*texts: str) -> list[Card]:
    return [
        (("", text, ""), ("heading", f"Hut {n}", f"/h{n}"), ("", "Opening hours", "")) for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("texts", "column"),
    [
        (("Open all year", "Open in June", "Not open"), ["Open all year", "Open in June", "Not open"]),
        (("Open all year", "Open all year", "Open all year"), None),
        (("Open", "Open", "Closed"), None),
    ],
)
def test_a_column_that_is_not_labelled_is_taken_where_it_names_itself_and_differs(
    texts: tuple[str, ...], column: list[str] | None
) -> None:
    wanted = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT, "open": TEXT}}}
    filled = extract(parse("- main"), {"type": "array", "items": wanted["items"]}, "", [rows_of(*texts)])
    both = [{"name": f"Hut {n}", "open": text} for n, text in enumerate(column or ())]
    assert filled.value == (both if column else None)
    three = {"type": "object", "properties": {"name": TEXT, "title": TEXT, "open": TEXT}}
    filled = extract(parse("- main"), {"type": "array", "items": three}, "http://h.example/", [rows_of(*texts)])
    assert filled.missing == (() if column else ("items.open",))


def test_words_of_a_description_lead_to_a_label_only_where_it_says_half_of_them() -> None:
    """Else `Users` in a menu would be what `the text beneath the table, such as 12 users` stands for."""
    page = parse(
        '- table:\n  - row:\n    - rowheader "Users"\n    - cell "Add"\n  - row:\n    - rowheader "Deck length"\n    - cell "9 m"'
    )
    for said, value in (("the text beneath the table, such as 12 users", None), ("Length of the deck", {"it": "9 m"})):
        assert extract(page, thing(it={"type": "string", "description": said})).value == value


async def test_what_is_extracted_has_more_room_than_what_is_found_after_it_and_addresses_as_paths(
    window: Window, serve: Callable[..., Site]
) -> None:
    rows = "".join(
        f"<tr><td><a href=/log/{n}?kept=all%20of%20them%20that%20are%20open>Log {n}</a><td>{n} h</tr>" for n in range(9)
    )
    page = f"<title>Logs</title><main><h1>Logs</h1><table><tr><th>Log<th>Time</tr>{rows}</table></main>"
    await visit(window, serve({"/": page}).url)
    window.settings = replace(window.settings, budget=700)
    wanted = {"type": "array", "items": thing(log=TEXT, url=TEXT, time=TEXT)}
    outcome = await perform(window, [Extract(kind="extract", wanted=wanted), Find(kind="find", query="Log 3")])
    taken, found = outcome.texts
    assert '["Log 8", "/log/8?kept=all%20of%20them%20that%20are%20open", "8 h"]' in taken
    assert "Log 3" in found
    assert count(taken) + count(found) <= 700
    assert seen(outcome).view == "find"
    assert outcome.results[0].seen is not None
    assert "http://127.0.0.1" in str(outcome.results[0].seen.extracted)


SHED = """<title>{0}</title><main><h1>{0}</h1><div>{2}<p>★ 4.0 (7 voices)</p><p>€ 80.00</p><p>{1}</p></div><p>Berth for boats of all kinds</p>
<h2>Freight</h2><p>By barge, <a href=/t>as the tide allows</a>.</p><ul><li>No Sundays</ul><h3>Islands</h3><p>On request.</p><h2>Price history</h2><p>€ 90.00 in May.</p></main>"""


async def test_a_value_called_as_a_heading_is_the_text_beneath_it_and_is_said_to_be(
    window: Window, serve: Callable[..., Site]
) -> None:
    await visit(window, serve({"/": SHED.format("Nerine", "Berth taken", "<p>Freight for guests: ask first</p>")}).url)
    wanted = thing(name=TEXT, freight=TEXT, islands=TEXT, freight_costs=TEXT, history=TEXT)
    shown = seen(await perform(window, [Extract(kind="extract", wanted=wanted)]))
    assert shown.extracted is not None
    assert shown.extracted.value == {
        "name": "Nerine",
        "freight": "By barge, as the tide allows. - No Sundays Islands On request.",
        "islands": "On request.",
    }
    assert "text beneath a heading: freight (§ Freight), islands (§ Islands)" in shown.text
    assert "not found on this page: freight_costs, history (near: § Price history)" in shown.text
    window.settings = replace(window.settings, budget=104)
    narrow = seen(await perform(window, [Extract(kind="extract", wanted=wanted)]))
    assert '{"name": "Nerine"}' in narrow.text
    assert "more of 3: recall the record of this call" in narrow.text


async def test_a_short_text_beside_a_number_is_a_value_and_one_apart_is_named_near(
    window: Window, serve: Callable[..., Site]
) -> None:
    site = serve({"/": SHED.format("Nerine", "Berth taken", ""), "/b": SHED.format("Aster", "Let by the week", "")})
    await visit(window, f"{site.url}/")
    wanted = thing(name=TEXT, berth=TEXT)
    assert "Berth taken" in seen(await perform(window, [Extract(kind="extract", wanted=wanted)])).text
    await visit(window, f"{site.url}/b")
    apart = seen(await perform(window, [Extract(kind="extract", wanted=wanted)]))
    assert apart.extracted is not None
    assert apart.extracted.value == {"name": "Aster"}
    assert "not found on this page: berth (near: Berth for boats of all kinds)" in apart.text


async def test_what_stands_where_most_pages_have_a_value_is_that_of_the_others_and_of_none_built_otherwise(
    window: Window, serve: Callable[..., Site]
) -> None:
    said = {"a": "Berth free (3)", "b": "Berth free (1)", "c": "Let by the week", "d": "Berth taken"}
    pages = {f"/{name}": SHED.format(name.upper(), text, "") for name, text in said.items()}
    odd = SHED.format("E", "Let by the week", "<p>New here</p>")
    site = serve({**pages, "/e": odd})
    await visit(window, f"{site.url}/a")
    urls = ("/b", "/c", "/d", "/e")
    shown = seen(await perform(window, [Extract(kind="extract", wanted=thing(name=TEXT, berth=TEXT), urls=urls)]))
    assert shown.extracted is not None
    assert [row.get("berth") for row in shown.extracted.value] == [*said.values(), None]
    assert "found on so many of 5 pages: berth 4" in shown.text
    assert "by the place where other pages have it: berth 1" in shown.text


SHELF = "<article class=card><h3><a href=/{0}>{0}</a></h3><b>{1} €</b>{2}<button>Put {0} by</button></article>"


async def test_a_row_that_says_it_in_other_words_has_what_stands_in_the_same_place_of_a_kind_of_its_own(
    window: Window, serve: Callable[..., Site]
) -> None:
    states = (
        "<i class=in>In store</i>",
        "<i class=out>Out of store</i>",
        "<i class=in>In store</i>",
        "<i class=late>Back in 3 weeks</i>",
        "",
    )
    shelf = "".join(SHELF.format(f"Lamp{n}", 5 + n, state) for n, state in enumerate(states))
    await visit(window, serve({"/": f"<main><h1>All</h1><div>{shelf}</div></main>"}).url)
    wanted = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT, "price": TEXT, "store": TEXT}}}
    shown = seen(await perform(window, [Extract(kind="extract", wanted=wanted)]))
    assert shown.extracted is not None
    assert [row.get("store") for row in shown.extracted.value] == [
        "In store",
        "Out of store",
        "In store",
        "Back in 3 weeks",
        None,
    ]


async def test_a_list_has_no_more_items_of_a_page_than_its_schema_allows(
    window: Window, serve: Callable[..., Site]
) -> None:
    rows = "".join(f"<tr><td>Log {n}<td>{n} h</tr>" for n in range(9))
    page = f"<main><table><tr><th>Log<th>Time</tr>{rows}</table></main>"
    await visit(window, serve({"/": page}).url)
    wanted = {"type": "array", "maxItems": 3, "items": thing(log=TEXT, time=TEXT)}
    shown = seen(await perform(window, [Extract(kind="extract", wanted=wanted)]))
    assert shown.extracted is not None
    assert [row["log"] for row in shown.extracted.value] == ["Log 0", "Log 1", "Log 2"]
    assert "Log 3" not in shown.text


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


def test_a_column_is_known_by_its_very_name_whatever_joins_its_words() -> None:
    heads = "".join(f'\n      - columnheader "{name}"' for name in ("taken_on", "flow_m3s", "note-text"))
    cells = "".join(f'\n      - cell "{text}"' for text in ("2025-10-19", "61.37", "calm"))
    root = parse(f"- table:\n  - rowgroup:\n    - row:{heads}\n  - rowgroup:\n    - row:{cells}\n    - row:{cells}")
    names = {"taken_on": {"type": "string"}, "flow_m3s": {"type": "number"}, "note-text": {"type": "string"}}
    found = extract(root, {"type": "array", "items": {"type": "object", "properties": names}})
    assert found.value == [{"taken_on": "2025-10-19", "flow_m3s": 61.37, "note-text": "calm"}] * 2
    assert not found.missing
