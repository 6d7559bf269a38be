"""Names the controls that have no words by what their page has for them instead: the file of a picture, classes, a shape, a colour."""

from __future__ import annotations

import asyncio
import re
from importlib.resources import files

from playwright.async_api import Error, Page

from browser_agent.observation.inline import cut

__all__ = ["name_icons"]

_SCRIPT = files("browser_agent.observation").joinpath("icon.js").read_text(encoding="utf-8")
_WORDLESS = re.compile(
    r"^( *)- (?:button|menuitem|tab|(?:generic|img|listitem|cell|gridcell)(?=.* \[cursor=))((?: \[[^\]]*\])+):?$"
)
_NAMED = re.compile(r'^ *- generic "')
_BARE = re.compile(r"^ *- (?:generic|img)(?: \[[^\]]*\])*:?$")
_REF = re.compile(r" \[ref=([^\]]+)\]")
_UNSAFE = re.compile(r"[^\w#.-]+")
_MOST = 80
_LENGTH = 40
_SECONDS = 2.0


async def name_icons(page: Page, yaml: str) -> str:
    """The snapshot with a name for each of the first controls without words, such as `(icon trash)`, where their page has one."""
    lines = yaml.split("\n")
    found = [
        (number, mark[1], ref[1])
        for number, line in enumerate(lines)
        if (mark := _WORDLESS.match(line)) and (ref := _REF.search(line)) and _is_wordless(lines, number, len(mark[1]))
    ][:_MOST]
    names = await asyncio.gather(*(_ask(page, ref) for _, _, ref in found))
    for (number, indent, _), name in zip(found, names, strict=True):
        if name:
            role, marks = lines[number][len(indent) + 2 :].split(" ", 1)
            lines[number] = f'{indent}- {role} "(icon {name})" {marks}'
    return "\n".join(lines)


def _is_wordless(lines: list[str], number: int, depth: int) -> bool:
    """Whether nothing beneath a line says a word, nor does what holds it alone."""
    inner = depth
    for line in reversed(lines[:number]):
        above = len(line) - len(line.lstrip(" "))
        if above < inner and not _BARE.match(line):
            if _NAMED.match(line):
                return False
            break
        inner = min(inner, above)
    for line in lines[number + 1 :]:
        if len(line) - len(line.lstrip(" ")) <= depth:
            return True
        if not _BARE.match(line):
            return False
    return True


async def _ask(page: Page, ref: str) -> str:
    try:
        async with asyncio.timeout(_SECONDS):
            said = await page.get_by_ref(ref).evaluate(_SCRIPT)
    except (Error, TimeoutError):
        return ""  # it went away: the next look shows what stands there then
    return cut(_UNSAFE.sub(" ", str(said)).strip(), _LENGTH)
