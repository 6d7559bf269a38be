"""Solvers of tasks about filling and setting: texts, dates, boxes, lists, sliders, whole forms."""

from __future__ import annotations

import re
from datetime import datetime

from browser_agent.actions import FieldValue, FillForm, Scroll, Select
from tests.benchmarks.miniwob.play import Solver, Task


def listed(words: str) -> list[str]:
    """What a task lists to be selected."""
    part = re.sub(r"^Select (.*?) (?:from the scroll list )?and click Submit\.$", r"\1", words)
    return [] if part.lower().startswith("nothing") else [name.strip() for name in part.split(",")]


async def option(task: Task) -> None:
    await task.check(task.one("radio", listed(task.words)[0]))
    await task.submit()


async def boxes(task: Task) -> None:
    if wanted := listed(task.words):
        await task.check(*(task.one("checkbox", name) for name in wanted))
    await task.submit()


async def login(task: Task) -> None:
    name, password = task.quoted
    first, second = task.all("textbox")[:2]
    fields = (FieldValue(ref=first.ref, value=name), FieldValue(ref=second.ref, value=password))
    if (await task.act(FillForm(kind="fill_form", fields=fields))).ok:
        await task.submit("Login" if task.all("button", "Login") else "OK")


async def popup_login(task: Task) -> None:
    await login(task)
    while task.all("button", "Cancel"):  # a box that gets in the way
        await task.click(task.one("button", "Cancel"))
        await login(task)


async def text(task: Task) -> None:
    await task.type(task.one("textbox"), task.quoted[0])
    await task.submit()


async def cased(task: Task) -> None:
    word = task.quoted[0]
    await task.type(task.one("textbox"), word.lower() if "lower case" in task.words else word.upper())
    await task.submit()


async def password_twice(task: Task) -> None:
    fields = tuple(FieldValue(ref=field.ref, value=task.quoted[0]) for field in task.all("textbox"))
    await task.act(FillForm(kind="fill_form", fields=fields))
    await task.submit()


async def date(task: Task) -> None:
    month, day, year = re.findall(r"(\d+)/(\d+)/(\d+)", task.words)[0]
    await _fill_kind(task, f"{year}-{month}-{day}", f"{month}/{day}/{year}")


async def clock(task: Task) -> None:
    when = datetime.strptime(re.findall(r"\d+:\d+ [AP]M", task.words)[0], "%I:%M %p")
    await _fill_kind(task, when.strftime("%H:%M"), when.strftime("%I:%M %p"))


async def _fill_kind(task: Task, strict: str, plain: str) -> None:
    """Fill a date or time field: in the form browsers want, or as plain text where it is only that."""
    field = task.one("textbox")
    if not (await task.type(field, strict)).ok:
        await task.type(field, plain)
    await task.submit()


async def choose(task: Task) -> None:
    name = re.sub(r"^Select (.*) from the list and click Submit\.$", r"\1", task.words)
    await task.select(task.one("combobox"), name)
    await task.submit()


async def choose_several(task: Task) -> None:
    await task.select(task.one("listbox"), *listed(task.words))
    await task.submit()


async def spinner(task: Task) -> None:
    await task.type(task.one("spinbutton"), str(task.numbers[0]))
    await task.submit()


async def parts(task: Task) -> None:
    number, value = re.findall(r'Check the (\d+)\w\w radio button and enter the number "(-?\d+)"', task.words)[0]
    which = int(re.findall(r"into the (\d+)\w\w textbox", task.words)[0])
    await task.check(task.all("radio")[int(number) - 1].ref)
    await task.type(task.all("textbox")[which - 1].ref, value)
    await task.submit()


async def movie(task: Task) -> None:
    genre, director, year = re.findall(r"Search for (.+?) movies directed by (.+?) from year (\d+)", task.words)[0]
    wanted = {"direct": director, "genre": genre, "year": year, "date": year}
    lines = "\n".join(line.split("Last reward")[0] for line in task.lines)
    before = r"^([^\[\n]+?)[ |:\"]*(?:textbox)?\[(\w+)\]"
    found = re.findall(before, lines, re.MULTILINE)
    if not any(key in words.lower() for words, _ in found for key in wanted):  # the labels stand behind the fields
        found = [(words, ref) for ref, words in re.findall(r"^textbox\[(\w+)\] (.+)$", lines, re.MULTILINE)]
    named = [(key, ref) for words, ref in found for key in wanted if key in words.lower()]
    fields = [FieldValue(ref=ref, value=wanted[key]) for key, ref in named]
    await task.act(FillForm(kind="fill_form", fields=tuple(fields)))
    last = [entry for entry in task.page.refs.values() if entry.name in {"Submit", "Search", "Go!", "Go", "Find"}]
    await task.click(last[-1].ref)


async def autocomplete(task: Task) -> None:
    start, ending = (*task.quoted, "")[:2]
    await task.type(task.one("textbox"), start)

    def found() -> list[str]:
        entries = task.page.refs.values()
        return [entry.ref for entry in entries if entry.name.startswith(start) and entry.name.endswith(ending)]

    await task.until(found)
    await task.click(found()[-1])
    await task.submit()


async def copy(task: Task) -> None:
    """Copy a field's text into the empty one."""
    number = int((re.findall(r"(\d+)\w\w text area", task.words) or ["1"])[0])
    fields = task.all("textbox")
    full = [field.ref for field in fields if field.value]
    empty = next(field.ref for field in fields if not field.value)
    await task.press("Control+A", full[number - 1])
    await task.press("Control+C", full[number - 1])
    await task.press("Control+V", empty)
    await task.submit()


