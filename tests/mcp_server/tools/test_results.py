from hypothesis import given
from hypothesis import strategies as st
from mcp_types import TextContent
from pydantic import BaseModel

from mcp_server.tools.results import TextPart, format_facts


class Stand(BaseModel, frozen=True):
    session: str
    view_tokens: int
    created: bool
    blocks: list[str]


def test_both_halves_of_a_result_carry_the_same_facts() -> None:
    result = format_facts(Stand(session="paris-trip", view_tokens=812, created=False, blocks=["b1", "b2"]))
    assert result.structured_content == {
        "session": "paris-trip",
        "view_tokens": 812,
        "created": False,
        "blocks": ["b1", "b2"],
    }
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert block.text == "session paris-trip · view tokens 812 · created no · blocks b1, b2"


def test_what_is_empty_is_left_out_of_the_text() -> None:
    (block,) = format_facts(Stand(session="", view_tokens=0, created=True, blocks=[])).content
    assert isinstance(block, TextContent)
    assert block.text == "view tokens 0 · created yes"


@given(text=st.text(max_size=200), limit=st.integers(1, 50))
def test_parts_laid_end_to_end_are_the_text(text: str, limit: int) -> None:
    offset, found = 0, ""
    while True:
        piece = TextPart.take(text, offset, limit)
        assert len(piece.text) <= limit
        found += piece.text
        if piece.end == piece.total:
            break
        offset = piece.end
    assert found == text


def test_an_offset_beyond_the_end_gives_an_empty_last_part() -> None:
    piece = TextPart.take("abc", 9, 10)
    assert piece.text == ""
    assert piece.describe("context", "budget=9").endswith("the last")
