"""Records what was said, called and returned as steps and records, within the session's write transaction."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxfold.errors import RefError
from ctxfold.log import Call, Kind, Origin, Record, RecordRef, Step
from ctxfold.log.json import canonical
from ctxfold.log.lines import Line, lines_of
from ctxfold.session.commits import Happened, advance
from ctxfold.session.load import cover_with
from ctxfold.store.codec import digest, encode, pack_text
from ctxfold.store.rows import HeadRow, State, StoredRecord, Writing
from ctxfold.tokens import count
from ctxfold.workspace import Tile, Workspace, dump_lines

__all__ = ["Branch", "Draft", "Result", "Taken", "arrive", "drafts", "material_of", "record"]


@dataclass(frozen=True, slots=True)
class Branch:
    """Where recording happens: a session, a branch of it, and what stands in its view."""

    session: int
    head: HeadRow
    state: State
    workspace: Workspace


@dataclass(frozen=True, slots=True)
class Draft:
    """A record before it has an address. The same `key` is recorded once by those who look for it."""

    kind: Kind
    origin: Origin
    text: str
    call_id: str | None = None
    shown: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a call returned: the call's id, the exact text, where it came from and, where the recorder has one, its compact form."""

    id: str
    text: str
    origin: Origin = "tool"
    shown: str | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """What recording did: the step it is shown in, the lines it added to the view, how many calls wait for an answer since, the branch after it, and
    the number of the last record in the step that it belongs to.
    """

    step: Step
    lines: tuple[Line, ...]
    waiting: int
    state: State
    last: int


def drafts(explanation: str, calls: Sequence[Call], results: Sequence[Result], found: str = "") -> list[Draft]:
    """The records of one assistant step, in order: what it said, what it called, what came back, what was found. Raises RefError: a result answers no call of the step."""
    made = [Draft("assistant", "model", explanation)] if explanation else []
    made += [
        Draft("call", "model", json.dumps({"name": call.name, "args": call.args}, ensure_ascii=False), call.id)
        for call in calls
    ]
    known = {call.id for call in calls}
    for result in results:
        if result.id not in known:
            names = ", ".join(sorted(known)) or "none"
            raise RefError(
                f"result {result.id!r} answers no call of this step, whose calls are {names}; give each result the id of its call"
            )
        made.append(Draft("result", result.origin, result.text, result.id, result.shown))
    return [*made, Draft("note", "model", found)] if found.strip() else made


def record(tx: Writing, branch: Branch, made: Sequence[Draft], *, fills: bool) -> Taken:
    """Append records to the open step of a branch, or to a new one. `fills`: they come from the assistant, and so close the step."""
    session, state = branch.session, branch.state
    tip = tx.log.step(session, state.tip) if state.tip else None
    if tip is not None and tip.open and not _shared(tx, branch, tip):
        step, k = tip, len(tx.log.records(session, [tip.n]))
    else:
        step, k = _new_step(tx, session, tip), 0
    step = replace(step, open=step.open and not fills)
    records = [
        Record(step.n, k + at, draft.kind, draft.origin, draft.text, draft.call_id, step.n, draft.shown)
        for at, draft in enumerate(made, 1)
    ]
    ordered = paired(records)
    lines, raw, material = _keep(tx, session, ordered, [made[each.k - k - 1].key for each in ordered])
    step = _grown(step, lines, raw)
    tx.log.put_step(session, step)
    payload = {"step": step.n, "parent": step.parent, "open": step.open, "records": [record.k for record in records]}
    after = _advanced(
        tx, branch, replace(state, tip=step.n), (step.n, lines, raw), Happened("recorded", payload, material)
    )
    waiting = sum({"call": 1, "result": -1}.get(record.kind, 0) for record in records)
    return Taken(step, lines, waiting, after, k + len(records))


def paired(records: Sequence[Record]) -> list[Record]:
    """The records of one recording in the order a view shows them: each result behind its call, so that no reader counts which answer is of which call.

    Where calls share an id, the first of them takes the first result. What answers none of these calls keeps its place, as do the addresses.
    """
    waiting: dict[str | None, list[Record]] = {}
    for each in records:
        if each.kind == "result":
            waiting.setdefault(each.call_id, []).append(each)
    made: list[Record] = []
    for each in records:
        answers = waiting.get(each.call_id, [])
        if each.kind == "result" and each not in answers:
            continue
        made.append(each)
        if each.kind == "result":
            answers.remove(each)
        elif each.kind == "call" and answers:
            made.append(answers.pop(0))
    return made


def _advanced(
    tx: Writing, branch: Branch, after: State, grew: tuple[int, tuple[Line, ...], int], what: Happened
) -> State:
    """Commit what was recorded. Where the step that grew is folded already, its tile grows by the same lines: the step stands in one place."""
    step, lines, raw = grew
    tile = branch.workspace.latest
    if isinstance(tile, Tile) and tile.last == step:
        tokens = tile.tokens + sum(line.tokens for line in lines)
        number = tx.cover.next_tile(branch.session)
        longer = replace(tile, number=number, lines=tile.lines + lines, tokens=tokens, raw=tile.raw + raw)
        cover, kept = cover_with(tx, branch.session, after.cover, longer)
        after = replace(after, cover=cover)
        what = replace(what, payload={**what.payload, "tile": number}, material=[*what.material, kept])
    return advance(tx, branch.session, branch.head, branch.state, after, what)


