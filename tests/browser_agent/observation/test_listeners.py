"""What a page's scripts listen on, and controls without words: each has a ref and can be told from the others."""

from collections.abc import Callable

import pytest

from browser_agent.actions import Click, Drag
from browser_agent.browser.window import Window
from browser_agent.observation import Observation
from tests.browser_agent.doing import do, seen, visit
from tests.sites.server import Site

Serve = Callable[[dict[str, str]], Site]

pytestmark = pytest.mark.anyio

HEARD = """<title>Heard</title><p>Read the <span id=word>manual</span> first.</p><ul id=list><li>Ham</li><li>Eggs</li></ul>
<p id=card draggable=true>Card</p><p>Just words</p><p id=out>nothing</p><script>
const say = words => out.textContent = words
word.addEventListener('click', () => say('opened the manual'))
list.addEventListener('click', event => say('chose ' + event.target.textContent))
list.ondragover = event => event.preventDefault()
list.ondrop = () => say('dropped')
document.body.addEventListener('click', () => document.body.dataset.clicks = 1)
</script>"""


ROWS = """<title>Rows</title><div style="cursor: pointer" onclick="out.textContent = 'opened'"><p>Letter <b>one</b></p>
<p><span style="display: inline-block; width: 9px; height: 9px" class=star onclick="out.textContent = 'starred'; event.stopPropagation()"></span></p></div><p id=out></p>"""


def ref_of(page: Observation, name: str) -> str:
    """The ref of what is called so and was let look like a control."""
    (found,) = [control.ref for control in page.refs.values() if control.name == name]
    assert f"[{found}]" in page.text
    return found


async def test_what_a_script_listens_on_has_a_ref_and_what_listens_on_everything_gives_none(
    window: Window, serve: Serve
) -> None:
    page = await visit(window, f"{serve({'/': HEARD}).url}/")
    assert "Just words" in page.text.splitlines()
    clicked = seen(await do(window, Click(kind="click", ref=ref_of(page, "manual"))))
    assert "opened the manual" in clicked.text
    chosen = seen(await do(window, Click(kind="click", ref=ref_of(clicked, "Eggs"))))
    assert "chose Eggs" in chosen.text
    moved = Drag(kind="drag", ref=ref_of(chosen, "Card"), to=ref_of(chosen, "Ham"))
    assert "dropped" in seen(await do(window, moved)).text


async def test_a_control_within_a_larger_one_has_a_ref_of_its_own_and_the_larger_one_keeps_one(
    window: Window, serve: Serve
) -> None:
    page = await visit(window, f"{serve({'/': ROWS}).url}/")
    starred = seen(await do(window, Click(kind="click", ref=ref_of(page, "(icon star)"))))
    assert "starred" in starred.text
    assert "opened" in seen(await do(window, Click(kind="click", ref=ref_of(starred, "Letter one")))).text


async def test_looking_changes_nothing_that_stays_nor_anything_a_page_watches(window: Window, serve: Serve) -> None:
    await visit(window, f"{serve({'/': HEARD}).url}/")
    await window.page.evaluate(
        "() => { watched = 0; new MutationObserver(found => watched += found.length)"
        ".observe(document, { subtree: true, childList: true, attributes: true, characterData: true }) }"
    )
    where = "() => JSON.stringify([...document.querySelectorAll('*')].map(one => one.getBoundingClientRect()))"
    before = await window.page.evaluate(where)
    await do(window)
    assert await window.page.evaluate(where) == before
    assert await window.page.evaluate("() => [watched, document.getAnimations().length]") == [0, 0]
    assert await window.page.evaluate("() => getComputedStyle(word).cursor + getComputedStyle(word).display") == (
        "autoinline"
    )
