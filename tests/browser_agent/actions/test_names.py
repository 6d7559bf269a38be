"""Elements that are called by their names, on whatever page stands there when their turn comes."""

from collections.abc import Callable

import pytest

from browser_agent.actions import (
    Back,
    Click,
    ExtractValues,
    FieldValue,
    FillForm,
    Find,
    Navigate,
    PageAction,
    Read,
    Type,
)
from browser_agent.actions.forms import hide_typed
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from tests.browser_agent.doing import do, ref, seen, visit
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]

TABS = """<title>Engine {0}</title><main><h1>Engine {0}</h1><nav><a href=/papers>Papers</a></nav>
<button role=tab onclick="panel.hidden = false">Measures ({1})</button> <button>Order</button>
<div id=panel hidden><dl><dt>Bore</dt><dd>{1} mm</dd></dl></div></main>"""
YEAR = """<title>Year</title><main><h1 id=head></h1><div id=bar></div></main><script>
let year = 1900;
const draw = () => {
  head.textContent = 'Year ' + year;
  bar.innerHTML = '<button onclick="year--; draw()">Earlier</button> <button onclick="year++; draw()">Later</button>';
};
draw();
</script>"""
ROWS = """<title>Rows</title><main><ul id=list></ul></main><script>
let gone = 0;
const draw = () => {
  list.innerHTML = [1, 2, 3].slice(gone).map(n => `<li>Row ${n} <button onclick="gone++; draw()">Drop</button></li>`).join('');
};
draw();
</script>"""


def click(ref: str) -> Click:
    return Click(kind="click", ref=ref)


def go(site: Site, path: str) -> Navigate:
    return Navigate(kind="navigate", url=f"{site.url}{path}")


def read() -> Read:
    return Read(kind="read")


async def test_a_name_goes_on_over_pages_where_a_ref_stops(window: Window, serve: Serve) -> None:
    site = serve({"/a": TABS.format("A", 71), "/b": TABS.format("B", 84)})
    page = await visit(window, f"{site.url}/a")
    outcome = await do(
        window, click('tab "Measures"'), read(), go(site, "/b"), click("measures"), Find(kind="find", query="mm"),
        click(ref(page, "button", "Order")),
    )  # fmt: skip
    assert [result.ok for result in outcome.results] == [True] * 5
    assert (outcome.kind, outcome.skipped) == ("page_changed", 1)
    assert ["71 mm" in text for text in outcome.texts] == [True, False, False]
    assert "84 mm" in outcome.texts[1]


async def test_values_are_taken_off_page_after_page_in_one_call(window: Window, serve: Serve) -> None:
    site = serve({"/a": TABS.format("A", 71), "/b": TABS.format("B", 84)})
    wanted = {"type": "object", "properties": {"name": {"type": "string"}, "bore": {"type": "string"}}}
    take = ExtractValues(kind="extract", wanted=wanted)
    acts = [act for path in ("/a", "/b") for act in (go(site, path), click("Measures"), take)]
    outcome = await do(window, *acts)
    found = [page.extracted.value for page in (outcome.results[2].seen, seen(outcome)) if page and page.extracted]
    assert found == [{"name": "Engine A", "bore": "71 mm"}, {"name": "Engine B", "bore": "84 mm"}]


async def test_going_back_needs_no_element_and_goes_on(window: Window, serve: Serve) -> None:
    site = serve({"/a": TABS.format("A", 71), "/papers": "<title>Papers</title><main><h1>Papers</h1></main>"})
    await visit(window, f"{site.url}/a")
    outcome = await do(window, click("Papers"), read(), Back(kind="back"), click("Measures"))
    assert outcome.ok, outcome.message
    assert "71 mm" in seen(outcome).text


async def test_a_field_is_filled_by_the_first_words_of_its_name_where_no_other_begins_so(
    window: Window, serve: Serve
) -> None:
    labels = ("Company name", "Order number", "Order date", "Contact ashore (phone)")
    fields = "".join(f"<p><label>{label} <input></label></p>" for label in labels)
    page = f"<main><h1>Bill</h1><form>{fields}<label><input type=radio>a company</label></form></main>"
    await visit(window, serve({"/": page}).url)
    given = {"Company": "Ness AS", "Contact ashore": "402"}
    filled = await do(
        window,
        FillForm(kind="fill_form", fields=tuple(FieldValue(ref=name, value=value) for name, value in given.items())),
    )
    assert filled.ok, filled.message
    assert [one.value for one in seen(filled).refs.values() if one.role == "textbox"] == ["Ness AS", "", "", "402"]
    several = await do(window, Type(kind="type", ref="Order", text="7"))
    assert several.kind == "unknown_ref"
    assert "2 are called 'Order'" in several.message


