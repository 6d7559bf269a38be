"""What each action does to a real page, and how it says so."""

from collections.abc import Callable
from pathlib import Path

import pytest

from browser_agent.actions import (
    Check,
    Click,
    Dialog,
    Download,
    FieldValue,
    FillForm,
    Navigate,
    Press,
    Read,
    Scroll,
    Select,
    Tab,
    Type,
    Upload,
    WaitFor,
)
from browser_agent.browser.browser import Browser
from browser_agent.browser.limits import Folders
from browser_agent.browser.window import Window
from tests.browser_agent.doing import control, do, ref, seen, visit
from tests.sites.server import Site

pytestmark = pytest.mark.anyio


async def test_an_error_page_is_shown_and_named_as_one(window: Window, lab: str) -> None:
    outcome = await do(window, Navigate(kind="navigate", url=f"{lab}/status?code=503"))
    assert not outcome.ok
    assert outcome.kind == "http_error"
    assert "503" in outcome.message
    assert seen(outcome).status == 503
    assert "No such thing." in seen(outcome).text


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:2/", "unreachable"),
        ("http://no-such-host.invalid/", "unreachable"),
        ("file:///etc/passwd", "refused"),
        ("javascript:alert(1)", "refused"),
        ("example", "not_possible"),
    ],
)
async def test_an_address_that_cannot_be_opened_says_why(window: Window, url: str, kind: str) -> None:
    outcome = await do(window, Navigate(kind="navigate", url=url))
    assert (outcome.ok, outcome.kind) == (False, kind)
    assert "\n" not in outcome.message


