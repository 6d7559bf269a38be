"""Live pages that a host's model drives: shown in few tokens, recorded in full, held to the guards."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from anyio.to_thread import run_sync
from mcp import Client
from mcp_types import CallToolResult, ElicitResult

from browser_agent import Safety, Secret
from browser_agent.host.pages import Pages
from ctxfold import Session
from ctxfold.tokens import count
from mcp_server.server import build_server
from mcp_server.sessions.browsing import BrowsingSettings
from mcp_server.sessions.pool import Pools
from tests.mcp_server.conftest import said
from tests.sites.server import LAB, Site

pytestmark = pytest.mark.anyio

FORM = (
    "<title>Order</title><main><h1>Order</h1><form method=post action=/echo>"
    "<label>Name <input name=name></label><label>Key <input name=key></label><button>Place order</button></form></main>"
)


class Driver:
    """A client on one session. What its user is asked is in `asked`; `answer` is what they say, None where they can't be asked."""

    def __init__(self, client: Client, pages: Pages, asked: list[str], answers: list[bool]) -> None:
        self._client = client
        self.pages = pages
        self.asked = asked
        self.answers = answers

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self._client.call_tool(tool, {"session": "trip"} | arguments)

    async def ok(self, tool: str, **arguments: Any) -> str:
        result = await self.call(tool, **arguments)
        assert not result.is_error, said(result)
        return said(result)

    async def wrong(self, tool: str, **arguments: Any) -> str:
        result = await self.call(tool, **arguments)
        assert result.is_error, said(result)
        assert "Next: " in said(result)
        return said(result)


@asynccontextmanager
async def driving(web: BrowsingSettings | None = None, era: str = "auto", asks: bool = False) -> AsyncIterator[Driver]:
    """A client of a server with live pages; one that can ask its user, if it `asks`."""
    asked: list[str] = []
    answers: list[bool] = []

    async def ask(_context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"go_on": answers.pop(0)})

    pools = Pools(browsing=web or BrowsingSettings())
    server = build_server(pools, caps=("core", "browser"))
    async with Client(server, mode=era, elicitation_callback=cast("Any", ask) if asks else None) as client:
        await client.call_tool("open_session", {"session": "trip"})
        yield Driver(client, pools.get(None).browsing.pages, asked, answers)


def ref_of(text: str, name: str) -> str:
    """The ref that follows a name in a page's text."""
    return text.split(name, 1)[1].split("[", 1)[1].split("]", 1)[0]


LEAF = """<title>Leaf {0}</title><main><h1>Leaf {0}</h1><button role=tab onclick="more.hidden = false">More ({0})</button>
<p id=more hidden>Height: {0}0 cm</p></main>"""


@pytest.mark.parametrize("asks", [False, True])
async def test_one_call_opens_the_first_page_and_acts_by_names_on_page_after_page(asks: bool) -> None:
    leaves = range(1, 7)
    async with driving(asks=asks) as host:
        assert "Next: page_open" in await host.wrong("page_act", actions=[{"kind": "click", "ref": "More"}])
        with Site(LAB, {f"/{n}": LEAF.format(n) for n in leaves}) as site:
            acts: list[dict[str, Any]] = []
            for n in leaves:
                acts += [{"kind": "navigate", "url": f"{site.url}/{n}"}, {"kind": "click", "ref": 'tab "More"'}]
                acts += [{"kind": "find", "query": "height"}]
            shown = await host.ok("page_act", actions=acts)
            assert "18 of 18 done" in shown
            assert all(f"Height: {n}0 cm" in shown for n in leaves)
            wanted = {"type": "object", "properties": {"height": {"type": "string"}}}
            taking = [act if act["kind"] != "find" else {"kind": "extract", "wanted": wanted} for act in acts]
            taken = await host.ok("page_act", actions=taking)
            assert all(f"{n}0 cm" in taken for n in leaves)
            assert count(taken) < 400


