"""Typing what nobody may see: in one event, masked from then on wherever the page gives it back, and typed again by its placeholder."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from browser_agent.actions import Click, Dialog, Download, FieldValue, FillForm, PageAction, Press, Type
from browser_agent.actions.forms import hide_typed
from browser_agent.browser.browser import Browser
from browser_agent.browser.window import Window
from browser_agent.network.secrets import Secret, Secrets
from browser_agent.observation import Observation
from tests.browser_agent.doing import do, ref, seen, visit
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]
WORD = "kalmar+42/Green tide"
LOGIN = """<title>Login</title><main><h1>Login</h1>
<label>Name <input id=name></label> <label>Word <input type=password id=word></label>
<label>Code <input id=code onfocus="this.type = 'password'"></label>
<button onclick="alert('It is ' + word.value)">Tell</button> <button onclick="show(word.value)">Show</button>
<a id=file download=x href="data:text/plain,hello">Get</a><div id=out></div></main>
<script>
const values = new Set();
for (const type of ['keydown', 'keypress', 'keyup', 'beforeinput', 'input', 'change'])
  document.addEventListener(type, event => values.add(event.target.value), true);
const bytes = value => [...new TextEncoder().encode(value)];
const show = value => {
  const forms = [value, value.toUpperCase(), value.slice(0, 11), value.slice(7), [...value].reverse().join(''), [...value].join(' '), [...value].join('-'),
    btoa(value), btoa('x' + value), bytes(value).map(b => b.toString(16)).join(''), bytes(value).map(b => b.toString(16)).join(':'), bytes(value).join(','),
    encodeURIComponent(value), encodeURIComponent(encodeURIComponent(value)), JSON.stringify(JSON.stringify(value)),
    [...value].map(c => '&#' + c.charCodeAt(0) + ';').join(''), [...value].map(c => '\\\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')).join('')];
  document.title = 'Hello ' + value;
  location.hash = encodeURIComponent(value);
  const list = document.createElement('ul');
  for (const form of forms) list.append(Object.assign(document.createElement('li'), { textContent: 'so: ' + form }));
  for (let at = 0; at < value.length; at += 4) list.append(Object.assign(document.createElement('li'), { textContent: value.slice(at, at + 4) }));
  document.getElementById('out').append(list);
  document.getElementById('file').download = value.replaceAll('/', '_') + '.txt';
};
</script>"""
PIECES = (
    "kalmar",
    "green tid",
    "edit neerg",
    "ramlak",
    "a2FsbWFy",
    "thbG1hci",
    "6b616c6d",
    "6b:61:6c",
    "107,97,108",
    "%2b42",
    "&#107;",
    "\\u006b",
    "k a l m",
)
"""What would be left of the word in one form or another."""


Guarded = Callable[[str], Awaitable[Window]]


@pytest.fixture
async def guarded(browser: Browser) -> AsyncIterator[Guarded]:
    """Opens a window that has the word as a secret of the site at an address."""
    opened: list[Window] = []

    async def opening(url: str) -> Window:
        secrets = Secrets((Secret("token", WORD, url.removeprefix("http://")),))
        opened.append(await browser.window(secrets=secrets))
        return opened[-1]

    yield opening
    for window in opened:
        await window.close()


def told(page: Observation) -> str:
    """All that is said of a page."""
    return page.model_dump_json().lower()


async def values(window: Window) -> set[str]:
    """What the page's listeners saw in its fields."""
    return set(await window.page.evaluate("[...values]"))


async def test_a_listener_sees_all_of_a_secret_or_nothing(serve: Serve, guarded: Guarded):
    """In a password field, in any other, and as one field of a form; also where the page makes it a password field on focus."""
    site = serve({"/": LOGIN})
    window = await guarded(site.url)
    for name in ("Name", "Word", "Code"):
        page = await visit(window, site.url)
        await do(window, Type(kind="type", ref=ref(page, "textbox", name), text="<secret:token>"))
        assert await values(window) == {WORD} | ({""} & await values(window)), name
    page = await visit(window, site.url)
    fields = tuple(FieldValue(ref=ref(page, "textbox", name), value="<secret:token>") for name in ("Name", "Word"))
    await do(window, FillForm(kind="fill_form", fields=fields))
    assert WORD in await values(window)
    assert not {value for value in await values(window) if value not in ("", WORD)}


async def test_a_page_that_gives_a_secret_back_in_any_form_shows_a_placeholder(serve: Serve, guarded: Guarded):
    """In its words, title, address, dialogs and downloads: as it is, in part, spread over elements, and in common encodings."""
    site = serve({"/": LOGIN})
    window = await guarded(site.url)
    page = await visit(window, site.url)
    word, show, tell = ref(page, "textbox", "Word"), ref(page, "button", "Show"), ref(page, "button", "Tell")
    await do(window, Type(kind="type", ref=word, text="<secret:token>"))
    shown = seen(await do(window, Click(kind="click", ref=show)))
    assert "<secret:token>" in shown.title
    assert "<secret:token>" in shown.url
    assert shown.full.count("<secret:token>") >= 17
    assert [piece for piece in PIECES if piece.lower() in told(shown)] == []
    got = await do(window, Download(kind="download", ref=ref(shown, "link", "Get")))
    assert [Path(path).name.startswith("_secret_token_") for path in got.downloads] == [True]
    asked = await do(window, Click(kind="click", ref=tell))
    assert asked.observation is not None
    assert asked.observation.dialog is not None
    assert asked.observation.dialog.message == "It is <secret:token>"
    await do(window, Dialog(kind="dialog", accept=False))


