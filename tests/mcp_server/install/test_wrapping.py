import json
import os
import tomllib
from pathlib import Path, PurePath, PurePosixPath

import pytest
from click.testing import CliRunner

from ctxfold.errors import InputError
from mcp_server.cli.install import install, uninstall
from mcp_server.install.formats import choose_editor
from mcp_server.install.hooks import plan_unwrap, plan_wrap
from mcp_server.install.hosts import HOSTS, InstallHost, Launch, Machine

MACHINE = Machine(PurePosixPath("/home/ada"), PurePosixPath("/home/ada/.config"))
LAUNCH = Launch("/home/ada/.local/bin/ctxfold", ("wrap",))
WORDS = ["npx", "-y", "@playwright/mcp"]

every_host = pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)


def settings(host: InstallHost, path: PurePath) -> str:
    """A file as people keep them, with a server on one line and another behind it."""
    key = host.path[0]
    if path.suffix == ".toml":
        return (
            f'# mine\nmodel = "o5"\n\n[{key}.web]   # the browser\ncommand = "npx" # by name\nargs = [\n  "-y",\n  "@playwright/mcp",\n]\n\n'
            f'[{key}.web.env]\nA = "b"\n\n[{key}.other]\ncommand = "/bin/other"\n'
        )
    words = json.dumps(WORDS)
    own = f'"command": {words}' if host.name == "opencode" else '"command": "npx", "args": ["-y",   "@playwright/mcp"]'
    return f'// mine\n{{\n\t"{key}": {{\n\t\t"web": {{ {own}, "env": {{"A": "b"}} /* so */ }},\n\t\t"other": {{"command": "/bin/other"}}, }}\n}}\n'


def entry(host: InstallHost, path: PurePath, text: str, name: str = "web") -> dict[str, object]:
    found = choose_editor(path).get(text, (*host.path[:-1], name))
    assert isinstance(found, dict)
    return found


@every_host
def test_a_server_is_wrapped_and_given_back_byte_for_byte(host: InstallHost) -> None:
    path = host.files(MACHINE)[0]
    before = settings(host, path)
    wrapped = plan_wrap(host, LAUNCH, "web", path, (before, None))
    assert wrapped.after is not None
    made = entry(host, path, wrapped.after)
    command = made["command"]
    words = command if isinstance(command, list) else [command, *made["args"]]  # type: ignore[misc]
    assert words == [LAUNCH.command, "wrap", "--", *WORDS]
    assert made["env"] == {"A": "b"}
    assert not plan_wrap(host, LAUNCH, "web", path, (wrapped.after, wrapped.backup)).has_changes, "once is enough"
    back = plan_unwrap(host, "web", path, (wrapped.after, wrapped.backup))
    assert back.after == before
    assert back.backup is None


@every_host
def test_an_entry_is_given_back_though_others_were_edited_and_wrapped_since(host: InstallHost) -> None:
    path = host.files(MACHINE)[0]
    before = settings(host, path)
    first = plan_wrap(host, LAUNCH, "web", path, (before, None))
    second = plan_wrap(host, LAUNCH, "other", path, (first.after, first.backup))
    edited = (second.after or "").replace("mine", "mine, edited")
    back = plan_unwrap(host, "web", path, (edited, second.backup))
    assert entry(host, path, back.after or "") == entry(host, path, before)
    every = plan_unwrap(host, None, path, (back.after, back.backup))
    assert every.after == before.replace("mine", "mine, edited")
    assert every.backup is None


def test_a_server_at_an_address_is_wrapped_by_it_and_one_with_secrets_is_refused() -> None:
    host, path = HOSTS["vscode"], HOSTS["vscode"].files(MACHINE)[0]
    before = '{"servers": {"far": {"type": "http", "url": "https://far.example/mcp"}}}'
    wrapped = plan_wrap(host, LAUNCH, "far", path, (before, None))
    made = entry(host, path, wrapped.after or "", "far")
    assert made == {"type": "stdio", "command": LAUNCH.command, "args": ["wrap", "--url", "https://far.example/mcp"]}
    assert plan_unwrap(host, "far", path, (wrapped.after, wrapped.backup)).after == before
    for other in (
        '"headers": {"Authorization": "Bearer x"}, "url": "https://a"',
        '"type": "sse", "url": "https://a"',
        '"x": 1',
    ):
        with pytest.raises(InputError):
            plan_wrap(host, LAUNCH, "far", path, (f'{{"servers": {{"far": {{{other}}}}}}}', None))


@every_host
def test_the_commands_wrap_a_server_and_take_all_of_it_back(host: InstallHost, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(os.environ["HOME"])
    monkeypatch.setattr("sys.platform", "linux")
    run = CliRunner().invoke
    path = Path(host.files(Machine(home, home / ".config"))[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(settings(host, path))

    unknown = run(install, [host.name, "--wrap", "nowhere"])
    assert isinstance(unknown.exception, InputError)
    assert "web, other" in str(unknown.exception)
    assert run(install, [host.name, "--wrap", "web"]).exit_code == 0
    assert "wrap" in path.read_text()
    assert run(install, [host.name]).exit_code == 0
    assert run(uninstall, [host.name, "--wrap", "web"]).exit_code == 0
    assert run(install, [host.name, "--wrap", "other"]).exit_code == 0
    assert run(uninstall, [host.name]).exit_code == 0
    text = path.read_text()
    parsed = tomllib.loads(text)["mcp_servers"] if path.suffix == ".toml" else None
    assert "ctxfold" not in text
    assert parsed is None or parsed["web"]["args"] == WORDS[1:]
    assert [each.name for each in path.parent.glob(f"{path.name}.*ctxfold")] == []
