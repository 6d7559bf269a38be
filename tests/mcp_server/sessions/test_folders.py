"""Which files a host's model may have taken in: those in the host's folders, in both eras of the protocol, and none where it does not tell them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import ErrorData, ListRootsResult, Root
from pydantic import FileUrl

from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools
from tests.mcp_server.conftest import said

pytestmark = pytest.mark.anyio


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The folder a server is started in, and another."""
    here, there = tmp_path / "here", tmp_path / "a b\u00e9"
    for folder in (here, there):
        folder.mkdir()
        (folder / "notes.txt").write_text(f"notes of {folder.name}")
    monkeypatch.chdir(here)
    return here, there


async def taken(
    era: str, roots: Callable[..., Awaitable[ListRootsResult | ErrorData]] | None, *names: Path
) -> list[str]:
    """What a host with these roots is told of each file: "recorded", or why not."""
    found: list[str] = []
    more: dict[str, Any] = {} if roots is None else {"list_roots_callback": roots}
    async with Client(build_server(Pools()), mode=era, **more) as client:
        await client.call_tool("open_session", {"session": "trip"})
        for name in names:
            try:
                result = await client.call_tool("record", {"session": "trip", "file": str(name)})
            except MCPError as error:
                found.append(f"{error}")
            else:
                found.append(said(result) if result.is_error else "recorded")
        if found[-1] != "recorded":
            assert not (await client.call_tool("record", {"session": "trip", "user": "Hi."})).is_error
    return found


def naming(*folders: Path) -> Callable[..., Awaitable[ListRootsResult]]:
    """A host that names these folders as its roots."""

    async def answer(_context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl(folder.as_uri())) for folder in folders])

    return answer


async def refusing(_context: Any) -> ErrorData:
    """A host that refuses to name its roots."""
    return ErrorData(code=-32601, message="roots are not told")


async def test_a_host_without_roots_has_files_read_in_the_working_directory_alone(
    era: str, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = (folder / "notes.txt" for folder in folders)
    first, second = await taken(era, None, here, there)
    assert first == "recorded"
    assert "outside the folders" in second
    monkeypatch.chdir("/")
    assert all("outside the folders" in each for each in await taken(era, None, here, there))


async def test_a_host_with_roots_has_files_read_there_alone_and_with_none_nowhere(
    era: str, folders: tuple[Path, Path]
) -> None:
    here, there = (folder / "notes.txt" for folder in folders)
    first, second = await taken(era, naming(folders[1]), there, here)
    assert first == "recorded"
    assert "outside the folders" in second
    assert "outside the folders" in (await taken(era, naming(), here))[0]


async def test_a_host_that_refuses_to_name_its_roots_has_no_file_read(era: str, folders: tuple[Path, Path]) -> None:
    (refused,) = await taken(era, refusing, folders[0] / "notes.txt")
    assert "recorded" not in refused
    if era == "legacy":
        assert "the host did not name" in refused
        assert "Next: " in refused
