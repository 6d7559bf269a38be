import json
import re
from pathlib import Path
from typing import get_args

import ctxfold
from ctxfold.decisions.refactor import OPERATORS
from ctxfold.workspace import MemoryParts
from mcp_server.tools import TOOLS
from mcp_server.tools.decide import Action

PLUGIN = Path(__file__).parents[2] / "plugin"
SKILL = (PLUGIN / "skills" / "ctxfold" / "SKILL.md").read_text(encoding="utf-8")


def test_the_plugin_has_the_version_of_what_it_starts() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert manifest["version"] == ctxfold.__version__


def test_the_plugin_starts_the_server() -> None:
    servers = json.loads((PLUGIN / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]
    assert servers == {"ctxfold": {"command": "ctxfold", "args": ["serve"]}}


def test_the_skill_says_when_to_use_it_and_names_every_tool_and_no_other() -> None:
    head, body = SKILL.removeprefix("---\n").split("\n---\n")
    assert head.startswith("name: ctxfold\ndescription: ")
    assert len(head) < 1024
    arguments = {"user", "step", "file", "note", "reply", "goal", "memory", "first_step", "last_step", "ref", "query"}
    named = set(re.findall(r"`([a-z_]+)`", body))
    assert {spec.name for spec in TOOLS} <= named
    assert named <= {spec.name for spec in TOOLS} | arguments | {
        *get_args(Action),
        *OPERATORS,
        *MemoryParts.model_fields,
    }
