"""The texts sent to a model: `prompt("name", blank=...)` reads `name.md` beside this file and fills its blanks.

A blank is written `$name`; one that is missing, or that the file does not have, raises. Other packages read their own
`prompts/` through the same function.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

__all__ = ["opening", "prompt"]


def prompt(name: str, package: str = __name__, /, **blanks: object) -> str:
    """The text of one prompt file, its blanks filled, without the newline at its end.

    Raises:
        FileNotFoundError: no such file.
        KeyError: a blank is left empty.
        TypeError: a value is given for a blank the file does not have.
    """
    template = _template(package, name)
    unknown = set(blanks) - set(template.get_identifiers())
    if unknown:
        raise TypeError(f"prompt {name!r} has no blank {', '.join(sorted(unknown))}")
    return template.substitute(blanks)


def opening(name: str) -> str:
    """What the text of one prompt file begins with, up to its first blank."""
    return _template(__name__, name).template.partition("$")[0]


@cache
def _template(package: str, name: str) -> Template:
    return Template(files(package).joinpath(f"{name}.md").read_text(encoding="utf-8").removesuffix("\n"))
