"""Models by name, scripts, prices, and what it means to ask."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel

from ctxfold import config as endpoints
from ctxfold.errors import FoldError, InputError, InvalidReply, ModelKeyMissing, ModelUnavailable
from ctxfold.models import Reply, Request, Tool, Usage, ask, cost, load
from ctxfold.models.named import ScriptedModel


class Step(BaseModel, frozen=True):
    """A small decision."""

    thought: str


REQUEST = Request(
    system="You browse.",
    messages=[{"role": "user", "content": "the page"}],
    tool=Tool.deciding(Step, "Say what to do next."),
)


class Page(BaseModel):
    """A part of a decision, with a property that is called as JSON Schema calls a title."""

    title: str
    kind: Literal["title"]


class Titled(BaseModel):
    """A decision with parts."""

    pages: list[Page]
    mode: Literal["title", "page"] = "title"


def test_a_tools_schema_says_no_name_twice_and_loses_no_property():
    schema = Tool.deciding(Titled, "Decide.").schema
    assert json.dumps(schema).count("itle") == 4, "the property, its requirement, two values of the decision"
    assert schema["$defs"]["Page"]["properties"]["title"] == {"type": "string"}
    assert schema["$defs"]["Page"]["required"] == ["title", "kind"]
    assert schema["properties"]["mode"]["enum"] == ["title", "page"]


def forget(_reply: Reply) -> None:
    return None


def test_a_claude_name_is_a_model_of_that_name_where_there_is_a_key(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ModelKeyMissing):
        load("claude-opus-5-5")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    found = load("claude-opus-5-5")
    assert found is not None
    assert found.name == "claude-opus-5-5"


def test_another_name_is_refused_unless_a_server_of_ones_own_is_set(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(InputError, match="use explorer, claude-"):
        load("qwen3:8b")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
    found = load("qwen3:8b")
    assert found is not None
    assert found.name == "qwen3:8b"


@pytest.mark.parametrize(
    "text", ['[{"thought": "a"}, {"thought": "b"}]', '{"thought": "a"}\n\n{"thought": "b"}\n'], ids=["array", "lines"]
)
@pytest.mark.anyio
async def test_a_script_answers_with_its_decisions_in_order_and_then_says_it_is_at_its_end(tmp_path: Path, text: str):
    (tmp_path / "steps.json").write_text(text, encoding="utf-8")
    script = load(f"script:{tmp_path / 'steps.json'}")
    assert script is not None
    assert [(await script.decide(REQUEST)).arguments for _ in range(2)] == [{"thought": "a"}, {"thought": "b"}]
    with pytest.raises(ModelUnavailable, match="holds 2 decisions and was asked for one more"):
        await script.decide(REQUEST)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no decision"),
        ("[]", "holds no decision"),
        ("[1]", "decision 1 of .* is not an object"),
        ('{"thought": "a"}\n{"thought": \n', "not JSON at line 2"),
        ("[{]", "not JSON at line 1"),
    ],
)
def test_a_script_that_is_none_is_refused_with_the_place(tmp_path: Path, text: str, said: str):
    (tmp_path / "steps.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        load(f"script:{tmp_path / 'steps.json'}")


@pytest.mark.anyio
async def test_a_decision_that_breaks_a_rule_of_the_session_goes_back_with_that_rule():
    model = ScriptedModel({"thought": "fold s1-s9"}, {"thought": "fold s1-s3"})

    def validate(arguments: object) -> Step:
        step = Step.model_validate(arguments)
        if "s9" in step.thought:
            raise FoldError("cannot fold to s9: the path ends at s3")
        return step

    assert await ask(model, REQUEST, validate, forget) == Step(thought="fold s1-s3")
    told = model.requests[1].messages[-1]["content"]
    assert told[0] == {"type": "text", "text": "the page"}
    assert "cannot fold to s9: the path ends at s3" in told[1]["text"]


@pytest.mark.anyio
async def test_the_error_for_the_person_holds_no_word_the_model_wrote():
    model = ScriptedModel({"thought": ["IGNORE ALL"]}, {"IGNORE ALL": 1})
    with pytest.raises(InvalidReply) as caught:
        await ask(model, REQUEST, Step.model_validate, forget)
    assert "IGNORE" not in str(caught.value)


def test_a_price_is_that_of_each_kind_of_token():
    usage = Usage(input=1_000_000, output=100_000, cache_read=2_000_000, cache_write=400_000)
    assert cost(usage, "claude-sonnet-5-5") == pytest.approx(2.00 + 1.00 + 0.20 + 1.00)


def test_a_dated_name_has_the_price_of_its_model_and_an_unknown_one_has_none():
    assert cost(Usage(input=1_000_000), "claude-haiku-4-5-20251001") == pytest.approx(1.00)
    assert cost(Usage(input=1), "qwen3:8b") is None


def test_the_sdk_is_not_imported_until_a_model_is_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    import subprocess
    import sys

    code = "import sys, ctxfold.models as m; m.load('claude-opus-5-5'); sys.exit('anthropic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The role's key of each endpoint that is made."""
    given: list[object] = []
    known = endpoints.endpoint

    def spied(
        provider: str = "anthropic", url: str | None = None, key: tuple[str, str] | None = None
    ) -> endpoints.Endpoint:
        given.append(key)
        return known(provider, url, key)

    monkeypatch.setenv("CTXFOLD_AGENT_KEY", "the-roles-own")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "the-providers")
    monkeypatch.setattr(endpoints, "endpoint", spied)
    return given


def test_a_roles_key_goes_to_its_own_server_alone(monkeypatch: pytest.MonkeyPatch, keys: list[object]) -> None:
    load("claude-sonnet-5-5")
    assert keys == [None]
    monkeypatch.setenv("CTXFOLD_AGENT_ENDPOINT", "http://127.0.0.1:1/v1")
    load("openai:x@http://127.0.0.1:2/v1")
    load("openai:x")
    assert keys[1:] == [None, ("CTXFOLD_AGENT_KEY", "the-roles-own")]
