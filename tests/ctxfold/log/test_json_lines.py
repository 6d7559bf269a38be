"""JSON token by token: lines and chosen values keep each as its source spells it."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ctxfold.log.json import line_form, parse

BLANK = st.text(" \t\n\r", max_size=3)
NUMBER = st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,25})?([eE][-+]?[0-9]{1,3})?", fullmatch=True)
ESCAPE = st.sampled_from(
    [r"\/", r"\u00e9", r"\u2028", r"\ud83d\ude00", r"\ud800", r"\n", r"\"", r"\\", r"\u0000", r"\u0041"]
)
SIGN = st.characters(min_codepoint=0x20, exclude_characters='"\\', exclude_categories=["Cs"])
STRING = st.lists(SIGN | ESCAPE | st.sampled_from(list("{}[]:,")), max_size=6).map(lambda signs: f'"{"".join(signs)}"')
NAME = st.sampled_from(["null", "true", "false"])


def listed(parts: list[tuple[str, str, str]], marks: str) -> str:
    return marks[0] + ",".join(f"{before}{part}{after}" for before, part, after in parts) + marks[1]


def within(child: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    item = st.tuples(BLANK, child, BLANK)
    member = st.tuples(BLANK, st.builds("{0}{1}:{2}{3}".format, STRING, BLANK, BLANK, child), BLANK)
    some = st.lists(item, min_size=1, max_size=4).map(lambda parts: listed(parts, "[]"))
    named = st.lists(member, min_size=1, max_size=4).map(lambda parts: listed(parts, "{}"))
    empty = st.builds("{0[0]}{1}{0[1]}".format, st.sampled_from(["[]", "{}"]), BLANK)
    return some | named | empty


SOURCE = (
    st.recursive(NUMBER | STRING | NAME, within, max_leaves=12)
    .filter(lambda text: text[0] in "[{")
    .filter(lambda text: parse(text) is not None)
)


def tokens(text: str) -> list[str]:
    """The tokens of a JSON text, told apart by the decoder of the standard library."""
    decoder = json.JSONDecoder()
    found: list[str] = []
    at = 0
    while at < len(text):
        end = at + 1 if text[at] in " \t\n\r{}[]:," else decoder.raw_decode(text, at)[1]
        found += [] if text[at].isspace() else [text[at:end]]
        at = end
    return found


SPELLED = {r"\u00e9": "é", r"\ud83d\ude00": "😀"}
"""What may be seen stands for itself."""
ONE_ESCAPE = re.compile(r"\\(?:ud83d\\ude00|u[0-9a-f]{4}|.)")


def shown(text: str) -> list[str]:
    """The tokens of a text as the house spells them."""
    return [ONE_ESCAPE.sub(lambda found: SPELLED.get(found[0], found[0]), token) for token in tokens(text)]


@given(SOURCE)
def test_the_lines_of_json_are_its_tokens_as_spelled_where_the_usual_indented_form_has_them(text: str) -> None:
    lines = line_form(text)
    assert tokens("\n".join(lines)) == shown(text)
    usual = json.dumps(json.loads(text), ensure_ascii=False, indent=1).split("\n")
    for line, other in zip(lines, usual, strict=True):
        assert len(line) - len(line.lstrip()) == len(other) - len(other.lstrip())
        assert values(line) == values(other)


def values(line: str) -> list[Any]:
    return [token if token in "{}[]:," else json.loads(token) for token in tokens(line)]
