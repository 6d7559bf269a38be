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
    (b"<context>{}</context>", "not text"),
    (7, "not text"),
    (["<context>", {"fold": FOLD}], "not text"),
    ({"type": "text", "text": GOOD}, "not text"),
    ("<context>" + BARE, "not closed"),
    ("<context>\n" + BARE[:40], "not closed"),
    ("Done.\n<context>{", "not closed"),
    ("<compress>" + BARE, "not closed"),
    (GOOD[:-1], "not closed"),
    (f"<context>{BARE}</compress>", "another tag"),
    (f"<context>{GOOD}</context>", "another tag"),
    (f"<context>{compress([4, 5])}</context>", "another tag"),
    (f"<compress>{GOOD}</compress>", "another tag"),
    (f"<context>\n<context>{BARE}</context>", "not closed"),
    (f"<context>{BARE}\n<context>{BARE}</context>", "not closed"),
    (f"<context>{BARE[:60]}</context>", "strict JSON"),
    (f"<context>{BARE}}}</context>", "strict JSON"),
    (f"<context>{BARE}{BARE}</context>", "strict JSON"),
    (f"<context>```json\n{BARE}\n```</context>", "strict JSON|not closed"),
    ("<context></context>", "strict JSON"),
    ("<context>   </context>", "strict JSON"),
    ("<context>fold the last two steps</context>", "strict JSON"),
    ("<context>null</context>", "strict JSON"),
    ("<context>7</context>", "strict JSON"),
    ('<context>"s4-s5"</context>', "strict JSON"),
    (context([{"fold": FOLD}]), "strict JSON"),
    (context("text"), "strict JSON"),
    ("<context>{'fold': null}</context>", "strict JSON"),
    ('<context>{"fold": None}</context>', "strict JSON"),
    ('<context>{"fold": null,}</context>', "strict JSON"),
    ('<context>{"fold": null} // none</context>', "strict JSON"),
    ('<context>{"fold": NaN}</context>', "strict JSON"),
    ('<context>{"fold": -Infinity}</context>', "strict JSON"),
    ('<context>{"fold": null, "fold": null}</context>', "strict JSON"),
    (f"<context>{BARE.replace(chr(34), '&quot;')}</context>", "strict JSON"),
    (GOOD.replace("Read two pages.", "Read\ntwo </context> pages."), "strict JSON"),
    ('<context>{"fold": ' + "[" * 30_000 + "]" * 1_000 + "}</context>", "31|characters|strict JSON"),
    ('<context>{"a": ' + "[" * 15_000 + "]" * 15_000 + "}</context>", "strict JSON|its form"),
    ('<context>{"fold": ' + "9" * 5_000 + "}</context>", "strict JSON"),
    (fold(summary_text="x" * 40_000), "the most"),
    (GOOD.replace("<", "&lt;").replace(">", "&gt;"), "HTML-escaped"),
    (GOOD.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;"), "HTML-escaped"),
]
"""Replies without one well-formed block."""