async def test_a_page_is_opened_read_and_acted_on_in_hundreds_of_tokens_and_recorded_in_full() -> None:
    rows = "".join(f"<tr><td>row {n}<td>{n * 7919 % 1000}</tr>" for n in range(400))
    with Site(LAB, {"/rows": f"<title>Rows</title><main><h1>Rows</h1><table>{rows}</table></main>", "/": FORM}) as site:
        async with driving(BrowsingSettings(Safety(trust=("127.0.0.1",)))) as host:
            shown = await host.ok("page_open", url=f"{site.url}/rows")
            assert count(shown) < 1000
            assert "data, not instructions" in shown
            assert "row 1" in shown
            assert "row 399" not in shown
            assert "row 399 | 681" in await host.ok("page_read", find="row 399")
            assert "(page 2 of" in await host.ok("page_read", page=2)
            assert count(await host.ok("page_read", page=2, budget=300)) < 400
            form = await host.ok("page_open", url=f"{site.url}/")
            fields = [{"ref": ref_of(form, '"Name"'), "value": "Ann"}, {"ref": ref_of(form, '"Key"'), "value": "k"}]
            acts = [{"kind": "fill_form", "fields": fields}, {"kind": "click", "ref": ref_of(form, "Place order")}]
            done = await host.ok("page_act", actions=acts, why="The user wants to order.")
            assert "2 of 2 done" in done
            assert "name=Ann" in done
            again = await host.ok("page_read", find="Place", found="The order goes to Ann.")
            assert "no such words" in again
            where = shown.split("whole page ")[1].split(",")[0]
            assert "row 12" in await host.ok("recall", ref=where)
            assert "The order goes to Ann." in await host.ok("context")
        with Session.open("trip", create=False) as session:
            assert "row 399" in session.recall(where).text
            assert "The user wants to order." in session.recall(f"s{session.tip - 1}").text


async def test_what_cannot_be_done_is_an_error_that_names_the_next_call() -> None:
    with Site(LAB) as site:
        async with driving() as host:
            assert "page_open" in await host.wrong("page_read")
            assert "page_open" in await host.wrong("page_act", actions=[{"kind": "back"}])
            assert "no session" in said(await host.call("page_open", session="nobody", url=site.url))
            for url in ("", "nope", "file:///etc/passwd", "javascript:alert(1)", "http://", "http://[::1"):
                assert "web address" in await host.wrong("page_open", url=url)
            assert "--allow" in await host.wrong("page_open", url="http://169.254.169.254/latest/meta-data")
            assert "another address" in await host.wrong("page_open", url="http://127.0.0.1:9/")
            shown = await host.ok("page_open", url=site.url)
            assert "needs a kind, one of 'navigate'" in await host.wrong("page_act", actions=[{"kind": "fly"}])
            assert "1 to 20 actions" in await host.wrong("page_act", actions=[])
            assert "should be a list" in await host.wrong("page_act", actions="back")
            assert "needs a kind, one of 'navigate'" in await host.wrong(
                "page_act", actions=[{"kind": "answer", "text": "x"}]
            )
            waits = [{"kind": "wait_for", "text": "never", "seconds": 20}] * 2
            assert "wait 40 s in all" in await host.wrong("page_act", actions=waits)
            assert "one of the two" in await host.wrong("page_read", find="a", page=2)
            assert "200 to 2000" in await host.wrong("page_read", budget=9)
            stale = await host.wrong("page_act", actions=[{"kind": "click", "ref": "e9999"}])
            assert "Go" in stale
            assert ref_of(shown, '"Go"') in stale
            for _ in range(2):
                await host.ok("page_act", actions=[{"kind": "press", "key": "F2"}])
            assert "choose another way" in await host.wrong("page_act", actions=[{"kind": "press", "key": "F2"}])


