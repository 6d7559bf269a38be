"""What a host's model types into a password field: not in the question to its user, not in the reply, not in the session; and its own session's alone."""

from pathlib import Path

import pytest

from browser_agent.agent.result import Safety
from ctxfold import Session
from mcp_server.sessions.browsing import BrowsingSettings
from tests.mcp_server.conftest import said
from tests.mcp_server.tools.test_pages import driving, ref_of
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

TYPED = "hunter2-Westerly"
LOGIN = (
    "<title>Login</title><main><h1>Login</h1><form action=/echo><label>Name <input name=user></label>"
    "<label>Word <input type=password name=word></label><button>Sign in</button></form></main>"
)


def bytes_of(folder: Path) -> bytes:
    """All that the files of a folder hold."""
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


async def test_a_password_is_typed_and_stands_nowhere(ctxfold_home: Path) -> None:
    """The host told of it in a message before; it is typed twice, the second time by its placeholder; the page echoes it."""
    with Site(pages={"/": LOGIN}) as site:
        async with driving(BrowsingSettings(Safety(confirm="always")), asks=True) as host:
            await host.ok("record", user=f"The word is {TYPED}.")
            shown = await host.ok("page_open", url=site.url)
            word = {"kind": "type", "ref": ref_of(shown, '"Word"'), "text": TYPED}
            host.answers += [True] * 4
            await host.ok("page_act", actions=[word], why=f"Signing in with {TYPED}.")
            again = {**word, "text": "<secret:typed-1>", "submit": True}
            done = await host.ok("page_act", actions=[again])
            assert "word=<secret:typed-1>" in done
            assert TYPED not in repr(host.asked)
            await host.call("open_session", session="other")
            page = await host.ok("page_open", session="other", url=site.url)
            theirs = {"kind": "type", "ref": ref_of(page, '"Word"'), "text": "<secret:typed-1>"}
            assert "no secret of that name" in said(await host.call("page_act", session="other", actions=[theirs]))
        assert any(TYPED in path for path in site.seen)
    with Session.open("trip", create=False) as session:
        log = "\n".join(session.recall(f"s{step}").text for step in range(1, session.tip + 1))
        assert log.count("<secret:typed-1>") >= 4
        assert f"The word is {'*' * len(TYPED)}." in log
        assert "hunter2" not in log + session.view(20_000).text
    assert b"hunter2" not in bytes_of(ctxfold_home)
