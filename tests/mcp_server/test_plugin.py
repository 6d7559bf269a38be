import json
import re
from inspect import signature
from pathlib import Path
from typing import get_args

import ctxfold
from ctxfold.decisions.refactor import OPERATORS
from ctxfold.workspace import MemoryParts
from mcp_server.tools import TOOLS
from mcp_server.tools.decide import Action

PLUGIN = Path(__file__).parents[2] / "plugin"
SKILL = (PLUGIN / "skills" / "ctxfold" / "SKILL.md").read_text(encoding="utf-8")


def test_the_plugin_starts_the_server_of_its_version() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert manifest["version"] == ctxfold.__version__
    servers = json.loads((PLUGIN / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]
    assert servers == {"ctxfold": {"command": "ctxfold", "args": ["serve"]}}


def test_the_skill_says_when_to_use_it_and_names_every_tool_and_no_other() -> None:
    head, body = SKILL.removeprefix("---\n").split("\n---\n")
    assert head.startswith("name: ctxfold\ndescription: ")
    assert len(head) < 1024
    named = set(re.findall(r"`([a-z_]+)`", body))
    assert {spec.name for spec in TOOLS} <= named
    arguments = {name for spec in TOOLS for name in signature(spec.function).parameters}
    values = {*get_args(Action), *OPERATORS, *MemoryParts.model_fields}
    assert named <= {spec.name for spec in TOOLS} | arguments | values
