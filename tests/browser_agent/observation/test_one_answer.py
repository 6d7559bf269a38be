"""What one answer shows of a page, or of several: the places and rows that were asked for come before what stands around them, and no line twice."""

import json
from collections.abc import Callable

import pytest

from browser_agent.actions import Check, Click, ExtractValues, FieldValue, FillForm, Find, Navigate, PageAction, Read
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from ctxfold.tokens import count
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


async def test_each_of_many_finds_shows_the_sentences_before_a_tab_that_is_called_so(
    reader: Window, serve: Serve
) -> None:
    names = ["Alcyone", "Betelgeuse", "Capella", "Deneb", "Electra", "Fomalhaut", "Gemma"]
    site = serve({f"/{name}": boat(name, n + 2) for n, name in enumerate(names)})
    acts: list[PageAction] = []
    for name in names:
        acts += [
            Navigate(kind="navigate", url=f"{site.url}/{name}"),
            click("Freight & guarantee"),
            Find(kind="find", query=("islands", "mainland", "months", "years", "guarantee", "freight")),
        ]
    texts = (await perform(reader, acts)).texts
    assert len(texts) == len(names)
    for n, text in enumerate(texts):
        assert "Goes to the mainland and to both islands by barge." in text
        assert f"{n + 2} years, rigging 12 months." in text
    assert sum(map(count, texts)) <= 900


async def test_a_find_with_room_for_all_keeps_the_order_of_the_page(reader: Window, serve: Serve) -> None:
    await visit(reader, serve({"/": boat("Alcyone")}).url)
    text = seen(
        await perform(reader, [click("Freight & guarantee"), Find(kind="find", query=("guarantee", "months"))])
    ).text
    assert text.index('tab "Freight & guarantee"') < text.index("rigging 12 months")


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


async def test_rows_off_several_pages_are_whole_behind_reads_that_show_their_changes(
    reader: Window, serve: Serve
) -> None:
    rows = ["".join(f"<tr><td>Boat {page}{n}<td>{n} m" for n in range(14)) for page in "ab"]
    table = "<main><h1>Fleet</h1><table><tr><th>Name<th>Length</tr>{}</table></main>"
    site = serve({"/": boat("Alcyone"), "/a": table.format(rows[0]), "/b": table.format(rows[1])})
    await visit(reader, f"{site.url}/")
    acts: list[PageAction] = []
    for tab in ("Measures", "Voices", "Freight & guarantee", "Overview"):
        acts += [click(tab), Read(kind="read")]
    item = {"type": "object", "properties": {"name": {"type": "string"}, "length": {"type": "string"}}}
    collect = ExtractValues(kind="extract", wanted={"type": "array", "items": item}, urls=("/b",))
    texts = (await perform(reader, [*acts, Navigate(kind="navigate", url=f"{site.url}/a"), collect])).texts
    assert all(f'["Boat {page}{n}", "{n} m"]' in texts[-1] for page in "ab" for n in range(14))
    assert "may be seen on the water" in texts[0]
    assert sum(map(count, texts)) <= 900


async def test_rows_off_several_pages_give_way_to_what_is_read_after_them(reader: Window, serve: Serve) -> None:
    rows = "".join(f"<tr><td>Boat {n} of the harbour<td>{n} m" for n in range(90))
    table = f"<main><h1>Fleet</h1><table><tr><th>Name<th>Length</tr>{rows}</table></main>"
    site = serve({"/": table, "/b": boat("Alcyone")})
    await visit(reader, f"{site.url}/")
    item = {"type": "object", "properties": {"name": {"type": "string"}, "length": {"type": "string"}}}
    collect = ExtractValues(kind="extract", wanted={"type": "array", "items": item}, urls=("/",))
    go = Navigate(kind="navigate", url=f"{site.url}/b")
    taken, read = (await perform(reader, [collect, go, Read(kind="read")])).texts
    assert "may be seen on the water" in read
    assert '["name", "length"]' in taken
    assert "more of 180: recall" in taken
    assert 800 < count(taken) + count(read) <= 900


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


TABLE = "<table><tr><th>Engine<th>Torque of a stroke</tr>{}</table>"
TORQUES = "".join(f"<tr><td>Type {n}<td>{n * 11} Nm" for n in range(1, 9))
PARTS = "".join(f"<h2>Part {n}</h2><p>{'Words that tell of rope and sail. ' * 9}</p>" for n in range(40))


@pytest.mark.parametrize("captioned", [False, True])
async def test_a_small_table_whose_head_or_caption_serves_the_need_comes_whole(
    reader: Window, serve: Serve, captioned: bool
) -> None:
    table = TABLE.format(TORQUES)
    if captioned:
        table = f"<table><caption>Torque of each engine</caption>{TORQUES}</table>"
    site = serve({"/": f"<main><h1>Manual</h1>{PARTS}{table}{PARTS}</main>"})
    text = (await visit(reader, site.url, "torque of the engine")).text
    assert all(f"Type {n} | {n * 11} Nm" in text for n in range(1, 9))


async def test_a_page_of_text_alone_is_cut_only_where_it_does_not_fit(reader: Window, serve: Serve) -> None:
    fitting, long = ([{"buoy": n, "note": "seen from the north pier"} for n in range(rows)] for rows in (45, 90))
    site = serve({"/a": f"<pre>{json.dumps(fitting)}</pre>", "/b": f"<pre>{json.dumps(long)}</pre>"})
    whole = await visit(reader, f"{site.url}/a")
    assert whole.text.endswith(json.dumps(fitting))
    assert whole.tokens > 600
    part = await visit(reader, f"{site.url}/b")
    assert "cut: read" in part.text
    assert part.tokens <= 900
