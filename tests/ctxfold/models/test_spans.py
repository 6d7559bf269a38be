"""Spans of what models decide: who, how many tokens, whether it fell back; never content."""

from __future__ import annotations

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ctxfold import Session
from ctxfold.errors import ModelUnavailable
from ctxfold.models import Reply, ScriptedModel, Usage
from ctxfold.models.deciders import Deciders
from tests.support.faults import clean

pytestmark = pytest.mark.anyio


async def test_a_decision_is_a_span_round_its_requests_and_holds_no_word(monkeypatch: pytest.MonkeyPatch):
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    with Session.open("orders", goal="Refund what was damaged", store=":memory:") as session:
        clean(session)
        model = ScriptedModel(
            Reply({"summary": "Paid W-8888."}, Usage(70, 3)), {"summary": "Looked up orders."}, name="m"
        )
        await Deciders(model).fold(session, 1, 3)
        await Deciders(None).fold(session)
        await Deciders(ScriptedModel(ModelUnavailable("down at secret.example"), name="far")).plan(session)
    spans = exporter.get_finished_spans()
    assert [one.name for one in spans] == ["chat", "chat", "ctxfold.keep", "ctxfold.keep", "chat", "ctxfold.plan"]
    first, _, whole, embedded, failed, planned = spans
    assert dict(first.attributes or {}) == {
        "gen_ai.request.model": "m",
        "gen_ai.tool.name": "keep",
        "gen_ai.usage.input_tokens": 70,
        "gen_ai.usage.output_tokens": 3,
    }
    assert first.parent is not None
    assert first.parent.span_id == (whole.context.span_id if whole.context else 0)
    assert dict(whole.attributes or {}) == {"ctxfold.decider": "model", "ctxfold.fell_back": False}
    assert dict(embedded.attributes or {})["ctxfold.decider"] == "embedded"
    assert dict(failed.attributes or {})["error.type"] == "ModelUnavailable"
    assert dict(planned.attributes or {}) == {"ctxfold.decider": "embedded", "ctxfold.fell_back": True}
    said = "".join(one.to_json() for one in spans)
    assert not any(word in said for word in ("W-8888", "Paid", "Refund", "Looked", "secret.example"))
