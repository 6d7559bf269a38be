"""What an act makes a page send waits for a yes: judged at the server, which must not have got it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from browser_agent.actions import Click, Find, Navigate, Tab
from browser_agent.actions.perform import perform
from browser_agent.browser.browser import Browser
from browser_agent.browser.gate import Gate
from browser_agent.browser.window import Window
from browser_agent.network.effects import Asked, Trust
from tests.benchmarks.effects.attacks import BY_NAME, KINDS
from tests.benchmarks.effects.table import Range, on_range
from tests.browser_agent.doing import do, ref, seen, visit
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

WAYS = (
    "typing that saves itself", "a file that is sent when it is chosen", "fetch with DELETE", "beacon", "ping of a link",
    "a worker", "a service worker", "a sandboxed frame", "a frame of another origin", "a WebSocket", "a redirect that keeps the method",
    "a page opened by a click that posts as it loads", "GET: a link called Delete account",
)  # fmt: skip
SELDOM = {
    "a button called Jetzt bezahlen",
    "a button called 削除する",
    "press Shift+Space on a button",
    "a radio button",
    "ping of a link",  # these three are sent by other processes: on a slow machine after the action was answered
    "a worker",
    "a service worker",
}
USUAL = [name for name in (*(attack.name for attack in KINDS), *WAYS) if name not in SELDOM]
POST = "fetch('/hit', {method: 'POST', body: 'a=1'})"
BUTTON = f'<title>Shop</title><button onclick="{POST}">go</button>'


@pytest.fixture(scope="module")
async def here(browser: Browser) -> AsyncIterator[Range]:
    """The sites that acts are tried on."""
    async with on_range(browser) as made:
        yield made


@pytest.mark.parametrize("name", USUAL)
async def test_an_act_sends_nothing_without_a_yes_and_all_with_one(here: Range, name: str) -> None:
    attack = BY_NAME[name]
    refused = await here.tried(attack, None)
    assert refused.arrived == ()
    if not attack.late:
        assert refused.outcomes[-1].kind == "refused"
        assert name == "a sandboxed frame" or "--trust" in refused.outcomes[-1].message
    agreed = await here.tried(attack, True)
    assert agreed.arrived
    assert agreed.outcomes[-1].ok
    assert len(agreed.asked) == (2 if name == "a redirect that keeps the method" else 1)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in USUAL])
async def test_every_other_act_sends_nothing_without_a_yes_and_all_with_one(here: Range, name: str) -> None:
    attack = BY_NAME[name]
    quiet = await here.tried(attack, None)
    assert attack.gets or quiet.arrived == ()
    assert (await here.tried(attack, True)).arrived


async def test_a_no_sends_nothing_and_leaves_the_page_as_it_is(here: Range) -> None:
    tried = await here.tried(BY_NAME["a button called OK"], False)
    assert tried.arrived == ()
    assert [asked.did for asked in tried.asked] == [
        f"send POST 127.0.0.1:{here.site.port}/hit, 1 field, from the button 'OK'"
    ]
    outcome = tried.outcomes[-1]
    assert outcome.kind == "refused"
    assert "OK" not in outcome.message
    assert outcome.observation is not None
    assert outcome.observation.url == tried.asked[0].url


class Person:
    """Says what `says` is, and keeps the questions."""

    def __init__(self, says: bool = True) -> None:
        self.says = says
        self.asked: list[Asked] = []

    async def __call__(self, asked: Asked) -> bool:
        self.asked.append(asked)
        return self.says


async def opened(browser: Browser, trust: Trust, person: Person | None = None) -> tuple[Window, Gate]:
    """A window behind a gate."""
    gate = Gate(trust, person)
    return await browser.window(gate=gate), gate


async def test_a_trusted_origin_is_never_asked_about_and_its_frames_of_another_are(browser: Browser) -> None:
    with Site(pages={"/": BUTTON}) as other:
        framed = f"{BUTTON}<iframe src='http://localhost:{other.port}/'></iframe>".replace(">go<", ">own<")
        with Site(pages={"/": framed}) as site:
            window, _ = await opened(browser, Trust(start=("127.0.0.1", site.port)))
            page = await visit(window, site.url)
            assert (await do(window, Click(kind="click", ref=ref(page, "button", "own")))).ok
            assert site.sent == [("POST", "/hit")]
            framed_click = await do(window, Click(kind="click", ref=ref(page, "button", "go")))
            assert framed_click.kind == "refused"
            assert f"--trust localhost:{other.port}" in framed_click.message
            assert other.sent == []
            await window.close()


class SlowPerson(Person):
    """Says yes to the first question, after a second, and no to any other."""

    async def __call__(self, asked: Asked) -> bool:
        await asyncio.sleep(1)
        return await super().__call__(asked) and len(self.asked) == 1


async def test_a_yes_covers_nothing_that_the_person_was_not_shown(browser: Browser) -> None:
    with Site() as other:
        late = f"setTimeout(() => fetch('{other.url}/pay', {{method: 'POST', mode: 'no-cors', body: 'all=1'}}), 300)"
        with Site(pages={"/": f'<title>Shop</title><button onclick="{POST}; {late}">go</button>'}) as site:
            person = SlowPerson()
            window, _ = await opened(browser, Trust(), person)
            page = await visit(window, site.url)
            await do(window, Click(kind="click", ref=ref(page, "button", "go")))
            assert [asked.did.partition(",")[0].rpartition("/")[2] for asked in person.asked] == ["hit", "pay"]
            assert site.sent == [("POST", "/hit")]
            assert other.sent == []
            await window.close()


CART = "fetch('/cart', {method: 'POST', body: 'lamp=1'}).then(() => fetch('/log', {method: 'POST', body: 'n=1'}))"
PAY = "fetch('/pay', {method: 'POST', body: 'all=1'})"
SHOP = f'<title>Shop</title><button onclick="{CART}">Add</button><button onclick="{PAY}">Pay</button>'


async def test_a_yes_to_one_act_covers_what_else_it_sends_there_and_no_later_act(browser: Browser) -> None:
    with Site(pages={"/": SHOP}) as site:
        person = Person()
        window, _ = await opened(browser, Trust(), person)
        page = await visit(window, site.url)
        add, pay = (Click(kind="click", ref=ref(page, "button", name)) for name in ("Add", "Pay"))
        assert (await do(window, add)).ok
        assert site.sent == [("POST", "/cart"), ("POST", "/log")]
        person.says = False
        for later in (pay, add):
            outcome = await do(window, later)
            assert outcome.kind == "refused"
        both = await perform(window, [Find(kind="find", query="Pay"), pay])
        assert both.kind == "refused"
        assert len(site.sent) == 2
        assert [asked.did.partition(",")[0].rpartition("/")[2] for asked in person.asked] == ["cart", "pay"] * 2
        await window.close()


async def test_what_a_page_sends_by_itself_passes_also_right_after_a_click(browser: Browser) -> None:
    own = {"/": BUTTON, "/own": f"<title>Own</title><script>{POST}</script>"}
    with Site(pages=own) as site, Site(pages=own) as other:
        window, gate = await opened(browser, Trust())
        await visit(window, f"{site.url}/own")
        assert not armed(gate)
        assert site.sent == [("POST", "/hit")]
        page = await visit(window, site.url)
        site.sent.clear()
        assert (await do(window, Click(kind="click", ref=ref(page, "button", "go")))).kind == "refused"
        assert armed(gate)
        moved = await do(window, Navigate(kind="navigate", url=f"{other.url}/own"))
        assert moved.ok
        assert moved.notes == ""
        assert other.sent == [("POST", "/hit")]
        assert site.sent == []
        await window.close()


FAREWELLS = {
    "of another page": "fetch('/hit', {method: 'POST', keepalive: true, referrer: '/elsewhere', body: 'a=1'})",
    "of no page": "navigator.sendBeacon('/hit', 'a=1')",
    "of its own page": "navigator.sendBeacon('/hit', 'a=1')",
}
"""What a page sends as it is left, by what it says it is of."""
POLICIES = {"of another page": "unsafe-url", "of no page": "no-referrer", "of its own page": "origin"}


@pytest.mark.parametrize("name", FAREWELLS)
async def test_a_farewell_is_held_whatever_page_it_says_it_is_of(browser: Browser, name: str) -> None:
    leaves = (
        f"<meta name=referrer content={POLICIES[name]}><button onclick=\"document.title = 'noted'\">go</button>"
        f"<script>onpagehide = () => {FAREWELLS[name]}</script>"
    )
    to = "form" if name == "of its own page" else "next"
    with Site(pages={"/form": leaves, "/next": "<title>Next</title>"}) as site:
        window, gate = await opened(browser, Trust())
        page = await visit(window, f"{site.url}/form")
        assert (await do(window, Click(kind="click", ref=ref(page, "button", "go")))).ok
        left = await do(window, Navigate(kind="navigate", url=f"{site.url}/{to}"))
        assert seen(left).url == f"{site.url}/{to}"
        await asyncio.wait_for(_open_again(gate), 15)
        late = gate.take_refused()  # on a slow machine it comes after the answer, and is said with the next
        assert bool(late) != (left.kind == "refused")
        assert late or "--trust" in left.message or name == "of no page"
        assert site.sent == []
        await window.close()


LATE = "<title>Late</title><button>go</button><button>other</button>"
"""Its buttons send nothing: what comes late is sent by the tests, once the click has been answered."""


@pytest.fixture
def long_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after an action counts as brought about by it for as long as a slow machine takes."""
    monkeypatch.setattr("browser_agent.browser.gate.TAIL", 120.0)


