"""Changes of mind written down by whoever understands them: each item of the to-do changes by its id, with the words that show it.

python examples/changes_of_mind.py
"""

from ctxfold import Session


def main() -> None:
    """Ask, change, cancel, finish, and put the lines that matter in the view."""
    with Session.open("weekend", goal="Plan a weekend in Lyon", store=":memory:") as session:
        session.record_turn(user="Find a flight to Lyon on May 12, book a hotel for 2 nights and rent a car.")
        intent = session.plan(todo=[{"text": "Find a flight"}, {"text": "Hotel, 2 nights"}, {"text": "Rent a car"}])
        flight, hotel, car = (item.id for item in intent.open)
        session.record_reply("Noted.")

        changed = session.record_turn(user="Make it 3 nights. Never mind the car.")
        session.plan(
            todo=[
                {"id": hotel, "state": "dropped", "evidence": str(changed)},
                {"id": car, "state": "dropped", "evidence": str(changed)},
                {"text": "Hotel, 3 nights"},
            ]
        )
        session.record_reply("Changed.")

        flights = "\n".join(f"AF{n} leaves {6 + n % 12:02}:10, {90 + n} EUR" for n in range(100, 160))
        found = session.record_step(
            explanation="Looking up flights.",
            calls=[{"name": "search_flights", "args": {"to": "Lyon", "date": "May 12"}, "id": "c1"}],
            results=[{"id": "c1", "text": flights}],
        )
        intent = session.plan(todo=[{"id": flight, "state": "done", "evidence": f"{found}.2"}])
        for item in intent.items:
            print(f"{item.id} {item.state:<7} {item.text}  {' '.join(item.evidence)}")
        assert [item.text for item in intent.open] == ["Hotel, 3 nights"]
        assert [item.state for item in intent.items][:3] == ["done", "dropped", "dropped"]

        made = session.extract(selections=[{"ref": f"{found}:7-8", "why": "cheapest after noon"}])
        print(f"\n{session.view(1000).text}")
        assert made.extracts[0].text == session.recall(made.extracts[0].ref).text, "byte for byte"


if __name__ == "__main__":
    main()
