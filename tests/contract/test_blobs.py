"""Bytes spelled as text: a picture in base64 takes a line, not the view; it is whole at the end of its ref, and two are told apart."""

import base64
import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxfold import Session, export_session
from ctxfold.log.lines import blobs
from ctxfold.tokens import count
from tests.support.sessions import WIDE, add_call, add_result


def _picture(seed: int, size: int = 60_000) -> str:
    return base64.b64encode(random.Random(seed).randbytes(size)).decode()


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "content blocks": lambda data: json.dumps(
        [{"type": "text", "text": "Took it."}, {"type": "image", "data": data, "mimeType": "image/png"}]
    ),
    "a field": lambda data: json.dumps({"ok": True, "screenshot": data}),
    "a data address": lambda data: f'<img src="data:image/png;base64,{data}"> at the top',
    "alone": lambda data: data,
    "a literal": lambda data: str({"ok": True, "screenshot": data}),
    "hexadecimal": lambda data: f"dump: {base64.b64decode(data).hex()}",
}


@pytest.mark.parametrize("wrapped", WRAPPINGS.values(), ids=WRAPPINGS)
def test_a_picture_takes_a_line_and_recall_gives_all_of_it(session: Session, wrapped: Callable[[str], str]) -> None:
    text = wrapped(_picture(1))
    add_result(session, text)
    view = session.view(WIDE)
    assert count(view.text) < 200
    assert "…" in view.text
    assert session.recall("s1.3").text == text


def test_another_picture_does_not_read_like_the_first(session: Session) -> None:
    add_result(session, WRAPPINGS["a field"](_picture(1)))
    add_result(session, WRAPPINGS["a field"](_picture(1)[:30_000] + _picture(2)[30_000:]))
    rows = [line for line in session.view(WIDE).text.splitlines() if "sha256" in line]
    assert len(set(rows)) == 2


def test_an_argument_of_bytes_takes_a_line_too(session: Session) -> None:
    add_call(session, "upload", {"name": "a.png", "data": _picture(4)}, "ok", "I upload it.")
    assert count(session.view(WIDE).text) < 200


@pytest.mark.parametrize(
    "part", [slice(0, 40), slice(5_000, 5_040), slice(None)], ids=["its head", "its middle", "all"]
)
@pytest.mark.parametrize("folded", [False, True], ids=["raw", "folded"])
def test_a_redacted_picture_leaves_neither_its_beginning_nor_its_fingerprint(
    tmp_path: Path, part: slice, folded: bool
) -> None:
    data, store = _picture(1), str(tmp_path / "store.db")
    (told,) = {short for _, short in blobs(data)}
    with Session.open("trip", store=store) as session:
        add_result(session, WRAPPINGS["a field"](data))
        assert told in session.view(WIDE).text
        if folded:
            session.fold(first_step=1, last_step=1)
        session.redact(re.escape(data[part]))
        shown = session.view(WIDE).text
    export_session("trip", tmp_path / "out", store=store)
    for text in (shown, (tmp_path / "out").read_text("utf-8")):
        assert told[-9:-1] not in text
    assert told not in shown
