"""What a reader has seen before is not shown again: what changed instead of the page, the menus of a site once; and a find shows what its places belong to."""

from collections.abc import Callable

import pytest

from browser_agent.actions import Click, Find, Navigate, PageAction
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
