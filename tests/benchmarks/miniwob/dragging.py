"""Solvers of tasks about dragging."""

from __future__ import annotations

import re

from tests.benchmarks.miniwob.play import Solver, Task


def _items(task: Task) -> list[tuple[str, str]]:
    """The ref and the words of each thing that can be dragged."""
    return re.findall(r"\[(\w+)\]([^\[\s]+)", "\n".join(task.lines))


async def item(task: Task) -> None:
    """Drag one to the place where another stands."""
    name = re.findall(r"Drag (\S+)", task.words)[0]
    items = _items(task)
    here = next(i for i, (_, word) in enumerate(items) if word == name)
    place = re.findall(r"(\d+)\w\w position|(up|down|top|bottom)", task.words)[0]
    to = (
        int(place[0]) - 1
        if place[0]
        else {"up": here - 1, "down": here + 1, "top": 0, "bottom": len(items) - 1}[place[1]]
    )
    await task.drag(items[here][0], items[to][0])


PLACES = [
    f"to the {row}{column}.".replace("center center", "center")
    for row in ("top ", "center ", "bottom ")
    for column in ("left", "center", "right")
]
STEPS = {"up": -3, "down": 3, "left": -1, "right": 1}


async def item_in_grid(task: Task) -> None:
    name, place = re.findall(r"Drag (\S+) (.*)", task.words)[0]
    items = _items(task)
    here = next(i for i, (_, word) in enumerate(items) if word == name)
    to = PLACES.index(place) if place in PLACES else here + STEPS[place.split()[0]]
    await task.drag(items[here][0], items[to][0])


async def event(task: Task) -> None:
    """Drag over the half hours of a day's calendar, and name what that makes."""
    length, start, half = re.findall(r"Create a ([\d.]+ \w+) event named .*, between (\d+)(AM|PM) and", task.words)[0]
    halves = {"30 mins": 1, "0.5 hours": 1, "60 mins": 2, "1 hour": 2, "90 mins": 3, "1.5 hours": 3}[length]
    hours = re.findall(r"^(\d+[ap]m) ?\[(\w+)\](?:\([^)]*\))? ?\[(\w+)\]", await task.read(), re.MULTILINE)
    first = next(i for i, (hour, *_) in enumerate(hours) if hour == f"{start}{half.lower()}")
    slots = [ref for _, *both in hours[first : first + 4] for ref in both]
    tries = range(len(slots) - halves + 1)
    for at in [*(reversed(tries) if start == "8" else tries)][
        :5
    ]:  # until ten and from noon on, something may be planned
        await task.drag(slots[at], slots[at + halves - 1])
        if task.all("button", "Create"):
            await task.type(task.all("textbox")[-1].ref, task.quoted[0])
            await task.submit("Create")
            return


async def sort(task: Task) -> None:
    for to in range(4):
        items = [(ref, int(word)) for ref, word in _items(task) if re.fullmatch(r"-?\d+", word)]
        here = min(range(to, len(items)), key=lambda i: items[i][1])
        if here != to:
            await task.drag(items[here][0], items[to][0])
    await task.submit()


async def box(task: Task) -> None:
    small, large = (re.findall(rf"\[(\w+)\]{letter}\b", task.text)[0] for letter in "sL")
    await task.drag(small, large)
    await task.submit()


SOLVERS: dict[str, Solver] = {
    "daily-calendar": event,
    "drag-box": box,
    "drag-items": item,
    "drag-items-grid": item_in_grid,
    "drag-sort-numbers": sort,
}
