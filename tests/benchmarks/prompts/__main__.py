"""Lets readers act as the model on the product's own prompts: `python -m tests.benchmarks.prompts ask DATA OUT`, then `… judge OUT`.

`ask` writes for each decision ten requests, word for word as the product sends them: OUT/DECISION/NN.request.md. A reader writes the input of the tool
beside each, as OUT/DECISION/NN.reply.json. `judge` makes each situation anew, lets the product take the reply, and says how many it took at first, and what it told the
others. DATA is a folder of recorded sessions, as the board of fidelity reads them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from ctxfold.errors import ModelUnavailable
from ctxfold.models import Reply, Request
from ctxfold.models.protocol import list_blocks
from tests.benchmarks.prompts.browsing import BROWSED, Browsed, browse
from tests.benchmarks.prompts.situations import Situation, situations

HOW = (
    "You are the model that gets this request. Decide, and write the input of the tool `{tool}` as one JSON object to `{reply}`. "
    "Nobody tells you more than what stands below."
)


@dataclass
class Reader:
    """A model whose one reply was written by a reader, and then is unavailable.

    Attributes:
        reply: what the reader wrote; None to learn what is asked.
        requests: what was asked.
    """

    reply: Reply | None = None
    requests: list[Request] = field(default_factory=list)
    name: str = "reader"

    async def decide(self, request: Request) -> Reply:
        """The reply, once."""
        self.requests.append(request)
        if self.reply is None or len(self.requests) > 1:
            raise ModelUnavailable("the reader answers once")
        return self.reply


def written(request: Request, reply: str) -> str:
    """A request as a reader sees it."""
    schema = json.dumps(request.tool.schema, ensure_ascii=False, indent=1)
    said = [
        f"## {message['role']}\n\n" + "\n".join(block.get("text", f"({block['type']})") for block in list_blocks(message))
        for message in request.messages
    ]
    parts = [HOW.format(tool=request.tool.name, reply=reply), f"## system\n\n{request.system}", *said]
    return "\n\n".join([*parts, f"## tool `{request.tool.name}`\n\n{request.tool.description}\n\n{schema}", ""])


def replied(path: Path, replace: Callable[[str], str] = str) -> Reply:
    """What a reader wrote."""
    text = replace(path.read_text(encoding="utf-8"))
    try:
        found = json.loads(text)
    except ValueError:
        return Reply({}, fault="- the reply is no JSON", words=text)
    return Reply(found) if isinstance(found, dict) else Reply({}, fault="- the reply is no JSON object", words=text)


async def asked_of(situation: Situation, reader: Reader) -> Any:
    """Let the product ask the reader; what came of it."""
    with situation.make() as session:
        return await situation.decide(reader, session)


async def asked_in_run(case: Browsed, reader: Reader, old: str = "") -> tuple[str, str]:
    """Let a run ask the reader; where the site was, and what became of the step. The site's old address in the reply is replaced."""
    there: list[str] = []

    def model(here: str) -> Reader:
        there.append(here)
        if reader.reply is not None and old:
            reader.reply = Reply(json.loads(json.dumps(dict(reader.reply.arguments)).replace(old, here)))
        return reader

    steps = await browse(case, model)
    taken = steps[len(case.plan) + (case.start is not None) :]
    return there[0], taken[0].note if taken else ""


def ask(data: Path, out: Path, only: frozenset[str]) -> None:
    """Write the requests down."""
    kit: dict[str, Any] = {"data": str(data), "sites": {}}
    about: dict[str, str] = {}
    for number, situation in numbered(data, only):
        reader = Reader()
        anyio.run(asked_of, situation, reader)
        note(out / situation.decision, number, reader.requests)
        about[f"{situation.decision}/{number:02}"] = situation.about
    for number, case in enumerate(BROWSED if not only or "browse" in only else ()):
        reader = Reader()
        kit["sites"][str(number)], _ = anyio.run(asked_in_run, case, reader)
        note(out / "browse", number, reader.requests)
        about[f"browse/{number:02}"] = case.task
    (out / "kit.json").write_text(json.dumps({**kit, "about": about}, indent=1), encoding="utf-8")


def numbered(data: Path, only: frozenset[str]) -> list[tuple[int, Situation]]:
    """The situations, each with its number within its decision."""
    count: dict[str, int] = {}
    found: list[tuple[int, Situation]] = []
    for situation in situations(data):
        number = count[situation.decision] = count.get(situation.decision, -1) + 1
        if not only or situation.decision in only:
            found.append((number, situation))
    return found


def note(folder: Path, number: int, requests: list[Request]) -> None:
    """Write one request; say where none was sent."""
    folder.mkdir(parents=True, exist_ok=True)
    if not requests:
        print(f"{folder.name}/{number:02}: nobody was asked", file=sys.stderr)
        return
    text = written(requests[0], f"{number:02}.reply.json")
    (folder / f"{number:02}.request.md").write_text(text, encoding="utf-8")


def judge(out: Path, only: frozenset[str]) -> int:
    """Let the product take each reply; print how many it took at first, and what it told the others. 0 where no decision lost more than one of ten."""
    kit = json.loads((out / "kit.json").read_text(encoding="utf-8"))
    verdicts: dict[str, list[str]] = {}
    for number, situation in numbered(Path(kit["data"]), only):
        path = out / situation.decision / f"{number:02}.reply.json"
        if path.is_file():
            reader = Reader(replied(path))
            anyio.run(asked_of, situation, reader)
            verdicts.setdefault(situation.decision, []).append(told(f"{number:02}", reader))
    for number, case in enumerate(BROWSED if not only or "browse" in only else ()):
        path = out / "browse" / f"{number:02}.reply.json"
        if path.is_file():
            reader = Reader(replied(path))
            _, done = anyio.run(asked_in_run, case, reader, kit["sites"].get(str(number), ""))
            refused = _second(reader)
            verdicts.setdefault("browse", []).append(f"{number:02}: {refused}" if refused else f"! {number:02} {done}" if done else "")  # fmt: skip
    for decision, said in verdicts.items():
        taken = sum(not each or each.startswith("!") for each in said)
        print(f"{decision:20} {taken:>2} of {len(said)} accepted at first")
        print("".join(f"    {each}\n" for each in said if each), end="")
    return int(any(sum(bool(each) and each[0] != "!" for each in said) > max(1, len(said) // 10) for said in verdicts.values()))  # fmt: skip


def told(name: str, reader: Reader) -> str:
    """What the product told the reader of a reply it did not take; empty where it took it."""
    refused = _second(reader) if reader.requests else "nobody was asked"
    return f"{name}: {refused}" if refused else ""


def _second(reader: Reader) -> str:
    """What was refused, as the second request says it; empty where there was none, or where it is the next step of a run."""
    if len(reader.requests) < 2:
        return ""
    last = list_blocks(reader.requests[1].messages[-1])[-1]["text"]
    return last.strip().replace("\n", "\n      ") if "was refused and nothing was done" in last else ""


def main() -> int:
    """Ask or judge."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("what", choices=("ask", "judge"))
    options.add_argument("folders", type=Path, nargs="+", help="DATA OUT for ask, OUT for judge")
    options.add_argument("--only", default="", help="decisions, with commas between them")
    given = options.parse_args()
    only = frozenset(filter(None, given.only.split(",")))
    if given.what == "judge":
        return judge(given.folders[-1], only)
    if len(given.folders) != 2:
        options.error("ask needs DATA and OUT")
    ask(given.folders[0], given.folders[1], only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
