"""An observation never costs more than its budget, whatever the page; and all its pages together lose nothing. No browser."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from browser_agent.observation import Find, Observation, OpenDialog, Read, TabInfo, View
from browser_agent.observation.capture import Capture, Structure
from browser_agent.observation.observe import observe
from browser_agent.observation.shorten import Interest
from ctxfold.tokens import count
from tests.browser_agent.reading import interactive

_ROLES = (
    "article", "banner", "blockquote", "button", "cell", "checkbox", "code", "columnheader", "combobox", "complementary",
    "contentinfo", "definition", "dialog", "emphasis", "form", "generic", "grid", "group", "heading", "iframe", "img",
    "link", "list", "listbox", "listitem", "main", "menu", "menuitem", "navigation", "option", "paragraph", "radio",
    "region", "row", "rowgroup", "search", "searchbox", "separator", "slider", "strong", "switch", "tab", "table",
    "tablist", "term", "textbox", "tree", "treeitem",
)  # fmt: skip


def read(page: int = 1, ref: str | None = None) -> Read:
    return Read(kind="read", page=page, ref=ref)


def find(query: str) -> Find:
    return Find(kind="find", query=query)


_WORDS = st.one_of(
    st.text(max_size=40),
    st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=60),
    st.text("😀🏳️‍🌈\u200d[]e12f:'\"\\#-{}|>", max_size=40),
    st.sampled_from(
        [
            "<|endoftext|>",
            "[e1]",
            "x" * 300,
            " " * 500,
            "- text: no",
            "a: b",
            "1",
            "true",
            "]: [ref=e9]",
            "\n\n",
            "word " * 120,
        ]
    ),
)


@st.composite
def _nodes(draw: st.DrawFn, depth: int = 4) -> list[str]:
    """Lines of a snapshot, as Playwright writes them: any roles within any others."""
    lines: list[str] = []
    for _ in range(draw(st.integers(0, 5))):
        if draw(st.booleans()) and depth < 4:
            lines.append(f"- text: {_value(draw(_WORDS))}")
            continue
        role = draw(st.sampled_from(_ROLES))
        key = role
        name = draw(_WORDS)
        if name and draw(st.booleans()):
            key += f" {json.dumps(name)}"
        if draw(st.booleans()):
            key += draw(st.sampled_from([" [checked]", " [disabled]", " [level=2]", " [expanded]", " [selected]"]))
        ref = draw(st.integers(1, 10**6))
        key += draw(st.sampled_from(["", f" [ref=e{ref}]", f" [ref=e{ref}] [cursor=pointer]", f" [ref=f2e{ref}]"]))
        key = f"'{key.replace(chr(39), chr(39) * 2)}'" if any(sign in key for sign in ":#{}`'") else key
        children = draw(_nodes(depth=depth - 1)) if depth else []
        url = [f"- /url: {_value(draw(_WORDS))}"] if role == "link" else []
        if children or url:
            lines.append(f"- {key}:")
            lines.extend(f"  {line}" for line in (*url, *children))
        elif draw(st.booleans()):
            lines.append(f"- {key}: {_value(draw(_WORDS))}")
        else:
            lines.append(f"- {key}")
    return lines


def _value(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_VIEWS: st.SearchStrategy[View | None] = st.one_of(
    st.none(),
    st.builds(read, st.integers(1, 5)),
    st.builds(find, st.text(min_size=1, max_size=20)),
)


def _seen(
    yaml: str, view: View | None, budget: int, need: str = "", title: str = "Title", hidden: tuple[str, ...] = ()
) -> Observation:
    structure = Structure(title=title, hidden=tuple((text,) for text in hidden))
    return observe(Capture("http://host/path", 200, yaml, structure), view=view, interest=Interest(need), budget=budget)


@settings(max_examples=120, deadline=None)
@given(_nodes(), _VIEWS, st.sampled_from([64, 120, 256, 2000]), _WORDS, _WORDS)
def test_no_view_of_any_page_costs_more_than_its_budget(
    lines: list[str], view: View | None, budget: int, need: str, title: str
) -> None:
    page = _seen("\n".join(lines), view, budget, need, title)
    assert count(page.text) <= budget
    assert page.tokens == count(page.text)


@settings(max_examples=80, deadline=None)
@given(_nodes(), st.sampled_from([120, 400, 2000]))
def test_the_pages_of_any_page_show_every_ref_that_can_be_acted_on(lines: list[str], budget: int) -> None:
    yaml = "\n".join(lines)
    first = _seen(yaml, read(), budget)
    text = "\n".join(_seen(yaml, read(number), budget).text for number in range(1, first.pages + 1))
    assert {ref for ref in interactive(yaml) if f"[{ref}]" not in text} == set()
    assert interactive(yaml) <= set(first.refs)


@settings(max_examples=60, deadline=None)
@given(_nodes())
def test_nothing_on_a_page_can_pass_for_a_ref_that_is_not_there(lines: list[str]) -> None:
    page = _seen("\n".join(lines), read(), 2000)
    shown = {part.partition("]")[0] for part in page.text.split("[")[1:]}
    refs = {
        part for part in shown if part.lstrip("f0123456789").startswith("e") and part[-1:].isdigit() and part.isalnum()
    }
    assert {ref for ref in refs if ref not in page.refs} == set()


@pytest.mark.parametrize(
    "yaml",
    [
        "- paragraph: " + "x" * 5_000_000,
        "- text: " + "<|endoftext|>" * 50_000,
        "\n".join(f"- link {json.dumps('l' * 80)} [ref=e{n}] [cursor=pointer]:\n  - /url: /{n}" for n in range(5_000)),
        "\n".join(f"{'  ' * n}- generic [ref=e{n}]:" for n in range(3_000)) + "\n" + "  " * 3_000 + "- button \"Deep\" [ref=e9999]",
        "- table [ref=e1]:\n" + "\n".join(f"  - row [ref=e{n}]:\n    - cell \"{n}\" [ref=e{n}0]" for n in range(2, 20_000)),
        "- : :\n-\n- \n-- -\n  - [ref=",
    ],
    ids=["one line", "special tokens", "links", "nesting", "rows", "nonsense"],
)  # fmt: skip
@pytest.mark.parametrize("view", [None, read(2), find("x"), read(ref="e1")], ids=["lean", "page", "find", "part"])
def test_pages_made_to_burst_a_budget_do_not(yaml: str, view: View | None) -> None:
    assert _seen(yaml, view, 2000, need="x deep row").tokens <= 2000


def test_long_titles_dialogs_and_many_tabs_fit_too() -> None:
    tabs = tuple(TabInfo(index=n, url="u" * 500, title="t" * 500, current=n == 1) for n in range(1, 60))
    dialog = OpenDialog(kind="alert", message="m" * 50_000)
    capture = Capture(
        "http://host/" + "p" * 9_000, 200, "- text: x", Structure(title="T" * 9_000), dialog=dialog, tabs=tabs
    )
    assert observe(capture, budget=256).tokens <= 256
