"""A conversation that wanders: an alternative, another topic, a return. Whoever understands a message says where it belongs; the view loses nothing.

python examples/wandering.py
"""

from typing import Literal

from ctxfold import Session

Action = Literal["continue", "create", "new_topic", "switch"]

DIALOGUE: list[tuple[str, Action, str | None]] = [
    ("Six days in Kyoto with two kids, at most 4200 euros.", "continue", None),
    ("Which neighbourhood is quiet at night?", "continue", None),
    ("What if we stayed in Osaka instead and took the train?", "create", "osaka"),
    ("By the way, our Node service leaks 50 MB of heap an hour since release 4.2.", "new_topic", "heap-leak"),
    ("Back to Osaka: which station should we stay near?", "switch", "osaka"),
    ("I think the first plan is better after all.", "switch", "main"),
    ("Give me the final plan, with everything we discussed.", "continue", None),
]


def main() -> None:
    """Say each line where it belongs, and read the view at the end."""
    with Session.open("wandering", store=":memory:") as session:
        for words, action, branch in DIALOGUE:
            move = session.branch(action, to=branch)
            print(f"{move.action:<9} {move.branch:<10} {words}")
            assert branch in (None, move.branch), move
            session.record_turn(user=words)
            session.record_reply("Noted: " + "here is what I would do. " * 40)
        view = session.view(budget=2000)
        print(f"\n{view.text}\n\n{view.tokens} tokens in view, {len(session.tree())} topics.")
        assert all(view.text.count(words) == 1 for words, _, _ in DIALOGUE), "every word of the user, each once"


if __name__ == "__main__":
    main()