async def last_word(task: Task) -> None:
    long, empty = task.all("textbox")
    whole = re.findall(r'="(.*)"', await task.read(long.ref))[0]
    await task.type(empty.ref, whole.split()[-1].strip("."))
    await task.submit()


async def to_the_end(task: Task) -> None:
    end = Scroll(kind="scroll", direction="top" if "top" in task.words else "bottom", ref=task.all("textbox")[0].ref)
    await task.act(end)
    await task.submit()


async def agreement(task: Task) -> None:
    if task.quoted:
        name, answer = task.quoted
        await task.bottom(task.all("textbox")[0].ref)
        await task.type(task.all("textbox")[1].ref, name)
        await task.submit(answer)
    else:
        await task.submit("Cancel")


async def from_dropdown(task: Task) -> None:
    await task.act(
        Select(kind="select", ref=task.one("combobox"), values=(re.findall(r"Choose (.+?) from", task.words)[0],))
    )
    await task.click(task.one("button", task.quoted[0]))


async def _slide(task: Task, handle: str, now: int, to: int) -> None:
    """Move a slider's handle by keys, one step each."""
    key = "ArrowRight" if to > now else "ArrowLeft"
    for start in range(0, abs(to - now), 8):
        await task.press(key, handle, min(8, abs(to - now) - start))


async def slider(task: Task) -> None:
    handle = task.icons("ui-slider-handle")[0]
    now = int(re.findall(r"\)\s*(-?\d+)", " ".join(task.lines))[0])
    await _slide(task, handle, now, task.numbers[0])
    await task.submit()


async def sliders(task: Task) -> None:
    handles = task.icons("ui-slider-handle")
    values = [int(value) for value in re.findall(r"\)\s*(-?\d+)", " ".join(task.lines))]
    for handle, now, to in zip(handles, values, task.numbers, strict=True):
        await _slide(task, handle, now, to)
    await task.submit()


async def slider_and_box(task: Task) -> None:
    handle = task.icons("ui-slider-handle")[0]
    now = int(re.findall(r"\)\s*(-?\d+)", " ".join(task.lines))[0])
    await _slide(task, handle, now, task.numbers[0])
    await task.check(task.all("checkbox")[task.numbers[1] - 1].ref)
    await task.submit()


DIGITS = {
    0: "0110 1001 1001 1001 1001 1001 0110", 1: "0010 0110 0010 0010 0010 0010 0010", 2: "0110 1001 1001 0010 0100 1000 1111",
    3: "0110 1001 0001 0110 0001 1001 0110", 4: "1000 1010 1010 1111 0010 0010 0010", 5: "1111 1000 1000 1110 0001 1001 0110",
    6: "0110 1001 1000 1110 1001 1001 0110", 7: "1111 1001 0001 0010 0010 0100 0100", 8: "0110 1001 1001 0110 1001 1001 0110",
    9: "0110 1001 1001 0111 0001 1001 0110",
}  # fmt: skip
"""How the task draws each digit: it shows a picture of it, which no text tells."""


async def digit(task: Task) -> None:
    pattern = DIGITS[int(task.quoted[0])].replace(" ", "")
    await task.check(*(box.ref for box, on in zip(task.all("checkbox"), pattern, strict=True) if on == "1"))
    await task.submit()


COLOURS = {
    "aqua": "00FFFF", "black": "000000", "blue": "0000FF", "brown": "A52A2A", "cyan": "00FFFF", "fuchsia": "FF00FF", "gold": "FFD700", "gray": "808080", "green": "008000", "grey": "808080", "lime": "00FF00",
    "magenta": "FF00FF", "maroon": "800000", "navy": "000080", "olive": "808000", "orange": "FFA500", "pink": "FFC0CB", "purple": "800080",
    "red": "FF0000", "silver": "C0C0C0", "teal": "008080", "white": "FFFFFF", "yellow": "FFFF00",
}  # fmt: skip
"""What the names of colours mean on the web."""


async def colour(task: Task) -> None:
    name = re.findall(r"Select (\w+) with", task.words)[0]
    await task.type(task.one("textbox"), COLOURS[name])
    await task.submit()


SOLVERS: dict[str, Solver] = {
    "choose-list": choose,
    "click-checkboxes": boxes,
    "click-checkboxes-large": boxes,
    "click-checkboxes-transfer": boxes,
    "click-option": option,
    "click-scroll-list": choose_several,
    "copy-paste": copy,
    "copy-paste-2": copy,
    "enter-date": date,
    "enter-password": password_twice,
    "enter-text": text,
    "enter-text-2": cased,
    "enter-text-dynamic": text,
    "enter-time": clock,
    "form-sequence": slider_and_box,
    "form-sequence-2": parts,
    "form-sequence-3": from_dropdown,
    "login-user": login,
    "login-user-popup": popup_login,
    "multi-layouts": movie,
    "multi-orderings": movie,
    "number-checkboxes": digit,
    "scroll-text": last_word,
    "scroll-text-2": to_the_end,
    "sign-agreement": agreement,
    "use-autocomplete": autocomplete,
    "use-autocomplete-nodelay": autocomplete,
    "use-colorwheel": colour,
    "use-slider": slider,
    "use-slider-2": sliders,
    "use-spinner": spinner,
}
