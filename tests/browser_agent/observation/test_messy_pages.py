"""Pages as sites have them, each with something that is hard to see or to act on: it works, or what it is is said."""

from collections.abc import AsyncIterator, Iterator

import pytest

from browser_agent.actions import Click, Drag, FieldValue, FillForm, Find, Hover, Navigate, Outcome, Read, Scroll, Type
from browser_agent.actions.perform import perform
from browser_agent.browser.browser import Browser
from browser_agent.browser.limits import LIMITS
from browser_agent.browser.window import Window
from browser_agent.network.egress import Egress
from browser_agent.observation import Observation
from browser_agent.observation.inline import REF
from tests.browser_agent.doing import do, ref, seen, visit
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

SHADOW = "<script>customElements.define('x-card', class extends HTMLElement { constructor() { super(); this.attachShadow({ mode: 'closed' })"
PAGES = {
    "/endless": "<h1>Feed</h1><ul id=l></ul><script>let n = 0; function more() { for (let i = 0; i < 40; i++) l.insertAdjacentHTML('beforeend', `<li>Post ${n++}</li>`) };"
    "more(); addEventListener('scroll', () => { if (scrollY + innerHeight > document.body.scrollHeight - 50 && n < 100) setTimeout(more, 150) })</script>",
    "/editor": "<h1>Note</h1><div contenteditable>Old words</div>",
    "/menu": "<style>#sub { display: none } #top:hover #sub { display: block }</style><div id=top><button>Tools</button><a id=sub href=/x>Hidden tool</a></div>",
    "/drag": "<p id=a draggable=true role=button>Card</p><p id=b role=button>Done column</p><p id=out></p><script>b.ondragover = e => e.preventDefault(); b.ondrop = () => out.textContent = 'It was dropped'</script>",
    "/sort": "<style>li { height: 40px; user-select: none }</style><ul id=l><li>One</li><li>Two</li><li>Three</li></ul><script>let held, last; l.onmousedown = e => { held = e.target; last = e.y };"
    "onmouseup = () => held = null; onmousemove = e => { const over = held && [...l.children].find(one => one !== held && one.getBoundingClientRect().top <= e.y && e.y < one.getBoundingClientRect().bottom);"
    "if (over) { const middle = over.getBoundingClientRect().top + 20; if (e.y < last && e.y < middle) over.before(held); if (e.y > last && e.y > middle) over.after(held) } last = e.y }</script>",
    "/over": "<style>div { position: absolute; border: 9px solid; width: 20px; height: 20px; top: 60px; left: 60px; z-index: 1 } #large { width: 94px; height: 94px; top: 20px; left: 20px; z-index: 0 }</style><p id=out></p>"
    "<div id=small role=button>s</div><div id=large role=button>L</div><script>let held; small.onmousedown = () => held = true; onmousemove = e => { if (held) small.style.left = e.x - 19 + 'px' };"
    "onmouseup = e => { held = false; out.textContent = `Let go ${e.x - 76} right of the middle, ${e.y - 76} below` }</script>",
    "/closed": SHADOW + ".innerHTML = '<p>Inside the card</p><button>Buy inside</button>' } })</script><x-card></x-card>",
    "/canvas": "<h1>Chart</h1><canvas width=400 height=300></canvas>",
    "/pdf": "<h1>Paper</h1><embed type=application/pdf src=/paper.pdf width=300 height=300>",
    "/download": "<a href='/file?name=report.csv'>Report</a>",
    "/covered": "<button>Pay</button><div role=dialog style='position:fixed;inset:0;background:white'>Cookies? <button onclick='this.parentElement.remove()'>Accept all</button></div>",
    "/private": "<h1>Board</h1><iframe src=http://10.9.8.7/></iframe>",
    "/late": "<h1>Late</h1><button onclick=\"setTimeout(() => out.textContent = 'Arrived late', 200); fetch('/slow?s=0.3')\">Load</button><p id=out></p>",
    "/names": "<p>Raises <code><span>queue.</span><span>Empty</span></code> at once.</p>",
    "/twice": "<form><input type=search aria-label=Find><button>Go</button></form><main><h1>Text</h1><p>Body.</main><form><input type=search aria-label=Find><button>Go</button></form>",
    "/reviews": "<main><h1>Lamp</h1><p>Price 30 EUR.</p><h2>Reviews</h2><ul>" + "".join(f"<li>Review {n}: it is {'very ' * 40} good.</li>" for n in range(30)) + "</ul></main>",
    "/custom": "<div role=combobox tabindex=0 aria-label=Size onclick='o.hidden = false'>Choose</div><div id=o role=listbox hidden><div role=option tabindex=0 onclick=\"out.textContent = 'Large it is'\">Large</div></div><p id=out></p>",
    "/wizard": "<form onsubmit=\"event.preventDefault(); err.textContent = mail.value.includes('@') ? 'Thanks' : 'Enter a mail address'\"><label>Mail <input id=mail></label><button>Next</button><p role=alert id=err></p></form>",
    "/frames": "<h1>Outer</h1><iframe srcdoc=\"<button onclick=&quot;this.textContent = 'Pressed'&quot;>In the frame</button>\"></iframe>",
    "/clickable": "<div style='cursor:pointer' onclick=\"out.textContent = 'Opened the card'\">A whole card</div><p id=out></p>",
    "/links": "<a href=/a/long/way?x=1>One way</a>",
    "/empty": "",
}  # fmt: skip


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """All of them."""
    with Site(pages=PAGES) as served:
        yield served


