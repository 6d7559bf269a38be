"""A session of forty steps in a view of 1,000 tokens, what was found in them, and the exact bytes of a result that the view no longer shows.

python examples/fold_and_recall.py
"""

import json

from ctxfold import Session


def prices(page: int) -> dict[str, int]:
    """A shop's lamps on one page of its search, thirty of them, each with its price."""
    return {f"lamp {page}-{row}": 12 + (page * 53 + row * 17) % 391 for row in range(30)}


def main() -> None:
    """Record, keep what is found, consolidate, look, recall."""
    with Session.open("lamps", goal="Find the cheapest lamp", store=":memory:") as session:
        session.record_turn(user="Look through all forty pages. Nothing with a glass shade.")
        recorded: dict[str, str] = {}
        best, cheapest = "", 1_000
        for page in range(1, 41):
            lamps = prices(page)
            text = json.dumps({"page": page, "rows": [{"item": item, "price": price} for item, price in lamps.items()]})
            lamp = min(lamps, key=lambda item: lamps[item])
            found = f"{lamp} costs {lamps[lamp]}" if lamps[lamp] < cheapest else ""  # what a model would note
            if found:
                best, cheapest = lamp, lamps[lamp]
            step = session.record_step(
                explanation=f"Reading page {page}.",
                calls=[{"name": "search", "args": {"page": page}, "id": "c1"}],
                results=[{"id": "c1", "text": text}],
                found=found,
            ).step
            recorded[f"s{step}.{4 if page == 1 else 3}"] = text  # the first step begins with the user's words
            session.consolidate(budget=1000)

        view = session.view(budget=1000)
        print(view.text)
        print(f"\ntokens: view {view.tokens} of {view.budget}, raw {view.unfolded}")

        assert view.tokens <= 1000 < view.unfolded
        assert "Nothing with a glass shade." in view.text, "the user's own words yield last"
        assert f"{best} costs {cheapest}" in view.text, "what was found stands in every view"
        for ref, text in recorded.items():
            assert session.recall(ref).text == text, "recall returns the exact bytes"


if __name__ == "__main__":
    main()
