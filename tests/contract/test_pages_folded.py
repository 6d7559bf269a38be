"""Folded steps on pages keep what was read of them, and let go of the references by which their elements could be acted on."""

import json
import re

from ctxfold import Session
from ctxfold.workspace import Tile

WEIGHTS = {f"lamp-{name}": 80 + 7 * at for at, name in enumerate("abcdefghijkl")}
BUDGET = 3_000


def visit(session: Session, at: int, name: str) -> None:
    """Record that a product's page was opened, a tab of it clicked, and its weight taken."""
    tab, page = f"f{at}e26", f"http://shop.test/{name}"
    calls = [
        {"name": "navigate", "args": {"url": page}, "id": "c1"},
        {"name": "click", "args": {"ref": tab}, "id": "c2"},
        {"name": "extract", "args": {"wanted": {"weight": "g"}}, "id": "c3"},
    ]
    step = session.record_step("", calls=calls).step
    shown = f'{name} — {page}\n# {name}\ntab "Specifications"[{tab}]\n' + "\n".join(
        f'link "Related lamp {n}"[f{at}e{40 + n}]' for n in range(20)
    )
    session.record_result(step, "c1", f"- link [ref={tab}]", origin="page", shown=shown)
    session.record_result(step, "c2", f"clicked {tab}")
    values = {"now_at": page, "extracted": {"weight": f"{WEIGHTS[name]} g"}}
    session.record_result(step, "c3", json.dumps(values), origin="page")


def test_folded_page_steps_keep_the_values_that_were_taken_and_no_reference_to_elements(session: Session) -> None:
    session.record_turn(user="Which of the lamps is the lightest?")
    for at, name in enumerate(WEIGHTS):
        visit(session, at, name)
        session.consolidate(BUDGET)
    tiles = [block for block in session.workspace.blocks if isinstance(block, Tile)]
    assert tiles
    folded = "\n".join(line.text for tile in tiles for line in tile.lines)
    assert not re.search(r"\bf\d+e\d+\b", folded)
    view = session.view(BUDGET)
    for name, weight in WEIGHTS.items():
        assert re.search(rf"now_at=http://shop.test/{name}, extracted=\{{weight={weight} g\}}", view.text), name


def test_the_newest_page_keeps_its_references(session: Session) -> None:
    session.record_turn(user="Which of the lamps is the lightest?")
    for at, name in enumerate(WEIGHTS):
        visit(session, at, name)
        session.consolidate(BUDGET)
    assert f'tab "Specifications"[f{len(WEIGHTS) - 1}e26]' in session.view(BUDGET).text


def test_what_looks_like_a_reference_is_kept_where_no_page_showed_it(session: Session) -> None:
    session.record_turn(user="Mend what the linter says.")
    for n in range(30):
        found = [{"file": f"part{n}.py", "code": "e1101", "row": n * 7919 % 997 + at} for at in range(12)]
        session.record_step("", [{"name": "lint", "args": {"n": n}}], [{"text": json.dumps(found)}])
    session.record_reply("All of them are e1101.")
    session.record_turn(user="Then silence e1101.")
    session.consolidate(BUDGET)
    tiles = [block for block in session.workspace.blocks if isinstance(block, Tile)]
    assert any("e1101" in line.text for tile in tiles for line in tile.lines)