async def hidden(window: Window, *actions: PageAction) -> list[str]:
    """What stands for the texts of actions before they are written down."""
    found = await hide_typed(window, actions)
    return [text for action in found for text in _texts(action)]


def _texts(action: PageAction) -> list[str]:
    match action:
        case Type(text=text):
            return [text]
        case FillForm(fields=fields):
            return [field.value for field in fields]
        case Press(key=key):
            return [key]
        case _:
            return []


async def test_a_code_of_three_signs_is_masked_in_its_field_and_in_what_was_asked(serve: Serve, guarded: Guarded):
    fields = {"Word": "type=password", "Card": "autocomplete=cc-csc", "Once": "autocomplete='section-a one-time-code'"}
    site = serve({"/": "".join(f"<label>{name} <input {kind}></label>" for name, kind in fields.items())})
    window = await guarded(site.url)
    for name in fields:
        page = await visit(window, site.url)
        (wish,) = await hide_typed(window, [Type(kind="type", ref=ref(page, "textbox", name), text="q7x")])
        assert wish.text == "<secret:typed-1>"
        after = seen(await do(window, wish))
        assert "••••" in after.full
        assert "q7x" not in told(after)
        assert "q7x" in await window.page.evaluate("[...document.querySelectorAll('input')].map(e => e.value)")


async def test_what_goes_into_a_password_field_is_known_by_a_placeholder_from_then_on(serve: Serve, guarded: Guarded):
    """It can be typed again there, and nowhere else; what goes elsewhere stays as it is."""
    site, other = serve({"/": LOGIN}), serve({"/": LOGIN})
    window = await guarded(site.url)
    page = await visit(window, site.url)
    name, word = ref(page, "textbox", "Name"), ref(page, "textbox", "Word")
    both = FillForm(
        kind="fill_form", fields=(FieldValue(ref=name, value="Ann"), FieldValue(ref=word, value="hunter2!"))
    )
    assert await hidden(window, both) == ["Ann", "<secret:typed-1>"]
    again = Type(kind="type", ref=word, text="hunter2!")
    assert await hidden(window, again) == ["<secret:typed-1>"]
    typed = Type(kind="type", ref=word, text="<secret:typed-1>")
    assert await hidden(window, typed) == ["<secret:typed-1>"]
    assert (await do(window, typed)).ok
    assert await values(window) - {""} == {"hunter2!"}
    assert await hidden(window, Press(kind="press", key="Enter", ref=word), Press(kind="press", key="x", ref=name)) == [
        "Enter",
        "x",
    ]
    assert (await hidden(window, Press(kind="press", key="h", ref=word)))[0].startswith("<secret:typed-")
    page = await visit(window, other.url)
    refused = await do(window, replace_ref(typed, ref(page, "textbox", "Word")))
    assert refused.kind == "refused"
    assert "hunter2!" not in refused.model_dump_json()


@pytest.mark.parametrize("text", ["hunter<secret:", "<secret:token>", "my <secret:token> too"])
async def test_a_text_that_only_looks_hidden_is_hidden(serve: Serve, guarded: Guarded, text: str):
    """What stands beside a placeholder is as secret as the rest; a placeholder alone stays what it is."""
    site = serve({"/": LOGIN})
    window = await guarded(site.url)
    secrets = window.settings.secrets
    page = await visit(window, site.url)
    shown = await hidden(window, Type(kind="type", ref=ref(page, "textbox", "Word"), text=text))
    alone = text in ("<secret:token>", "<secret:typed-1>")
    assert shown == [text if alone else "<secret:typed-1>"]
    if not alone:
        assert secrets.fill(shown[0]) == text.replace("<secret:token>", WORD)


def replace_ref(action: Type, other: str) -> Type:
    """The same text in another field."""
    return action.model_copy(update={"ref": other})


async def test_a_field_that_turns_into_one_for_passwords_as_it_is_entered_is_told_too_late_and_still_kept(
    serve: Serve, guarded: Guarded
):
    """Its text is out of all that is read from then on, and whoever keeps a log is told to look for it."""
    site = serve({"/": LOGIN})
    window = await guarded(site.url)
    secrets = window.settings.secrets
    page = await visit(window, site.url)
    await do(window, Type(kind="type", ref=ref(page, "textbox", "Name"), text="Ann of Kalmar"))
    assert not secrets.typed
    after = seen(await do(window, Type(kind="type", ref=ref(page, "textbox", "Code"), text="hunter2-again")))
    assert "hunter2" not in told(after)
    assert secrets.typed == ("hunter2-again",)


async def test_a_field_that_cannot_be_judged_in_time_counts_as_one_for_passwords(
    serve: Serve, guarded: Guarded
) -> None:
    site = serve({"/": LOGIN})
    window = await guarded(site.url)
    page = await visit(window, site.url)
    window.limits = replace(window.limits, probe=0.2)
    busy = "setTimeout(() => { const end = performance.now() + 1500; while (performance.now() < end); })"
    await window.page.evaluate(busy)
    (wish,) = await hide_typed(window, [Type(kind="type", ref=ref(page, "textbox", "Name"), text="hunter2!")])
    assert wish.text == "<secret:typed-1>"
    (key,) = await hide_typed(window, [Press(kind="press", key="h")])
    assert key.key == "<secret:typed-2>"
    await window.page.evaluate("1")
    after = await do(window, wish)
    assert after.ok, after.message
    assert await values(window) - {""} == {"hunter2!"}
    assert "hunter2" not in after.model_dump_json()