@pytest.mark.usefixtures("long_tail")
async def test_what_comes_late_is_asked_about_before_the_next_action(browser: Browser) -> None:
    with Site(pages={"/": LATE}) as site:
        person = Person(says=False)
        window, gate = await opened(browser, Trust(), person)
        page = await visit(window, site.url)
        click, other = (Click(kind="click", ref=ref(page, "button", name)) for name in ("go", "other"))
        assert (await do(window, click)).ok
        await _send_late(window, gate)
        assert (await do(window, Find(kind="find", query="go"))).ok  # what only reads asks nothing
        assert person.asked == []
        assert (await do(window, other)).kind == "refused"
        assert len(person.asked) == 1
        assert site.sent == []
        gate.ask = None
        assert (await do(window, click)).ok
        assert await window.page.evaluate(f"{POST}.then(() => 'sent', () => 'dropped')") == "dropped"
        after = await do(window, other)
        assert after.ok
        assert "--trust" in after.notes
        assert site.sent == []
        await window.close()


def armed(gate: Gate) -> bool:
    return gate.armed


async def _open_again(gate: Gate) -> None:
    while gate.armed:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def _send_late(window: Window, gate: Gate) -> None:
    """Have the page send, and wait until that is held."""
    await window.page.evaluate(f"() => {{ {POST} }}")
    while not gate.held:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("trusted", [False, True])
