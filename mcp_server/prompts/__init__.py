"""The texts that the server sends to a host's model, one file each.

`instructions.md` goes to the host at the start. `tools/`, `resources/` and `briefings/` describe one thing a file: a `# title`, what it is, then a
`## argument` section for each argument. `briefings/NAME.text.md` is what that briefing says, with blanks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from string import Template

__all__ = ["Description", "fill_prompt", "read_description"]

_ARGUMENT = re.compile(r"^## +(\w+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Description:
    """What is said of one thing: its title, what it is, and each argument by name."""

    title: str
    description: str
    arguments: dict[str, str]


def fill_prompt(name: str, **blanks: object) -> str:
    """The text of one file, its blanks filled, without the blank lines around it. Raises FileNotFoundError: there is no such file; KeyError: a blank is left open."""
    text = files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(blanks).strip()


def read_description(name: str) -> Description:
    """What is said of one tool, resource or briefing. Raises FileNotFoundError: it has none; ValueError: its file doesn't begin with a title."""
    head, *sections = _ARGUMENT.split(fill_prompt(name))
    title, _, description = head.partition("\n")
    if not title.startswith("# "):
        raise ValueError(f"{name}.md: begin with a # title")
    texts = [" ".join(text.split()) for text in (description, *sections[1::2])]
    return Description(title[2:].strip(), texts[0], dict(zip(sections[::2], texts[1:], strict=True)))
