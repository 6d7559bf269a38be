"""Reads messages and calls of a caller, and records them as steps and records, each once, in one write transaction."""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ctxfold.errors import InputError, RefError
from ctxfold.log import Kind, Origin, Record, RecordRef, Step
from ctxfold.log.json import canonical
from ctxfold.log.lines import Line, lines_of
from ctxfold.messages import Call, Message, Opaque, Result, Text
from ctxfold.messages.apis import read_block, read_messages
from ctxfold.session.commits import Happened, advance
from ctxfold.session.load import cover_with, dump_lines
from ctxfold.store.codec import digest, encode, pack
from ctxfold.store.rows import Reading, Writing
from ctxfold.store.tables import HeadRow, State, StoredRecord
from ctxfold.text.json import plain, spell_id
from ctxfold.tokens import count
from ctxfold.view.native import LoggedCall
from ctxfold.workspace import Tile, Workspace

if TYPE_CHECKING:
    from ctxfold.session.handle import Handle

R = TypeVar("R", bound=Record | StoredRecord)

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
class NewRecord:
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


def read_step(said: object = "", calls: Sequence[object] = (), results: Sequence[object] = ()) -> Message:
    """An assistant's step as one message: its text, its calls and their results.

    Args:
        said: a text, or an assistant's message as `read_messages` takes it, with its calls.
        calls: each `{"name", "args", "id"}`, or a call of an API. A call without an id is `c1`, `c2` … by its place.
        results: each `{"id", "text", "origin"?, "shown"?}`, or a result of an API. Without an id it answers `c1` …

    Raises:
        InputError: something else, or arguments that are not JSON.
        RefError: a result that answers no call of the step.
    """
    messages = [] if isinstance(said, str) else read_messages(said)
    text = said if isinstance(said, str) else "\n".join(message.text for message in messages)
    called = [item for message in messages for item in message.items if isinstance(item, Call)]
    called += [_read_call(call, f"c{number}") for number, call in enumerate(calls, 1)]
    answered = [read_result(result, f"c{number}") for number, result in enumerate(results, 1)]
    known = {call.id for call in called}
    stray = next((result.id for result in answered if result.id not in known), None)
    if stray is not None:
        names = ", ".join(sorted(known)) or "none"
        raise RefError(
            f"result {stray!r} answers no call of this step; its calls: {names}. Give each result the id of its call"
        )
    return Message("assistant", (*([Text(text)] if text else []), *called, *answered))


def read_result(given: object, unnamed: str = "") -> Result:
    """A result from `{"id", "text", "origin"?, "shown"?}` or from an API; `unnamed` is its id if it has none.

    Raises InputError: something else.
    """
    match plain(given):
        case Result() as result:
            pass
        case {"text": str(text)} as own:
            origin, shown = own.get("origin", "tool"), own.get("shown")
            if origin not in ("tool", "page"):
                raise InputError("a result comes from a tool or a page; give one of these as its origin")
            if shown is not None and not isinstance(shown, str):
                raise InputError("the shorter form of a result is text; give a string or leave it out")
            result = Result(spell_id(own.get("id")), text, origin, shown)
        case Mapping() as block if isinstance(item := read_block(block), Result):
            result = item
        case _:
            raise InputError('a result is {"id": ..., "text": ...}; give its text as a string')
    return result if result.id else replace(result, id=unnamed)


def _read_call(given: object, unnamed: str) -> Call:
    match plain(given):
        case Call() as call:
            pass
        case {"name": str(name), "args": args} as own:
            call = Call(name, args, spell_id(own.get("id")))
        case Mapping() as block if isinstance(item := read_block({"type": "tool_use", **block}), Call):
            call = item
        case _:
            raise InputError('a call is {"name": ..., "args": {...}, "id": ...}; give its name as text')
    try:
        json.dumps(call.args)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the arguments of call {call.name!r} are not JSON ({error}); give plain values") from error
    return call if call.id else replace(call, id=unnamed)


