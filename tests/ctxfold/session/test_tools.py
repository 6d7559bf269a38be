"""The session's tools for native loops."""

from __future__ import annotations

import json
from collections.abc import Iterator

import jsonschema
import pytest

from ctxfold import Session, SessionTool
from ctxfold.errors import RefError
from tests.support.sessions import add_call


@pytest.fixture
def session() -> Iterator[Session]:
    """A session in memory."""
    with Session.open("loop", goal="Look up orders", store=":memory:") as opened:
        yield opened


def tools(session: Session) -> dict[str, SessionTool]:
    return {tool.name: tool for tool in session.tools()}


def test_every_tool_has_a_schema_both_apis_take(session: Session) -> None:
    found = tools(session)
    assert list(found) == ["recall", "fold", "plan", "note"]
    for tool in found.values():
        jsonschema.Draft202012Validator.check_schema(tool.schema)
        assert tool.schema["type"] == "object"
        assert tool.as_anthropic()["input_schema"] == tool.as_openai()["function"]["parameters"] == tool.schema
        assert '"title"' not in json.dumps(tool.schema)


def test_a_model_recalls_folds_plans_and_notes(session: Session) -> None:
    for number in range(3):
        add_call(session, "look", None, f"total={number}", f"Looking {number} " * 9)
    found = tools(session)
    assert found["recall"](ref="s2.3") == "< total=1"
    assert "s3.3" in found["recall"](query="total=2")
    assert found["recall"](query="nowhere") == "no record has these words"
    assert found["fold"](summary="Three looked up.", first_step=1, last_step=2).startswith("b1 replaces s1-s2")
    assert "t1 open: pay" in found["plan"](todo=[{"text": "pay"}], constraints=["at most 400 EUR"])
    assert "t1 done: pay" in found["plan"](todo=[{"id": "t1", "state": "done"}])
    assert found["note"](text="W-1 is paid.").startswith("kept as s4.")
    assert "W-1 is paid." in session.view(2000).text


def test_what_a_model_asks_in_vain_is_said_and_changes_nothing(session: Session) -> None:
    found = tools(session)
    before = len(session.history())
    for name, arguments in (
        ("recall", {"ref": "s99"}),
        ("recall", {"ref": "tile"}),
        ("recall", {"line": 3}),
        ("recall", {}),
        ("fold", {}),
        ("fold", {"summary": "x"}),
        ("plan", {"todo": "pay"}),
        ("plan", {"todo": [{}]}),
        ("plan", {"todo": [{"text": " ", "state": "done"}]}),
        ("note", {"text": ""}),
    ):
        assert found[name](**arguments).startswith(("refused: ", "no record")), (name, arguments)
    assert len(session.history()) == before


def test_a_long_text_is_recalled_in_parts(session: Session) -> None:
    step = add_call(session, "read", None, "word " * 9000, "Read.")
    said = tools(session)["recall"](ref=f"s{step}.3")
    assert "[cut; name lines, as in s1.3:40-80]" in said
    with pytest.raises(RefError):
        session.recall("s9.9")
