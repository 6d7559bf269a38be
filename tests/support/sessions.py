"""What the contract and property tests share: sessions filled with text of a known size, and readings of a session by its public surface alone."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ctxfold import Recalled, Session, export_session, import_session
from ctxfold.errors import RefError

WIDE = 10_000_000
"""A budget no test session reaches: the view at it is the settled view, nothing shrunk for the occasion."""

_WORDS = (
    "anchor basin copper delta ember falcon garnet harbor island jasper kettle lantern meadow nectar orchid "
    "pepper quarry ribbon saddle timber urchin velvet walnut yonder zephyr bridge castle drawer engine "
    "feather glacier hammer insect jungle kitchen ladder mirror needle ocean pencil"
).split()


def prose(seed: int, words: int = 160) -> str:
    """A page of plain prose, the same for the same seed, that ends with the mark `END-<seed>`."""
    chance = random.Random(seed)
    lines = [" ".join(chance.choice(_WORDS) for _ in range(16)) for _ in range(max(1, words // 16))]
    return "\n".join([*lines, f"END-{seed}"])


def add_call(
    session: Session,
    name: str,
    args: Any = None,
    text: str | None = None,
    said: str = "",
    call: str = "c1",
    **more: str,
) -> int:
    """Record one step: what is said, one call, and its result unless `text` is None, with `more` of its fields; its number."""
    results = [] if text is None else [{"id": call, "text": text, **more}]
    return session.record_step(said, [{"name": name, "args": args or {}, "id": call}], results).step


def add_step(session: Session, seed: int, words: int = 160) -> int:
    """Record one whole step: prose of an assistant, one call, one result in prose. Returns its number."""
    said = f"Explained-{seed}: looking at page {seed}."
    return add_call(session, "read", {"page": seed}, prose(seed, words), said, f"c{seed}")


def add_steps(session: Session, count: int, first: int = 1, words: int = 160) -> list[int]:
    """Record `count` whole steps with the seeds first, first+1, …; their numbers."""
    return [add_step(session, seed, words) for seed in range(first, first + count)]


def add_result(session: Session, text: str, *, origin: str = "tool", call: str = "c1") -> int:
    """Record one step whose single result is `text`; its number."""
    return add_call(session, "ask", None, text, "Asked.", call, origin=origin)


def add_json(session: Session, value: object, *, call: str = "c1") -> int:
    """Record one step whose single result is `value` as JSON; its number."""
    return add_result(session, json.dumps(value, ensure_ascii=False), call=call)


def one_line(*words: str) -> str:
    """A pattern for `pytest.raises`: the message is one line that holds these words."""
    return r"\A" + "".join(f"(?=.*{re.escape(word)})" for word in words) + r".+\Z"


def records(session: Session, step: int) -> list[Recalled]:
    """Every record of a step, in order, read by its refs `s<step>.1`, `s<step>.2`, … until there is none."""
    found: list[Recalled] = []
    while True:
        try:
            found.append(session.recall(f"s{step}.{len(found) + 1}"))
        except RefError:
            return found


def texts(session: Session, step: int) -> list[str]:
    """The exact texts of a step's records, in order."""
    return [record.text for record in records(session, step)]


def ref_of(session: Session, step: int, text: str) -> str:
    """The ref of the record of `step` that holds exactly `text`."""
    found = [record.ref for record in records(session, step) if record.text == text]
    assert len(found) == 1, f"{len(found)} records of s{step} hold that text"
    return found[0]


def cover(session: Session) -> list[tuple[int, ...]]:
    """The steps of each tile, in the order of the settled view."""
    native = session.view(WIDE).native
    assert native is not None
    return [block.steps for block in native.parts.blocks if block.steps]


def path(session: Session) -> list[int]:
    """The steps of the current branch in path order, as its cover has them."""
    return [step for tile in cover(session) for step in tile]


def settled(session: Session) -> str:
    """The view with nothing shrunk for its budget."""
    return session.view(WIDE).text


def stable(session: Session) -> str:
    """The part of the settled view that only a fold may change: all but its volatile end."""
    shown = session.view(WIDE)
    return "\n".join(block["text"] for block in shown.messages[0]["content"][: shown.stable])


def common_prefix(one: str, two: str) -> str:
    """The text both start with."""
    end = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    return one[:end]


def in_order(text: str, marks: Iterable[str]) -> bool:
    """Whether every mark stands in the text, each first seen after the one before."""
    spots = [text.find(mark) for mark in marks]
    return -1 not in spots and spots == sorted(spots)


def steps_addressed(text: str) -> set[int]:
    """Every step number that some ref in the text covers (`s4`, `s4.2`, `s4-s9`)."""
    covered: set[int] = set()
    for first, last in re.findall(r"\bs(\d{1,9})(?:-s?(\d{1,9})\b)?", text):
        covered.update(range(int(first), min(int(last or first), int(first) + 100_000) + 1))
    return covered


def events(session: Session, limit: int = 1_000_000) -> list[Any]:
    """All events, oldest first."""
    return sorted(session.history(limit=limit), key=lambda event: event.seq)


def decisions(session: Session) -> list[Any]:
    """The events that are decisions or void one, oldest first: records and the goal a session began with are left out."""
    return [event for event in events(session) if event.kind in ("folded", "moved", "voided")]


def lines_of(session: Session, ref: str) -> list[str]:
    """Every line of a record's line form, read one by one."""
    found: list[str] = []
    while True:
        try:
            found.append(session.recall(f"{ref}:{len(found) + 1}").text)
        except RefError:
            return found


def copy_session(store: Path | str, folder: Path) -> Path:
    """Export the session `trip`, import it into a store of `folder`, and export it again: the same bytes. Returns the store."""
    one, two, copy = folder / "one.jsonl", folder / "two.jsonl", folder / "copy.db"
    export_session("trip", one, store=str(store))
    import_session(one, store=str(copy))
    export_session("trip", two, store=str(copy))
    assert one.read_bytes() == two.read_bytes()
    return copy


def database_bytes(database: Path) -> bytes:
    """What a thief of the store's files would hold: the database, its write-ahead log and whatever stands beside them under its name."""
    return b"".join(file.read_bytes() for file in sorted(database.parent.glob(database.name + "*")) if file.is_file())
