"""Our hooks in a host's settings: put behind the user's own, taken out again to the byte."""

from __future__ import annotations

import json
from pathlib import PurePath

import pytest

from mcp_server.install.hooks import HOOK_HOSTS, plan_hooks, plan_no_hooks

PATH = PurePath("settings.json")
PYTHON = "/opt/ctx fold/bin/python"
THEIRS = '{\n  "theme": "dark",\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}\n}\n'


LISTED = [host for host, hooked in HOOK_HOSTS.items() if hooked.events]


@pytest.mark.parametrize("host", LISTED)
@pytest.mark.parametrize("before", [None, "", "{}", THEIRS])
def test_installing_and_taking_back_restores_every_byte(host: str, before: str | None) -> None:
    put = plan_hooks(host, PYTHON, PATH, before, None)
    assert put.after is not None
    told = json.loads(put.after)["hooks"][HOOK_HOSTS[host].events[0][0]][-1]["hooks"][0]["command"]
    assert told == f'"{PYTHON}" -I -m mcp_server.hooks {host}'
    again = plan_hooks(host, PYTHON, PATH, put.after, put.backup)
    assert not again.has_changes
    assert plan_no_hooks(host, PYTHON, PATH, put.after, again.backup).after == before


@pytest.mark.parametrize("before", [None, "export const Other = 1\n"])
def test_a_plugin_is_written_whole_and_gives_way_to_what_was_there(before: str | None) -> None:
    put = plan_hooks("opencode", PYTHON, PATH, before, None)
    assert put.after is not None
    assert json.dumps(PYTHON) in put.after
    again = plan_hooks("opencode", PYTHON, PATH, put.after, put.backup)
    assert not again.has_changes
    assert plan_no_hooks("opencode", PYTHON, PATH, put.after, again.backup).after == before
    assert not plan_no_hooks("opencode", PYTHON, PATH, before, None).has_changes


@pytest.mark.parametrize("host", LISTED)
def test_the_users_own_hooks_and_later_changes_stay(host: str) -> None:
    put = plan_hooks(host, PYTHON, PATH, THEIRS, None)
    assert put.after is not None
    assert json.loads(put.after)["hooks"]["Stop"][0]["hooks"][0]["command"] == "beep"
    edited = put.after.replace('"dark"', '"light"')
    left = json.loads(plan_no_hooks(host, PYTHON, PATH, edited, put.backup).after or "")
    assert left == {"theme": "light", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}}
