import os
from pathlib import Path

import pytest

from ctxfold.errors import InputError, Refused
from mcp_server.tools.sessions import LARGEST, read_text_file


@pytest.mark.parametrize("name", ["notes.txt", "./notes.txt", "~/notes.txt", "/a\0b", "", "/\ud800"])
def test_a_path_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absolute path|not a path"):
        read_text_file(name, [tmp_path])


def test_only_what_lies_in_one_of_the_folders_is_read_wherever_links_lead(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "mine-too"
    for folder in (mine, other):
        folder.mkdir()
        (folder / "notes.txt").write_text(folder.name)
    (mine / "link.txt").symlink_to(other / "notes.txt")
    assert read_text_file(str(mine / "notes.txt"), [mine])[1] == "mine"
    assert read_text_file(str(mine / "link.txt"), [mine, other])[1] == "mine-too"
    for name in (
        other / "notes.txt",
        mine / "link.txt",
        mine / ".." / "mine-too" / "notes.txt",
        other / "none.txt",
        Path("/etc/passwd"),
    ):
        for folders in ([mine], []):
            with pytest.raises(Refused, match="outside the folders"):
                read_text_file(str(name), folders)
    with pytest.raises(InputError, match="cannot be opened"):
        read_text_file(str(mine / "none.txt"), [mine])


@pytest.mark.parametrize("name", ["/proc/self/environ", "/dev/zero", "/dev/stdin", "/sys/kernel/notes"])
def test_what_the_system_shows_of_itself_is_refused(name: str) -> None:
    with pytest.raises((Refused, InputError)):
        read_text_file(name, [Path("/proc"), Path("/sys"), Path("/dev")])


def test_hidden_places_are_refused_wherever_links_lead(tmp_path: Path) -> None:
    key = tmp_path / ".ssh" / "id_ed25519"
    key.parent.mkdir()
    key.write_text("key")
    link = tmp_path / "readme.txt"
    link.symlink_to(key)
    for name in (key, link):
        with pytest.raises(Refused, match="hidden"):
            read_text_file(str(name), [tmp_path])


def test_folders_and_pipes_are_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for name in (tmp_path, pipe):
        with pytest.raises(InputError, match=r"folder or device|cannot be opened"):
            read_text_file(str(name), [tmp_path])


def test_a_file_beyond_the_bound_is_refused_with_its_size(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(InputError, match=str(LARGEST + 1)):
        read_text_file(str(path), [tmp_path])