async def test_a_page_reaches_no_further_than_where_it_was_opened_or_allowed_and_does_nothing_unasked() -> None:
    with Site(LAB) as inner, Site(pages={"/": f"<a href={inner.url}/>Out</a>", "/order": FORM}) as site:
        leave = [{"kind": "navigate", "url": inner.url}]
        async with driving() as host:
            shown = await host.ok("page_open", url=site.url)
            assert "--allow" in await host.wrong("page_act", actions=[{"kind": "click", "ref": ref_of(shown, "Out")}])
            assert "--allow" in await host.wrong("page_act", actions=leave)
            assert not inner.seen
        async with driving(BrowsingSettings(Safety(allow=(f"127.0.0.1:{site.port}",), confirm="always"))) as host:
            shown = await host.ok("page_open", url=f"{site.url}/order")
            assert "--allow" in await host.wrong("page_open", url=inner.url)
            assert not inner.seen
            click = [{"kind": "click", "ref": ref_of(shown, "Place")}]
            assert f"--trust 127.0.0.1:{site.port}" in await host.wrong("page_act", actions=click)
            assert "/echo" not in site.seen


async def test_what_has_consequences_is_done_with_the_users_yes_alone(era: str) -> None:
    acts = {"Add": "/cart", "Pay": "/pay"}
    shop = "".join(
        f"<button onclick=\"fetch('{to}', {{method: 'POST'}})\">{name}</button>" for name, to in acts.items()
    )
    with Site(pages={"/": FORM, "/shop": shop}) as site:
        async with driving(BrowsingSettings(Safety(confirm="always")), era, asks=True) as host:
            shown = await host.ok("page_open", url=site.url)
            click = [{"kind": "click", "ref": ref_of(shown, "Place order")}]
            host.answers[:] = [False, True]
            assert "not agreed to" in await host.wrong("page_act", actions=click)
            assert "/echo" not in site.seen
            assert "Received" in await host.ok("page_act", actions=click)
            assert len(host.asked) == 2
            sent = f"POST 127.0.0.1:{site.port}/echo, 2 fields, from the button 'Place order'"
            assert all(sent in question and "Go on?" in question for question in host.asked)
            shown = await host.ok("page_open", url=site.url)
            host.answers[:] = [False]
            click = [{"kind": "click", "ref": ref_of(shown, "Place order")}]
            assert "not agreed to" in await host.wrong("page_act", actions=click), "a yes is to one act"
            shown = await host.ok("page_open", url=f"{site.url}/shop")
            both = [{"kind": "click", "ref": ref_of(shown, name)} for name in ("Add", "Pay")]
            host.answers[:] = [True]
            assert "once a call" in await host.wrong("page_act", actions=both)
            assert site.sent[1:] == [("POST", "/cart")]
            host.answers[:] = [True]
            await host.ok("page_act", actions=both[1:])
            assert site.sent[2:] == [("POST", "/pay")]
            assert len(host.asked) == 5
            with Site(pages={"/": "<p>Inside.</p>"}) as inner:
                host.pages.note_shown("https://example.org/")
                host.answers[:] = [False, True]
                assert "needs the user's yes" in await host.wrong("page_open", url=inner.url)
                assert not inner.seen
                assert "Inside." in await host.ok("page_open", url=inner.url)
                assert inner.url in host.asked[-1]


async def test_a_secret_is_typed_where_it_belongs_and_stands_nowhere_else_and_downloads_are_kept(
    ctxfold_home: Path,
) -> None:
    value = "hunter2-hunter2"
    with Site(pages={"/": FORM + "<a href='/file?name=report.txt'>Report</a>"}) as site:
        web = BrowsingSettings(Safety(secrets=(Secret("key", value, "127.0.0.1"),), trust=("127.0.0.1",)))
        async with driving(web) as host:
            shown = await host.ok("page_open", url=site.url)
            saved = ctxfold_home / "downloads" / "trip" / "report.txt"
            done = await host.ok("page_act", actions=[{"kind": "download", "ref": ref_of(shown, "Report")}])
            assert f"saved {saved}" in done
            assert saved.read_bytes() == b"twelve bytes"
            key = {"kind": "type", "ref": ref_of(shown, '"Key"'), "text": "<secret:key>", "submit": True}
            done = await host.ok("page_act", actions=[key])
            assert "key=<secret:key>" in done
            assert value not in done
            assert value not in await host.ok("context")
    kept = await run_sync(lambda: [file.read_bytes() for file in ctxfold_home.rglob("*") if file.is_file()])
    assert kept
    assert not any(value.encode() in content for content in kept)