@pytest.fixture(scope="module")
async def guarded(site: Site) -> AsyncIterator[Browser]:
    """A browser that reaches this site, and nothing else that is private."""
    async with await Browser.launch(egress=Egress.of(())) as running:
        running.permit(site.url)
        yield running


async def press(window: Window, page: Observation, role: str, name: str) -> Outcome:
    return await do(window, Click(kind="click", ref=ref(page, role, name)))


async def test_a_list_without_an_end_is_waited_for_as_it_grows(window: Window, site: Site) -> None:
    await visit(window, f"{site.url}/endless")
    grown = await do(window, Scroll(kind="scroll", direction="bottom"))
    assert "more came" in grown.message
    found = await do(window, Find(kind="find", query="Post 55"))
    assert "Post 55" in seen(found).text
    notes = [(await do(window, Scroll(kind="scroll", direction="bottom"))).notes for _ in range(3)]
    assert "at the end already" in notes[-1]


async def test_an_editor_of_rich_text_is_a_field_that_is_typed_into(window: Window, site: Site) -> None:
    page = await visit(window, f"{site.url}/editor")
    assert "Old words" in page.text
    editor = next(one for one in page.refs.values() if one.role == "textbox")
    typed = await do(window, Type(kind="type", ref=editor.ref, text="New words"))
    assert '="New words"' in seen(typed).text


async def test_what_opens_under_the_pointer_is_seen_and_what_is_dragged_is_dropped(window: Window, site: Site) -> None:
    page = await visit(window, f"{site.url}/menu")
    assert "Hidden tool" not in page.text
    assert "Hidden tool" in seen(await do(window, Hover(kind="hover", ref=ref(page, "button", "Tools")))).text
    page = await visit(window, f"{site.url}/drag")
    card, column = ref(page, "button", "Card"), ref(page, "button", "Done column")
    assert "It was dropped" in seen(await do(window, Drag(kind="drag", ref=card, to=column))).text


@pytest.mark.parametrize(
    ("name", "onto", "order"), [("Three", "One", "Three · One · Two"), ("One", "Three", "Two · Three · One")]
)
async def test_what_is_dragged_onto_another_of_a_sorted_list_takes_its_place(
    window: Window, site: Site, name: str, onto: str, order: str
) -> None:
    page = await visit(window, f"{site.url}/sort")
    moved = Drag(kind="drag", ref=ref(page, "listitem", name), to=ref(page, "listitem", onto))
    assert order in REF.sub("", seen(await do(window, moved)).text)


async def test_what_lies_over_the_place_it_is_dragged_to_is_dragged_all_the_same(window: Window, site: Site) -> None:
    page = await visit(window, f"{site.url}/over")
    moved = await do(window, Drag(kind="drag", ref=ref(page, "button", "s"), to=ref(page, "button", "L")))
    assert moved.ok, moved.message
    assert "Let go -14 right of the middle, -14 below" in seen(moved).text, (
        "an eighth of 112 from the middle, borders included"
    )


