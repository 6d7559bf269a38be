"""What a reader has seen before is not shown again: what changed instead of the page, the menus of a site once; and a find shows what its places belong to."""

from collections.abc import Callable

import pytest

from browser_agent.actions import Click, Find, Navigate, PageAction, Read
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from tests.browser_agent.doing import ref, seen, visit
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]

MENU = "<nav><a href=/a>Alpha section</a> <a href=/b>Beta section</a> <a href=/c>Gamma section</a></nav>"
TEXT = "".join(f"<p>Paragraph number {n} says something of its own.</p>" for n in range(8))
ROWS = "".join(f"<tr><td>Lamp {n}<td>{n * 7} EUR" for n in range(200))
REVIEWS = "".join(f"<li>Buyer {n}<ul><li>Verified on day {n}</li></ul></li>" for n in range(30))
PAGES = {
    "/form": f"{MENU}<main><h1>Order</h1>{TEXT}<button onclick=\"out.textContent = 'Name is missing'\">Send</button><p id=out></p></main>",
    "/a": f"{MENU}<main><h1>Alpha</h1>{TEXT}</main>",
    "/b": f"{MENU}<main><h1>Beta</h1>{TEXT}</main>",
    "/lamps": f"<main><h1>Lamps</h1><form><select><option>Any colour<option>Red</select><button>Filter</button></form>"
    f"<table><tr><th>Lamp<th>Price</tr>{ROWS}</table></main>",
    "/reviews": f"<main><h1>Reviews</h1><ul>{REVIEWS}</ul></main>",
    "/code": "<main><dl><dt><em>exception</em> <span><code>queue.</code></span><span><code>Empty</code></span></dt><dd>Raised when it is empty.</dd></dl></main>",
}


async def test_after_an_action_the_change_is_shown_where_it_is_shorter(reader: Window, serve: Serve) -> None:
    page = await visit(reader, f"{serve(PAGES).url}/form")
    click = Click(kind="click", ref=ref(page, "button", "Send"))
    changed = seen(await perform(reader, [click]))
    assert changed.view == "change"
    assert "Name is missing" in changed.text
    assert "Paragraph" not in changed.text
    assert changed.tokens * 2 < page.tokens
    assert "nothing on the page changed" in seen(await perform(reader, [click])).text
    assert seen(await perform(reader, [click], whole=True)).view == "page"
    assert "Paragraph number 3" in seen(await perform(reader, [])).text


async def test_the_menu_of_a_site_is_shown_once(reader: Window, serve: Serve) -> None:
    url = serve(PAGES).url
    first, second = await visit(reader, f"{url}/a"), await visit(reader, f"{url}/b")
    assert "Gamma section" in first.text
    assert "Gamma section" not in second.text
    assert "# Beta" in second.text
    assert "Gamma section" in (await visit(reader, f"{url}/form", "gamma section")).text


async def test_what_reads_pages_in_one_call_shows_the_menu_of_their_site_once(reader: Window, serve: Serve) -> None:
    url = serve(PAGES).url
    wanted = [act for page in "ab" for act in (Navigate(kind="navigate", url=f"{url}/{page}"), Read(kind="read"))]
    first, second = (await perform(reader, wanted)).texts
    assert "Gamma section" in first
    assert "Gamma section" not in second
    assert "(left out: 1 line around this page that others of the site show too)" in second
    assert "# Beta" in second
    assert "Paragraph number 7" in second
    assert "Gamma section" in seen(await perform(reader, [Find(kind="find", query="gamma")])).text


async def test_rows_come_before_filters_and_use_the_room_where_they_are_asked_for(reader: Window, serve: Serve) -> None:
    page = await visit(reader, f"{serve(PAGES).url}/lamps", "lamps and prices")
    assert page.tokens > 700
    assert page.text.count(" EUR") > 20
    assert "more rows (read" in page.text


async def test_a_find_shows_the_head_of_the_table_the_entry_and_the_page_and_says_no_such_words(
    window: Window, serve: Serve
) -> None:
    url = serve(PAGES).url

    async def find(path: str, query: str) -> str:
        acts: list[PageAction] = [Navigate(kind="navigate", url=url + path), Find(kind="find", query=query)]
        return seen(await perform(window, acts)).text

    lamp = await find("/lamps", "Lamp 41")
    assert "Lamp | Price" in lamp
    assert "Lamp 41 | 287 EUR" in lamp
    assert "§ Lamps[e" in lamp
    assert "Lamp 40" not in lamp
    note = await find("/reviews", "Verified on day 17")
    assert "Buyer 17" in note
    assert "no such words in one place of this page: lamp in 202, zebra in none" in await find("/lamps", "lamp zebra")
    assert "no such words on this page" in await find("/lamps", "zebra")
    assert "exception queue.Empty" in await find("/code", "raised when it is empty")


def cards(names: list[str]) -> str:
    return "".join(f"<h3><a href=/p/{name}>{name} lamp</a></h3><p>{name}: 5 EUR</p>" for name in names)


def lamp(name: str, others: list[str]) -> str:
    return (
        "<div role=region aria-label=Cookies>We use cookies to improve our shop, to measure how it is used and to show you what others bought. <button>Accept</button></div><header><form role=search><input type=search aria-label=Search></form></header>"
        f"<main><h1>{name}</h1>{TEXT}<h2>Data</h2><table><tr><td>Warranty<td>2 years</table><h2>Also viewed</h2>{cards(others)}</main>"
        "<footer><h2>News</h2><label>E-mail <input></label></footer>"
    )


async def test_what_stands_around_and_below_every_page_is_shown_once_and_data_each_time(
    reader: Window, serve: Serve
) -> None:
    names = ["red", "blue", "green"]
    url = serve({f"/p/{n}": lamp(n, [o for o in [*names, "old"] if o != n]) for n in [*names, "new"]}).url
    first = await visit(reader, f"{url}/p/red")
    assert all(word in first.text for word in ("cookies", "News", "old: 5 EUR"))
    await visit(reader, f"{url}/p/blue")
    await visit(reader, f"{url}/p/green")
    last = await visit(reader, f"{url}/p/new")
    assert not any(word in last.text for word in ("cookies", '"E-mail"', "old: 5 EUR"))
    assert all(word in last.text for word in ("Warranty | 2 years", "Also viewed", 'searchbox "Search"'))
    listing = await visit(reader, f"{serve({'/': f'<main><h1>Lamps</h1>{cards(names)}</main>'}).url}/")
    assert "red: 5 EUR" in listing.text


async def test_a_find_that_fails_shows_the_place_with_most_of_the_words(reader: Window, serve: Serve) -> None:
    await visit(reader, f"{serve(PAGES).url}/a")
    found = seen(await perform(reader, [Find(kind="find", query="paragraph number something attempts")]))
    assert "no such words in one place" in found.text
    assert "3 of 4" in found.text
    assert "Paragraph number 0 says something" in found.text
