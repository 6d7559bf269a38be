"""Whether what the user stated is in the view at every later turn: replays of recordings, by what stands in their words, and of made-up dialogues, by what was planted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ctxfold import Session
from tests.benchmarks.fidelity.policies import Replayed
from tests.benchmarks.fidelity.recordings import Recording
from tests.benchmarks.intent.dialogues import Dialogue

__all__ = ["Kept", "replayed", "said", "stated"]

_NUMBER = re.compile(r"[$€£¥#]?\d[\d.,:/-]*\d%?|[$€£¥#]?\d%?")
_JOINED = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+|\b\w*\d\w*(?:[-_/]\w+)*\b|\b[A-Za-z]+_\w+\b")
_MONTH = re.compile(r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)(?: \d{1,2}(?:st|nd|rd|th)?)?\b")  # fmt: skip
_DAY = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")


@dataclass
class Kept:
    """Looks for stated values in later views: how many, how many found, how many views were over their budget; sums while it is filled."""

    views: int = 0
    wanted: int = 0
    found: int = 0
    over: int = 0
    tokens: int = 0
    lost: list[str] = field(default_factory=list)

    def look(self, text: str, tokens: int, budget: int, values: Iterable[str], place: str) -> None:
        """Look for values in one view."""
        self.views += 1
        self.tokens += tokens
        self.over += tokens > budget
        lowered = text.lower()
        for value in values:
            self.wanted += 1
            if value.lower() in lowered:
                self.found += 1
            elif len(self.lost) < 40:
                self.lost.append(f"{value!r} {place}")

    @property
    def share(self) -> float:
        """Share of the values found."""
        return self.found / max(1, self.wanted)

    @property
    def mean_tokens(self) -> float:
        """Tokens of a view."""
        return self.tokens / max(1, self.views)


def stated(text: str) -> list[str]:
    """Numbers, dates, names, ids and addresses in a user's words, found by patterns that the product does not use."""
    found = [match[0] for each in (_JOINED, _NUMBER, _MONTH, _DAY, _NAME) for match in each.finditer(text)]
    return list(dict.fromkeys(value.rstrip(".,:/-") for value in found if value.rstrip(".,:/-")))


def said(recordings: Sequence[Recording], budget: int, kept: Kept) -> None:
    """Replay recordings; before each assistant message, look for all that the user stated until then."""
    for recording in recordings:
        replay = Replayed(budget, attends=True)
        values: dict[str, None] = {}
        for at, event in enumerate(recording.events):
            if event.role == "assistant" and values:
                text = replay.view()
                kept.look(text, replay.tokens, budget, values, f"{recording.id}, event {at}")
            replay.add(event)
            if event.role == "user":
                values.update(dict.fromkeys(stated(event.text)))
        replay.close()


def replayed(dialogues: Iterable[Dialogue], budget: int, kept: Kept, tell: Callable[[Session], None]) -> None:
    """Replay dialogues as a driver would; after each turn, look for all that was planted until then.

    Args:
        dialogues: what is replayed.
        budget: tokens of the views.
        kept: where it is added up.
        tell: shown each session at its end.
    """
    for number, each in enumerate(dialogues):
        with Session.open("dialogue", store=":memory:") as session:
            values: dict[str, None] = {}
            for at, turn in enumerate(each.turns):
                session.record_turn(user=turn.text)
                values.update(dict.fromkeys(turn.values))
                _drive(session, budget, kept, values, f"{each.language} {number}, turn {at}")
                if turn.result:
                    calls = [{"name": "search", "args": {"turn": at}, "id": "c1"}]
                    session.record_step(calls=calls, results=[{"id": "c1", "text": turn.result}])
                    _drive(session, budget, kept, values, f"{each.language} {number}, turn {at}, after its result")
                session.record_reply("Here is what I have so far. " + "There is nothing more to say about it. " * 8)
                session.consolidate(budget)
                session.maintain(budget)
            tell(session)


def _drive(session: Session, budget: int, kept: Kept, values: Iterable[str], place: str) -> None:
    session.consolidate(budget)
    session.maintain(budget)
    view = session.view(budget)
    kept.look(view.text, view.tokens, budget, values, place)