def list_new_records(message: Message) -> list[NewRecord]:
    """The records of a message, in order; none of a system message. If the message has an id, each record has a key."""
    records: list[NewRecord] = []
    name = spell_id(message.id)

    def add(kind: Kind, origin: Origin, text: str, key: str, call: str | None = None, shown: str | None = None) -> None:
        records.append(NewRecord(kind, origin, text, call, shown, key if name else None))

    if message.compacted:
        add("note", "model", message.text, f"{COMPACTION}{name}", None, _COMPACTED)
        return records
    speaker: tuple[Kind, Origin] = ("user", "user") if message.role == "user" else ("assistant", "model")
    texts = 0
    for item in message.items if message.role != "system" else ():
        match item:
            case Call(tool, args, given):
                text, call = json.dumps({"name": tool, "args": args}, ensure_ascii=False), spell_id(given)
                add("call", "model", text, f"call:{call}", call)
            case Result(given, text, origin, shown):
                add("result", origin, text, f"result:{spell_id(given)}", spell_id(given), shown)
            case Text() | Opaque() if isinstance(item, Text) or item.text:
                add(*speaker, item.text, f"{speaker[0]}:{name}" + (f".{texts}" if texts else ""))
                texts += 1
            case _:
                pass  # thinking
    return records


def is_compacted(tx: Reading, session: int) -> bool:
    """Return whether the host compacted the conversation after the user's last message."""
    is_due = False
    for record in tx.log.entries_of(session):
        is_due = record.kind != "user" and (is_due or (record.idempotency or "").startswith(COMPACTION))
    return is_due


def record_messages(tx: Writing, at: Handle, messages: Iterable[Message]) -> list[tuple[NewRecord, bool]]:
    """Record messages that the log does not hold yet: an assistant's words, its calls and their results as one step.

    A late result joins the step of its call. A result is left out if its call was never seen.

    Returns:
        The records of the messages in order, each with whether it is new.
    """
    first: dict[object, NewRecord] = {}
    for draft in (draft for message in messages for draft in list_new_records(message)):
        first.setdefault(draft.key or draft, draft)
    calls = _find_known(tx, at.session, list(first.values()))
    new = {draft: None for draft in first.values() if draft.ref is None}
    for group in _group_steps(new):
        draft = group[0]
        if draft.kind != "result":
            taken = at.record(tx, group, fills=draft.is_said)
            for k, draft in enumerate(group, taken.last - len(group) + 1):
                draft.ref = RecordRef(taken.step.n, k)
                if draft.kind == "call" and draft.call_id is not None:
                    calls[draft.call_id] = (taken.step.n, draft.call_id)
        elif draft.call_id in calls:
            step, call = calls[draft.call_id]
            result = Result(call, draft.text, "page" if draft.origin == "page" else "tool", draft.shown)
            draft.ref = at.record_late(tx, step, result, f"result:{call}" if draft.key else None)
    return [(draft, draft in new) for draft in first.values()]


def _group_steps(drafts: Iterable[NewRecord]) -> Iterator[list[NewRecord]]:
    """Drafts by step: an assistant's words, its calls and their results together, every other draft alone."""
    group: list[NewRecord] = []
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


def record(tx: Writing, branch: Branch, new: Sequence[NewRecord], *, fills: bool) -> Taken:
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
        for number, draft in enumerate(new, k + 1)
    ]
    payload = {"step": step.n, "parent": step.parent, "open": step.open, "records": [record.k for record in records]}
    keyed = [(record, new[record.k - k - 1].key) for record in pair_results(records)]
    step, lines, state = _append(tx, branch, step, step.n, keyed, Happened("recorded", payload))
    waiting = sum({"call": 1, "result": -1}.get(record.kind, 0) for record in records)
    return Taken(step, lines, waiting, state, k + len(records))


def pair_results(records: Sequence[Record]) -> list[Record]:
    """The records of one recording as a view shows them: each result after its call, so that no reader has to count.

    Addresses do not change.
    """
    answers: dict[int, Record] = {}
    for result, call in match_calls(records):
        answers.setdefault(call.k, result)
    ordered = [each for record in records for each in (record, answers.get(record.k)) if each is not None]
    return list(dict.fromkeys(ordered))


def match_calls(records: Sequence[R]) -> list[tuple[R, R]]:
    """Return each result with its call. If calls of a step share an id, the first takes the first result, the
    last all others.
    """
    waiting: dict[tuple[int, str | None], deque[R]] = defaultdict(deque)
    for record in records:
        if record.kind == "call":
            waiting[record.step, record.call_id].append(record)
    pairs: list[tuple[R, R]] = []
    for record in records:
        calls = waiting[record.step, record.call_id]
        if record.kind == "result" and calls:
            pairs.append((record, calls[0] if len(calls) == 1 else calls.popleft()))
    return pairs


