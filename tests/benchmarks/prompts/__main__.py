"""Lets readers act as the model on the product's own prompts.

    python -m tests.benchmarks.prompts ask DATA OUT      # writes OUT/DECISION/NN.request.md, as the product sends it
    python -m tests.benchmarks.prompts judge OUT         # takes each OUT/DECISION/NN.reply.json that a reader wrote

For each decision there are ten requests. A reader writes the input of the tool as NN.reply.json. `judge` makes each
situation again, lets the product take the reply, and prints how many it took at first and why it refused the others.
DATA is a folder of recorded sessions. Exits 1 when a decision lost more than one of ten.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from ctxfold.errors import ModelUnavailable
from ctxfold.models import Reply, Request
from ctxfold.models.protocol import list_blocks
from tests.benchmarks.prompts.browsing import BROWSED, BrowsedCase, browse
from tests.benchmarks.prompts.situations import Situation, make_situations
from tests.benchmarks.shared.harness import make_parser

HOW = (
    "You are the model that gets this request. Decide, and write the input of the tool `{tool}` as one JSON object to "
    "`{reply}`. You know only what is below."
)
REFUSED = "was refused and nothing was done"
"""Words of the product's second request, which says why a reply was refused."""


@dataclass
class Reader:
    """A model with one reply, written by a reader; after it, and without it, the model is unavailable."""

    reply: Reply | None = None
    requests: list[Request] = field(default_factory=list)
    name: str = "reader"

    async def decide(self, request: Request) -> Reply:
        """Return the reply, once."""
        self.requests.append(request)
        if self.reply is None or len(self.requests) > 1:
            raise ModelUnavailable("the reader answers once")
        return self.reply

    @property
    def refusal(self) -> str:
        """Why the reply was refused, by the second request; empty where it was taken."""
        if not self.requests:
            return "nobody was asked"
        last = list_blocks(self.requests[1].messages[-1])[-1]["text"] if len(self.requests) > 1 else ""
        return last.strip().replace("\n", "\n      ") if REFUSED in last else ""


def format_request(request: Request, reply: str) -> str:
    """Format a request for a reader, who writes to the file `reply`."""
    messages = [
        f"## {message['role']}\n\n"
        + "\n".join(block.get("text", f"({block['type']})") for block in list_blocks(message))
        for message in request.messages
    ]
    schema = json.dumps(request.tool.schema, ensure_ascii=False, indent=1)
    room = f"The reply may take {request.max_tokens} tokens."
    tool = f"## tool `{request.tool.name}`\n\n{request.tool.description}\n\n{room}\n\n{schema}"
    parts = (HOW.format(tool=request.tool.name, reply=reply), f"## system\n\n{request.system}", *messages, tool, "")
    return "\n\n".join(parts)


def read_reply(path: Path) -> Reply:
    """Read the reply that a reader wrote."""
    text = path.read_text(encoding="utf-8")
    try:
        reply = json.loads(text)
    except ValueError:
        return Reply({}, fault="- the reply is no JSON", words=text)
    return Reply(reply) if isinstance(reply, dict) else Reply({}, fault="- the reply is no JSON object", words=text)


async def ask_situation(situation: Situation, reader: Reader) -> None:
    """Let the product ask the reader."""
    with situation.make() as session:
        await situation.decide(reader, session)


async def ask_run(case: BrowsedCase, reader: Reader, old: str = "") -> tuple[str, str]:
    """Let a run ask the reader. Returns the site's address and the note of the step.

    The site's address when the request was written, `old`, is replaced in the reply.
    """
    sites: list[str] = []

    def make_model(site: str) -> Reader:
        sites.append(site)
        if reader.reply is not None and old:
            reader.reply = Reply(json.loads(json.dumps(dict(reader.reply.arguments)).replace(old, site)))
        return reader

    steps = await browse(case, make_model)
    taken = steps[len(case.plan) + (case.start is not None) :]
    return sites[0], taken[0].note if taken else ""


def number_situations(data: Path, only: frozenset[str]) -> list[tuple[int, Situation]]:
    """Return the situations of the decisions in `only` (all if empty), each with its number within its decision."""
    count: dict[str, Iterator[int]] = defaultdict(itertools.count)
    numbered = [(next(count[situation.decision]), situation) for situation in make_situations(data)]
    return [(number, situation) for number, situation in numbered if not only or situation.decision in only]


def ask(data: Path, out: Path, only: frozenset[str]) -> None:
    """Write the requests."""
    about: dict[str, str] = {}
    sites: dict[str, str] = {}
    for number, situation in number_situations(data, only):
        reader = Reader()
        anyio.run(ask_situation, situation, reader)
        write_request(out / situation.decision, number, reader)
        about[f"{situation.decision}/{number:02}"] = situation.about
    for number, case in enumerate(BROWSED if not only or "browse" in only else ()):
        reader = Reader()
        sites[str(number)], _ = anyio.run(ask_run, case, reader)
        write_request(out / "browse", number, reader)
        about[f"browse/{number:02}"] = case.task
    kit = {"data": str(data), "sites": sites, "about": about}
    (out / "kit.json").write_text(json.dumps(kit, indent=1), encoding="utf-8")


def write_request(folder: Path, number: int, reader: Reader) -> None:
    """Write the request that a reader got, or print that none was sent."""
    folder.mkdir(parents=True, exist_ok=True)
    if not reader.requests:
        print(f"{folder.name}/{number:02}: nobody was asked", file=sys.stderr)
        return
    text = format_request(reader.requests[0], f"{number:02}.reply.json")
    (folder / f"{number:02}.request.md").write_text(text, encoding="utf-8")


def judge(out: Path, only: frozenset[str]) -> int:
    """Let the product take each reply. Prints the refusals. Returns 1 when a decision lost more than one of ten."""
    kit: dict[str, Any] = json.loads((out / "kit.json").read_text(encoding="utf-8"))
    refusals: dict[str, list[str]] = {}
    for number, situation in number_situations(Path(kit["data"]), only):
        path = out / situation.decision / f"{number:02}.reply.json"
        if path.is_file():
            reader = Reader(read_reply(path))
            anyio.run(ask_situation, situation, reader)
            refusals.setdefault(situation.decision, []).append(reader.refusal)
    for number, case in enumerate(BROWSED if not only or "browse" in only else ()):
        path = out / "browse" / f"{number:02}.reply.json"
        if path.is_file():
            reader = Reader(read_reply(path))
            _, note = anyio.run(ask_run, case, reader, kit["sites"].get(str(number), ""))
            refusals.setdefault("browse", []).append(reader.refusal)
            print(f"browse/{number:02}: {note}\n" if note else "", end="")
    for decision, lost in refusals.items():
        print(f"{decision:20} {lost.count(''):>2} of {len(lost)} accepted at first")
        print("".join(f"    {number:02}: {why}\n" for number, why in enumerate(lost) if why), end="")
    return int(any(len(lost) - lost.count("") > max(1, len(lost) // 10) for lost in refusals.values()))


def main() -> int:
    """Ask or judge."""
    parser = make_parser("prompts", __doc__)
    parser.add_argument("what", choices=("ask", "judge"))
    parser.add_argument("folders", type=Path, nargs="+", help="DATA OUT for ask, OUT for judge")
    parser.add_argument("--only", default="", help="decisions, with commas between them")
    given = parser.parse_args()
    only = frozenset(filter(None, given.only.split(",")))
    if given.what == "judge":
        return judge(given.folders[-1], only)
    if len(given.folders) != 2:
        parser.error("ask needs DATA and OUT")
    ask(given.folders[0], given.folders[1], only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
