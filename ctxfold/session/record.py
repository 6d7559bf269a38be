"""Records messages as steps and records, each once, within the session's write transaction."""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxfold.errors import RefError
from ctxfold.log import Kind, Origin, Record, RecordRef, Step
from ctxfold.log.json import canonical
from ctxfold.log.lines import Line, lines_of
from ctxfold.messages import Call, Message, Opaque, Result, Text
from ctxfold.messages.apis import spell_id
from ctxfold.session.commits import Happened, advance
from ctxfold.session.load import cover_with, dump_lines
from ctxfold.store.codec import digest, encode, pack_text
from ctxfold.store.rows import Reading, Writing
from ctxfold.store.tables import HeadRow, State, StoredRecord
from ctxfold.tokens import count
from ctxfold.view.native import LoggedCall
from ctxfold.workspace import Tile, Workspace

if TYPE_CHECKING:
    from ctxfold.session.handle import Handle

COMPACTION = "compaction:"
"""How the key of a record begins that holds a host's summary."""
_COMPACTED = "The host put a summary of its own in place of all before this."
"""What views show of a host's summary: the log has more."""
_NUMBER = re.compile(r"(?<=\*)-\d+$")
"""A redaction adds this to the second of two ids that it made alike."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Where recording happens: a session, a branch of it, and its newest workspace."""

    session: int
    head: HeadRow
    state: State
    workspace: Workspace


@dataclass(slots=True, eq=False)
class Draft:
    """A record on its way to the log; `ref` is its address once it has one. With a `key` it is recorded once."""

    kind: Kind
    origin: Origin
    text: str
    call_id: str | None = None
    shown: str | None = None
    key: str | None = None
    ref: RecordRef | None = None

    @property
    def is_said(self) -> bool:
        """Whether the assistant said or called it, which closes the user's turn."""
        return self.kind in ("assistant", "call")


@dataclass(frozen=True, slots=True)
class Taken:
    """What a recording changed.

    Attributes:
        step: the step that shows the new records.
        lines: the lines they add to the view.
        waiting: how many more calls wait for a result than before.
        state: the branch afterwards.
        last: the number of the last new record in its step.
    """

    step: Step
    lines: tuple[Line, ...]
    waiting: int
    state: State
    last: int


def drafts_of(message: Message) -> list[Draft]:
    """The records of a message, in order; none of a system message. If the message has an id, each record has a key."""
    drafts: list[Draft] = []
    name = spell_id(message.id)

    def add(kind: Kind, origin: Origin, text: str, key: str, call: str | None = None, shown: str | None = None) -> None:
        drafts.append(Draft(kind, origin, text, call, shown, key if name else None))

    if message.compacted:
        add("note", "model", message.text, f"{COMPACTION}{name}", None, _COMPACTED)
        return drafts
    said: tuple[Kind, Origin] = ("user", "user") if message.role == "user" else ("assistant", "model")
    texts = 0
    for item in message.items if message.role != "system" else ():
        match item:
            case Call(tool, args, given):
                text, call = json.dumps({"name": tool, "args": args}, ensure_ascii=False), spell_id(given)
                add("call", "model", text, f"call:{call}", call)
            case Result(given, text, origin, shown):
                add("result", origin, text, f"result:{spell_id(given)}", spell_id(given), shown)
            case Text() | Opaque() if isinstance(item, Text) or item.text:
                add(*said, item.text, f"{said[0]}:{name}" + (f".{texts}" if texts else ""))
                texts += 1
            case _:
                pass  # thinking
    return drafts


