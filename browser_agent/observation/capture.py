"""Reads from a live page everything that an observation is made of, with password fields masked."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.resources import files
from types import MappingProxyType
from urllib.parse import urlsplit

from playwright.async_api import Error, Frame, Page
from pydantic import BaseModel, ConfigDict, ValidationError

from browser_agent.observation import OpenDialog, SearchBox, Section, SiteIndex, TabInfo
from browser_agent.observation.inline import cut, is_actionable
from browser_agent.observation.masks import FIELD_LINES, IS_PASSWORD, mask_passwords
from ctxfold.log.page import Node

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


_LISTENERS_SCRIPT = files("browser_agent.observation").joinpath("listeners.js").read_text(encoding="utf-8")
_END = "function () { for (const look of this) look.cancel(); }"


@asynccontextmanager
async def pointed_at(page: Page) -> AsyncIterator[None]:
    """Inside, what scripts of the page listen on has the cursor of a control; its document is not changed. Raises playwright.async_api.Error: the page crashed or was closed."""
    session = await page.context.new_cdp_session(page)
    try:
        # Only a console of the browser may ask what is listened to.
        asked = {"expression": _LISTENERS_SCRIPT, "includeCommandLineAPI": True, "silent": True}
        found = (await session.send("Runtime.evaluate", asked))["result"]
        yield
        if found.get("subtype") == "array":  # else the page's own scripts changed what this one calls
            ended = {"objectId": found["objectId"], "functionDeclaration": _END, "silent": True}
            with suppress(Error):  # the document was replaced meanwhile
                await session.send("Runtime.callFunctionOn", ended)
    finally:
        with suppress(Error):  # it ended with its page
            await session.detach()


_CAPTURE_SCRIPT = files("browser_agent.observation").joinpath("structure.js").read_text(encoding="utf-8")
_CAPTURE_SCRIPT = _CAPTURE_SCRIPT.replace("IS_PASSWORD", IS_PASSWORD)
_FRAMES = 20
_EDITORS = 10
_FIELDS_ASKED = 60
_EMPTY = re.compile(r"^ *- textbox\b.*\[ref=[^\]]+\][^:]*$")
_FRAME_SECONDS, _PART_SECONDS = 0.5, 2.0
"""How long a frame may take to tell of itself; one of the page's own site, whose text is read, has longer."""
_REPLACED = ("crashed", "closed", "context was destroyed", "detached", "navigation")


