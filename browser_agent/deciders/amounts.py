"""Amounts that are compared: the one in a sentence that has the unit of what is measured, and the row of a list that tells of a thing. It guesses none."""

from __future__ import annotations

import re

from browser_agent.observation import Observation

__all__ = ["amount", "row"]

_UNITS = {
    "price": "€ £ ¥ ₹ $ eur usd gbp chf jpy inr euro euros dollar dollars pound pounds".split(),
    "weight": "kg g lb lbs oz kilo kilos kilograms grams pounds t".split(),
    "time": "s sec seconds min minutes h hour hours day days week weeks".split(),
    "length": "mm cm m km in ft mi metres meters miles pages".split(),
    "height": "mm cm m in ft metres meters".split(),
    "size": "mm cm m gb mb tb inch inches m² sqm pages".split(),
    "age": "years year months".split(),
}
"""The units a measure comes in, in lower case."""

_AMOUNT = re.compile(
    r"(?P<before>[€£¥₹$]|\b(?:EUR|USD|GBP|CHF|JPY|INR)(?=\s?\d))?\s?(?<![\w.])(?P<number>\d[\d,]*(?:\.\d+)?)\s?(?P<after>[€£¥₹$]|m²|[A-Za-z]{1,10}\b)?"
)
_WORD = re.compile(r"[^\W_]+")


def amount(text: str, measure: str, beside: str = "") -> tuple[float, str] | None:
    """The one amount in a text that has a unit of what is measured.

    Args:
        text: what was found.
        measure: such as `price`.
        beside: words whose own numbers do not count, such as the name of the thing.

    Returns:
        The number and its unit in lower case; None where there is none, or several that differ.
    """
    units = _UNITS.get(measure.lower(), ())
    own = set(re.findall(r"\d[\d,.]*", beside))
    found = {
        (float(said["number"].replace(",", "")), unit)
        for said in _AMOUNT.finditer(text)
        for unit in ((said["before"] or said["after"] or "").lower(),)
        if unit in units and not (said["number"] in own and said["before"] is None and said["after"] is None)
    }
    return next(iter(found)) if len(found) == 1 else None


def row(page: Observation, thing: str, measure: str) -> tuple[str, str, str] | None:
    """The one row of a page's tables that tells of a thing.

    Args:
        page: the page.
        thing: what a cell of the row must be called, word for word.
        measure: names the column that is wanted, where the table has headings.

    Returns:
        The row as the page has it, the value wanted, and the address; None where no row or more than one is called so.
    """
    wanted = _words(thing)
    found = []
    for section in page.sections:
        heading: list[str] = []
        for line in section.text.split("\n"):
            cells = [cell.strip() for cell in line.split("\t")]
            if len(cells) < 2:
                continue
            if not any(char.isdigit() for char in line):
                heading = cells
            elif any(_words(cell) == wanted for cell in cells):
                found.append((line, _value(cells, heading, wanted, measure), section.anchor))
    if len(found) != 1:
        return None
    line, value, anchor = found[0]
    url = page.url.partition("#")[0]
    return line, value, f"{url}#{anchor}" if anchor else url


def _value(cells: list[str], heading: list[str], wanted: list[str], measure: str) -> str:
    """The cell of the column that is wanted; where no heading tells it, all the others."""
    named = [at for at, title in enumerate(heading[: len(cells)]) if measure and measure.lower() in title.lower()]
    if len(named) == 1:
        return cells[named[0]]
    measured = [cell for cell in cells if amount(cell, measure) is not None]
    return measured[0] if len(measured) == 1 else ", ".join(cell for cell in cells if _words(cell) != wanted)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
