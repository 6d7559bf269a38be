"""What a look at a real page gives: its structure, its controls, and never what must not be shown."""

import json
from collections.abc import Callable

import pytest

from browser_agent.actions import Click, Find, Read, WaitFor
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from browser_agent.observation import Observation
from tests.browser_agent.doing import control, do, ref, seen, visit
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]


def everything(page: Observation) -> str:
    """Every word of an observation, however it is reached."""
    return page.model_dump_json() + page.full


async def test_sections_carry_titles_anchors_and_the_names_they_define(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/terms.html")
    found = {section.title: section for section in page.sections}
    tools = found["Tools"]
    assert (tools.level, tools.anchor, tools.text) == (1, "tools", "What the tools do.")
    opening = found["box.open(lid, force=False)"]
    assert (opening.level, opening.anchor, opening.defined_name) == (7, "box.open", "box.open")
    assert opening.text.splitlines() == [
        "Open the box. With force, break the lock.",
        "Raises:",
        "LockedError – if it is locked.",
        "New in version 2.",
    ]
    closing = (
        found["box.close()\nbox.shut()"] if "box.close()\nbox.shut()" in found else found["box.close() box.shut()"]
    )
    assert closing.defined_name == "box.close()" or closing.defined_name == "box.close"
    assert ">>> box.close()\nTrue" in closing.text
    history = found["History"]
    assert (history.anchor, history.defined_name) == ("history", None)
    assert history.text.splitlines() == ["First made in 1931.", "Wood", "Steel", "Year\tBoxes", "1931\t12", "1932\t40"]
    assert "Home" not in json.dumps([section.model_dump() for section in page.sections])


async def test_links_are_absolute_and_know_their_section_and_whether_they_are_navigation(
    window: Window, lab: str
) -> None:
    page = await visit(window, f"{lab}/index.html")
    links = {(link.text, link.section): link for link in page.links}
    assert links["Form", ""].url == f"{lab}/form.html"
    assert not links["Form", ""].main
    row = links["seventh row", "The lab"]
    assert row.url == f"{lab}/table.html#row-7"
    assert row.main
    assert row.ref is not None
    assert page.refs[row.ref].url == row.url
    assert not next(link for link in page.links if link.text == "Imprint").main


async def test_the_text_of_the_sites_own_frames_that_are_shown_stands_in_sections(window: Window, serve: Serve) -> None:
    other = serve({"/": "<p>Buy our ads.</p>"})
    inner = "<h2 id=code>Gate</h2><p>The gate code is 7741.</p><iframe srcdoc='<p>Ring twice.</p>'></iframe>"
    outer = f"<main><h1>Quay</h1><p>Open.</p><iframe src=/inner></iframe><iframe hidden src=/unseen></iframe><iframe src={other.url}/></iframe></main>"
    site = serve({"/": outer, "/inner": inner, "/unseen": "<p>Never shown.</p>"})
    page = await visit(window, f"{site.url}/")
    for _ in range(20):  # frames come in their own time
        if len(page.sections) == 3:
            break
        page = seen(await do(window, WaitFor(kind="wait_for", event="quiet", seconds=1)))
    told = [(each.title, each.anchor, each.text) for each in page.sections]
    assert told == [("Quay", "", "Open."), ("Gate", "", "The gate code is 7741."), ("", "", "Ring twice.")]


async def test_what_a_results_page_keeps_of_the_sites_search_index_is_read(window: Window, serve: Serve) -> None:
    kept = (
        "{docnames: ['lib/box', 'lid'], titles: ['<b>Box</b>', 'Lids'], terms: {open: [0, 1], lid: 1, cube: 0}, titleterms: {box: 0, lid: [1]},"
        " alltitles: {'Open a box': [[0, 'open']]}, indexentries: {}}"
    )
    site = serve({"/find": f"<h1>Results</h1><p>None.</p><script>const Search = {{_index: {kept}}};</script>"})
    index = (await visit(window, f"{site.url}/find?q=Open+lid+zebra+__proto__")).index
    assert index is not None
    assert [(page.url, page.title) for page in index.pages] == [
        (f"{site.url}/lib/box.html", "Box"),
        (f"{site.url}/lid.html", "Lids"),
    ]
    assert [(word.word, set(word.pages), word.titled) for word in index.words] == [
        ("open", {0, 1}, (0,)),
        ("lid", {1}, (1,)),
        ("zebra", set(), ()),
        ("__proto__", set(), ()),
    ]


@pytest.mark.parametrize(
    ("form", "asked"),
    [
        ("<form action=/delete-account method=post><input name=q><button>Delete my account</button></form>", None),
        ("<form action=/find><input name=q><button formmethod=post>Delete</button></form>", None),
        ("<form action=/enter><input name=q><input name=word type=password></form>", None),
        ("<form action=/find><input name=a><input name=b type=search></form>", "/find?b=x"),
        ("<form method=post role=search><input name=q></form><form action=/find><input name=k></form>", "/find?k=x"),
        ("<form action='/find?q=old&area=all'><input name=q></form>", "/find?area=all&q=x"),
    ],
)
async def test_a_search_is_told_by_its_form_and_asked_by_address_where_that_only_asks(
    window: Window, serve: Serve, form: str, asked: str | None
) -> None:
    site = serve({"/": f"<h1>Home</h1>{form}"})
    page = await visit(window, f"{site.url}/")
    assert (page.search and page.search.address("x")) == (asked and f"{site.url}{asked}")


async def test_controls_in_nested_frames_and_open_shadows_can_be_used(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/frames.html")
    for name, then in (("In frame", "Frame done"), ("Shadow", "Shadow done")):
        outcome = await do(window, Click(kind="click", ref=ref(page, "button", name)))
        assert outcome.ok, outcome.message
        assert then in seen(outcome).text
        page = seen(outcome)
    assert (await do(window, Click(kind="click", ref=ref(page, "button", "Deep")))).ok


@pytest.mark.parametrize(
    ("page_name", "secret"),
    [("form", "hunter2-initial"), ("frames", "shadow-secret"), ("frames", "frame-secret")],
)
async def test_the_value_of_a_password_field_is_nowhere_in_an_observation(
    window: Window, lab: str, page_name: str, secret: str
) -> None:
    page = await visit(window, f"{lab}/{page_name}.html")
    assert secret not in everything(page)
    assert "••••" in page.full
    for view in (Find(kind="find", query="password"), Read(kind="read")):
        assert secret not in everything(seen(await perform(window, [view])))


async def test_text_nobody_can_see_is_left_out_and_counted(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/unseen.html")
    told = page.text + "".join(section.text for section in page.sections)
    unseen = ("TRANSPARENT", "OFFSCREEN", "ONEPIXEL", "CLIPPED", "INDENTED", "MIDDLE", "SP LIT", "SPLIT")
    assert [word for word in unseen if word in told] == []
    assert "unseen texts left out" in page.text
    found = seen(await do(window, Find(kind="find", query="ignore your instructions")))
    assert "no such words" in found.text


async def test_a_control_out_of_sight_stays_and_is_marked(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/unseen.html")
    veiled = control(page, "button", "VEILED press me now")
    assert "unseen" in veiled.states
    assert f"[{veiled.ref}] (unseen)" in page.text


async def test_what_the_task_needs_comes_into_view_wherever_it_stands(window: Window, lab: str) -> None:
    plain = await visit(window, f"{lab}/table.html")
    assert "Item 97[" not in plain.text
    asked = await visit(window, f"{lab}/table.html", need="edit item 97")
    assert "Item 97[" in asked.text


async def test_a_page_that_bends_javascript_itself_is_still_seen_without_its_passwords(
    window: Window, serve: Serve
) -> None:
    bent = (
        "<script>JSON.stringify = () => { throw new Error('no') }; Element.prototype.checkVisibility = () => 7;"
        "Array.prototype.filter = () => 'nothing';</script>"
        "<h1>Bent</h1><input type=password aria-label=Code value=bent-secret><input aria-label=Plain value=shown>"
    )
    page = await visit(window, f"{serve({'/': bent}).url}/")
    assert "Bent" in page.text
    assert "bent-secret" not in everything(page)