async def test_a_farewell_is_held_where_the_window_is_closed(browser: Browser, trusted: bool) -> None:
    """That of a trusted page is let through; whether it leaves in time is up to the browser, which ends its profile."""
    leaves = "<button>go</button><script>onpagehide = () => navigator.sendBeacon('/hit', 'a=1')</script>"
    with Site(pages={"/": leaves}) as site:
        window, gate = await opened(browser, Trust(start=("127.0.0.1", site.port)) if trusted else Trust())
        page = await visit(window, site.url)
        assert (await do(window, Click(kind="click", ref=ref(page, "button", "go")))).ok
        await window.close()
        assert armed(gate) != trusted
        await asyncio.sleep(0.2 if trusted else 1.4)  # the gate stays a second longer than the window
        assert not (gate.take_refused() if trusted else site.sent)


@pytest.mark.usefixtures("long_tail")
@pytest.mark.parametrize("how", ["window", "tab"])
async def test_ending_what_waits_sends_nothing(browser: Browser, how: str) -> None:
    with Site(pages={"/": LATE}) as site:
        window, gate = await opened(browser, Trust(), Person())
        page = await visit(window, site.url)
        await do(window, Click(kind="click", ref=ref(page, "button", "go")))
        await _send_late(window, gate)
        if how == "tab":
            gate.ask = None
            await do(window, Tab(kind="tab", op="close"))
        await window.close()
        await asyncio.sleep(0.1)
        assert site.sent == []


async def test_another_windows_requests_are_not_held(browser: Browser) -> None:
    with Site(pages={"/": BUTTON}) as site:
        window, gate = await opened(browser, Trust())
        free = await browser.window()
        page = await visit(window, site.url)
        await do(window, Click(kind="click", ref=ref(page, "button", "go")))
        assert armed(gate)
        assert site.sent == []
        page = await visit(free, site.url)
        assert (await do(free, Click(kind="click", ref=ref(page, "button", "go")))).ok
        assert site.sent == [("POST", "/hit")]
        await window.close()
        await free.close()


DIALOGS = {
    "alert": "alert(1)",
    "storm": "for (;;) alert(1)",
    "beforeunload": "addEventListener('beforeunload', e => e.preventDefault())",
}


@pytest.mark.parametrize("how", DIALOGS)
async def test_leaving_a_page_always_works(browser: Browser, how: str) -> None:
    with Site(pages={"/": f'<button onclick="{DIALOGS[how]}">go</button>', "/next": "<title>Next</title>"}) as site:
        window, _ = await opened(browser, Trust())
        for leave in (Navigate(kind="navigate", url=f"{site.url}/next"), Tab(kind="tab", op="close")):
            page = await visit(window, site.url)
            await do(window, Click(kind="click", ref=ref(page, "button", "go")))
            left = await do(window, leave)
            assert left.ok, left.message
            assert window.dialog is None
            assert len(window.pages) == 1
        assert (await visit(window, f"{site.url}/next")).title == "Next"
        await window.close()
