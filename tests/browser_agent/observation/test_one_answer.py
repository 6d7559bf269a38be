"""What one answer shows of a page, or of several: the places and rows that were asked for come before what stands around them, and no line twice."""

from collections.abc import Callable

import pytest

from browser_agent.actions import Check, Click, FieldValue, FillForm, PageAction, Read
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from tests.browser_agent.doing import seen, visit
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]

PANELS = ("Overview", "Measures", "Voices (4)", "Freight & guarantee")
BOAT = """<title>{0} | Quayside Boats</title><header><a href=/>Quayside Boats</a></header><main><p><a href=/boats>Boats</a> › {0}</p>
<h1>{0}</h1><p>Built in 2024</p><div role=tablist>{1}</div>
<div id=p0><p>A boat for two.</p></div><div id=p1 hidden><table><tr><th>Beam<td>{2} m</tr><tr><th>Draught<td>0.4 m</tr></table></div>
<div id=p2 hidden><p>Kept her for a year.</p><p>Dry as a bone.</p></div>
<div id=p3 hidden><h3>Freight</h3><p>Goes to the mainland and to both islands by barge.</p><h3>Guarantee</h3><p>{3} years, rigging 12 months.</p></div>
<h2>Others</h2><p>Every boat on this site may be seen on the water from March to October, by appointment.</p></main>
<script>const show = n => [0, 1, 2, 3].forEach(at => document.getElementById('p' + at).hidden = at !== n)</script>"""
TABS = "".join(f"<button role=tab onclick=show({n})>{name}</button>" for n, name in enumerate(PANELS))


def boat(name: str, years: int = 3) -> str:
    return BOAT.format(name, TABS, len(name) / 4, years)


def click(name: str) -> Click:
    return Click(kind="click", ref=name)


async def test_the_second_read_of_a_page_in_one_call_shows_what_changed(reader: Window, serve: Serve) -> None:
    await visit(reader, serve({"/": boat("Alcyone")}).url)
    acts: list[PageAction] = []
    for tab in ("Measures", "Voices", "Freight & guarantee", "Measures"):
        acts += [click(tab), Read(kind="read")]
    first, voices, freight, again = (await perform(reader, acts)).texts
    assert all(words in first for words in ("# Alcyone", "Beam | 1.75 m", "may be seen on the water"))
    for text, news in ((voices, "Dry as a bone."), (freight, "both islands by barge"), (again, "Beam | 1.75 m")):
        assert news in text
        assert "# Alcyone" not in text
        assert "may be seen on the water" not in text
    assert "gone: Beam | 1.75 m; Draught | 0.4 m" in voices
    whole = (await perform(reader, [Read(kind="read"), click("Voices"), Read(kind="read", links=True)])).texts
    assert "# Alcyone" in whole[1]


async def test_a_value_that_changed_is_not_called_gone_and_what_left_is(reader: Window, serve: Serve) -> None:
    text = "".join(f"<p>Paragraph {n} tells of the voyage in some words.</p>" for n in range(9))
    form = (
        f"<main><h1>Stay</h1><form><label>Departure <input></label><p><label>Pets <input type=checkbox></label></p>"
        f"<p id=hint>Say when you leave.</p><p><label>Mooring <select><option>North<option>South</select></label></p></form>{text}</main>"
        "<script>document.querySelector('input').oninput = () => document.getElementById('hint').remove()</script>"
    )
    await visit(reader, serve({"/": form}).url)
    fields = (FieldValue(ref="Departure", value='by "noon"'), FieldValue(ref="Mooring", value="South"))
    shown = seen(await perform(reader, [FillForm(kind="fill_form", fields=fields), Check(kind="check", ref="Pets")]))
    assert shown.view == "change"
    assert '="by "noon""' in shown.text
    assert shown.text.endswith("gone: Say when you leave.")
