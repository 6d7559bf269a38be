"""Whether a folded view lets the work go on: recorded sessions up to a point, their folds written by anyone.

    python -m tests.benchmarks.readers POINT OUT --data DIR [--budget N] [--roles folder,planner] [--no-model]
    python -m tests.benchmarks.readers cost OUT --data DIR      # what the requests cost, with made-up replies

The session is replayed as a driver would: `Deciders.maintain` before each reply. Each request to a model goes word for
word to OUT/requests/HASH.txt. Where OUT/replies/HASH.json (the tool's input; or HASH.txt, a reply in words) is missing,
the program prints the request's path and exits 3; run again with the reply there, it goes on. Whoever writes a reply
sees that request alone. At the point it writes OUT/view.txt for a reader who has nothing else, OUT/full.txt,
OUT/facts.json, and OUT/store/f.db for recalls (`ctxfold recall replay REF --store OUT/store/f.db`).
"""

from __future__ import annotations

import hashlib
import inspect
import json
import random
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import anyio

from ctxfold import Session
from ctxfold.models import Reply, Request, Roles, Usage
from ctxfold.models.deciders import Deciders
from ctxfold.tokens import count, head
from tests.benchmarks.fidelity.board import CACHE_READ, CACHE_WRITE, find_common_start
from tests.benchmarks.prompts.__main__ import format_request, read_reply
from tests.benchmarks.prompts.browsing import read_texts
from tests.benchmarks.shared.harness import Bars, make_parser, temporary_home
from tests.benchmarks.shared.recordings import RecordedEvent, Recording, Replay, join_recordings, read_recordings


class Point(NamedTuple):
    """Sessions of a file joined end to end, the share of their events before the point, and tokens of a view."""

    file: str
    rows: range
    share: float
    budget: int


POINTS = {
    "session-35": Point("coding-session", range(1), 0.35, 12_000),
    "session-95": Point("coding-session", range(1), 0.95, 12_000),
    "compact-60": Point("coding-compact", range(1), 0.6, 12_000),
    "compact-98": Point("coding-compact", range(1), 0.98, 12_000),
    "airline-95": Point("tau-airline-gpt-4o", range(52, 53), 0.95, 1_000),
    "telecom-95": Point("tau2-telecom-gpt-4.1", range(8, 9), 0.95, 2_000),
    "airline-long": Point("tau2-airline-gpt-4.1", range(18), 1.0, 4_000),
}
COSTED = {
    "codex": Point("dev-codex-ts", range(1), 1.0, 12_000),
    "compact": Point("coding-compact", range(1), 1.0, 12_000),
    "airline": Point("tau-airline-gpt-4o", range(50, 60), 1.0, 1_000),
}
"""The two longest sessions, and a dialogue at a small budget."""
LARGE = 2_000
"""Tokens of a view from which all bars of cost hold; below it, only a wider one of the writer's output."""
ROLES = ("folder", "planner", "reader")
"""The roles that `maintain` asks. Without a model of a role, the embedded decider decides."""
UNANSWERED, REST = 3, 200
"""The exit code while a request waits for its reply; tokens of a made-up reply where the request names no room."""
BEGIN, PACE = 1_700_000_000.0, 60.0
"""The time of the first event, and the seconds between two: the same in every run."""
OUTPUT, SMALL = 5.0, 0.2
"""Prices relative to an input token: of a token that a model writes, and of a small model's input token."""


class UnansweredError(Exception):
    """A request has no reply yet; the argument is its file."""


@dataclass
class CountingModel:
    """The model of one role: a function answers, and the requests are counted with their tokens."""

    role: str
    answer: Callable[[Request], Reply]
    requests: int = 0
    usage: Usage = field(default_factory=Usage)
    name: str = "reader"

    async def decide(self, request: Request) -> Reply:
        """Return the answer, with its tokens."""
        reply = self.answer(request)
        written = reply.words or json.dumps(dict(reply.arguments), ensure_ascii=False)
        shown = [request.system, request.tool.description, json.dumps(request.tool.schema), read_texts(request)]
        usage = Usage(input=sum(map(count, shown)), output=count(written))
        self.requests, self.usage = self.requests + 1, self.usage + usage
        return replace(reply, usage=usage, model=self.name)