class _FromPage(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Structure(_FromPage):
    """What the live document told of itself: page data, checked for shape and never trusted."""

    title: str = ""
    base: str = ""
    hidden: tuple[tuple[str, ...], ...] = ()
    veiled: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    submits: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    search: SearchBox | None = None
    drawn: tuple[str, ...] = ()
    editors: int = 0
    fixed: int = 0
    index: SiteIndex | None = None


@dataclass(frozen=True, slots=True)
class Capture:
    """A page at one moment. `yaml` is its whole snapshot, passwords as dots; `frames` the address of each frame's ref; `notes` what cannot be seen in it."""

    url: str
    status: int | None
    yaml: str
    structure: Structure
    frames: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    dialog: OpenDialog | None = None
    tabs: tuple[TabInfo, ...] = ()
    notes: tuple[str, ...] = ()


async def capture_page(page: Page, status: int | None, seconds: float) -> Capture:
    """Read a page.

    Args:
        page: the page.
        status: the HTTP status of its document, where there is one.
        seconds: the most it may take.

    Raises:
        TimeoutError: the page did not answer in time: it is hung, or very large.
        playwright.async_api.Error: the page crashed or was closed.
    """
    async with asyncio.timeout(seconds), pointed_at(page):
        structures, yaml = await asyncio.gather(
            _structures(page), page.aria_snapshot(mode="ai", timeout=seconds * 1000)
        )
    found = [structure for structure in structures if structure is not None]
    secrets = tuple(secret for structure in found for secret in structure.secrets)
    own = structures[0] or Structure()
    whole = own.model_copy(
        update={
            "hidden": tuple(run for structure in found for run in structure.hidden),
            "veiled": tuple(text for structure in found for text in structure.veiled),
            "submits": tuple(name for structure in found for name in structure.submits),
            "drawn": tuple(one for structure in found for one in structure.drawn),
            "sections": (*own.sections, *_collect_sections(structures[1:])),
            "secrets": (),
        }
    )
    if any(structure.editors for structure in found):
        yaml = await _with_edited(page, yaml)
    if any(structure.fixed for structure in found):
        yaml = await _with_fixed(page, yaml)
    yaml = await name_icons(page, yaml)
    yaml = mask_passwords(yaml.encode("utf-8", "replace").decode(), secrets, every_field=len(found) < len(structures))
    return Capture(page.url, status, yaml, whole, await _frames(page, yaml))


async def flat_capture(page: Page, status: int | None, why: str) -> Capture:
    """The words of a page that no snapshot could be made of, written as one without refs. Raises playwright.async_api.Error: the page crashed or was closed."""
    found = await _structure(page.main_frame, whole=True) or Structure()
    lines = [f"- text: {json.dumps(why)}"]
    for section in found.sections:
        if section.title:
            lines.append(f"- heading {json.dumps(section.title)} [level={min(section.level, 6) or 1}]")
        lines.extend(f"- paragraph: {json.dumps(line)}" for line in section.text.split("\n") if line)
    return Capture(page.url, status, "\n".join(lines), found.model_copy(update={"hidden": (), "secrets": ()}))


async def _structures(page: Page) -> list[Structure | None]:
    """What each frame tells of itself, the page's own first; None for one that found nothing that can be used."""
    frames = [page.main_frame, *[frame for frame in page.frames if frame != page.main_frame][:_FRAMES]]
    return list(await asyncio.gather(*(_structure(frame, whole=i == 0) for i, frame in enumerate(frames))))


def _collect_sections(found: Sequence[Structure | None]) -> Iterator[Section]:
    """The text of frames; no fragment of the page's own address leads into one."""
    for structure in found:
        if structure is not None:
            yield from (section.model_copy(update={"anchor": ""}) for section in structure.sections)


async def _structure(frame: Frame, *, whole: bool) -> Structure | None:
    part = not whole and _is_part(frame)
    try:
        found = frame.evaluate(_CAPTURE_SCRIPT, [whole or part, whole])
        answer = await (found if whole else asyncio.wait_for(found, _PART_SECONDS if part else _FRAME_SECONDS))
        return Structure.model_validate(json.loads(str(answer)), strict=False)
    except (ValidationError, ValueError, TimeoutError):
        return None
    except Error as error:
        if whole and _is_replaced(error):
            raise
        return None


def _is_replaced(error: Error) -> bool:
    """Whether the document is not there any more."""
    return any(sign in error.message.lower() for sign in _REPLACED)


def _is_part(frame: Frame) -> bool:
    """Whether a frame is a part of the site: what other sites put into a page, such as advertisements, is none of its text."""
    around: Frame | None = frame
    while around is not None and around.url.startswith("about:"):
        around = around.parent_frame
    return around is not None and urlsplit(around.url)[:2] == urlsplit(frame.page.url)[:2]


async def _with_edited(page: Page, yaml: str) -> str:
    """The snapshot with what stands in editors of rich text, of which it leaves out the words that stand in no element."""
    lines = yaml.split("\n")
    empty = [number for number, line in enumerate(lines) if _EMPTY.match(line) and not _holds(lines, number)][:_EDITORS]
    texts = await asyncio.gather(
        *(_ask_capture(page, lines[at], "e => e.isContentEditable ? e.innerText : ''") for at in empty)
    )
    for number, text in zip(empty, texts, strict=True):
        if text:
            lines[number] += f": {json.dumps(text)}"
    return "\n".join(lines)


async def _with_fixed(page: Page, yaml: str) -> str:
    """The snapshot with a mark on the fields that are read-only, of which it says nothing."""
    lines = yaml.split("\n")
    fields = [
        number for number, line in enumerate(lines) if line.lstrip(" ").startswith(FIELD_LINES) and "[ref=" in line
    ]
    fixed = await asyncio.gather(
        *(_ask_capture(page, lines[at], "e => e.readOnly ? 'yes' : ''") for at in fields[:_FIELDS_ASKED])
    )
    for number in (at for at, said in zip(fields, fixed, strict=False) if said):
        lines[number] = lines[number].replace(" [ref=", " [read-only] [ref=", 1)
    return "\n".join(lines)


def _holds(lines: Sequence[str], number: int) -> bool:
    """Whether anything stands beneath a line."""
    depth = len(lines[number]) - len(lines[number].lstrip(" "))
    after = lines[number + 1] if number + 1 < len(lines) else ""
    return len(after) - len(after.lstrip(" ")) > depth


async def _ask_capture(page: Page, line: str, script: str) -> str:
    """What the element of a line says to a script."""
    try:
        async with asyncio.timeout(_PART_SECONDS):
            field = page.get_by_ref(line.partition("[ref=")[2].partition("]")[0])
            return str(await field.evaluate(script))
    except (Error, TimeoutError):
        return ""  # it went away: the next look shows what stands there then


async def _frames(page: Page, yaml: str) -> Mapping[str, str]:
    """The address behind each frame's ref, for the links within."""
    if "- iframe " not in yaml:
        return MappingProxyType({})
    refs = [line.partition("[ref=")[2].partition("]")[0] for line in yaml.split("\n") if _is_frame(line)]
    if not refs:
        return MappingProxyType({})
    found = await asyncio.gather(*(_address(page, ref) for ref in refs[:_FRAMES]))
    return MappingProxyType({ref: url for ref, url in zip(refs, found, strict=False) if url})


def _is_frame(line: str) -> bool:
    return line.lstrip(" ").startswith("- iframe ") and "[ref=" in line


async def _address(page: Page, ref: str) -> str:
    try:
        async with asyncio.timeout(_FRAME_SECONDS):
            handle = await page.get_by_ref(ref).element_handle(timeout=_FRAME_SECONDS * 1000)
            frame = await handle.content_frame()
            return frame.url if frame is not None else ""
    except (Error, TimeoutError):
        return ""  # the frame went away: its links keep the addresses they have


_SHORT = 4


def remove_hidden(root: Node, hidden: Sequence[Sequence[str]], veiled: Sequence[str]) -> tuple[Node, int]:
    """Leave out unseen text.

    Returns:
        The snapshot without as many occurrences of each run as are unseen, and how many were left out. A text that
        stands on the page once seen and once unseen stays once.
    """
    remover = _Remover([tuple(run) for run in hidden], frozenset(veiled))
    root = remover.node(root)
    if remover.left:  # runs that the snapshot tells in several texts: piece by piece
        pieces = _Remover([(piece,) for run in remover.left for piece in run], frozenset())
        root = pieces.node(root)
        return root, remover.removed + pieces.removed
    return root, remover.removed


class _Remover:
    """Counts down the occurrences to leave out while the tree is rebuilt."""

    def __init__(self, hidden: Sequence[tuple[str, ...]], veiled: frozenset[str]) -> None:
        self._counts = Counter(hidden)
        self._patterns = {run: re.compile(r"\s*".join(re.escape(piece) for piece in run)) for run in self._counts}
        self._veiled = veiled
        self.removed = 0

    @property
    def left(self) -> list[tuple[str, ...]]:
        """Runs that were not found."""
        return [run for run in self._counts.elements() if len(run) > 1]

    def node(self, node: Node) -> Node:
        """`node` without what is unseen in it."""
        if not self._counts and not self._veiled:
            return node
        children = tuple(kept for kept in (self._child(child) for child in node.children) if kept is not None)
        text = node.text if is_actionable(node) else self._seen(node.text)
        states = node.states
        if is_actionable(node) and self._veiled and " ".join(node.name.split()) in self._veiled:
            states = (*states, "unseen")
        if children == node.children and text == node.text and states == node.states:
            return node
        return replace(node, children=children, text=text, states=states)

    def _child(self, child: Node) -> Node | None:
        if child.role != "text":
            return self.node(child)
        text = self._seen(child.text)
        return (child if text == child.text else replace(child, text=text)) if text else None

    def _seen(self, text: str) -> str:
        if not text:
            return text
        for run in [run for run in self._counts if run[0] in text]:
            if sum(map(len, run)) < _SHORT and text.strip() != " ".join(run):
                continue  # too short to be told from a part of a word that is seen
            rest, found = self._patterns[run].subn(" ", text, count=self._counts[run])
            if found:
                self.removed += found
                self._counts[run] -= found
                if self._counts[run] <= 0:
                    del self._counts[run]
                text = " ".join(rest.split())
        return text
