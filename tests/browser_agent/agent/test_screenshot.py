"""Pictures of steps: kept where they are asked for, small, without what must not be seen, in the report without being named, gone with the session."""

import re
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest

import ctxfold
from browser_agent.agent.result import Safety
from browser_agent.agent.settings import Keeping
from browser_agent.network.secrets import Secret
from ctxfold import Session
from ctxfold.cli.report import report_session
from ctxfold.errors import InputError
from ctxfold.session.open import LARGEST_PICTURE, find_pictures
from tests.browser_agent.agent.scripts import browse, decide, script
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]

PAGES = {
    "/": "<title>Tides</title><main><h1>Tides</h1><p>A spring tide comes twice a month.</p></main>",
    "/login": "<title>Login</title><main><h1>Login</h1><input aria-label=User><input type=password aria-label=Word></main>",
    "/shown": "<title>Shown</title><main><h1>Shown</h1><p>Your key is hunter2-hunter2.</p></main>",
}
END = {"kind": "give_up", "reason": "the script ends here"}


def pictures(store: str, session: str) -> list[Path]:
    """A session's pictures."""
    folder = find_pictures(store, session)
    return sorted(folder.iterdir()) if folder is not None and folder.is_dir() else []


async def test_a_report_shows_the_pictures_a_run_kept_and_they_go_with_what_is_removed(
    serve: Serve, tmp_path: Path
) -> None:
    site, store = serve(PAGES), str(tmp_path / "kept.db")
    await browse("How often does a spring tide come?", site.url, keeping=Keeping("tides", store, screenshots=True))
    kept = pictures(store, "tides")
    assert kept
    assert all(path.read_bytes().startswith(b"\xff\xd8") and path.stat().st_size <= LARGEST_PICTURE for path in kept)
    assert all(path.stat().st_mode & 0o077 == 0 for path in (kept[0], kept[0].parent, kept[0].parent.parent))
    report_session("tides", tmp_path / "tides.html", store)
    shown = re.findall(r'src="data:image/jpeg;base64,([^"]+)"', (tmp_path / "tides.html").read_text("utf-8"))
    assert [b64decode(each) for each in shown] == [path.read_bytes() for path in kept]
    with Session.open("tides", store=store, create=False) as session:
        session.redact("spring tide")
    assert not pictures(store, "tides")
    with Session.open("tides", store=store, create=False) as session:
        session.picture(1, b"\xff\xd8")
        with pytest.raises(InputError, match="make it 60000 at most"):
            session.picture(1, b"0" * (LARGEST_PICTURE + 1))
    ctxfold.delete_session("tides", store=store)
    assert not pictures(store, "tides")


async def test_a_secret_is_in_no_picture_and_a_plain_run_takes_none(serve: Serve, tmp_path: Path) -> None:
    site, store = serve(PAGES), str(tmp_path / "kept.db")
    safety = Safety(secrets=(Secret("key", "hunter2-hunter2", "127.0.0.1"),))
    model = script(
        tmp_path,
        decide("Log in.", {"kind": "navigate", "url": f"{site.url}/login"}),
        decide("Look at what it shows.", {"kind": "navigate", "url": f"{site.url}/shown"}),
        decide("Done.", END),
    )
    await browse("Look around.", site.url, model, Keeping("seen", store, screenshots=True), safety=safety)
    assert [path.stem for path in pictures(store, "seen")] == ["s1", "s2"]
    await browse("Look around.", site.url, model, Keeping("plain", store), safety=safety)
    assert not pictures(store, "plain")
