"""Random moves on a forest beside a plain model of it: what must hold of every forest, whatever moved it."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from ctxfold import Session
from ctxfold.errors import BranchError, UndoError
from tests.support.sessions import WIDE, path, stable, steps_addressed

WORDS = [
    "We want 6 days in Kyoto for 4200 euros.", "What if we stayed in Osaka instead?", "Back to Kyoto: which temple?", "By the way, our service leaks 50 MB an hour.",
    "The heap again: which snapshot?", "Alternatively, only 3 days?", "And the train?", "I prefer the first option.", "换个话题，我想学钢琴。", "回到京都的行程。",
    "Give me the final plan for everything.", "ok", "Let's go back to the other one.", "Make it 7.", "Another thing: taxes are due on 31 May.",
]  # fmt: skip


def wander(seed: int, moves: int = 14, store: str = ":memory:") -> Counter[str]:
    """One session, `moves` random moves and recordings; every invariant after each. Returns which moves were made."""
    chance = random.Random(seed)
    done: Counter[str] = Counter()
    parents: dict[int, int] = {}
    shown: dict[tuple[object, ...], str] = {}
    with Session.open("walk", store=store) as session:
        for _ in range(moves):
            done[_one(session, chance, parents)] += 1
            _check(session, parents, shown)
        _check_way_back(session)
        _check_branches(session, parents)
    return done


def _one(session: Session, chance: random.Random, parents: dict[int, int]) -> str:
    """One recording or move."""
    names = [branch.name for topic in session.tree() for branch in topic.branches]
    kind = chance.choices(
        ("say", "auto", "create", "switch", "new_topic", "rename", "continue", "undo", "redo", "fold"),
        (8, 6, 3, 4, 2, 1, 1, 2, 1, 1),
    )[0]
    match kind:
        case "say":
            _say(session, chance, parents)
        case "auto":
            session.branch("auto", query=chance.choice(WORDS))
            _say(session, chance, parents)
        case "create":
            try:
                session.branch("create", at=chance.choice([None, *parents]))
            except BranchError:
                assert not parents
        case "switch":
            session.branch("switch", to=chance.choice(names))
        case "rename":
            name = f"name-{chance.randint(1, 10**9)}"
            assert session.branch("rename", to=name).branch == name == session.branch_name
        case "new_topic" | "continue":
            session.branch("new_topic" if kind == "new_topic" else "continue")
        case "undo" | "redo":
            try:
                _ = session.undo() if kind == "undo" else session.redo()
            except UndoError:
                return f"no {kind}"
            except BranchError:  # an old name that another branch was given meanwhile
                return f"{kind} refused"
        case _:
            if len(path(session)) > 1:
                session.consolidate(256)
    return kind


def _say(session: Session, chance: random.Random, parents: dict[int, int]) -> None:
    before = session.tip
    step = session.record_turn(user=f"{chance.choice(WORDS)} ({chance.randint(100, 999)})").step
    assert session.record_reply(f"That makes {chance.randint(100, 999)}. " * chance.randint(1, 9)).step == step
    assert step not in parents
    parents[step] = before


def _check(session: Session, parents: dict[int, int], shown: dict[tuple[object, ...], str]) -> None:
    """The path is the chain of parents to the tip, each older than its child; the view is the same for the same forest, and on one path only grows."""
    steps = path(session)
    assert (steps[-1] if steps else 0) == session.tip
    for parent, step in zip([0, *steps], steps, strict=False):
        assert parents[step] == parent < step, f"s{step} follows s{parent}, was recorded after s{parents[step]}"
    forest = tuple((topic.name, branch.name, branch.tip) for topic in session.tree() for branch in topic.branches)
    settled = session.view(WIDE).text
    key = (session.branch_name, forest, stable(session))
    assert shown.setdefault(key, settled) == settled, "one path in one forest, two views"
    for budget in (256, 700):
        view = session.view(budget)
        assert view.tokens <= budget
        assert not set(steps) - steps_addressed(view.text)


def _check_way_back(session: Session) -> None:
    """Each undo is redone, moves to other branches and what was decided on them included: the same view at every stop."""
    stops = [(session.branch_name, session.view(WIDE).text)]
    while len(stops) < 9:
        try:
            session.undo()
        except (UndoError, BranchError):
            break
        stops.append((session.branch_name, session.view(WIDE).text))
    for stop in reversed(stops[:-1]):
        session.redo()
        assert (session.branch_name, session.view(WIDE).text) == stop
    assert all(event.holds for event in session.history(limit=len(stops)) if event.kind != "voided")


def _check_branches(session: Session, parents: dict[int, int]) -> None:
    """Seen from any branch, every step of the session stands in the view exactly once: on the path or on one other branch. Every tip is a step or none."""
    topics = session.tree()
    for branch in [branch.name for topic in topics for branch in topic.branches]:
        session.branch("switch", to=branch)
        steps = path(session)
        others = [step for each in session.workspace.elsewhere.branches for turn in each.turns for step in turn.steps]
        assert len(others) == len(set(others)), "a step stands on two branches"
        assert not set(others) & set(steps), "a step of the path stands elsewhere too"
        assert set(others) | set(steps) == set(parents), "a step stands nowhere"
    for each in (branch for topic in topics for branch in topic.branches):
        assert each.tip in (0, *parents)
        assert each.forked_at in (0, *parents)


def in_files(seed: int, folder: Path) -> Counter[str]:
    """The same in a file."""
    return wander(seed, store=str(folder / f"{seed}.db"))
