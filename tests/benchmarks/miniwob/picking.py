"""Solvers of tasks about dates: a calendar that opens, flights, a day's calendar."""

from __future__ import annotations

import re

from browser_agent.actions import WaitFor
from tests.benchmarks.miniwob.play import Solver, Task

MONTHS = "January February March April May June July August September October November December".split()


async def pick(task: Task, field: str) -> None:
    """Open a field's calendar, go to the month that is asked for and choose the day."""
    month, day, _ = map(int, re.findall(r"(\d+)/(\d+)/(\d+)", task.words)[0])
    await task.click(field)
    for _ in range(12):
        shown = next(
            number for number, name in enumerate(MONTHS, 1) if re.search(rf"{name} \|? ?2016|{name}\b.*2016", task.text)
        )
        if shown == month:
            break
        await task.click(task.shown("Prev" if month < shown else "Next"))
    await task.click(task.one("link", str(day)))


async def date(task: Task) -> None:
    await pick(task, task.one("textbox"))
    await task.submit()


async def flight(task: Task) -> None:
    kind, start, to = re.findall(r"Book the (\w+) one-way flight from: (.+?) to: (.+?) on", task.words)[0]
    for field, place in (("From:", start), ("To:", to)):
        await task.type(task.one("textbox", field), place)

        def choices(place: str = place) -> list[str]:
            offered = (
                entry for entry in task.page.refs.values() if entry.role != "textbox" and f"[{entry.ref}]" in task.text
            )
            return [entry.ref for entry in offered if place in entry.name]

        await task.until(choices)
        await task.click(choices()[-1])
    await pick(task, task.all("textbox")[2].ref)
    await task.submit("Search")
    await task.act(WaitFor(kind="wait_for", event="quiet", seconds=5))
    text = await task.read()
    rows = re.findall(
        r'Duration: (?:(\d+)h)? ?(?:(\d+)m)?.*?button "Book flight for \$(\d+)"\[(\w+)\]', text.replace("\n", " ")
    )
    measured = [(int(hours or 0) * 60 + int(minutes or 0), int(price), ref) for hours, minutes, price, ref in rows]
    await task.click(min(measured, key=lambda row: row[1 if kind == "cheapest" else 0])[2])


SOLVERS: dict[str, Solver] = {
    "book-flight": flight,
    "book-flight-nodelay": flight,
    "choose-date": date,
    "choose-date-easy": date,
    "choose-date-medium": date,
    "choose-date-nodelay": date,
}
