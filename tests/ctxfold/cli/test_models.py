"""Commands asked of a model at a server of the user's own."""

from __future__ import annotations

import pytest

from ctxfold import Session
from tests.ctxfold.cli.conftest import Run
from tests.support.chat import ChatServer, Said
from tests.support.faults import clean


def test_a_command_asks_the_model_at_the_endpoint_it_is_given(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-secret")
    with Session.open("orders") as session:
        clean(session)
    with ChatServer(lambda _body: Said(calls=(("keep", {"summary": "Looked up W-2001 to W-2003."}),))) as server:
        done = run(
            "fold", "orders", "--first", "s1", "--last", "s3", "--model", "openai:small", "--endpoint", server.url
        )
    assert (done.code, server.keys) == (0, ["no-key"])
    assert "b1 stands for s1-s3" in done.out
    with Session.open("orders", create=False) as session:
        assert session.history()[0].cause == f"written by openai:small@{server.url}"
