"""A session of forty steps in a view of 1,000 tokens, and the exact bytes of a result that the view no longer shows.

python examples/fold_and_recall.py
"""

from ctxfold import Session


def price_list(page: int) -> str:
    """What a shop's search returned for one page: thirty rows, as JSON."""
    rows = ", ".join(f'{{"item": "lamp {page}-{row}", "price": {page * 10 + row}}}' for row in range(30))
    return f'{{"page": {page}, "rows": [{rows}]}}'


def main() -> None:
    """Record, consolidate, look, recall."""
    with Session.open("lamps", goal="Find the cheapest lamp", store=":memory:") as session:
        session.record_turn(user="Look through all forty pages. Nothing with a glass shade.")
        steps = []
        for page in range(1, 41):
            call = {"name": "search", "args": {"page": page}, "id": "c1"}
            steps.append(
                session.record_step(
                    explanation=f"Reading page {page}.", calls=[call], results=[{"id": "c1", "text": price_list(page)}]
                ).step
            )
            session.consolidate(budget=1000)

        view = session.view(budget=1000)
        print(view.text)
        print(f"\ntokens: view {view.tokens} of {view.budget}, raw {view.unfolded}")

        assert view.tokens <= 1000 < view.unfolded
        assert "Nothing with a glass shade." in view.text, "the user's own words yield last"
        for step, page in zip(steps, range(1, 41), strict=True):
            hit = session.recall(f"s{step}.3" if page > 1 else f"s{step}.4")
            assert hit.text == price_list(page), "recall returns the exact bytes"


if __name__ == "__main__":
    main()