def record_messages(tx: Writing, at: Handle, messages: Iterable[Message]) -> list[tuple[RecordRef, bool]]:
    """Record messages that the log does not hold yet: an assistant's words, its calls and their results as one step.

    A late result joins the step of its call. A result is left out if its call was never seen.

    Returns:
        The records of the messages in order, each with whether it is new.
    """
    first: dict[object, Draft] = {}
    for draft in (draft for message in messages for draft in drafts_of(message)):
        first.setdefault(draft.key or draft, draft)
    calls = _find_known(tx, at.session, list(first.values()))
    new = {draft: None for draft in first.values() if draft.ref is None}
    for group in _group_steps(new):
        draft = group[0]
        if draft.kind != "result":
            taken = record(tx, at.place(tx), group, fills=draft.is_said)
            at.take_in(taken)
            for k, draft in enumerate(group, taken.last - len(group) + 1):
                draft.ref = RecordRef(taken.step.n, k)
                if draft.kind == "call" and draft.call_id is not None:
                    calls[draft.call_id] = (taken.step.n, draft.call_id)
        elif draft.call_id in calls:
            step, call = calls[draft.call_id]
            result = Result(call, draft.text, "page" if draft.origin == "page" else "tool", draft.shown)
            draft.ref = at.record_late(tx, step, result, f"result:{call}" if draft.key else None)
    return [(draft.ref, draft in new) for draft in first.values() if draft.ref is not None]


def _group_steps(drafts: Iterable[Draft]) -> Iterator[list[Draft]]:
    """Drafts by step: an assistant's words, its calls and their results together, every other draft alone."""
    group: list[Draft] = []
    calls: set[str | None] = set()
    for draft in drafts:
        if draft.kind == "result":
            joins = draft.call_id in calls
        else:
            joins = draft.is_said and bool(group) and group[-1].is_said
        if group and not joins:
            yield group
            group, calls = [], set()
        group.append(draft)
        if draft.kind == "call":
            calls.add(draft.call_id)
    if group:
        yield group


def record(tx: Writing, branch: Branch, made: Sequence[Draft], *, fills: bool) -> Taken:
    """Append records to the open step of a branch, or to a new one. `fills`: the assistant made them; they close it."""
    session = branch.session
    tip = tx.log.step(session, branch.state.tip) if branch.state.tip else None
    if tip is not None and tip.open and not _is_shared(tx, branch, tip):
        step, k = tip, len(tx.log.records(session, [tip.n]))
    else:
        step, k = _new_step(tx, session, tip), 0
    step = replace(step, open=step.open and not fills)
    records = [
        Record(step.n, number, draft.kind, draft.origin, draft.text, draft.call_id, step.n, draft.shown)
        for number, draft in enumerate(made, k + 1)
    ]
    payload = {"step": step.n, "parent": step.parent, "open": step.open, "records": [record.k for record in records]}
    keyed = [(record, made[record.k - k - 1].key) for record in pair_results(records)]
    step, lines, state = _append(tx, branch, step, step.n, keyed, Happened("recorded", payload))
    waiting = sum({"call": 1, "result": -1}.get(record.kind, 0) for record in records)
    return Taken(step, lines, waiting, state, k + len(records))


def pair_results(records: Sequence[Record]) -> list[Record]:
    """The records of one recording as a view shows them: each result after its call, so that no reader has to count.

    If calls share an id, the first of them takes the first result. Addresses do not change.
    """
    waiting: dict[str | None, deque[Record]] = defaultdict(deque)
    for record in records:
        if record.kind == "result":
            waiting[record.call_id].append(record)
    ordered: dict[int, Record] = {}
    for record in records:
        ordered.setdefault(record.k, record)
        if record.kind == "call" and waiting[record.call_id]:
            answer = waiting[record.call_id].popleft()
            ordered.setdefault(answer.k, answer)
    return list(ordered.values())


