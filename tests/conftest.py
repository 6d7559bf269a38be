"""What every test stands on: asyncio for anyio's plugin, and a home and store of its own. It never touches the user's."""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ctxfold", deadline=None, print_blob=True)  # a shared machine's clock proves nothing
settings.load_profile("ctxfold")

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as shells start what runs in the background; processes of tests inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio alone: Playwright knows no other loop."""
    return "asyncio"


@pytest.fixture(autouse=True)
def ctxfold_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty `CTXFOLD_HOME` and user home for this test, also seen by the processes it starts."""
    browsers = _playwright_browsers()
    for name in tuple(os.environ):
        if name.startswith(
            ("CTXFOLD_", "ANTHROPIC_", "XDG_", "TIKTOKEN_", "DATA_GYM_", "OPENAI_", "GOOGLE_", "GEMINI_", "OLLAMA_")
        ):
            monkeypatch.delenv(name)
    user = tmp_path_factory.mktemp("home")
    home = user / "ctxfold"
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("CTXFOLD_HOME", str(home))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(browsers))
    return home


def _playwright_browsers() -> Path:
    """Where Playwright keeps the browsers it downloaded: tests may use those, so they are named before the home moves."""
    named = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    if named:
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ["LOCALAPPDATA"]) / "ms-playwright"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ms-playwright"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ms-playwright"


SMOKE = {
    "test_anthropic.py",
    "test_config.py",
    "test_definitions.py",
    "test_install.py",
    "test_jsonc.py",
    "test_output.py",
    "test_schema.py",
    "test_surface.py",
    "test_tools.py",
    "test_a_session_written_over_mcp_is_read_by_the_command_line_and_back",
}
"""The files, and the test, that show every room and library alive; they also run with the lowest versions allowed (`python3 run.py lowest`)."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is in `SMOKE`, by its file or its name."""
    for item in items:
        if SMOKE & {item.path.name, item.name.partition("[")[0]}:
            item.add_marker("smoke")
