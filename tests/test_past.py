"""What stands in the view, kept up block by block, is what a look at the whole view would find."""

from __future__ import annotations

import json
import random

from ctxfold import Session
from ctxfold.errors import FoldError
from ctxfold.session.known import Words
from ctxfold.workspace.workspace import Workspace

ASKED = ("l1", "l2", "harbor", "h-12", "h-13", "2031-05-07", "2031", "05", "nowhere")


def test_words_and_keys_follow_folds_consolidations_and_undoings_of_them() -> None:
    """After each change: the same keys, the same words, and nothing kept of what is gone."""
    chance = random.Random(3)
    words, seen = Words(Workspace()), Workspace()
    with Session.open("trip", goal="Find a place", store=":memory:") as session:
        for n in range(60):
            rows = [{"id": f"L{chance.randrange(9)}", "price": chance.randrange(5)} for _ in range(4)]
            said = json.dumps({"page": n, "rows": rows}) if n % 2 else f"Harbor H-{n} opens on 2031-05-{n % 28:02}."
            call = {"name": "look", "args": {"n": n}, "id": "c"}
            session.record_step("Looking at what there is.", [call], [{"id": "c", "text": said}])
            if n % 7 == 3:
                session.record_turn(user=f"Not H-{n - 1}, and nothing after 2031-05-07.")
            if chance.random() < 0.5:
                decided(session, chance)
            now = session.workspace
            words.became(seen, now)
            seen = now
            followed(words, now)


def decided(session: Session, chance: random.Random) -> None:
    """One decision at random; a fold that would save nothing is none."""
    try:
        match chance.randrange(4):
            case 0:
                session.fold()
            case 1:
                session.fold(first_step=max(1, session.tip - 5))
            case 2:
                session.consolidate(600)
            case _:
                if session.history(1)[0].kind == "folded":
                    session.undo()
    except FoldError:
        return


def followed(words: Words, now: Workspace) -> None:
    """The words kept up beside those of a workspace read anew."""
    anew = Words(now)
    assert [word in words for word in ASKED] == [word in anew for word in ASKED]
    assert dict(words._keys) == dict(anew._keys)
    assert dict(words._words) == dict(anew._words)
    assert words._at.keys() == anew._at.keys()
    for block in now.blocks:
        for key in (key for line in block.lines for key in line.keys):
            assert words.settles(key)
            assert all(words.stands(step, key) == anew.stands(step, key) for step in block.steps)


def test_a_row_is_named_only_when_it_is_plain_which_row_of_its_record_stands_with_its_names() -> None:
    """A record holds a table and an object of one shape: a later row's ditto marks would be read against the object, so they must be its own."""

    def order(number: int, place: str, carrier: str) -> dict[str, object]:
        return {"order_id": f"A-{number}", "place": place, "carrier": carrier, "weight": 512}

    first = {
        "list": [order(1, "Lyon", "Falcon"), order(2, "Porto", "Heron")],
        "one": {**order(3, "Turin", "Osprey"), "log": [[1, [2, 3]], {"x": {"y": {"z": 1}}}]},
    }
    with Session.open("parcels", store=":memory:") as session:
        for at, answer in enumerate((first, order(4, "Lyon", "Falcon"), order(5, "Lyon", "Osprey"))):
            call = {"name": "get", "args": {"at": at}, "id": "c"}
            session.record_step("", [call], [{"id": "c", "text": json.dumps(answer)}])
        text = session.view(8000).text
    assert "order_id=A-4 place=Lyon carrier=Falcon weight=512" in text
    assert "as A-4: A-5 ^ Osprey ^" in text