def arrive(tx: Writing, branch: Branch, step: int, result: Result, key: str | None) -> Taken | RecordRef:
    """Record a result that came after its step was recorded. If a record has this key already, return its ref.

    Views show it at the tip of the path, after everything else there. If another branch shares the tip, a new step is
    opened for it. Raises RefError: no such step, or no such call in it.
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
    if tip is not None and is_on_path(tx, session, tip.n, old):
        at = _new_step(tx, session, tip) if _is_shared(tx, branch, tip) else tip
    call = _number_call(there, result.id, late=at.n != step)
    record = Record(step, len(there) + 1, "result", result.origin, result.text, result.id, at.n, result.shown, call)
    payload = {"step": step, "record": record.k, "at": at.n}
    tip_after = branch.state.tip if at.n == old.n else at.n
    grown, lines, state = _append(tx, branch, at, tip_after, [(record, key)], Happened("arrived", payload))
    return Taken(grown, lines, -1 if at.n == step else 0, state, record.k)


def _number_call(there: Sequence[StoredRecord], call_id: str, *, late: bool) -> int:
    """The number of the call that a new result answers, from 1; 0 if it is the only call, or the next in order."""
    calls = [record.call_id for record in there if record.kind == "call"]
    if len(calls) < 2:
        return 0
    waiting: dict[str | None, deque[int]] = defaultdict(deque)
    for number, call in enumerate(calls):
        waiting[call].append(number)
    answered = [
        waiting[call].popleft() if waiting[call] else calls.index(call)
        for call in (*(record.call_id for record in there if record.kind == "result"), call_id)
    ]
    in_order = answered == list(range(len(answered)))
    return 0 if in_order and not late else answered[-1] + 1


def _append(
    tx: Writing,
    branch: Branch,
    step: Step,
    tip: int,
    records: Sequence[tuple[Record, str | None]],
    what: Happened,
) -> tuple[Step, tuple[Line, ...], State]:
    """Render, store and commit records with their keys, shown in one step. If that is folded, its tile grows too.

    Returns the step, the new lines and the branch afterwards.
    """
    session, payload = branch.session, what.payload
    lines: list[Line] = []
    material: list[bytes] = []
    raw = 0
    for record, key in records:
        rendered = lines_of(record)
        form = canonical(dump_lines(rendered) if record.call else [])
        entry = tx.log.add_entry(record.text)
        shown = None if record.shown is None else tx.log.add_entry(record.shown)
        tx.log.add_record(session, record, entry, shown, pack_text(form), key)
        hashes = digest(encode(record.text)), None if record.shown is None else digest(encode(record.shown))
        material += material_of((record.kind, record.origin, record.call_id), *hashes, form)
        lines += rendered
        raw += count(record.text)
    new, tokens = tuple(lines), sum(line.tokens for line in lines)
    step = replace(
        step, tokens=step.tokens + tokens, raw=step.raw + raw, upto=step.upto + tokens, raw_upto=step.raw_upto + raw
    )
    tx.log.write_step(session, step)
    after, tile = replace(branch.state, tip=tip), branch.workspace.latest
    if isinstance(tile, Tile) and tile.last == step.n:
        number = tx.cover.next_tile(session)
        longer = replace(tile, number=number, lines=tile.lines + new, tokens=tile.tokens + tokens, raw=tile.raw + raw)
        cover, kept = cover_with(tx, session, after.cover, longer)
        after, payload = replace(after, cover=cover), {**payload, "tile": number}
        material.append(kept)
    what = replace(what, payload=payload, material=material)
    return step, new, advance(tx, session, branch.head, branch.state, after, what)


def material_of(who: tuple[str, str, str | None], entry: bytes, shown: bytes | None, form: str) -> list[bytes]:
    """The hashes of a record that go into its revision: of its origin, its bytes and its rendered lines."""
    head = "\0".join(str(part) for part in who).encode("utf-8", "surrogatepass")
    return [head, entry, shown or b"", digest(encode(form))]


def _new_step(tx: Writing, session: int, tip: Step | None) -> Step:
    n = tx.log.last_step(session) + 1
    now = time.time()
    if tip is None:
        return Step(n, 0, tx.log.add_lane(session, 0, 0), 1, True, 0, 0, 0, 0, now)
    lane = tip.lane
    if tx.log.place_taken(session, tip.lane, tip.depth + 1):
        lane = tx.log.add_lane(session, tip.lane, tip.depth)
    return Step(n, tip.n, lane, tip.depth + 1, True, 0, 0, tip.upto, tip.raw_upto, now)


def _is_shared(tx: Writing, branch: Branch, step: Step) -> bool:
    """Whether a step is on the path of another branch too: then neither may add to it."""
    for head in tx.forest.heads(branch.session):
        event = tx.forest.event(branch.session, head.seq) if head.id != branch.head.id else None
        if event is not None and is_on_path(tx, branch.session, event.state.tip, step):
            return True
    return False


def is_on_path(tx: Reading, session: int, tip: int, step: Step) -> bool:
    """Whether a step is on the path that ends with another."""
    return any(lane == step.lane and step.depth <= depth for lane, depth in tx.log.path(session, tip))


def _find_known(tx: Reading, session: int, drafts: Sequence[Draft]) -> dict[str | None, tuple[int, str]]:
    """Give each draft that the log holds its ref, by its key. Return of each call id its step and its id there.

    A record that was redacted since is known by its key and text as far as they are left.
    """
    refs: dict[str | None, RecordRef] = {}
    calls: dict[str | None, tuple[int, str]] = {}
    blanked: list[StoredRecord] = []
    for record in tx.log.entries_of(session, sorted({n for d in drafts for n in (d.key, d.call_id) if n})):
        if record.idempotency is not None:
            refs[record.idempotency] = RecordRef(record.step, record.k)
            if "*" in record.idempotency:
                blanked.append(record)
        if record.kind == "call" and record.call_id is not None:
            calls[record.call_id] = (record.step, record.call_id)
    for draft in drafts:
        draft.ref = refs.get(draft.key)
        if draft.ref is None and draft.key is not None:
            match = next((each for each in blanked if _is_blanked(each, draft, tx.log.text(each.entry))), None)
            if match is not None:
                blanked.remove(match)
                draft.ref = RecordRef(match.step, match.k)
                if match.call_id is not None:
                    calls[draft.call_id] = (match.step, match.call_id)
    return calls


def _is_blanked(record: StoredRecord, draft: Draft, text: str) -> bool:
    key = record.idempotency or ""
    return (_fits(key, draft.key or "") or _fits(_NUMBER.sub("", key), draft.key or "")) and _fits(text, draft.text)


def _fits(blanked: str, text: str) -> bool:
    """Whether a redaction can have made `blanked` of a text: it keeps the length in bytes, and the line ends."""
    parts = re.split(rb"(\*+)", encode(blanked))
    pattern = b"".join(b".{%d}" % len(part) if part.startswith(b"*") else re.escape(part) for part in parts)
    return re.fullmatch(pattern, encode(text), re.DOTALL) is not None


def read_calls(tx: Reading, session: int, steps: Sequence[int]) -> Mapping[int, Sequence[LoggedCall]]:
    """The calls of steps as they were recorded, in order, each with the addresses of its results.

    If calls of a step share an id, the first of them takes the first result.
    """
    found: dict[int, list[LoggedCall]] = defaultdict(list)
    waiting: dict[tuple[int, str | None], deque[int]] = defaultdict(deque)
    for record in tx.log.records(session, steps):
        ref, calls = f"s{record.step}.{record.k}", found[record.step]
        places = waiting[record.step, record.call_id]
        if record.kind == "call":
            places.append(len(calls))
            calls.append(_load_call(ref, tx.log.text(record.entry)))
        elif record.kind == "result" and places:
            at = places[0] if len(places) == 1 else places.popleft()
            calls[at] = replace(calls[at], results=(*calls[at].results, ref))
    return found


def _load_call(ref: str, text: str) -> LoggedCall:
    """A call from its record. A redacted record may be no JSON any more: then the call has no arguments."""
    try:
        tree = json.loads(text)
        return LoggedCall(ref, str(tree["name"]), tree["args"])
    except (ValueError, KeyError, TypeError):
        return LoggedCall(ref, "redacted", {})
