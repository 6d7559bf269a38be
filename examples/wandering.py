"""A conversation that wanders: an alternative, another topic, a return. Whoever drives says where each message goes; the view loses nothing.

python examples/wandering.py
"""

from textwrap import fill
from typing import Any

from ctxfold import Session

DIALOGUE: list[tuple[str, dict[str, Any]]] = [
    ("Six days in Kyoto with two kids, at most 4200 euros.", {"action": "continue"}),
    ("Which neighbourhood is quiet at night?", {"action": "continue"}),
    ("What if we stayed in Osaka instead and took the train?", {"action": "create", "to": "osaka"}),
    ("Our Node service leaks 50 MB of heap an hour since release 4.2.", {"action": "new_topic", "to": "leak"}),
    ("Back to Osaka: which station should we stay near?", {"action": "switch", "to": "osaka"}),
    ("Give me the final plan, with everything we discussed.", {"action": "continue"}),
]

STEPS = [f"step {n}: compare what we have, and keep what fits the price and the days" for n in range(1, 4)]


def main() -> None:
    """Say each line where it belongs, see which branches it is like, and read the view at the end."""
    with Session.open("wandering", store=":memory:") as session:
        for words, where in DIALOGUE:
            stayed = session.branch("auto", query=words)
            assert stayed.action == "continue", "a message moves nothing by itself"
            like = ", ".join(f"{each.name} {each.score:.2f}" for each in stayed.ranked)
            move = session.branch(**where)
            print(f"{move.action:<9} {move.branch:<6} {words}\n{'':<16} like: {like or 'nothing yet'}")
            session.record_turn(user=words)
            session.record_reply("\n".join(["Noted. Here is what I would do:", *(f"- {step}" for step in STEPS)]))
        view = session.view(budget=2000)
        print("\n" + "\n".join(fill(line, 100, subsequent_indent="  ") for line in view.text.splitlines()))
        print(f"\n{view.tokens} tokens in view, {len(session.tree())} topics.")
        assert all(view.text.count(words) == 1 for words, _ in DIALOGUE), "every word of the user, each once"


if __name__ == "__main__":
    main()
