"""Finding a browser, or providing one: what is tried in which order, what is said, and the one message when nothing works."""

from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import anyio.to_thread
import pytest

from browser_agent.browser import process as provision
from browser_agent.browser.process import provide
from browser_agent.cli.browse import pydoc_site
from ctxfold.errors import BrowserMissing

pytestmark = pytest.mark.anyio


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without a browser; the folder its search path consists of."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(provision, "_PLACES", {})
    return folder


def _program(path: Path, says: str = "Chromium 156") -> Path:
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


Answers = Callable[[dict[str, str | None]], list[str]]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """Lets commands end as told, by a word in them, and lists those that were run. Nothing is downloaded or installed."""
    ran: list[str] = []

    def start(ends: dict[str, str | None]) -> list[str]:
        async def run(command: list[str], seconds: float) -> str | None:
            line = " ".join(command)
            ran.append(line)
            return next((end for word, end in ends.items() if word in line), None)

        monkeypatch.setattr(provision, "_run", run)
        return ran

    return start


async def test_the_download_comes_first_and_its_browser_is_used(bare: Path, tmp_path: Path, answers: Answers) -> None:
    ran = answers({})
    said: list[str] = []
    own = _program(tmp_path / "own")
    assert await provide(own, said.append) == own
    assert len(ran) == 1
    assert "playwright install chromium" in ran[0]
    assert said == ["no browser that starts was found; downloading Chromium with Playwright"]


async def test_where_the_download_fails_root_gets_the_distributions_package(
    bare: Path, tmp_path: Path, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provision, "is_root", lambda: True)
    _program(bare / "apt-get")
    ran = answers({"playwright": "no route to the network"})
    chromium = _program(bare / "chromium")
    said: list[str] = []
    assert await provide(tmp_path / "none", said.append) == chromium
    assert [line.split()[3] for line in ran[1:]] == ["update", "install"]
    assert any("no route to the network" in line for line in said)
    assert all("\n" not in line for line in said)


@pytest.mark.parametrize("root", [True, False])
async def test_where_nothing_works_one_message_holds_the_command(
    bare: Path, tmp_path: Path, answers: Answers, monkeypatch: pytest.MonkeyPatch, root: bool
) -> None:
    monkeypatch.setattr(provision, "is_root", lambda: root)
    _program(bare / "apt-get")
    ran = answers({"playwright": "failed", "apt-get": "unable to fetch"})
    with pytest.raises(BrowserMissing) as raised:
        await provide(tmp_path / "none", lambda _: None)
    assert "apt-get install -y chromium" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert any("apt-get" in line for line in ran) == root


async def test_no_module_of_the_working_directory_is_run(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The download of a browser and the server of the demo start a Python of their own."""
    hostile, ran = tmp_path / "hostile", tmp_path / "ran"
    hostile.mkdir()
    for name in ("playwright", "pydoc", "json", "subprocess", "sitecustomize"):
        (hostile / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write({name!r})\n")
    monkeypatch.chdir(hostile)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nothing answers there: nothing is downloaded
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "browsers"))
    with pytest.raises(BrowserMissing):
        await provide(tmp_path / "none", lambda _: None, packages=False)
    with pydoc_site() as url:
        assert b"json" in await anyio.to_thread.run_sync(lambda: urlopen(f"{url}json.html").read())
    assert not ran.exists()
