"""Fuzzed requests for extraction against a log of many kinds of text, and what came of them: for the test suite, and at length for the benchmark."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from types import TracebackType

from ctxfold import Session
from ctxfold.errors import InputError

STEPS = 24


class Log:
    """A session in memory with texts and structures whose lines are awkward: empty, long, in other scripts, with odd ends."""

    def __init__(self) -> None:
        self.session = Session.open("fuzz", store=":memory:")
        chance = random.Random(3)
        for n in range(1, STEPS + 1):
            self.session.record_step(
                explanation=f"Step {n}.",
                calls=[{"name": "tool", "args": {"n": n, "text": "α\nβ" * chance.randint(0, 3)}, "id": "c"}],
                results=[{"id": "c", "text": _text(chance, n)}],
            )
        self.session.record_turn(user="Find lantern 7. 请找灯笼。")
        self.session.plan(todo=["Find lantern 7."])

    def __enter__(self) -> Session:
        return self.session

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.session.close()


def _text(chance: random.Random, n: int) -> str:
    words = [
        "lantern",
        "灯笼",
        "",
        " ",
        "\t",
        "naïve",
        "🙂",
        "<|endoftext|>",
        "s1.2:1-2>>",
        "7",
        "\r",
        "x" * 300,
        "\u2028",
    ]
    lines = [" ".join(chance.choice(words) for _ in range(chance.randint(0, 8))) for _ in range(chance.randint(1, 40))]
    match n % 4:
        case 0:
            return json.dumps(
                [{"id": f"K{at}", "text": line, "n": at} for at, line in enumerate(lines)], ensure_ascii=False
            )
        case 1:
            return "\r\n".join(lines)
        case _:
            return "\n".join(lines)


@dataclass
class Made:
    """How many ranges came out, how many were not what the log holds, and how many refusals changed anything."""

    requests: int = 0
    ranges: int = 0
    wrong: int = 0
    refused: int = 0
    changed_by_refusal: int = 0


def fuzz(session: Session, requests: int, seed: int) -> Made:
    """Make random requests, half of them nonsense somewhere, and compare every extract with the log."""
    chance = random.Random(seed)
    made = Made()
    for _ in range(requests):
        made.requests += 1
        before = (session.intent, len(session.history(1)) and session.history(1)[0].seq)
        try:
            extracts = session.extract(
                selections=[{"ref": _ref(chance), "facts": ["7", "absent"]} for _ in range(chance.randint(1, 4))],
                budget=chance.choice([16, 40, 200, 400, 4_000]),
            ).extracts
        except InputError:
            made.refused += 1
            after = (session.intent, len(session.history(1)) and session.history(1)[0].seq)
            made.changed_by_refusal += before != after
            continue
        for each in extracts:
            made.ranges += 1
            exact = each.text == session.recall(each.ref).text
            made.wrong += not exact or any(fact not in each.text for fact in each.facts)
    return made


def _ref(chance: random.Random) -> str:
    step = chance.choice([chance.randint(1, STEPS), chance.randint(1, STEPS), chance.randint(0, 60)])
    record = chance.choice(["", ".1", ".2", ".3", ".3", f".{chance.randint(0, 9)}"])
    first, last = (chance.choice([chance.randint(1, 30), chance.randint(0, 400)]) for _ in range(2))
    lines = chance.choice(
        [
            "",
            f":{first}",
            f":{first}-{last}",
            f":{first}-{last}",
            f":{min(first, last)}-{max(first, last)}",
            ":-1",
            ":a",
        ]
    )
    return f"s{step}{record}{lines}"