async def test_what_a_closed_component_holds_is_read_and_pressed(window: Window, site: Site) -> None:
    page = await visit(window, f"{site.url}/closed")
    assert "Inside the card" in page.text
    assert (await press(window, page, "button", "Buy inside")).ok


async def test_what_is_drawn_is_said_to_be(window: Window, site: Site) -> None:
    assert "a canvas of 400x300" in (await visit(window, f"{site.url}/canvas")).text
    assert f"a PDF of 300x300 at {site.url}/paper.pdf" in (await visit(window, f"{site.url}/pdf")).text


async def test_a_download_is_said_and_named(window: Window, site: Site) -> None:
    page = await visit(window, f"{site.url}/download")
    outcome = await press(window, page, "link", "Report")
    assert "a file was downloaded" in outcome.message
    assert outcome.downloads[0].endswith("report.csv")
    opened = await do(window, Navigate(kind="navigate", url=f"{site.url}/file?name=other.csv"))
    assert opened.downloads[0].endswith("other.csv")


async def test_an_element_that_is_covered_is_not_clicked_and_the_look_shows_what_covers_it(
    window: Window, site: Site
) -> None:
    window.limits = LIMITS.at_pace(0.4)
    page = await visit(window, f"{site.url}/covered")
    covered = await press(window, page, "button", "Pay")
    assert covered.kind == "not_possible"
    assert "another element covers" in covered.message
    assert "Accept" not in covered.message, "words of the page are no message of ours"
    assert f"[{ref(seen(covered), 'button', 'Accept all')}]" in seen(covered).text


async def test_a_frame_of_the_private_network_names_what_would_let_it_through(guarded: Browser, site: Site) -> None:
    page = await visit(await guarded.window(), f"{site.url}/private")
    assert "# Board" in page.text
    assert "--allow 10.9.8.7:80" in page.text


@pytest.mark.parametrize(
    ("path", "role", "name", "then"),
    [
        ("/late", "button", "Load", "Arrived late"),
        ("/frames", "button", "In the frame", "Pressed"),
        ("/clickable", "generic", "A whole card", "Opened the card"),
    ],
)
async def test_what_a_press_brings_is_seen(
    window: Window, site: Site, path: str, role: str, name: str, then: str
) -> None:
    page = await visit(window, f"{site.url}{path}")
    assert then in seen(await press(window, page, role, name)).text


async def test_a_list_of_a_sites_own_making_is_opened_and_chosen_from(window: Window, site: Site) -> None:
    page = await visit(window, f"{site.url}/custom")
    opened = seen(await press(window, page, "combobox", "Size"))
    assert "Large it is" in seen(await press(window, opened, "option", "Large")).text


async def test_a_wizard_says_what_it_wants(window: Window, site: Site) -> None:
    page = await visit(window, f"{site.url}/wizard")
    mail, button = ref(page, "textbox", "Mail"), ref(page, "button", "Next")
    assert "Enter a mail address" in seen(await do(window, Click(kind="click", ref=button))).text
    fields = (FieldValue(ref=mail, value="a@b.example"),)
    done = await do(window, FillForm(kind="fill_form", fields=fields), Click(kind="click", ref=button))
    assert "Thanks" in seen(done).text


async def test_names_keep_their_spacing_and_a_field_stands_once(window: Window, site: Site) -> None:
    assert "Raises queue.Empty at once." in (await visit(window, f"{site.url}/names")).text
    await visit(window, f"{site.url}/twice")


async def test_what_is_left_out_is_counted_at_its_place(window: Window, site: Site) -> None:
    window.settings = type(window.settings)(window.settings.folders, 500)
    page = await visit(window, f"{site.url}/reviews", "price and reviews")
    assert "Price 30 EUR." in page.text
    assert "more items (read [" in page.text
    assert page.tokens > 300


async def test_links_say_where_they_lead_where_that_is_asked(window: Window, site: Site) -> None:
    page = await visit(window, f"{site.url}/links")
    assert "/a/long/way" not in page.text
    assert "(/a/long/way?x=1)" in seen(await perform(window, [Read(kind="read", links=True)])).text


async def test_an_empty_page_is_one(window: Window, site: Site) -> None:
    page = await visit(window, f"{site.url}/empty")
    assert page.refs == {} or not any(one.role == "button" for one in page.refs.values())
    assert page.tokens < 40
