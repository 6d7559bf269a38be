"""A forest of turns in memory, grown by labels or by choices: what the embedded decider sees, without a session. For fitting and for quick replays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ctxfold.workspace.forest import Choice, Elsewhere, Grove, Limb
from ctxfold.workspace.forest import Turn as Node
from tests.benchmarks.forest.dialogues import Dialogue, Manner, Turn, reply

Decider = Callable[[Grove, str], Choice]
"""Where a message belongs, by somebody's judgement."""


@dataclass
class Wood:
    """Branches as paths of turns, with where one stands."""

    paths: dict[str, list[Node]] = field(default_factory=lambda: {"main": []})
    topics: dict[str, str] = field(default_factory=lambda: {"main": "main"})
    visited: dict[str, int] = field(default_factory=lambda: {"main": 0})
    here: str = "main"

    def grove(self) -> Grove:
        """What a decider is shown."""
        path, topic = self.paths[self.here], self.topics[self.here]
        held = {node.steps[0] for name, nodes in self.paths.items() if name != self.here for node in nodes}
        shared = sum(node.steps[0] in held for node in path)
        seen = {node.steps[0] for node in path}
        limbs = []
        for name in sorted(self.paths, key=lambda name: self.topics[name] != topic):
            if name != self.here:
                own = tuple(node for node in self.paths[name] if node.steps[0] not in seen)
                seen |= {node.steps[0] for node in own}
                limbs.append(Limb(name, self.topics[name], 0, own, visited=self.visited[name]))
        names = tuple(name for name in self.paths if self.topics[name] == topic)
        last = {
            each: max((name for name in self.paths if self.topics[name] == each), key=lambda name: self.visited[name])
            for each in dict.fromkeys(self.topics.values())
        }
        return Grove(tuple(path), shared, Elsewhere(self.here, topic, tuple(limbs)), names, tuple(last.items()))

    def go(self, choice: Choice) -> None:
        """Make a move."""
        name = f"b{len(self.paths) + 1}"
        match choice.action:
            case "switch":
                self.here = choice.to or self.here
            case "create":
                path = self.paths[self.here]
                cut = next((at + 1 for at, node in enumerate(path) if node.steps[-1] == choice.at), len(path))
                self.paths[name], self.topics[name] = path[:cut], self.topics[self.here]
                self.here = name
            case "new_topic":
                self.paths[name], self.topics[name] = [], name
                self.here = name
            case _:
                pass

    def say(self, at: int, turn: Turn, manner: Manner, tokens: int = 900) -> None:
        """Record a turn where one stands."""
        self.paths[self.here].append(
            Node((at + 1,), turn.words, f"s{at + 1}.1", reply(turn, at, tokens, manner)[:4_000])
        )
        self.visited[self.here] = at + 1


def told(dialogue: Dialogue, manner: Manner) -> Iterator[tuple[Wood, Turn, Choice]]:
    """Each message of a dialogue with the forest as the labels grew it, and the move the label names."""
    wood, homes = Wood(), dict[str, str]()
    for at, turn in enumerate(dialogue.turns):
        right = right_move(wood, homes, turn)
        yield wood, turn, right
        if turn.event == "fork" and wood.topics[wood.here] != (base := _base(wood, homes, turn)):
            wood.here = next(name for name in wood.paths if wood.topics[name] == base)
        wood.go(right)
        homes.setdefault(turn.label, wood.here)
        wood.say(at, turn, manner)


def grown(dialogue: Dialogue, manner: Manner, decide: Decider) -> Iterator[tuple[Wood, Turn, Choice]]:
    """Each message of a dialogue with the forest as a decider grew it, and the move that leads where its label's first message was put."""
    wood, homes = Wood(), dict[str, str]()
    for at, turn in enumerate(dialogue.turns):
        right = right_move(wood, homes, turn)
        yield wood, turn, right
        wood.go(decide(wood.grove(), turn.words))
        homes.setdefault(turn.label, wood.here)
        wood.say(at, turn, manner)


def _base(wood: Wood, homes: dict[str, str], turn: Turn) -> str:
    kin = [home for label, home in homes.items() if label.partition(":")[0] == turn.topic]
    return wood.topics[kin[0]] if kin else wood.topics[wood.here]


def right_move(wood: Wood, homes: dict[str, str], turn: Turn) -> Choice:
    """The move a label names."""
    if not homes or homes.get(turn.label) == wood.here:
        return Choice("continue")
    if turn.label in homes:
        return Choice("switch", to=homes[turn.label])
    if turn.event == "fork":
        path = wood.paths[wood.here]
        return Choice("create", at=path[min(turn.after, len(path)) - 1].steps[-1] if turn.after else None)
    return Choice("new_topic")
