import json
import os
import stat
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import pytest
from click.testing import CliRunner

from ctxfold.errors import InputError
from mcp_server.cli.install import install, uninstall
from mcp_server.install.formats import JSON, TOML
from mcp_server.install.hooks import HOOK_HOSTS
from mcp_server.install.hosts import (
    HOSTS,
    InstallHost,
    Launch,
    Machine,
    is_in_cache,
    plan_install,
    plan_uninstall,
)

GOLDEN = Path(__file__).parent / "golden"

ADA = PureWindowsPath("C:/Users/Ada Lovelace/AppData")
MACHINES = {
    "linux": Machine(PurePosixPath("/home/ada"), PurePosixPath("/home/ada/.config")),
    "macos": Machine(PurePosixPath("/Users/ada"), PurePosixPath("/Users/ada/Library/Application Support")),
    "windows": Machine(
        PureWindowsPath("C:/Users/Ada Lovelace"),
        ADA / "Roaming",
        (ADA / "Local/Packages/Claude_pzs8sxrjxfjjc",),
    ),
}
LAUNCHES = {
    "linux": Launch("/home/ada/.local/bin/ctxfold", ("serve",)),
    "macos": Launch("/Users/ada/.local/bin/ctxfold", ("serve",)),
    "windows": Launch("C:\\Users\\Ada Lovelace\\.local\\bin\\ctxfold.exe", ("serve",)),
}

every_host = pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
every_system = pytest.mark.parametrize("system", MACHINES)

LIVED_IN = {
    ".json": '// mine\n{\n    "theme": "dark",\n    "%s": {\n        "other": {"command": "/bin/other"}\n    }\n}\n',
    ".toml": '# mine\nmodel = "o5"\n\n[%s.other]\ncommand = "/bin/other"\n',
}


def lived_in(host: InstallHost, path: PurePath) -> str:
    return LIVED_IN[path.suffix] % host.path[0]


def entry(host: InstallHost, path: PurePath, text: str) -> object:
    return (TOML if path.suffix == ".toml" else JSON).get(text, host.path)


@every_system
@every_host
def test_each_file_on_each_system_is_the_golden_one(host: InstallHost, system: str) -> None:
    found = ""
    for path in host.files(MACHINES[system]):
        for before in (None, lived_in(host, path)):
            change = plan_install(host, LAUNCHES[system], path, before, None)
            found += f"=== {path}\n{change.after}"
    assert found == (GOLDEN / system / f"{host.name}.txt").read_text(encoding="utf-8")


@every_host
@pytest.mark.parametrize("before", [None, "", "lived in"])
def test_installing_twice_is_installing_once_and_uninstalling_gives_back_every_byte(
    host: InstallHost, before: str | None
) -> None:
    path = host.files(MACHINES["macos"])[0]
    text = lived_in(host, path) if before == "lived in" else before
    first = plan_install(host, LAUNCHES["macos"], path, text, None)
    again = plan_install(host, LAUNCHES["macos"], path, first.after, first.backup)
    assert not again.has_changes
    moved = plan_install(host, LAUNCHES["linux"], path, again.after, again.backup)
    assert moved.has_changes
    back = plan_uninstall(host, path, moved.after, moved.backup)
    assert back.after == text
    assert back.backup is None


@every_host
def test_what_else_changed_since_stays_when_it_is_uninstalled(host: InstallHost) -> None:
    path = host.files(MACHINES["linux"])[0]
    first = plan_install(host, LAUNCHES["linux"], path, lived_in(host, path), None)
    assert first.after is not None
    edited = first.after.replace("/bin/other", "/bin/edited")
    back = plan_uninstall(host, path, edited, first.backup)
    assert back.after is not None
    assert "/bin/edited" in back.after
    assert entry(host, path, back.after) is None


@every_host
def test_a_file_that_does_not_parse_is_refused_by_its_name(host: InstallHost) -> None:
    path = host.files(MACHINES["linux"])[0]
    with pytest.raises(InputError, match="by hand"):
        plan_install(host, LAUNCHES["linux"], path, "{[ nonsense", None)


def test_rights_and_links_stay_and_a_new_file_is_private() -> None:
    home = Path(os.environ["HOME"])
    real = home / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    link = home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)
    CliRunner().invoke(install, ["cursor"])
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert "ctxfold" in real.read_text()
    CliRunner().invoke(install, ["claude-code"])
    assert stat.S_IMODE((home / ".claude.json").stat().st_mode) == 0o600


def test_without_a_command_of_ours_its_python_takes_no_module_of_the_working_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.executable", "/opt/python/bin/python3")
    monkeypatch.setenv("PATH", str(tmp_path))
    CliRunner().invoke(install, ["cursor"])
    written = json.loads((Path(os.environ["HOME"]) / ".cursor" / "mcp.json").read_text())["mcpServers"]["ctxfold"]
    assert (written["command"], written["args"][:4]) == ("/opt/python/bin/python3", ["-P", "-m", "ctxfold", "serve"])


@pytest.mark.parametrize(
    ("command", "passes"),
    [
        ("/home/ada/.cache/uv/archive-v0/kX3vQ/bin/ctxfold", True),
        (r"C:\Users\ada\AppData\Local\uv\cache\archive-v0\kX3\Scripts\ctxfold.exe", True),
        ("/home/ada/.local/bin/ctxfold", False),
        ("/home/ada/.local/share/uv/tools/ctxfold/bin/ctxfold", False),
    ],
)
def test_a_command_in_a_runners_cache_is_known_for_one(command: str, passes: bool) -> None:
    assert is_in_cache(command) is passes


def everything_in(home: Path) -> dict[str, bytes | None]:
    """Every file and folder below a home, with the bytes of the files."""
    return {
        str(path.relative_to(home)): path.read_bytes() if path.is_file() else None for path in sorted(home.rglob("*"))
    }


@every_host
def test_a_home_is_as_it_was_once_all_is_taken_back_and_each_file_is_named_once(
    host: InstallHost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / "note.txt").write_text("mine")
    run, before = CliRunner().invoke, everything_in(home)
    for options in ((), ("--hooks",)) if host.name in HOOK_HOSTS else ((),):
        done = run(install, [host.name, *options])
        assert done.exit_code == 0, done.output
    assert everything_in(home) != before

    shown = run(uninstall, [host.name, "--dry-run"]).stdout
    assert shown.count("\n--- ") + shown.startswith("--- ") == len({*_changed(before, everything_in(home))})
    back = run(uninstall, [host.name])
    assert back.exit_code == 0, back.output
    named = [line.rpartition(": ")[0] for line in back.stdout.splitlines()]
    assert len(named) == len({*named})
    assert everything_in(home) == before


def _changed(before: dict[str, bytes | None], after: dict[str, bytes | None]) -> list[str]:
    """The settings that are new, without the copies kept beside them."""
    return [
        name for name, held in after.items() if held is not None and name not in before and "ctxfold-hooks" not in name
    ]
