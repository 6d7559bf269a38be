"""Reads the texts that the server sends to a host's model, one file each.

`instructions.md` goes to the host at the start. Each file in `tools/`, `resources/` and `briefings/` describes one
thing: a `# title`, a description, then an `## argument` section for each argument. `briefings/NAME.text.md` is the
text of that briefing, with blanks. `examples.json` has a value for each argument, as `argument` or `tool.argument`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ctxfold.prompts import prompt

PROMPTS = __name__
"""Where `ctxfold.prompts.prompt` finds these texts."""
_ARGUMENT = re.compile(r"^## +(\w+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Description:
    """The words for one tool, resource or briefing: title, description, and each argument by name."""

    title: str
    description: str
    arguments: dict[str, str]


def read_description(name: str) -> Description:
    """Read the words for one thing. Raises FileNotFoundError: unknown; ValueError: its file has no title."""
    head, *sections = _ARGUMENT.split(prompt(name, PROMPTS))
    title, _, description = head.partition("\n")
    if not title.startswith("# "):
        raise ValueError(f"{name}.md: begin with a # title")
    texts = [" ".join(text.split()) for text in (description, *sections[1::2])]
    return Description(title[2:].strip(), texts[0], dict(zip(sections[::2], texts[1:], strict=True)))


def read_examples() -> dict[str, Any]:
    """A value for each argument of the tools, which an error shows in an example of a call that passes."""
    examples: dict[str, Any] = json.loads(files(__name__).joinpath("examples.json").read_text(encoding="utf-8"))
    return examples
