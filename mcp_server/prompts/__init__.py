"""Every word said to a model by this server, as files. It writes none of them and fills no gap: a file that is not there is an error.

`instructions.md` goes to the host at the start. `tools/`, `resources/` and `briefings/` describe one thing a file: a `# title`, what it is, then a
`## argument` section for each argument. `briefings/NAME.text.md` is what that briefing says, with blanks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from string import Template

__all__ = ["Words", "described", "words"]

_ARGUMENT = re.compile(r"^## +(\w+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Words:
    """What is said of one thing: its title, what it is, and each argument by name."""

    title: str
    description: str
    arguments: dict[str, str]


def words(name: str, **blanks: object) -> str:
    """The text of one file, its blanks filled, without the blank lines around it.

    Args:
        name: its path below this folder, without `.md`.
        blanks: a value for each `$blank` of the file.

    Raises:
        FileNotFoundError: there is no such file.
        KeyError: a blank is left open.
    """
    text = files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(blanks).strip()


def described(name: str) -> Words:
    """The words on one tool, resource or briefing.

    Args:
        name: its path below this folder, without `.md`.

    Raises:
        FileNotFoundError: it has none.
        ValueError: its file doesn't begin with a title.
    """
    head, *sections = _ARGUMENT.split(words(name))
    title, _, description = head.partition("\n")
    if not title.startswith("# "):
        raise ValueError(f"{name}.md: begin with a # title")
    names, texts = sections[::2], sections[1::2]
    return Words(
        title[2:].strip(), _flat(description), {name: _flat(text) for name, text in zip(names, texts, strict=True)}
    )


def _flat(text: str) -> str:
    return " ".join(text.split())
