"""A conversation that wanders: an alternative, another topic, a return. Each message finds its place, and the view loses nothing.

python examples/wandering.py
"""

from ctxfold import Session

DIALOGUE = [
    ("Six days in Kyoto with two kids, at most 4200 euros.", "continue"),
    ("Which neighbourhood is quiet at night?", "continue"),
    ("What if we stayed in Osaka instead and took the train?", "create"),
    ("By the way, our Node service leaks 50 MB of heap an hour since release 4.2.", "new_topic"),
    ("Back to Osaka: which station should we stay near?", "switch"),
    ("I think the first plan is better after all.", "switch"),
    ("Give me the final plan, with everything we discussed.", "continue"),
]


def main() -> None:
    """Say each line, look where it went, and read the view at the end."""
    with Session.open("wandering", store=":memory:") as session:
        for words, expected in DIALOGUE:
            move = session.branch("auto", query=words)
            print(f"{move.action:<9} {move.branch:<28} {words}")
            assert move.action == expected, move
            session.record_turn(user=words)
            session.record_reply("Noted: " + "here is what I would do. " * 40)
        view = session.view(budget=2000)
        print(f"\n{view.text}\n\n{view.tokens} tokens in view, {len(session.tree())} topics.")
        assert all(view.text.count(words) == 1 for words, _ in DIALOGUE), "every word of the user, each once"


if __name__ == "__main__":
    main()
