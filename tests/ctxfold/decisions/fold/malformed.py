"""Replies that hold no directive which may be applied, each with words of the reason. The session they are read against: b1 is s1-s3, then s4 to s8 raw."""

from __future__ import annotations

import json

FOLD = {"type": "deep_consolidation", "target": {"ids": ["s4", "s5"]}, "summary_text": "Read two pages."}


def context(body: object) -> str:
    """A block of the blog's form around any JSON."""
    return f"<context>{json.dumps(body)}</context>"


def fold(**changes: object) -> str:
    """A directive of the blog's form with some keys changed; a key set to `...` is left out."""
    return context({"fold": {key: value for key, value in {**FOLD, **changes}.items() if value is not ...}})


def ids(*given: object) -> str:
    """A deep consolidation of these ids."""
    return fold(target={"ids": list(given)})


def compress(steps: object, text: object = "Read pages.") -> str:
    """A directive of the released code's form."""
    return f"<compress>{json.dumps({'compress_range': steps, 'compress_text': text})}</compress>"


GOOD = context({"fold": FOLD})
BARE = GOOD.removeprefix("<context>").removesuffix("</context>")

NOT_WELL_FORMED: list[tuple[object, str]] = [
    (None, "not text"),
    (7, "not text"),
    ({"type": "text", "text": GOOD}, "not text"),
    ("<context>\n" + BARE[:40], "not closed"),
    ("<compress>" + BARE, "not closed"),
    (f"<context>{BARE}</compress>", "another tag"),
    (f"<context>{compress([4, 5])}</context>", "another tag"),
    (f"<context>\n<context>{BARE}</context>", "not closed"),
    (f"<context>{BARE[:60]}</context>", "strict JSON"),
    (f"<context>{BARE}{BARE}</context>", "strict JSON"),
    ("<context></context>", "strict JSON"),
    ("<context>fold the last two steps</context>", "strict JSON"),
    ("<context>7</context>", "strict JSON"),
    (context([{"fold": FOLD}]), "strict JSON"),
    ("<context>{'fold': null}</context>", "strict JSON"),
    ('<context>{"fold": null,}</context>', "strict JSON"),
    ('<context>{"fold": NaN}</context>', "strict JSON"),
    ('<context>{"fold": null, "fold": null}</context>', "strict JSON"),
    (GOOD.replace("Read two pages.", "Read\ntwo </context> pages."), "strict JSON"),
    ('<context>{"a": ' + "[" * 15_000 + "]" * 15_000 + "}</context>", "strict JSON|its form"),
    (fold(summary_text="x" * 40_000), "the most"),
    (GOOD.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;"), "HTML-escaped"),
]
"""Replies without one well-formed block."""

NOT_FITTING: list[tuple[object, str]] = [
    (context({"fold": FOLD, "goal": "x"}), "extra forbidden"),
    (context({"fold": {**FOLD, "target": {"ids": ["s4"], "all": True}}}), "extra forbidden"),
    (context({"fold": FOLD, "latest": "s8"}), "latest"),
    (context({"fold": "s4-s5"}), "fold"),
    (context({"Fold": FOLD}), "extra forbidden"),
    (fold(type=None), "fold.type"),
    (fold(summary_text=...), "missing at fold.summary_text"),
    (fold(summary_text=["Read", "two"]), "fold.summary_text"),
    (fold(summary_text={"text": "Read"}), "fold.summary_text"),
    (fold(summary_text=" \n\t "), "empty"),
    (fold(target=...), "needs target.ids"),
    (fold(target="s4"), "fold.target"),
    (fold(target={}), "fold.target.ids"),
    (ids(None), "fold.target.ids"),
    (ids(4.0), "fold.target.ids"),
    (ids(["s4"]), "fold.target.ids"),
    (ids("step 4"), "not a ref"),
    (ids("s04"), "not a ref"),
    (ids("s5-s4"), "ends before"),
    (ids("s4:1-3"), "whole blocks"),
    (ids("s99"), "not among the steps"),
    (ids(2), "no block b2"),
    (ids(-1), "no block b-1"),
    (ids("s4", "s4"), "named twice"),
    (ids(1, "b1"), "named twice"),
    (ids("b1", "s5"), "not neighbours"),
    (ids("s2-s5"), "inside a folded block"),
    (fold(type="granular_condensation"), "the latest step, s8"),
    (fold(type="granular_condensation", target={"ids": ["s7", "s8"]}), "the latest step, s8"),
    (compress([]), "compress_range"),
    (compress(["4", "5"]), "compress_range"),
    (compress([True, 5]), "compress_range"),
    (compress([4, 6, 5]), "not neighbours"),
    (compress([4, 4]), "not neighbours"),
    (compress([8, 9]), "not among the steps"),
    (compress([4, 5], None), "compress_text"),
    (compress([4, 5], ["x"]), "compress_text"),
    ('<compress>{"compress_range": [4, 5], "compress_text": "x", "keep": 1}</compress>', "extra forbidden"),
    (f"{compress([4, 5])}\n{fold(type='x')}", "literal error"),
]
"""Replies whose last well-formed block cannot be applied."""

SILENT: list[str] = [
    "",
    "The <context> tag holds what to fold; write it when you are done.",
    f"```\n{GOOD}\n```",
    f"````\n```\n{GOOD}\n```\n````",
    f"Write `{GOOD}` to fold.",
    f"{GOOD}</think>Done.",
    f"```html\n{GOOD.replace('<', '&lt;')}\n```",
    '<context>{"fold": null}</context>',
    GOOD.replace("<context>", "<context id=1>"),
]
"""Replies that ask for nothing to be folded."""