def answer_from_files(out: Path, request: Request) -> Reply:
    """Write a request into a folder, and return the reply that lies there. Raises UnansweredError."""
    tool = request.tool
    content = [request.system, list(request.messages), tool.name, tool.description, tool.schema, request.max_tokens]
    name = hashlib.sha256(json.dumps(content, sort_keys=True, default=dict).encode()).hexdigest()[:16]
    replies = [out / "replies" / f"{name}.{ending}" for ending in ("json", "txt")]
    asked = out / "requests" / f"{name}.txt"
    asked.write_text(format_request(request, str(replies[0])), encoding="utf-8")
    for path in replies:
        if path.is_file():
            return read_reply(path)
    raise UnansweredError(asked)


def answer_with_words(request: Request) -> Reply:
    """Return a made-up reply, for its cost only: words of the request that fill the room it names.

    They go into the tool's required texts; where nothing is required, into its texts of any length.
    """
    text, schema = read_texts(request), request.tool.schema
    named = re.search(r"(?:at most|room)[^.\n]{0,40}?(\d[\d,]*) tokens", f"{request.system}\n{text}", re.IGNORECASE)
    names = schema.get("required") or schema["properties"]
    fields = schema["properties"] | {name: {"type": "string"} for name in schema.get("required", ())}
    texts = [name for name in names if fields[name].get("type") == "string" and "maxLength" not in fields[name]]
    size = int(0.95 * (int(named[1].replace(",", "")) if named else REST) / max(1, len(texts))) + 1
    words, chance = sorted(set(re.findall(r"\b[a-z]{4,12}\b", text))), random.Random(len(text))
    return Reply({name: head(" ".join(chance.choices(words, k=size)), size) for name in texts})


@dataclass
class Run:
    """A replay of a recording into a session.

    Attributes:
        priced: whether all of the agent's own requests and replies are priced, as input tokens, in `agent`.
        notes: why a model did not make a decision, and how often.
        shares: the share of the budget that each view took just after a fold.
        log: tokens of the log.
    """

    session: Session
    recording: Recording
    models: Sequence[CountingModel]
    priced: bool = False
    notes: Counter[str] = field(default_factory=Counter)
    shares: list[float] = field(default_factory=list)
    log: int = 0
    agent: float = 0.0
    before: str = ""

    async def replay(self) -> None:
        """Replay all of it, up to where the agent would write its next reply."""
        deciders = Deciders(Roles(**{model.role: model for model in self.models}) if self.models else None)
        replay = Replay(self.session)
        for at, event in enumerate((*self.recording.events, RecordedEvent("assistant", ""))):
            with mock.patch("time.time", return_value=BEGIN + PACE * at):
                if event.role == "assistant":
                    replay.settle()
                    done = await deciders.maintain(self.session)
                    self.notes.update(done.notes)
                    self._look(bool(done.folded), event)
                if at < len(self.recording.events):
                    replay.add(event)
                    self.log += count(event.body)

    def _look(self, folded: bool, event: RecordedEvent) -> None:
        """Make the view that the agent reads before it writes `event`, where it is measured."""
        if not (folded or self.priced):
            return
        view, system = self.session.view(), count(self.recording.system)
        self.shares += [round(view.tokens / self.session.budget, 3)] * folded
        cached = count(find_common_start(self.before, view.text)) + (system if self.before else 0)
        self.agent += CACHE_READ * cached + CACHE_WRITE * (system + view.tokens - cached) + OUTPUT * count(event.body)
        self.before = view.text

    @property
    def requests(self) -> dict[str, dict[str, int]]:
        """The requests of each role, and their tokens."""
        sizes = ((model, model.usage.input, model.usage.output) for model in self.models)
        return {model.role: {"requests": model.requests, "input": given, "output": got} for model, given, got in sizes}