def arrive(tx: Writing, branch: Branch, step: int, result: Result, key: str | None) -> Taken | RecordRef:
    """A result that came after its step was recorded, and the ref of the record that bears its key where there is one already.

    It is shown where it arrives: at the tip of its path, behind whatever stands there; where another branch shares that step, at one opened for it.
    Raises RefError: no such step, or no such call in it.
    """
    session = branch.session
    old = tx.log.step(session, step)
    if old is None:
        raise RefError(f"s{step} is not a step of this session; its last step is s{tx.log.last_step(session)}")
    there = tx.log.records(session, [step])
    same = next((each for each in there if key is not None and each.idempotency == key), None)
    if same is not None:
        return RecordRef(step, same.k)
    calls = [record.call_id for record in there if record.kind == "call"]
    if result.id not in calls:
        raise RefError(
            f"s{step} has no call {result.id!r}; its calls are {', '.join(str(call) for call in calls) or 'none'}"
        )
    tip = tx.log.step(session, branch.state.tip)
    at = old
    if tip is not None and _on_path(tx, session, tip.n, step):
        at = _new_step(tx, session, tip) if _shared(tx, branch, tip) else tip
    call = _uncounted(there, result.id, late=at.n != step)
    record = Record(step, len(there) + 1, "result", result.origin, result.text, result.id, at.n, result.shown, call)
    lines, raw, material = _keep(tx, session, [record], [key])
    grown = _grown(at, lines, raw)
    tx.log.put_step(session, grown)
    payload = {"step": step, "record": record.k, "at": at.n}
    opened = at.n not in (old.n, branch.state.tip)
    after = _advanced(
        tx,
        branch,
        replace(branch.state, tip=at.n) if opened else branch.state,
        (at.n, lines, raw),
        Happened("arrived", payload, material),
    )
    return Taken(grown, lines, -1 if at.n == step else 0, after, record.k)


def _uncounted(there: Sequence[StoredRecord], call_id: str, *, late: bool) -> int:
    """The number of the call that a result answers, where what stands before it does not tell; 0 where it is the only one, or next in their order."""
    calls = [each.call_id for each in there if each.kind == "call"]
    if len(calls) < 2:
        return 0
    waiting: list[int] = list(range(len(calls)))
    answered: list[int] = []
    for each in (*(each.call_id for each in there if each.kind == "result"), call_id):
        of = next((at for at in waiting if calls[at] == each), calls.index(each))
        answered.append(of)
        waiting = [at for at in waiting if at != of]
    in_order = answered == list(range(len(answered)))
    return 0 if in_order and not late else answered[-1] + 1


def _keep(
    tx: Writing, session: int, records: Sequence[Record], keys: Sequence[str | None]
) -> tuple[tuple[Line, ...], int, list[bytes]]:
    """Render and store records; their lines, raw cost and content hashes."""
    lines: list[Line] = []
    material: list[bytes] = []
    raw = 0
    for record, key in zip(records, keys, strict=True):
        rendered = lines_of(record)
        form = canonical(dump_lines(rendered) if record.call else [])
        entry = tx.log.add_entry(record.text)
        shown = None if record.shown is None else tx.log.add_entry(record.shown)
        tx.log.add_record(session, record, entry, shown, pack_text(form), key)
        hashes = digest(encode(record.text)), None if record.shown is None else digest(encode(record.shown))
        material += material_of((record.kind, record.origin, record.call_id), *hashes, form)
        lines += rendered
        raw += count(record.text)
    return tuple(lines), raw, material


def material_of(who: tuple[str, str, str | None], entry: bytes, shown: bytes | None, form: str) -> list[bytes]:
    """The hashes of a record, as they go into its revision: who said it, its bytes, its rendered lines."""
    head = "\0".join(str(part) for part in who).encode("utf-8", "surrogatepass")
    return [head, entry, shown or b"", digest(encode(form))]


def _grown(step: Step, lines: Sequence[Line], raw: int) -> Step:
    tokens = sum(line.tokens for line in lines)
    return replace(
        step, tokens=step.tokens + tokens, raw=step.raw + raw, upto=step.upto + tokens, raw_upto=step.raw_upto + raw
    )


def _new_step(tx: Writing, session: int, tip: Step | None) -> Step:
    n = tx.log.last_step(session) + 1
    now = time.time()
    if tip is None:
        return Step(n, 0, tx.log.add_lane(session, 0, 0), 1, True, 0, 0, 0, 0, now)
    lane = tip.lane
    if tx.log.place_taken(session, tip.lane, tip.depth + 1):
        lane = tx.log.add_lane(session, tip.lane, tip.depth)
    return Step(n, tip.n, lane, tip.depth + 1, True, 0, 0, tip.upto, tip.raw_upto, now)


def _shared(tx: Writing, branch: Branch, step: Step) -> bool:
    """Whether a step stands on the path of another branch too: then it takes no more words from either."""
    for head in tx.forest.heads(branch.session):
        event = tx.forest.event(branch.session, head.seq) if head.id != branch.head.id else None
        if event is not None and _on_path(tx, branch.session, event.state.tip, step.n):
            return True
    return False


def _on_path(tx: Writing, session: int, tip: int, step: int) -> bool:
    old = tx.log.step(session, step)
    return old is not None and any(lane == old.lane and old.depth <= depth for lane, depth in tx.log.path(session, tip))
