"""The register: what is to be done, what holds and what was decided are values that somebody writes, supersedes and closes.

python examples/changes_of_mind.py
"""

from ctxfold import Session


def main() -> None:
    """Write a plan, change a bound, close an item, and read the register on another branch."""
    with Session.open("weekend", goal="Plan a weekend in Lyon", store=":memory:") as session:
        session.record_turn(user="Find a flight to Lyon on May 12 and book a hotel. No more than 400 EUR in total.")
        plan = session.plan()
        assert [*plan.items, *plan.constraints] == [], "nothing is guessed from words"
        session.plan(
            todo=["Find a flight to Lyon on May 12", "book a hotel"], constraints=["No more than 400 EUR in total"]
        )
        session.record_reply("Noted.")

        asked = session.record_turn(user="Actually, up to 500 EUR. And no hotel, I'll stay with friends.")
        session.plan(
            todo=[{"id": "t2", "state": "dropped", "evidence": [str(asked)]}],
            constraints=[{"id": "c1", "text": "No more than 500 EUR in total", "ref": str(asked)}],
            decisions=["stay with friends"],
        )
        flights = "\n".join(f"AF{n} leaves {6 + n % 12:02}:10, {90 + n} EUR" for n in range(100, 160))
        found = session.record_step(
            explanation="Looking up flights.",
            calls=[{"name": "search_flights", "args": {"to": "Lyon", "date": "May 12"}, "id": "c1"}],
            results=[{"id": "c1", "text": flights}],
        ).step
        session.plan(todo=[{"id": "t1", "state": "done", "evidence": [f"s{found}"]}])

        made = session.extract(selections=[{"ref": f"s{found}:7-8", "why": "cheapest after noon"}])
        print(session.view(1000).text)
        assert made.extracts[0].text == session.recall(made.extracts[0].ref).text, "byte for byte"
        assert [item.state for item in session.intent.items] == ["done", "dropped"]
        assert [each.text for each in session.intent.binding] == ["No more than 500 EUR in total"]

        session.branch("new_topic", to="dinner")
        assert "No more than 500 EUR" in session.view(1000).text, "what binds, binds on every branch"


if __name__ == "__main__":
    main()