async def test_clicking_a_link_waits_for_the_page_it_leads_to(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/index.html")
    outcome = await do(window, Click(kind="click", ref=ref(page, "link", "To a slow page")))
    assert outcome.ok
    assert "It came." in seen(outcome).text


@pytest.mark.parametrize("name", ["Table", "Push", "A new tab"])
async def test_actions_stop_at_the_first_that_replaces_the_page(window: Window, lab: str, name: str) -> None:
    page = await visit(window, f"{lab}/index.html")
    leaving = next(entry for entry in page.refs.values() if entry.name == name)
    grow = Click(kind="click", ref=ref(page, "button", "Grow"))
    outcome = await do(window, Click(kind="click", ref=leaving.ref), grow, grow)
    assert outcome.ok
    assert outcome.kind == "page_changed"
    assert (len(outcome.results), outcome.skipped) == (1, 2)


async def test_actions_stop_at_the_first_that_cannot_be_done(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/index.html")
    grow = Click(kind="click", ref=ref(page, "button", "Grow"))
    outcome = await do(window, grow, Click(kind="click", ref="e9999"), grow)
    assert not outcome.ok
    assert [result.kind for result in outcome.results] == ["done", "unknown_ref"]
    assert outcome.skipped == 1
    assert "Item 2" in seen(outcome).text


async def test_a_ref_whose_element_is_gone_is_stale_at_once(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/index.html")
    remove, going = ref(page, "button", "Remove"), ref(page, "button", "Going")
    outcome = await do(window, Click(kind="click", ref=remove), Click(kind="click", ref=going))
    assert outcome.kind == "stale_ref"
    assert outcome.message.count(going) == 1, "what is gone is not what to use in its place"


@pytest.mark.parametrize(("name", "word"), [("Never", "disabled"), ("Covered", "covers")])
async def test_a_button_that_cannot_be_clicked_says_why(window: Window, lab: str, name: str, word: str) -> None:
    page = await visit(window, f"{lab}/index.html")
    outcome = await do(window, Click(kind="click", ref=ref(page, "button", name)))
    assert outcome.kind == "not_possible"
    assert word in outcome.message


async def test_typing_and_submitting_a_search_leads_to_its_results(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/index.html")
    assert page.search is not None
    field = next(control.ref for control in page.refs.values() if control.role == "searchbox")
    outcome = await do(window, Type(kind="type", ref=field, text="red & blue", submit=True))
    assert "q=red & blue" in seen(outcome).text
    by_address = page.search.address("red & blue")
    assert by_address is not None
    assert "q=red & blue" in (await visit(window, by_address)).text


async def test_a_whole_form_is_filled_by_each_fields_kind_and_sent(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/form.html")

    def field(role: str, name: str, value: str) -> FieldValue:
        return FieldValue(ref=ref(page, role, name), value=value)

    fields = (
        field("textbox", "Name", "Ada"),
        field("combobox", "City", "Lyon"),
        field("checkbox", "Newsletter", "true"),
        field("radio", "Large", "true"),
        field("textbox", "About", "two\nlines"),
        field("textbox", "Born", "1815-12-10"),
        field("checkbox", "Styled box", "true"),
    )
    filled = await do(window, FillForm(kind="fill_form", fields=fields))
    assert filled.ok, filled.message
    now = seen(filled)
    assert control(now, "textbox", "Name").value == "Ada"
    assert "checked" in control(now, "checkbox", "Newsletter").states
    sent = seen(await do(window, Click(kind="click", ref=ref(now, "button", "Send")))).text
    for line in ("name=Ada", "city=Lyon", "news=on", "size=l", "born=1815-12-10", "styled=on"):
        assert line in sent


async def test_options_are_chosen_by_label_or_value_and_a_missing_one_is_said_at_once(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/form.html")
    city = ref(page, "combobox", "City")
    missing = await do(window, Select(kind="select", ref=city, values=("Atlantis",)))
    assert missing.kind == "not_possible"
    assert (await do(window, Select(kind="select", ref=city, values=("MAD",)))).ok
    colours = ref(seen(missing), "listbox", "Colours")
    both = await do(window, Select(kind="select", ref=colours, values=("Red", "Blue")))
    assert both.ok, both.message
    assert 'option "Red"' in seen(both).text
    not_a_list = await do(window, Select(kind="select", ref=ref(page, "textbox", "Name"), values=("x",)))
    assert not_a_list.kind == "not_possible"


async def test_boxes_are_set_and_unset_and_setting_twice_changes_nothing(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/form.html")
    box = ref(page, "checkbox", "Newsletter")
    on = Check(kind="check", ref=box, checked=True)
    assert "checked" in control(seen(await do(window, on, on)), "checkbox", "Newsletter").states
    off = Check(kind="check", ref=box, checked=False)
    assert "checked" not in control(seen(await do(window, off)), "checkbox", "Newsletter").states


async def test_keys_are_pressed_on_an_element_and_an_unknown_key_is_said(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/form.html")
    key = ref(page, "textbox", "Key")
    assert "ArrowDown" in seen(await do(window, Press(kind="press", key="ArrowDown", ref=key))).text
    assert (await do(window, Press(kind="press", key="NoSuchKey", ref=key))).kind == "not_possible"


async def test_scrolling_brings_what_is_then_on_screen_into_the_view(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/table.html")
    assert "Item 118" not in page.text
    outcome = await do(window, Scroll(kind="scroll", direction="bottom"))
    assert "Item 118" in seen(outcome).text
    again = await do(window, Scroll(kind="scroll", direction="bottom"))
    assert again.ok
    assert "at the end already" in again.message


async def test_an_upload_needs_an_allowed_folder(browser: Browser, lab: str, tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "paper.txt").write_text("words")
    (tmp_path / "private.txt").write_text("words")
    window = await browser.window(folders=Folders(tmp_path / "down", (allowed,)))
    try:
        page = await visit(window, f"{lab}/form.html")
        papers = ref(page, "button", "Papers")
        outside = (str(tmp_path / "private.txt"), str(allowed / ".." / "private.txt"))
        for path in outside:
            assert (await do(window, Upload(kind="upload", ref=papers, paths=(path,)))).kind == "refused"
        given = await do(window, Upload(kind="upload", ref=papers, paths=(str(allowed / "paper.txt"),)))
        assert given.ok, given.message
        assert "paper.txt" in seen(given).text
    finally:
        await window.close()


async def test_a_download_is_kept_and_listed_under_a_safe_name(
    browser: Browser, serve: Callable[[dict[str, str]], Site], tmp_path: Path
) -> None:
    site = serve({"/": "<a href='/file?name=report.txt'>Plain</a> <a href='/file?name=..%2F..%2Fevil.txt'>Evil</a>"})
    window = await browser.window(folders=Folders(tmp_path))
    try:
        page = await visit(window, f"{site.url}/")
        plain = await do(window, Download(kind="download", ref=ref(page, "link", "Plain")))
        assert plain.downloads == (str(tmp_path / "report.txt"),)
        assert (tmp_path / "report.txt").read_bytes() == b"twelve bytes"
        again = await do(window, Download(kind="download", ref=ref(seen(plain), "link", "Plain")))
        assert again.downloads == (str(tmp_path / "report-2.txt"),)
        evil = await do(window, Download(kind="download", ref=ref(seen(again), "link", "Evil")))
        assert [Path(path).parent for path in evil.downloads] == [tmp_path]
        by_address = await do(window, Navigate(kind="navigate", url=f"{site.url}/file?name=direct.bin"))
        assert by_address.ok, by_address.message
    finally:
        await window.close()


@pytest.mark.parametrize(("accept", "said"), [(True, "yes"), (False, "no")])
async def test_a_dialog_is_shown_blocks_the_rest_and_is_answered(
    window: Window, serve: Callable[[dict[str, str]], Site], accept: bool, said: str
) -> None:
    site = serve({"/": "<button onclick=\"document.title = confirm('Sure?') ? 'yes' : 'no'\">Ask</button>"})
    page = await visit(window, f"{site.url}/")
    ask = Click(kind="click", ref=ref(page, "button", "Ask"))
    outcome = await do(window, ask)
    assert outcome.ok
    dialog = seen(outcome).dialog
    assert dialog is not None
    assert (dialog.kind, dialog.message) == ("confirm", "Sure?")
    assert "Sure?" in seen(outcome).text
    assert (await do(window, ask)).kind == "dialog_open"
    answered = await do(window, Dialog(kind="dialog", accept=accept))
    assert answered.ok
    assert seen(answered).title == said
    assert (await do(window, Dialog(kind="dialog", accept=True))).kind == "nothing_to_do"


async def test_a_prompt_takes_a_text(window: Window, serve: Callable[[dict[str, str]], Site]) -> None:
    site = serve({"/": "<button onclick=\"document.title = prompt('Name?')\">Ask</button>"})
    page = await visit(window, f"{site.url}/")
    ask = Click(kind="click", ref=ref(page, "button", "Ask"))
    outcome = await do(window, ask, Dialog(kind="dialog", accept=True, text="Ada"))
    assert outcome.kind == "page_changed"
    assert seen(await do(window, Dialog(kind="dialog", accept=True, text="Ada"))).title == "Ada"


async def test_a_tab_a_page_opens_is_turned_to_and_tabs_can_be_switched_and_closed(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/index.html")
    opened = seen(await do(window, Click(kind="click", ref=ref(page, "link", "A new tab"))))
    assert opened.title == "Form"
    assert [tab.current for tab in opened.tabs] == [False, True]
    first = seen(await do(window, Tab(kind="tab", op="switch", index=1)))
    assert first.title == "Lab"
    third = seen(await do(window, Tab(kind="tab", op="new", url=f"{lab}/table.html")))
    assert len(third.tabs) == 3
    closed = seen(await do(window, Tab(kind="tab", op="close")))
    assert len(closed.tabs) == 2
    assert (await do(window, Tab(kind="tab", op="switch", index=9))).kind == "nothing_to_do"
    listed = await do(window, Tab(kind="tab", op="list"))
    assert listed.ok


async def test_waiting_ends_when_the_thing_comes_or_the_time_is_over(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/index.html")
    outcome = await do(
        window,
        Click(kind="click", ref=ref(page, "button", "Fetch")),
        WaitFor(kind="wait_for", text="It arrived", seconds=3),
        WaitFor(kind="wait_for", event="load", seconds=3),
        WaitFor(kind="wait_for", url="index", seconds=3),
        WaitFor(kind="wait_for", event="quiet", seconds=3),
    )
    assert outcome.ok, outcome.message
    never = await do(window, WaitFor(kind="wait_for", text="It never comes", seconds=0.3))
    assert never.kind == "timed_out"


async def test_reading_pages_and_parts_shows_them_in_full(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/table.html")
    assert page.pages > 1
    last = seen(await do(window, Read(kind="read", page=page.pages)))
    assert (last.view, last.page) == ("read", page.pages)
    assert "Item 120" in last.text
    table = next(entry.ref for entry in page.refs.values() if entry.role == "table")
    part = seen(await do(window, Read(kind="read", ref=table)))
    assert "Item 1[" in part.text
    beyond = seen(await do(window, Read(kind="read", page=999)))
    assert beyond.page == page.pages


async def test_typing_replaces_what_stood_there_whatever_the_field(window: Window, lab: str) -> None:
    page = await visit(window, f"{lab}/form.html")
    name, about = ref(page, "textbox", "Name"), ref(page, "textbox", "About")
    for text in ("first words", "é", "", "naïve 漢字 🙂", "two\nlines\n"):
        line = " ".join(text.split())
        page = seen(await do(window, Type(kind="type", ref=name, text=line), Type(kind="type", ref=about, text=text)))
        assert await window.page.get_by_ref(name).input_value() == line
        assert await window.page.get_by_ref(about).input_value() == text


async def test_a_button_covered_in_its_middle_alone_is_clicked_beside_it(
    window: Window, serve: Callable[[dict[str, str]], Site]
) -> None:
    half = (
        "<div style='position:relative;width:300px;height:60px'><button style='width:300px;height:60px' "
        "onclick=\"document.title='pressed'\">Wide</button>"
        "<div style='position:absolute;left:100px;top:0;width:100px;height:60px;background:#ccc'>Lid</div></div>"
    )
    page = await visit(window, f"{serve({'/': half}).url}/")
    outcome = await do(window, Click(kind="click", ref=ref(page, "button", "Wide")))
    assert outcome.ok, outcome.message
    assert seen(outcome).title == "pressed"