NOT_FITTING: list[tuple[object, str]] = [
    (context({"fold": FOLD, "goal": "x"}), "extra forbidden"),
    (context({"fold": {**FOLD, "force": True}}), "extra forbidden"),
    (context({"fold": {**FOLD, "target": {"ids": ["s4"], "all": True}}}), "extra forbidden"),
    (context({"fold": FOLD, "latest": {"answer": "x"}}), "extra forbidden"),
    (context({"fold": FOLD, "latest": "s8"}), "latest"),
    (context({"fold": FOLD, "latest": {"step": "8"}}), "latest.step"),
    (context({"fold": "s4-s5"}), "fold"),
    (context({"fold": [FOLD]}), "fold"),
    (context({"Fold": FOLD}), "extra forbidden"),
    (fold(type="consolidate"), "literal error at fold.type"),
    (fold(type=None), "fold.type"),
    (fold(type=...), "missing at fold.type"),
    (fold(summary_text=...), "missing at fold.summary_text"),
    (fold(summary_text=None), "fold.summary_text"),
    (fold(summary_text=["Read", "two"]), "fold.summary_text"),
    (fold(summary_text=7), "fold.summary_text"),
    (fold(summary_text={"text": "Read"}), "fold.summary_text"),
    (fold(summary_text=""), "fold.summary_text"),
    (fold(summary_text=" \n\t "), "empty"),
    (fold(summary_text="half \ud800 a letter"), "fold.summary_text|half"),
    (fold(target=...), "needs target.ids"),
    (fold(target=None), "needs target.ids"),
    (fold(target="s4"), "fold.target"),
    (fold(target={"ids": "s4"}), "fold.target.ids"),
    (fold(target={}), "fold.target.ids"),
    (ids(), "needs target.ids"),
    (ids(None), "fold.target.ids"),
    (ids(True), "fold.target.ids"),
    (ids(4.0), "fold.target.ids"),
    (ids({"id": 4}), "fold.target.ids"),
    (ids(["s4"]), "fold.target.ids"),
    (ids(""), "not a ref"),
    (ids("step 4"), "not a ref"),
    (ids("s0"), "not a ref"),
    (ids("s04"), "not a ref"),
    (ids("s4; drop table"), "not a ref"),
    (ids("s5-s4"), "ends before"),
    (ids("s4.1"), "whole blocks"),
    (ids("s4:1-3"), "whole blocks"),
    (ids(*[f"s{n}" for n in range(1, 1_100)]), "fold.target.ids"),
    (ids("s99"), "not among the steps"),
    (ids("s7-s12"), "not among the steps"),
    (ids(2), "no block b2"),
    (ids(0), "no block b0"),
    (ids(-1), "no block b-1"),
    (ids("b9"), "no block b9"),
    (ids("s4", "s4"), "named twice"),
    (ids("s4-s5", "s5"), "named twice"),
    (ids(1, "b1"), "named twice"),
    (ids("s4", "s6"), "not neighbours"),
    (ids("b1", "s5"), "not neighbours"),
    (ids("s2"), "inside a folded block"),
    (ids("s2-s5"), "inside a folded block"),
    (ids("s1-s2"), "inside a folded block"),
    (fold(type="granular_condensation"), "the latest step, s8"),
    (fold(type="granular_condensation", target={"ids": ["s7"]}), "the latest step, s8"),
    (fold(type="granular_condensation", target={"ids": ["s7", "s8"]}), "the latest step, s8"),
    (fold(type="granular_condensation", target={"ids": [1]}), "the latest step, s8"),
    (compress([]), "compress_range"),
    (compress("4-5"), "compress_range"),
    (compress(["4", "5"]), "compress_range"),
    (compress([4.5, 6]), "compress_range"),
    (compress([True, 5]), "compress_range"),
    (compress([5, 4]), "not neighbours"),
    (compress([4, 6, 5]), "not neighbours"),
    (compress([4, 6, 7]), "not neighbours"),
    (compress([4, 4]), "not neighbours"),
    (compress([2, 5]), "inside a folded block"),
    (compress([8, 9]), "not among the steps"),
    (compress([0, 4]), "not among the steps"),
    (compress([4, 5], None), "compress_text"),
    (compress([4, 5], ""), "compress_text"),
    (compress([4, 5], ["x"]), "compress_text"),
    ('<compress>{"compress_range": [4, 5]}</compress>', "missing at compress_text"),
    ('<compress>{"compress_range": [4, 5], "compress_text": "x", "keep": 1}</compress>', "extra forbidden"),
    (f"{GOOD}\n{ids('s99')}", "not among the steps"),
    (f"{compress([4, 5])}\n{fold(type='x')}", "literal error"),
    (f"<context>{BARE.replace('deep_consolidation', 'deep_consolidation ')}</context>", "literal error"),
]
"""Replies whose last well-formed block cannot be applied."""

SILENT: list[str] = [
    "",
    "I looked at two pages and found nothing.",
    "The <context> tag holds what to fold; write it when you are done.",
    "Close it with </context>.",
    f"```\n{GOOD}\n```",
    f"~~~json\n{GOOD}\n~~~",
    f"````\n```\n{GOOD}\n```\n````",
    f"Like this:\n```\n{GOOD}",
    f"Write `{GOOD}` to fold.",
    f"<think>I could say {GOOD} now.</think>Done.",
    f"{GOOD}</think>Done.",
    f"<think>{GOOD}",
    f"```html\n{GOOD.replace('<', '&lt;')}\n```",
    '<context>{"latest": {"step": 8, "explanation": "Read.", "action": {"name": "read"}, "observation": "A page."}}</context>',
    '<context>{"fold": null}</context>',
    GOOD.replace("context>", "Context>"),
    GOOD.replace("<context>", "<context id=1>"),
]
"""Replies that ask for nothing to be folded."""
