import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold.errors import InputError
from mcp_server.install.formats import drop_json as drop
from mcp_server.install.formats import get_json as get
from mcp_server.install.formats import put_json as put

PATH = ("mcpServers", "ctxfold")
ENTRY = {"command": "/opt/ctxfold", "args": ["serve"]}

COMMENTED = """// my servers
{
\t"theme": "dark", // no light
\t"mcpServers": {
\t\t/* the old one */
\t\t"other": { "command": "a // b", "args": [ 1, [2, "}"], ], },
\t},
}
"""


def test_comments_order_indents_and_trailing_commas_are_left_as_they_are() -> None:
    text = put(COMMENTED, PATH, ENTRY)
    assert get(text, PATH) == ENTRY
    assert text.startswith(COMMENTED[: COMMENTED.index(",\n\t},")])
    assert '\n\t\t"ctxfold": {\n\t\t\t"command"' in text
    assert drop(text, PATH) == COMMENTED


def test_windows_newlines_stay() -> None:
    text = put('{\r\n    "a": 1\r\n}\r\n', PATH, ENTRY)
    assert "\n" not in text.replace("\r\n", "")


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"a" 1}', '{"a": 1 "b": 2}', '{"mcpServers": []}', '{"a": }', '{"a": "unended}', "nonsense"]
)
def test_what_is_not_an_object_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(InputError, match="line 1 is not JSON"):
        put(text, PATH, ENTRY)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    others=st.dictionaries(st.text(max_size=6).filter(lambda key: key != "mcpServers"), VALUES, max_size=4),
    servers=st.dictionaries(st.text(max_size=6).filter(lambda key: key != "ctxfold"), VALUES, max_size=3),
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
    plain=st.booleans(),
)
def test_what_was_put_is_got_and_dropping_it_gives_back_every_byte(
    others: dict[str, object], servers: dict[str, object], indent: int | str | None, plain: bool
) -> None:
    before = others | {"mcpServers": servers}
    text = json.dumps(before, indent=indent, ensure_ascii=plain)
    after = put(text, PATH, ENTRY)
    assert json.loads(after) == others | {"mcpServers": servers | {"ctxfold": ENTRY}}
    assert get(after, PATH) == ENTRY
    assert drop(after, PATH) == text