def read_point(point: Point, data: Path) -> Recording:
    """Read the session of a point, up to it."""
    recordings = read_recordings(data / f"{point.file}.jsonl.gz")
    joined = join_recordings([recordings[row] for row in point.rows])
    return replace(joined, events=joined.events[: int(len(joined.events) * point.share)])


def go_to(point: Point, out: Path, data: Path, models: Sequence[CountingModel], priced: bool = False) -> Run:
    """Replay to a point, and write what a reader and a grader get. Raises UnansweredError."""
    shutil.rmtree(out / "store", ignore_errors=True)
    for folder in ("store", "requests", "replies"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    with Session.open("replay", store=str(out / "store" / "f.db")) as session:
        session.set_budget(point.budget)
        run = Run(session, read_point(point, data), models, priced)
        anyio.run(run.replay)
        filled: dict[str, Any] = {"fill": True} if "fill" in inspect.signature(session.view).parameters else {}
        view = session.view(**filled).text
    answers = [f" (answers {event.call_id})" if event.role == "tool" else "" for event in run.recording.events]
    events = enumerate(zip(run.recording.events, answers, strict=True))
    full = "\n\n".join(f"[{at}] {event.role}{answer}: {event.body}" for at, (event, answer) in events)
    facts = {**point._asdict(), "log": run.log, "full": count(full), "view": count(view), "requests": run.requests}
    written = json.dumps(facts | {"shares": run.shares, "notes": run.notes}, default=list)
    for file, text in (("full.txt", full), ("view.txt", view), ("facts.json", written)):
        (out / file).write_text(text, encoding="utf-8")
    print(written, flush=True)
    return run


def judge_cost(name: str, budget: int, run: Run, bars: Bars) -> None:
    """Print the rows of cost of a run whose models write made-up replies, the writer first."""
    log, writer, inputs = run.log, run.models[0].usage, sum(model.usage.input for model in run.models)
    paid = writer.input + OUTPUT * writer.output
    rows = [
        ("writer's output, of the log", writer.output / log, 0.35 if budget >= LARGE else 0.7),
        ("writer's input, of the log", writer.input / log, 3.0),
        ("input of all roles, of the log", inputs / log, 4.0),
        ("writer, of the run's cost, one model for all", paid / (paid + run.agent), 0.4),
        ("writer, of the run's cost, a small folder", SMALL * paid / (SMALL * paid + run.agent), 0.08),
    ]
    for what, share, most in rows[: None if budget >= LARGE else 1]:
        held = bars.require(share <= most, f"{name}: {what}: {share:.3f}")
        print(f"  {what:<46}{share:7.3f}  bar {most:<5}{'held' if held else 'MISSED'}", flush=True)


def main() -> int:
    """Go to a point, or print the cost."""
    parser = make_parser("readers", __doc__)
    parser.add_argument("point", choices=[*POINTS, "cost"])
    parser.add_argument("out", type=Path, help="the folder for the files")
    parser.add_argument("--data", type=Path, required=True, help="the folder of recordings")
    parser.add_argument("--budget", type=int, help="tokens of the view, instead of the point's own")
    parser.add_argument("--roles", default="folder", help=f"roles of a model, with commas: {', '.join(ROLES)}")
    parser.add_argument("--no-model", action="store_true", help="ask no model")
    given, bars = parser.parse_args(), Bars()
    with temporary_home():
        if given.point == "cost":
            for name, point in COSTED.items():
                models = [CountingModel(role, answer_with_words) for role in ROLES]
                judge_cost(name, point.budget, go_to(point, given.out / name, given.data, models, True), bars)
            return bars.finish()
        point, roles = POINTS[given.point], [] if given.no_model else given.roles.split(",")
        models = [CountingModel(role, partial(answer_from_files, given.out)) for role in roles]
        try:
            go_to(point._replace(budget=given.budget or point.budget), given.out, given.data, models)
        except UnansweredError as request:
            print(f"waits for a reply: {request}")
            return UNANSWERED
    return 0


if __name__ == "__main__":
    sys.exit(main())
