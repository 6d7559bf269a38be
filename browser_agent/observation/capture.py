"""Reads from a live page everything that an observation is made of, with password fields masked."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import takewhile
from urllib.parse import urlsplit

from playwright.async_api import Error, Frame, Page
from pydantic import BaseModel, ConfigDict, ValidationError

from browser_agent.observation import OpenDialog, PageSection, SearchBox, SiteIndex, TabInfo
from browser_agent.observation.inline import cut, is_actionable
from browser_agent.observation.masks import IS_PASSWORD, mask_passwords
from ctxfold.log.page import Node

_ICON_SCRIPT = files("browser_agent.observation").joinpath("icon.js").read_text(encoding="utf-8")
_REF = re.compile(r" \[ref=([^\]]+)\]")
_WORDLESS = re.compile(
    r"^( *)- (?:button|menuitem|tab|(?:generic|img|listitem|cell|gridcell)(?=.* \[cursor=))((?: \[[^\]]*\])+):?$"
)
_ROLE = re.compile(r"^( *- \w+)")
_BARE = re.compile(r"^ *- (?:generic|img)(?: \[[^\]]*\])*:?$")
_UNSAFE = re.compile(r"[^\w#.-]+")
_ICONS, _EDITORS = 80, 10
"""Elements that are asked for the name of their icon, and for the text of their editor."""
_ICON_NAME = 40
"""Characters of an icon's name."""
_ELEMENT_SECONDS, _FRAME_SECONDS, _PART_SECONDS = 2.0, 0.5, 2.0
"""How long an element may take to answer, a frame of another site, and a frame of the page's own site: its text is
read.
"""


async def _add_answers(
    page: Page, lines: list[str], numbers: Sequence[int], script: str, write: Callable[[str, str], str]
) -> None:
    """Ask the elements of some lines of a snapshot by a script, and write the answers into their lines."""

    async def ask(number: int) -> str:
        ref = _REF.search(lines[number])
        try:
            async with asyncio.timeout(_ELEMENT_SECONDS):
                return str(await page.get_by_ref(ref[1]).evaluate(script)) if ref else ""
        except (Error, TimeoutError):
            return ""  # the next look shows what replaced it

    for number, answer in zip(numbers, await asyncio.gather(*map(ask, numbers)), strict=True):
        lines[number] = write(lines[number], answer) if answer else lines[number]


async def _name_icons(page: Page, lines: list[str]) -> None:
    """Name the first controls without words, such as `(icon trash)`, if their page has a name."""
    wordless = [at for at, line in enumerate(lines) if _WORDLESS.match(line) and _is_wordless(lines, at)]

    def write(line: str, answer: str) -> str:
        name = cut(_UNSAFE.sub(" ", answer).strip(), _ICON_NAME)
        return _ROLE.sub(rf'\1 "(icon {name})"', line) if name else line

    await _add_answers(page, lines, wordless[:_ICONS], _ICON_SCRIPT, write)


def _is_wordless(lines: Sequence[str], number: int) -> bool:
    """Return whether nothing in an element has a word."""
    inside = takewhile(lambda line: _indent(line) > _indent(lines[number]), lines[number + 1 :])
    return all(map(_BARE.match, inside))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


_LISTENERS_SCRIPT = files("browser_agent.observation").joinpath("listeners.js").read_text(encoding="utf-8")
_END = "function () { for (const look of this) look.cancel(); }"


@asynccontextmanager
async def mark_listeners(page: Page) -> AsyncIterator[None]:
    """Give elements that scripts of the page listen on the cursor of a control, until the end of the block.

    The page's document is not changed. Raises playwright.async_api.Error: the page crashed or was closed.
    """
    session = await page.context.new_cdp_session(page)
    try:
        # Only a console of the browser may ask what is listened to.
        asked = {"expression": _LISTENERS_SCRIPT, "includeCommandLineAPI": True, "silent": True}
        marks = (await session.send("Runtime.evaluate", asked))["result"]
        yield
        if marks.get("subtype") == "array":  # else the page's own scripts changed what this one calls
            ended = {"objectId": marks["objectId"], "functionDeclaration": _END, "silent": True}
            with suppress(Error):  # the document was replaced meanwhile
                await session.send("Runtime.callFunctionOn", ended)
    finally:
        with suppress(Error):  # it ended with its page
            await session.detach()