def arrive(tx: Writing, branch: Branch, step: int, result: Result, key: str | None) -> Taken | RecordRef:
    """Record a result that came after its step was recorded. If a record has this key already, return its ref.

    Views show it at the tip of the path, after everything else there. If another branch shares the tip, a new step is
    opened for it. Raises RefError: no such step, or no such call in it.
    """
    session = branch.session
    old = tx.log.step(session, step)
    if old is None:
        raise RefError(f"s{step} is not a step of this session; its last step is s{tx.log.last_step(session)}")
    old_records = tx.log.records(session, [step])
    same = next((each for each in old_records if key is not None and each.idempotency == key), None)
    if same is not None:
        return RecordRef(step, same.k)
    calls = [record.call_id for record in old_records if record.kind == "call"]
    if result.id not in calls:
        raise RefError(
            f"s{step} has no call {result.id!r}; its calls are {', '.join(str(call) for call in calls) or 'none'}"
        )
    tip = tx.log.step(session, branch.state.tip)
    at = old
    if tip is not None and is_on_path(tx, session, tip.n, old):
        at = _new_step(tx, session, tip) if _is_shared(tx, branch, tip) else tip
    record = Record(step, len(old_records) + 1, "result", result.origin, result.text, result.id, at.n, result.shown)
    record = replace(record, call=_number_call([*old_records, record], late=at.n != step))
    payload = {"step": step, "record": record.k, "at": at.n}
    tip_after = branch.state.tip if at.n == old.n else at.n
    grown, lines, state = _append(tx, branch, at, tip_after, [(record, key)], Happened("arrived", payload))
    return Taken(grown, lines, -1 if at.n == step else 0, state, record.k)


def _number_call(records: Sequence[Record | StoredRecord], *, late: bool) -> int:
    """The number of the call that the last of a step's records answers, from 1; 0 if it is the next in order."""
    numbers = {call.k: number for number, call in enumerate((each for each in records if each.kind == "call"), 1)}
    answered = [numbers[call.k] for _, call in match_calls(records)]
    is_next = len(numbers) == 1 or (answered == list(range(1, len(answered) + 1)) and not late)
    return 0 if is_next else answered[-1]


def _append(
    tx: Writing, branch: Branch, step: Step, tip: int, records: Sequence[tuple[Record, str | None]], what: Happened
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
        tx.log.add_record(session, record, entry, shown, pack(encode(form)), key)
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


def _find_known(tx: Reading, session: int, drafts: Sequence[NewRecord]) -> dict[str | None, tuple[int, str]]:
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


def _is_blanked(record: StoredRecord, draft: NewRecord, text: str) -> bool:
    key = record.idempotency or ""
    return (_fits(key, draft.key or "") or _fits(_NUMBER.sub("", key), draft.key or "")) and _fits(text, draft.text)


def _fits(blanked: str, text: str) -> bool:
    """Whether a redaction can have made `blanked` of a text: it keeps the length in bytes, and the line ends."""
    parts = re.split(rb"(\*+)", encode(blanked))
    pattern = b"".join(b".{%d}" % len(part) if part.startswith(b"*") else re.escape(part) for part in parts)
    return re.fullmatch(pattern, encode(text), re.DOTALL) is not None


def read_calls(tx: Reading, session: int, steps: Sequence[int]) -> Mapping[int, Sequence[LoggedCall]]:
    """The calls of steps as they were recorded, in order, each with the addresses of its results."""
    records = tx.log.records(session, steps)
    results: dict[int, list[str]] = defaultdict(list)
    for result, call in match_calls(records):
        results[call.id].append(f"s{result.step}.{result.k}")
    calls: dict[int, list[LoggedCall]] = defaultdict(list)
    for record in records:
        if record.kind == "call":
            name, args = _load_call(tx.log.text(record.entry))
            ref = f"s{record.step}.{record.k}"
            calls[record.step].append(LoggedCall(ref, name, args, tuple(results[record.id])))
    return calls


def _load_call(text: str) -> tuple[str, Any]:
    """The name and the arguments of a recorded call. A redacted one may be no JSON any more: then it has none."""
    try:
        tree = json.loads(text)
        return str(tree["name"]), tree["args"]
    except (ValueError, KeyError, TypeError):
        return "redacted", {}
