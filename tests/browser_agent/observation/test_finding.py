"""What a search of a page shows: its places with what explains them, and addresses by which the rest is read."""

import pytest

from browser_agent.observation import Find, Observation, Read, View
from browser_agent.observation.capture import Capture, Structure
from browser_agent.observation.observe import observe
from browser_agent.observation.shorten import Interest
from ctxfold.tokens import count

pytestmark = pytest.mark.anyio

URL = "https://town.example/notes"
MINUTES = """- main [ref=e2]:
  - heading "Minutes" [level=1] [ref=e3]
  - paragraph [ref=e4]: The council met in the old hall.
  - heading "Bridges" [level=2] [ref=e5]
  - generic [ref=e6]: Ada Byron, engineer
  - generic [ref=e7]: The north bridge bears twelve tonnes.
  - generic [ref=e8]: Adopted by nine votes.
  - heading "Schools" [level=2] [ref=e9]
  - paragraph [ref=e10]: The roof is to be mended before winter.
  - paragraph [ref=e11]: A second gym waits for money."""
RATES = [f'      - row [ref=e{30 + n}]:\n        - cell "{n} kg"\n        - cell "{n * 3} crowns"' for n in range(40)]


def table(rows: int) -> str:
    return "\n".join(
        [
            "- main [ref=e2]:",
            '  - heading "Postage" [level=1] [ref=e3]',
            "  - table [ref=e20]:",
            "    - rowgroup [ref=e21]:",
            "      - row [ref=e22]:",
            '        - columnheader "Weight"',
            '        - columnheader "Price"',
            "    - rowgroup [ref=e23]:",
            *RATES[:rows],
        ]
    )


def page(yaml: str, view: View, budget: int = 900, pages: int = 0, need: str = "") -> Observation:
    capture = Capture(URL, 200, yaml, Structure(title="Town"))
    return observe(capture, view=view, budget=budget, pages=pages, interest=Interest(need))


def found(yaml: str, query: str, budget: int = 900) -> str:
    return page(yaml, Find(kind="find", query=query), budget).text


def test_a_place_names_its_heading_by_a_ref_that_reads_what_stands_under_it_whatever_the_room() -> None:
    for budget in (120, 900):
        assert "§ Bridges[e5]" in found(MINUTES, "twelve tonnes", budget=budget)
    under = page(MINUTES, Read(kind="read", ref="e5")).text
    assert "Ada Byron" in under
    assert "nine votes" in under
    assert "Schools" not in under
    assert "second gym" in page(MINUTES, Read(kind="read", ref="e3")).text


def test_what_is_left_out_is_named_by_the_headings_it_stands_under() -> None:
    text = found(table(40), "crowns", budget=200)
    shown = int(text.split("\n")[1].split()[0])
    assert 3 < shown < 40
    assert f"{shown} of 40 places" in text
    assert f"… {40 - shown} more in Postage[e3]" in text
    assert count(text) <= 200