_CAPTURE_SCRIPT = files("browser_agent.observation").joinpath("structure.js").read_text(encoding="utf-8")
_CAPTURE_SCRIPT = _CAPTURE_SCRIPT.replace("IS_PASSWORD", IS_PASSWORD)
_FRAMES = 20
_EMPTY = re.compile(r"^ *- textbox\b.*\[ref=[^\]]+\][^:]*$")
_REPLACED = ("crashed", "closed", "context was destroyed", "detached", "navigation")


class Structure(BaseModel):
    """What a script read from the live document: page data, checked for shape and never trusted."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str = ""
    base: str = ""
    hidden: tuple[tuple[str, ...], ...] = ()
    veiled: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    sections: tuple[PageSection, ...] = ()
    search: SearchBox | None = None
    drawn: tuple[str, ...] = ()
    editors: int = 0
    index: SiteIndex | None = None


@dataclass(frozen=True, slots=True)
class Capture:
    """A page at one moment.

    Attributes:
        yaml: the whole snapshot, with passwords as dots.
        frames: the address of each frame by its ref.
        notes: what cannot be seen in the snapshot.
    """

    url: str
    status: int | None
    yaml: str
    structure: Structure
    frames: Mapping[str, str] = field(default_factory=dict)
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
    async with asyncio.timeout(seconds), mark_listeners(page):
        answers, yaml = await asyncio.gather(_read_frames(page), page.aria_snapshot(mode="ai", timeout=seconds * 1000))
    parts = [part for part in answers if part is not None]
    own = answers[0] or Structure()
    # No fragment of the page's address leads into a frame.
    framed = [part.model_copy(update={"anchor": ""}) for frame in parts if frame is not own for part in frame.sections]
    joined = {name: sum((getattr(part, name) for part in parts), ()) for name in ("hidden", "veiled", "drawn")}
    structure = own.model_copy(update={**joined, "sections": (*own.sections, *framed), "secrets": ()})
    lines = yaml.split("\n")
    if any(part.editors for part in parts):
        await _fill_editors(page, lines)
    await _name_icons(page, lines)
    yaml = "\n".join(lines)
    secrets = [secret for part in parts for secret in part.secrets]
    yaml = mask_passwords(yaml.encode("utf-8", "replace").decode(), secrets, every_field=len(parts) < len(answers))
    return Capture(page.url, status, yaml, structure, await _find_frames(page, lines))


async def flat_capture(page: Page, status: int | None, why: str) -> Capture:
    """Write the words of a page that no snapshot could be made of as a snapshot without refs.

    Raises playwright.async_api.Error: the page crashed or was closed.
    """
    structure = await _read_frame(page.main_frame) or Structure()
    lines = [f"- text: {json.dumps(why)}"]
    for section in structure.sections:
        if section.title:
            lines.append(f"- heading {json.dumps(section.title)} [level={min(section.level, 6) or 1}]")
        lines.extend(f"- paragraph: {json.dumps(line)}" for line in section.text.split("\n") if line)
    return Capture(page.url, status, "\n".join(lines), structure.model_copy(update={"hidden": (), "secrets": ()}))


async def _read_frames(page: Page) -> list[Structure | None]:
    """Return what each frame says, the page's own first; None for one without a usable answer."""
    frames = [page.main_frame, *[frame for frame in page.frames if frame != page.main_frame][:_FRAMES]]
    return list(await asyncio.gather(*map(_read_frame, frames)))


