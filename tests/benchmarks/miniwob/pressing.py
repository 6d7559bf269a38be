"""Solvers of tasks about pressing: buttons, links, tabs, menus, icons, coloured boxes."""

from __future__ import annotations

import asyncio
import colorsys
import re
from itertools import pairwise

from browser_agent.actions import WaitFor
from tests.benchmarks.miniwob.fields import COLOURS
from tests.benchmarks.miniwob.play import Solver, Task


def clicking(*names: str) -> Solver:
    """Click buttons by their names, each on the page as it then is."""

    async def solve(task: Task) -> None:
        for name in names:
            await task.click(task.one("button", name))

    return solve


async def quoted_button(task: Task) -> None:
    await task.click(task.one("button", task.quoted[0]))


async def one_or_two(task: Task) -> None:
    await task.click(task.one("button", "ONE" if "ONE" in task.words else "TWO"))


async def delayed(task: Task) -> None:
    await task.click(task.one("button", "ONE"))
    await asyncio.sleep(int(re.findall(r"wait (\d+)", task.words)[0]))
    await task.click(task.one("button", "TWO"))


async def dialog_button(task: Task) -> None:
    name = task.quoted[0]
    await task.click(task.one("button", "Close" if name == "x" else name))


async def tab(task: Task) -> None:
    number = re.findall(r"#\d+", task.words)[0]
    await task.click(task.one("link", f"Tab {number}"))


async def focus_nth(task: Task) -> None:
    number = int((re.findall(r"(\d+)\w\w", task.words) or ["1"])[0])
    await task.click(task.all("textbox")[number - 1].ref)


async def collapsed(task: Task) -> None:
    await task.click(task.all("tab")[0].ref)
    await task.act(WaitFor(kind="wait_for", event="quiet", seconds=2))
    await task.submit()


async def widget(task: Task) -> None:
    kind = task.quoted[0]
    await task.click(task.all({"text": "textbox", "textarea": "textbox"}.get(kind, kind))[0].ref)


async def link(task: Task) -> None:
    await task.click(task.shown(task.quoted[0]))


async def link_in_sections(task: Task) -> None:
    """Open one section or tab after another until the link shows."""
    for number in range(len(task.all("tab"))):
        section = task.all("tab")[number]
        if "expanded" not in section.states or number:
            inner = re.findall(rf"\[{section.ref}\][^\[]*?{re.escape(section.name)}\[(\w+)\]", task.text)
            await task.click(inner[0] if inner else section.ref)
            await task.act(WaitFor(kind="wait_for", event="quiet", seconds=2))
        wanted = task.quoted[0]
        found = [
            ref for ref, word in re.findall(r"\[(\w+)\](\S+)", task.text) if word.strip(".,") == wanted.strip(".,")
        ]
        if found:
            await task.click(found[0])
            return


async def menu(task: Task) -> None:
    names = re.findall(r"^Select (.*)$", task.words)[0].split(">")
    for name, within in pairwise(names):
        await task.hover(task.one("menuitem", name))
        await task.until(lambda within=within: task.all("menuitem", within))  # type: ignore[misc]
    await task.click(task.one("menuitem", names[-1]))


async def labelled_menu(task: Task) -> None:
    name = task.quoted[-1]
    await task.click(task.one("button", "Menu"))
    if not task.all("menuitem", name):
        await task.hover(task.one("menuitem", "Playback"))
        await task.until(lambda: task.all("menuitem", name))
    await task.click(task.one("menuitem", name))


async def pie(task: Task) -> None:
    await task.click(re.findall(r"\[(\w+)\]\+", await task.read())[0])
    await task.act(WaitFor(kind="wait_for", event="quiet", seconds=5))
    for _ in range(3):  # it spreads for a while, and what moves away is missed
        wanted = re.findall(rf"\[(\w+)\]{re.escape(task.quoted[0])}(?:\s|$)", await task.read())
        if not wanted or "START" in task.text:
            return
        await task.click(wanted[0])


