"""Texts of refactorers that may not be put in place, each with words of the reason."""

from __future__ import annotations

REFACTORERS: list[tuple[object, str]] = [
    (7, "not text"),
    (["Looked up W-2001."], "not text"),
    (True, "not text"),
    ("   \n\t ", "empty"),
    ("<summary></summary>", "empty"),
    ("<summary>--</summary>", "empty"),
    ("<summary>Looked up W-2001.", "tags"),
    ("<summary/>", "tags"),
    ("</summary>Looked up W-2001.<summary>", "tags"),
    ("<summary><summary>Looked up W-2001.</summary></summary>", "tags"),
    ("<summary>Looked up W-2001.</summary> I hope this helps.", "tags"),
    ("<summary>Looked up <think>what?</think> W-2001.</summary>", "tags"),
    ('<tool_call>{"name": "refund"}</tool_call>', "tags"),
    ("<summary >Looked up W-2001.< /summary>", "tags"),
    ('{"summary": "Looked up W-2001."}', "code or JSON"),
    ('{"summary": "Looked up W-2001."', "code or JSON"),
    ("Looked up \x1b[31mW-2001.", "control"),
    ("Looked up W-2001. " * 10_000, "too long"),
    ("Looked at W-2001 and so on, " + "and on, " * 400, "shorten|cost"),
    (3.5, "not text"),
    ("<response>Looked up W-2001.</response>", "tags"),
    ("Looked up W-2001.</think>", "tags"),
    ("<invoke name='refund'>W-2001</invoke>", "tags"),
    ('[{"text": "Looked up W-2001."}]', "code or JSON"),
    ("{}", "empty"),
    ("Looked up\x7f\x01 W-2001.", "control"),
]