async def _read_frame(frame: Frame) -> Structure | None:
    """Run the capture script in a frame. Returns None if it gives no usable answer in time."""
    whole = frame == frame.page.main_frame
    part = not whole and _is_part(frame)
    try:
        reading = frame.evaluate(_CAPTURE_SCRIPT, [whole or part, whole])
        answer = await (reading if whole else asyncio.wait_for(reading, _PART_SECONDS if part else _FRAME_SECONDS))
        return Structure.model_validate(json.loads(str(answer)), strict=False)
    except (ValidationError, ValueError, TimeoutError):
        return None
    except Error as error:
        if whole and any(sign in error.message.lower() for sign in _REPLACED):  # the document is gone
            raise
        return None


def _is_part(frame: Frame) -> bool:
    """Return whether a frame is of the page's own site: advertisements of other sites are not the page's text."""
    around: Frame | None = frame
    while around is not None and around.url.startswith("about:"):
        around = around.parent_frame
    return around is not None and urlsplit(around.url)[:2] == urlsplit(frame.page.url)[:2]


async def _fill_editors(page: Page, lines: list[str]) -> None:
    """Add the text of editors of rich text: the snapshot leaves out words that are in no element."""
    empty = [
        number
        for number, (line, after) in enumerate(zip(lines, [*lines[1:], ""], strict=True))
        if _EMPTY.match(line) and _indent(after) <= _indent(line)
    ]
    script = "e => e.isContentEditable ? e.innerText : ''"
    await _add_answers(page, lines, empty[:_EDITORS], script, lambda line, text: f"{line}: {json.dumps(text)}")


async def _find_frames(page: Page, lines: Sequence[str]) -> dict[str, str]:
    """Return the address of each frame by its ref, for the links in it."""
    refs = [ref[1] for line in lines if line.lstrip(" ").startswith("- iframe ") and (ref := _REF.search(line))]

    async def find_address(ref: str) -> str:
        try:
            async with asyncio.timeout(_FRAME_SECONDS):
                handle = await page.get_by_ref(ref).element_handle(timeout=_FRAME_SECONDS * 1000)
                frame = await handle.content_frame()
                return frame.url if frame is not None else ""
        except (Error, TimeoutError):
            return ""  # the frame went away: its links keep the addresses they have

    urls = await asyncio.gather(*map(find_address, refs[:_FRAMES]))
    return {ref: url for ref, url in zip(refs, urls, strict=False) if url}


_SHORT = 4


def remove_hidden(root: Node, hidden: Sequence[Sequence[str]], veiled: Sequence[str]) -> tuple[Node, int]:
    """Leave out unseen text.

    Returns:
        The snapshot without as many occurrences of each run as are unseen, and how many were left out. A text that
        the page has once seen and once unseen stays once.
    """
    remover = _Remover([tuple(run) for run in hidden], frozenset(veiled))
    root = remover.rebuild(root)
    if remover.left:  # runs that the snapshot has in several texts: piece by piece
        pieces = _Remover([(piece,) for run in remover.left for piece in run], frozenset())
        root = pieces.rebuild(root)
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

    def rebuild(self, node: Node) -> Node:
        """Return `node` without its unseen texts, and with its controls out of sight marked."""
        if not self._counts and not self._veiled:
            return node
        is_control = is_actionable(node)
        is_veiled = is_control and " ".join(node.name.split()) in self._veiled
        return replace(
            node,
            text=node.text if is_control else self._remove(node.text),
            states=(*node.states, "unseen") if is_veiled else node.states,
            children=tuple(child for child in map(self.rebuild, node.children) if child.role != "text" or child.text),
        )

    def _remove(self, text: str) -> str:
        """Return a text without the unseen runs in it, and count them down."""
        for run in [run for run in self._counts if run[0] in text]:
            if sum(map(len, run)) < _SHORT and text.strip() != " ".join(run):
                continue  # too short to be told from a part of a word that is seen
            rest, removed = self._patterns[run].subn(" ", text, count=self._counts[run])
            if removed:
                self.removed += removed
                self._counts[run] -= removed
                if not self._counts[run]:
                    del self._counts[run]
                text = " ".join(rest.split())
        return text
