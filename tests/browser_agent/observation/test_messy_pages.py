"""Pages as sites have them, each with something that is hard to see or to act on: it works, or what it is is said."""

from collections.abc import AsyncIterator, Iterator

import pytest

from browser_agent.actions import Click, Drag, Find, Hover, Outcome, Scroll, Type
from browser_agent.browser.browser import Browser
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
    "/closed": SHADOW + ".innerHTML = '<p>Inside the card</p><button>Buy inside</button>' } })</script><x-card></x-card>",
    "/private": "<h1>Board</h1><iframe src=http://10.9.8.7/></iframe>",
    "/late": "<h1>Late</h1><button onclick=\"setTimeout(() => out.textContent = 'Arrived late', 200); fetch('/slow?s=0.3')\">Load</button><p id=out></p>",
    "/frames": "<h1>Outer</h1><iframe srcdoc=\"<button onclick=&quot;this.textContent = 'Pressed'&quot;>In the frame</button>\"></iframe>",
    "/clickable": "<div style='cursor:pointer' onclick=\"out.textContent = 'Opened the card'\">A whole card</div><p id=out></p>",
}  # fmt: skip


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """All of them."""
    with Site(pages=PAGES) as served:
        yield served


@pytest.fixture(scope="module")
async def guarded(site: Site) -> AsyncIterator[Browser]:
    """A browser that reaches this site, and nothing else that is private."""
    async with await Browser.launch(egress=Egress.of()) as running:
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
    notes = [(await do(window, Scroll(kind="scroll", direction="bottom"))).message for _ in range(3)]
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


async def test_what_a_closed_component_holds_is_read_and_pressed(window: Window, site: Site) -> None:
    page = await visit(window, f"{site.url}/closed")
    assert "Inside the card" in page.text
    assert (await press(window, page, "button", "Buy inside")).ok


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
