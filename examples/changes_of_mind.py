"""Three changes of mind, and at the end what is still to be done is what the user wants now; what they forbade holds on every branch.

python examples/changes_of_mind.py
"""

from ctxfold import Session


def main() -> None:
    """Ask, change, cancel, come back, finish."""
    with Session.open("weekend", goal="Plan a weekend in Lyon", store=":memory:") as session:
        for said in (
            "Find a flight to Lyon on May 12 and book a hotel for 2 nights. No more than 400 EUR in total.",
            "Actually, make it 3 nights.",
            "On second thought, cancel the hotel, I'll stay with friends. Please rent a car as well.",
            "Never mind the car. Go back to the hotel after all.",
        ):
            session.record_turn(user=said)
            session.plan()
            session.record_reply("Noted.")

        flights = "\n".join(f"AF{n} leaves {6 + n % 12:02}:10, {90 + n} EUR" for n in range(100, 160))
        found = session.record_step(
            explanation="Looking up flights.",
            calls=[{"name": "search_flights", "args": {"to": "Lyon", "date": "May 12"}, "id": "c1"}],
            results=[{"id": "c1", "text": flights}],
        ).step
        intent = session.plan()
        for item in intent.items:
            print(f"{item.id} {item.state:<7} {item.text}  {' '.join(item.evidence)}")

        assert [item.text for item in intent.open] == ["book a hotel for 2 nights. → Actually, make it 3 nights."]
        assert [item.state for item in intent.items] == ["done", "open", "dropped"]
        assert intent.items[0].evidence == (f"s{found}.2", f"s{found}.3"), "a call that succeeded closed it"

        made = session.extract(selections=[{"ref": f"s{found}:7-8", "why": "cheapest after noon"}])
        print(f"\n{session.view(1000).text}")
        assert made.extracts[0].text == session.recall(made.extracts[0].ref).text, "byte for byte"

        session.branch("new_topic", to="dinner")
        assert "No more than 400 EUR" in session.view(1000).text, "what binds, binds on every branch"


if __name__ == "__main__":
    main()
