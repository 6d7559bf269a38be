"""Dialogues that wander, replayed: where each message is attached, what its view costs, and whether what it needs stands in it.

    python -m tests.benchmarks.forest [--held] [--budget 2000] [--show] [--each]

It prints, for each set of dialogues: attach accuracy (each message against its label, the decisions before it as they fell, and once more with each wrong one
set right), moves found, false moves, mean view tokens by length, numbers of the user present, and turns a return needs that stand in the view, against the
newest text at the same tokens.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field, replace
from typing import get_args

from ctxfold import Session
from ctxfold.tokens import count
from tests.benchmarks.forest.dialogues import Dialogue, Manner, Set, Turn, dialogues, numbers, reply

REPLY = 900


@dataclass
class Tally:
    """What was counted."""

    turns: int = 0
    attached: int = 0
    moves: int = 0
    found: int = 0
    false: int = 0
    tokens: dict[int, list[float]] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=lambda: [0, 0])
    needed: list[int] = field(default_factory=lambda: [0, 0, 0])
    wrong: list[str] = field(default_factory=list)

    def since(self, before: Tally) -> Tally:
        """What was counted since an earlier count."""
        return Tally(
            self.turns - before.turns,
            self.attached - before.attached,
            self.moves - before.moves,
            self.found - before.found,
            self.false - before.false,
        )

    def line(self, name: str) -> str:
        """The tally in one line."""
        stays = self.turns - self.moves
        return (
            f"{name:<24} turns {self.turns:>3}  attach {self.attached / self.turns:.2f}  moves found {self.found}/{self.moves} = {self.found / max(1, self.moves):.2f}"
            f"  false {self.false}/{self.turns} = {self.false / self.turns:.3f} (of {stays} that go on)"
        )


def replay(dialogue: Dialogue, tally: Tally, *, right: bool, budget: int, manner: Manner, views: bool) -> None:
    """Replay one dialogue; with `right`, each wrong move is set right before the message is recorded."""
    with Session.open("bench", store=":memory:") as session:
        homes: dict[str, str] = {}
        said: list[str] = []
        spent: list[int] = []
        for at, turn in enumerate(dialogue.turns):
            move = session.branch("auto", query=turn.words)
            where = homes.get(turn.label)
            new = turn.event in ("fork", "new_topic") or not homes
            ok = move.branch not in homes.values() if new else move.branch == where
            if new and turn.event != "continue":
                ok = ok and move.action == ("create" if turn.event == "fork" else "new_topic")
            _count(
                tally,
                turn,
                move.action != "continue",
                ok,
                f"{dialogue.name} {at + 1}: {turn.event} {turn.label}, was {move.action} {move.branch} ({move.confidence} {move.reason}): {turn.words[:90]}",
            )
            if right and not ok:
                _set_right(session, move.action, turn, homes, dialogue.turns, at)
            homes.setdefault(turn.label, session.branch_name)
            session.record_turn(user=turn.words)
            if views:
                _look(session, dialogue, at, said, spent, budget, tally)
            answer = reply(turn, at, REPLY, manner)
            session.record_reply(answer)
            said += [turn.words, answer]
            session.consolidate(budget)
        for length in (10, 15, 20, 25):
            if len(spent) >= length:
                tally.tokens.setdefault(length, []).append(sum(spent[:length]) / length)


def _count(tally: Tally, turn: Turn, moved: bool, ok: bool, what: str) -> None:
    tally.turns += 1
    tally.attached += ok
    tally.moves += turn.event != "continue"
    tally.found += turn.event != "continue" and moved
    tally.false += turn.event == "continue" and moved
    if not ok:
        tally.wrong.append(what)


def _set_right(
    session: Session, action: str, turn: Turn, homes: dict[str, str], turns: tuple[Turn, ...], at: int
) -> None:
    """Undo the move, and make the one the label names."""
    if action != "continue":
        session.undo()
    if turn.label in homes:
        session.branch("switch", to=homes[turn.label])
    elif turn.event == "fork":
        if any(label.partition(":")[0] == turn.topic for label in homes):
            session.branch(
                "switch",
                to=homes.get(turn.topic) or next(home for label, home in homes.items() if label.startswith(turn.topic)),
            )
        session.branch("create")
    elif turn.event == "new_topic":
        session.branch("new_topic")


def _look(
    session: Session, dialogue: Dialogue, at: int, said: list[str], spent: list[int], budget: int, tally: Tally
) -> None:
    view = session.view(budget)
    spent.append(view.tokens)
    for earlier in dialogue.turns[: at + 1]:
        for number in numbers(earlier.words):
            tally.numbers[0] += 1
            tally.numbers[1] += number in view.text
    needs = [n for n in dialogue.turns[at].needs if n < at - 2]
    recent = _recent(said, view.tokens)
    for n in needs:
        tally.needed[0] += 1
        tally.needed[1] += dialogue.turns[n].words in view.text
        tally.needed[2] += dialogue.turns[n].words in recent


def _recent(said: list[str], tokens: int) -> str:
    """The newest text that costs as many tokens."""
    kept: list[str] = []
    left = tokens
    for text in reversed(said):
        left -= count(text)
        if left < 0:
            break
        kept.append(text)
    return "\n".join(reversed(kept))


def main() -> int:
    """Replay the sets and report."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--held", action="store_true", help="the dialogues held out, too")
    options.add_argument("--budget", type=int, default=2_000)
    options.add_argument("--show", action="store_true", help="each message that was attached wrongly")
    options.add_argument(
        "--right", action="store_true", help="with --show: of the run in which wrong moves are set right"
    )
    options.add_argument("--manner", choices=get_args(Manner), default="echo")
    options.add_argument("--no-views", action="store_true")
    options.add_argument("--each", action="store_true", help="a line for each dialogue")
    options.add_argument("--set", action="append", choices=get_args(Set), help="these sets alone")
    chosen = options.parse_args()
    worst = 0
    held: tuple[Set, ...] = ("held", "fresh-check", "terse-check", "scripted-check")
    sets: tuple[Set, ...] = ("work", "other", "fresh", "terse", "scripted", *(held if chosen.held else ()))
    for which in chosen.set or sets:
        for right in (False, True):
            tally = Tally()
            for dialogue in dialogues(which):
                before = replace(tally)
                replay(
                    dialogue,
                    tally,
                    right=right,
                    budget=chosen.budget,
                    manner=chosen.manner,
                    views=not right and not chosen.no_views,
                )
                if chosen.each and not right:
                    print(f"  {tally.since(before).line(dialogue.name)}")
            print(tally.line(f"{which}{', set right' if right else ''}"))
            if chosen.show and right == chosen.right:
                print("  " + "\n  ".join(tally.wrong))
            if tally.needed[0]:
                all_, stand, recent = tally.needed
                means = "  ".join(f"{length}: {sum(found) / len(found):.0f}" for length, found in tally.tokens.items())
                print(
                    f"  view tokens at {means}; numbers present {tally.numbers[1]}/{tally.numbers[0]}; needed turns present {stand}/{all_} = {stand / all_:.2f}, by recency {recent / all_:.2f}"
                )
                worst = max(worst, int(tally.numbers[0] != tally.numbers[1]))
    return worst


if __name__ == "__main__":
    sys.exit(main())