async def coloured(task: Task) -> None:
    if shown := re.findall(r"Click on the \[\w+\]\(icon [^)]*(#\w{6})\)", task.text):
        await task.click(task.icons(f"[^)]*{shown[0]}")[1])
    else:
        name = re.findall(r"Click on the (\w+) colored", task.words)[0]
        await task.click(task.icons(f"[^)]*#{COLOURS[name].lower()}")[0])


async def shades(task: Task) -> None:
    hue = {"red": 0, "green": 120, "blue": 240}[re.findall(r"shades of (\w+)", task.words)[0]]
    for ref, shade in re.findall(r"\[(\w+)\]\(icon #(\w{6})\)", task.text):
        red, green, blue = (int(shade[i : i + 2], 16) / 255 for i in (0, 2, 4))
        if abs(colorsys.rgb_to_hls(red, green, blue)[0] * 360 - hue) % 360 < 60:
            await task.click(ref)
    await task.submit()


async def ascending(task: Task) -> None:
    """Click the first; the others then hide their numbers, and keep their order."""
    await task.click(re.findall(r"\[(\w+)\]1(?:\s|$)", task.text)[0])
    for _ in range(4):
        await task.click(task.icons("rect")[0])


async def odd_even(task: Task) -> None:
    rows = re.findall(r'button "Odd"\[(\w+)\] (-?\d+) button "Even"\[(\w+)\]', task.text)
    await task.click(*(odd if int(number) % 2 else even for odd, number, even in rows))
    await task.submit()


async def greatest(task: Task) -> None:
    cards = re.findall(r"\[(\w+)\](\d+)", task.text)
    await task.click(max(cards, key=lambda card: int(card[1]))[0])
    await task.submit()


LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def best_move(cells: list[str]) -> int:
    """Where to put the next x: by looking at all that may follow."""

    def worth(board: list[str], turn: str) -> float:
        for line in LINES:
            if board[line[0]] and len({board[i] for i in line}) == 1:
                return 1.0 if board[line[0]] == "x" else -1.0
        free = [i for i, cell in enumerate(board) if not cell]
        if not free:
            return -0.4
        after = [worth([*board[:i], turn, *board[i + 1 :]], "o" if turn == "x" else "x") for i in free]
        return max(after) if turn == "x" else 0.5 * min(after) + 0.5 * sum(after) / len(after)

    free = [i for i, cell in enumerate(cells) if not cell]
    return max(free, key=lambda i: worth([*cells[:i], "x", *cells[i + 1 :]], "o"))


async def tic_tac_toe(task: Task) -> None:
    for _ in range(5):
        cells = re.findall(r"\[(\w+)\]\(icon ([^)]*)\)", task.text)
        board = [name if name in {"x", "o"} else "" for _, name in cells]
        if len(cells) != 9 or "" not in board:
            return
        await task.click(cells[best_move(board)][0])


SOLVERS: dict[str, Solver] = {
    "ascending-numbers": ascending,
    "button-delay": delayed,
    "click-button": quoted_button,
    "click-button-sequence": clicking("ONE", "TWO"),
    "click-collapsible": collapsed,
    "click-collapsible-2": link_in_sections,
    "click-collapsible-2-nodelay": link_in_sections,
    "click-collapsible-nodelay": collapsed,
    "click-color": coloured,
    "click-dialog": clicking("Close"),
    "click-dialog-2": dialog_button,
    "click-link": link,
    "click-menu": menu,
    "click-menu-2": labelled_menu,
    "click-pie": pie,
    "click-pie-nodelay": pie,
    "click-shades": shades,
    "click-tab": tab,
    "click-tab-2": link_in_sections,
    "click-tab-2-easy": link_in_sections,
    "click-tab-2-hard": link_in_sections,
    "click-tab-2-medium": link_in_sections,
    "click-test": clicking("Click Me!"),
    "click-test-2": one_or_two,
    "click-test-transfer": one_or_two,
    "click-widget": widget,
    "find-greatest": greatest,
    "focus-text": focus_nth,
    "focus-text-2": focus_nth,
    "odd-or-even": odd_even,
    "tic-tac-toe": tic_tac_toe,
    "unicode-test": quoted_button,
}