async def test_a_name_that_fits_several_or_none_is_refused_with_the_refs_that_come_near(
    window: Window, serve: Serve
) -> None:
    site = serve({"/": ROWS})
    page = await visit(window, site.url)
    drops = [one.ref for one in page.refs.values() if one.name == "Drop"]
    several = await do(window, click("Drop"))
    assert several.kind == "unknown_ref"
    assert all(f"{one} (button)" in several.message for one in drops)
    none = await do(window, click("Drop all"))
    assert none.kind == "unknown_ref"
    assert drops[0] in none.message
    assert "Row 3" in seen(none).text
    assert (await do(window, click("Nothing so"))).kind == "unknown_ref"


async def test_a_button_that_a_click_draws_anew_is_clicked_again_by_its_ref_and_by_its_name(
    window: Window, serve: Serve
) -> None:
    site = serve({"/": YEAR})
    page = await visit(window, site.url)
    later = click(ref(page, "button", "Later"))
    outcome = await do(window, later, later, Find(kind="find", query="year"), later, click("Later"), click("Later"))
    assert outcome.ok, outcome.message
    assert "Year 1905" in seen(outcome).text


async def test_a_ref_is_not_led_on_to_one_of_several_that_are_called_the_same(window: Window, serve: Serve) -> None:
    """Else the next row would be dropped with the one that was meant."""
    site = serve({"/": ROWS})
    page = await visit(window, site.url)
    first = click(next(one.ref for one in page.refs.values() if one.name == "Drop"))
    outcome = await do(window, first, first, first)
    assert [result.kind for result in outcome.results] == ["done", "stale_ref"]
    assert "Row 2" in seen(outcome).text


LOGIN = """<title>Login</title><main><h1>Login</h1><label>User <input></label> <label>Password <input id=word></label>
<label>Mark <input type=password></label> <button onclick="out.textContent = 'in: ' + word.value">Enter</button><p id=out></p></main>"""


async def test_a_password_into_a_field_that_is_named_before_it_is_seen_is_known_as_one(
    window: Window, serve: Serve
) -> None:
    site = serve({"/": LOGIN, "/start": "<title>Start</title>"})
    await visit(window, f"{site.url}/start")
    fields = tuple(FieldValue(ref=name, value=value) for name, value in (("User", "ann"), ("Password", "hay-7")))
    acts: tuple[PageAction, ...] = (go(site, "/"), FillForm(kind="fill_form", fields=fields), click("Enter"))
    hidden = await hide_typed(window, acts)
    assert "hay-7" not in repr(hidden)
    outcome = await perform(window, hidden)
    assert outcome.ok, outcome.message
    assert "in: <secret:typed-1>" in seen(outcome).text
    marked = await hide_typed(window, (Type(kind="type", ref="Mark", text="k3"),))
    assert "k3" not in repr(marked)


FORM = """<title>Form</title><main><h1>Form</h1><label>From <input readonly value=now></label> <label>To <input></label>
<label>Kind <select><option>Long<option>Short</select></label> <label>Loud <input type=checkbox></label></main>"""


async def test_a_read_only_field_keeps_no_other_from_its_value(window: Window, serve: Serve) -> None:
    page = await visit(window, serve({"/": FORM}).url)
    values = {"From": "then", "To": "there", "Kind": "None so", "Loud": "true"}
    fields = tuple(FieldValue(ref=name, value=value) for name, value in values.items())
    outcome = await do(window, FillForm(kind="fill_form", fields=fields))
    assert outcome.kind == "not_possible"
    assert "filled 2 of 4 fields" in outcome.message
    assert f"{ref(page, 'textbox', 'From')} is read-only" in outcome.message
    assert f"{ref(page, 'combobox', 'Kind')} has no such option" in outcome.message
    now = seen(await do(window))
    assert '="there"' in now.text
    assert "(checked)" in now.text
