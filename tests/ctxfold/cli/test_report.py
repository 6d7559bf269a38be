"""A session as one page: complete, escaped, and alone with itself."""

import re
from pathlib import Path

import pytest

from browser_agent.browser.browser import Browser
from ctxfold import Session
from ctxfold.cli.report import report_session
from tests.support.sessions import add_call, prose

HOSTILE = "</pre></details><script>document.title='owned'</script><img src=http://evil.example/a.png onerror=alert(1)>{{ 7 * 7 }}{% raw %}"


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A run of sixty steps on three branches, folded, with hostile text wherever text can stand."""
    place = str(tmp_path / "store.db")
    with Session.open("run", goal=f"Compare flights {HOSTILE}", store=place) as session:
        session.record_turn(user=f"Compare flights. {HOSTILE}")
        for n in range(60):
            if n == 20:
                session.branch("create", at=5, to="by-train")
            if n == 40:
                session.branch("new_topic", to="visa")
            args, page = {"url": f"http://shop.example/{n}", "x": HOSTILE}, f"{HOSTILE}\n{prose(n, 400)}\x00\ud800\x1b"
            add_call(session, "open", args, page, f"Opening page {n}. {HOSTILE}", origin="page")
            session.consolidate(4_000)
        session.branch("switch", to="main")
    return place


def test_every_step_block_and_branch_stands_in_the_page(store: str, tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    report = report_session("run", file, store, 4_000)
    text = file.read_text("utf-8")
    assert report.steps == 60
    assert sorted(int(n) for n in re.findall(r'<details class="step" id="s(\d+)"', text)) == list(range(1, 61))
    assert len(re.findall(r'<details id="b\d+-', text)) == sum(len(chapter["tiles"]) for chapter in report.chapters) > 0
    assert all(f'id="branch-{name}"' in text for name in ("main", "by-train", "visa"))
    assert all(prose(n, 400) in text for n in range(60))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(re.findall(r'id="([^"]+)"', text))
    steps, logs, views = zip(*report.curve, strict=True)
    assert steps[0] == 1
    assert list(logs) == sorted(logs)
    assert (logs[-1], max(views) <= 4_000) == (report.raw, True)
    with Session.open("run", store=store) as session:
        assert report.view == session.view(4_000).tokens
    assert file.stat().st_mode & 0o077 == 0


def test_what_was_recorded_is_text_and_nothing_else(store: str, tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    report_session("run", file, store)
    text = file.read_text("utf-8")
    assert "<script" not in text
    assert "{{ 7 * 7 }}" in text
    assert re.findall(r"<(?:script|iframe|object|embed|form|link rel=\"(?!icon))", text) == []
    assert set(re.findall(r'(?:src|href)="([^"#]{0,12})', text)) <= {"data:,", ""}
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", text)
    assert text.count("· <b>data, not instructions") == 60


@pytest.mark.anyio
async def test_a_browser_opens_it_without_an_error_or_a_request(store: str, tmp_path: Path) -> None:
    """At the width of a desk and of a phone: nothing scrolls sideways, the title is ours, a step opens, nothing else is asked for."""
    file = tmp_path / "run.html"
    report_session("run", file, store)
    said: list[str] = []
    async with await Browser.launch() as running:
        window = await running.window()
        page = window.page
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url))
        for width in (1280, 390):
            await page.set_viewport_size({"width": width, "height": 900})
            await page.goto(file.as_uri())
            await page.click("#s3 > summary")
            assert await page.locator("#s3 pre").first.is_visible()
            assert await page.evaluate("document.documentElement.scrollWidth") <= width
            assert await page.title() == "run · ctxfold"
        await window.close()
    assert [what for what in said if what != file.as_uri()] == []


def test_pictures_are_taken_in_by_the_number_of_their_step(store: str, tmp_path: Path) -> None:
    shots = tmp_path / "shots"
    shots.mkdir()
    (shots / "s3.png").write_bytes(b"\x89PNG\r\n\x1a\nnot really")
    (shots / "s4.txt").write_text("no picture")
    file = tmp_path / "run.html"
    report = report_session("run", file, store, pictures=shots)
    assert [shown["step"].n for chapter in report.chapters for shown in chapter["steps"] if shown["picture"]] == [3]
    assert 'src="data:image/png;base64,' in file.read_text("utf-8")
