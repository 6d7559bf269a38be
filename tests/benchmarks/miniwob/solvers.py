"""Scripted decisions for the tasks of MiniWoB++, one for each kind of task."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise

from tests.benchmarks.miniwob.play import Solver, Task

MONTHS = "January February March April May June July August September October November December".split()


def solves(*kinds: str) -> Callable[[Solver], Solver]:
    """Register a solver for kinds of tasks."""

    def register(solver: Solver) -> Solver:
        SOLVERS.update(dict.fromkeys(kinds, solver))
        return solver

    return register


def choose_one_or_two(task: Task) -> str:
    return task.ref("button", "ONE" if "ONE" in task.words else "TWO")


def read_listed(task: Task) -> list[str]:
    """Read the options that a task lists."""
    part = re.sub(r"^Select (.*?) (?:from the (?:scroll )?list )?and click Submit\.$", r"\1", task.words)
    return [] if part.lower().startswith("nothing") else [name.strip() for name in part.split(",")]


def read_ordinal(task: Task, noun: str = "") -> int:
    return int((re.findall(rf"(\d+)\w\w ?{noun}", task.words) or ["1"])[0])


SOLVERS: dict[str, Solver] = {
    "click-button": lambda task: task.do("click", task.ref("button", task.quoted[0])),
    "click-dialog": lambda task: task.do("click", task.ref("button", "Close")),
    "click-dialog-2": lambda task: task.submit("Close" if task.quoted[0] == "x" else task.quoted[0]),
    "click-link": lambda task: task.do("click", task.named(task.quoted[0])),
    "click-tab": lambda task: task.do("click", task.ref("link", f"Tab #{task.numbers[0]}")),
    "click-test": lambda task: task.do("click", task.ref("button", "Click Me!")),
    "click-test-2": lambda task: task.do("click", choose_one_or_two(task)),
    "click-test-transfer": lambda task: task.do("click", choose_one_or_two(task)),
    "focus-text": lambda task: task.do("click", task.ref("textbox")),
    "focus-text-2": lambda task: task.do("click", task.ref("textbox", at=read_ordinal(task) - 1)),
    "enter-text": lambda task: task.enter(task.quoted[0]),
    "enter-text-dynamic": lambda task: task.enter(task.quoted[0]),
    "text-transform": lambda task: task.enter(
        "".join(re.findall(r"press Submit\. (.*?) textbox", task.text)[0].split())
    ),
    "unicode-test": lambda task: task.do("click", task.ref("button", task.quoted[0])),
    "use-spinner": lambda task: task.enter(str(task.numbers[0]), "spinbutton"),
}


@solves("enter-text-2")
async def enter_cased(task: Task) -> None:
    await task.enter(task.quoted[0].lower() if "lower case" in task.words else task.quoted[0].upper())


@solves("click-button-sequence", "button-delay")
async def click_in_turn(task: Task) -> None:
    await task.submit("ONE")
    await asyncio.sleep(int((re.findall(r"wait (\d+)", task.words) or ["0"])[0]))
    await task.submit("TWO")


@solves("click-collapsible", "click-collapsible-nodelay")
async def open_section(task: Task) -> None:
    await task.do("click", task.ref("tab"))
    await task.do("wait_for", event="quiet", seconds=2)
    await task.submit()


@solves("click-collapsible-2", "click-collapsible-2-nodelay")
@solves("click-tab-2", "click-tab-2-easy", "click-tab-2-hard", "click-tab-2-medium")
async def open_sections_until_link(task: Task) -> None:
    for number, section in enumerate(task.find("tab")):
        if number or "expanded" not in section.states:
            inner = re.findall(rf"\[{section.ref}\][^\[]*?{re.escape(section.name)}\[(\w+)\]", task.text)
            await task.do("click", inner[0] if inner else section.ref)
            await task.do("wait_for", event="quiet", seconds=2)
        words = [(ref, word.strip(".,")) for ref, word in re.findall(r"\[(\w+)\](\S+)", task.text)]
        if links := [ref for ref, word in words if word == task.quoted[0].strip(".,")]:
            await task.do("click", links[0])
            return


@solves("click-menu")
async def walk_menu(task: Task) -> None:
    names = re.findall(r"^Select (.*)$", task.words)[0].split(">")
    for name, within in pairwise(names):
        await task.do("hover", task.ref("menuitem", name))
        await task.until(lambda within=within: task.find("menuitem", within))  # type: ignore[misc]
    await task.do("click", task.ref("menuitem", names[-1]))


@solves("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer", "click-option")
async def check_listed(task: Task) -> None:
    role = "radio" if task.find("radio") else "checkbox"
    if refs := [task.ref(role, name) for name in read_listed(task)]:
        await task.do("check", *refs)
    await task.submit()


@solves("choose-list", "click-scroll-list")
async def select_listed(task: Task) -> None:
    whole = re.sub(r"^Select (.*) from the list and click Submit\.$", r"\1", task.words)
    scrolled = task.find("listbox")
    ref = scrolled[0].ref if scrolled else task.ref("combobox")
    await task.do("select", ref, values=read_listed(task) if scrolled else [whole])
    await task.submit()


@solves("login-user", "login-user-popup", "enter-password")
async def log_in(task: Task) -> None:
    values = task.quoted * 2 if len(task.quoted) == 1 else task.quoted
    for _ in range(3):
        if await task.fill(*values):
            await task.submit(next(name for name in ("Login", "OK", "Submit") if task.find("button", name)))
        if not task.find("button", "Cancel"):
            return
        await task.submit("Cancel")  # a box got in the way


@solves("enter-date", "enter-time")
async def enter_moment(task: Task) -> None:
    month, day, year = (re.findall(r"(\d+)/(\d+)/(\d+)", task.words) or [("", "", "")])[0]
    strict, plain = f"{year}-{month}-{day}", f"{month}/{day}/{year}"
    if not year:
        clock = datetime.strptime(re.findall(r"\d+:\d+ [AP]M", task.words)[0], "%I:%M %p")
        strict, plain = clock.strftime("%H:%M"), clock.strftime("%I:%M %p")
    if not await task.do("type", task.ref("textbox"), text=strict):
        await task.do("type", task.ref("textbox"), text=plain)
    await task.submit()


@solves("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
async def pick_date(task: Task) -> None:
    month, day, _ = map(int, re.findall(r"(\d+)/(\d+)/(\d+)", task.words)[0])
    await task.do("click", task.ref("textbox"))
    for _ in range(12):
        shown = next(at for at, name in enumerate(MONTHS, 1) if re.search(rf"{name}\b.*2016", task.text))
        if shown == month:
            break
        await task.do("click", task.named("Prev" if month < shown else "Next"))
    await task.do("click", task.ref("link", str(day)))
    await task.submit()


@solves("use-autocomplete", "use-autocomplete-nodelay")
async def complete(task: Task) -> None:
    start, end = (*task.quoted, "")[:2]
    await task.do("type", task.ref("textbox"), text=start)

    def find_offers() -> list[str]:
        controls = task.page.refs.values()
        return [one.ref for one in controls if one.name.startswith(start) and one.name.endswith(end)]

    await task.until(find_offers)
    await task.do("click", find_offers()[-1])
    await task.submit()


@solves("copy-paste", "copy-paste-2")
async def copy_text(task: Task) -> None:
    full = [field.ref for field in task.find("textbox") if field.value][read_ordinal(task, "text area") - 1]
    empty = next(field.ref for field in task.find("textbox") if not field.value)
    for key, ref in (("Control+A", full), ("Control+C", full), ("Control+V", empty)):
        await task.do("press", ref, key=key)
    await task.submit()


@solves("use-slider", "use-slider-2", "form-sequence")
async def slide(task: Task) -> None:
    values = [int(value) for value in re.findall(r"\)\s*(-?\d+)", task.body.replace("\n", " "))]
    for handle, now, to in zip(task.icons("ui-slider-handle"), values, task.numbers, strict=False):
        for _ in range(abs(to - now)):
            await task.do("press", handle, key="ArrowRight" if to > now else "ArrowLeft")
    if task.find("checkbox"):
        await task.do("check", task.ref("checkbox", at=task.numbers[1] - 1))
    await task.submit()


@solves("simple-arithmetic", "simple-algebra")
async def calculate(task: Task) -> None:
    left, sign, right, total = re.findall(r"(\w+) ?([-+x*]) ?(\w+) ?= ?(\d*)", task.body)[0]
    if not total:
        answer = {"+": int(left) + int(right), "-": int(left) - int(right)}.get(sign, int(left) * int(right))
    elif left == "x":
        answer = int(total) - int(right) if sign == "+" else int(total) + int(right)
    else:
        answer = int(total) - int(left) if sign == "+" else int(left) - int(total)
    await task.enter(str(answer))


@solves("read-table", "read-table-2")
async def read_table(task: Task) -> None:
    rows = dict(re.findall(r"^(.+?) \| (.+)$", task.text, re.MULTILINE))
    labels = re.findall(r"^(.+?):? ?textbox", task.text, re.MULTILINE)
    await task.fill(*(rows[n.strip(" :")] for n in re.findall(r"Enter the value of (.+?) into", task.words) or labels))
    await task.submit()


@solves("drag-box")
async def drag_box(task: Task) -> None:
    small, large = (re.findall(rf"\[(\w+)\]{letter}\b", task.text)[0] for letter in "sL")
    await task.do("drag", small, to=large)
    await task.submit()


@solves("scroll-text-2")
async def scroll(task: Task) -> None:
    await task.do("scroll", task.ref("textbox"), direction="top" if "top" in task.words else "bottom")
    await task.submit()
