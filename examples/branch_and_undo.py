"""A fold taken back, and a second idea tried on a branch of its own, with nothing copied and nothing lost.

python examples/branch_and_undo.py
"""

from ctxfold import Session


def main() -> None:
    """Fold, undo, branch, go back."""
    with Session.open("trip", goal="Plan two days in Lyon", store=":memory:") as session:
        session.record_turn(user="Two days in Lyon, by train, in May.")
        trains = session.record_step(
            explanation="Looking up trains.",
            calls=[{"name": "trains", "args": {"to": "Lyon"}, "id": "c1"}],
            results=[{"id": "c1", "text": "07:58 to 10:02, 49 EUR\n" * 40}],
        ).step
        before = session.view().text

        tile = session.fold(summary="The 07:58 train costs 49 EUR.", first_step=trains, last_step=trains)
        folded = session.view()
        print(folded.text)
        assert tile.summary in folded.text

        session.undo()
        assert session.view().text == before, "an undo restores what stood before"
        session.redo()
        assert session.view().text == folded.text

        session.branch("create", at=trains, to="by-car")
        session.record_reply("By car it takes five hours.")
        by_car = session.view().text
        session.branch("switch", to="main")
        session.record_reply("The train it is.")

        print("\non the branch:", by_car.splitlines()[-1])
        print("on main:\n" + session.view().text)
        assert "The train it is." in session.view().text
        assert "five hours" in session.view().text, "what was said on the other branch stands in brief"
        assert "49 EUR" in session.recall(f"s{trains}").text


if __name__ == "__main__":
    main()
