"""Folding where the budget is too small for any prompt cache: tight, often, and from the log."""

import json

import pytest

from ctxfold import Session
from ctxfold.session.decide import open_tiles
from ctxfold.tokens import count
from ctxfold.workspace import RawStep, Tile


def _order(n: int) -> str:
    return json.dumps(
        {
            "order_id": f"W-{1000 + n}",
            "status": "open",
            "carrier": f"carrier-{n % 7}",
            "track": f"TR{n:04d}K",
            "weight_g": 300 + 7 * n,
        }
    )


def _filled(session: Session, steps: int) -> None:
    session.record_turn(user="What holds up my orders?")
    for n in range(steps):
        call = {"name": "get_order", "args": {"order_id": f"W-{1000 + n}"}, "id": f"c{n}"}
        session.record_step(explanation="", calls=[call], results=[{"id": f"c{n}", "text": _order(n)}])
        session.consolidate(1_000)


def test_a_small_budget_is_used_to_its_end(session: Session) -> None:
    """What is folded for 1,000 tokens fills most of them, and no view is above them."""
    _filled(session, 60)
    view = session.view(1_000)
    assert 800 <= count(view.text) <= 1_000


def test_what_a_fold_dropped_comes_back_when_it_is_asked_for(session: Session) -> None:
    """A second fold reads the log, not the first fold: an order that had gone stands again once the user names its carrier."""
    _filled(session, 60)
    gone = next(n for n in range(60) if f"TR{n:04d}K" not in session.view(1_000).text)
    session.record_turn(user=f"Tell me about order W-{1000 + gone}, track TR{gone:04d}K, please.")
    for n in range(3):
        session.record_turn(user=f"Still about W-{1000 + gone} ({n}).")
        session.record_reply("I am looking into that order of yours and will say what I find as soon as I can. " * 3)
    session.consolidate(1_000)
    shown = session.view(1_000).text
    assert f"carrier-{gone % 7}" in shown or f"TR{gone:04d}K" in shown


def test_opening_a_tile_gives_its_steps_back_and_leaves_what_was_told(session: Session) -> None:
    """The embedded folder's tile opens into the steps of the log; a summary that somebody wrote stays as it was written."""
    _filled(session, 4)
    session.fold(summary="Order W-1001 was looked up; nothing holds it up.", first_step=2, last_step=3)
    _filled(session, 40)
    workspace = session.workspace
    tile = workspace.blocks[0]
    assert isinstance(tile, Tile)
    with session._at.store.reading() as tx:
        opened = open_tiles(tx, session._at.session, workspace, workspace.blocks, 12_000)
    assert [step for block in opened for step in block.steps] == [
        step for block in workspace.blocks for step in block.steps
    ]
    assert sum(isinstance(block, RawStep) for block in opened) > sum(
        isinstance(block, RawStep) for block in workspace.blocks
    )
    assert any(isinstance(block, Tile) and "nothing holds it up" in block.summary for block in opened)


def test_what_is_opened_is_bounded_and_the_rest_stands_as_it_was_folded(session: Session) -> None:
    """However often a session was folded, the newest steps are opened as far as the reach goes; before them is what the tile kept of the older ones."""
    _filled(session, 60)
    workspace = session.workspace
    tile = workspace.blocks[0]
    assert isinstance(tile, Tile)
    with session._at.store.reading() as tx:
        opened = open_tiles(tx, session._at.session, workspace, workspace.blocks, 600)
        whole = open_tiles(tx, session._at.session, workspace, workspace.blocks, 1_000_000)
    steps = [step for block in workspace.blocks for step in block.steps]
    for blocks in (opened, whole):
        assert [step for block in blocks for step in block.steps] == steps
    assert all(isinstance(block, RawStep) for block in whole)
    rest = opened[0]
    assert isinstance(rest, Tile)
    assert 600 <= sum(block.tokens for block in opened[1:]) <= 600 + 16 * max(block.tokens for block in whole)
    assert set(rest.lines) <= set(tile.lines)
    refs = {line.ref for block in opened[1:] for line in block.lines}
    assert [line for line in tile.lines if line.ref not in refs] == [
        line for line in rest.lines if line.ref not in refs
    ]


@pytest.mark.long
def test_a_session_folded_at_every_step_can_be_folded_a_thousand_times(session: Session) -> None:
    """A tile of a tile of a tile, more than a thousand deep."""
    session.record_turn(user="Count with me.")
    for n in range(1_050):
        session.record_reply(f"{n}: the reply that says a little more than the number {n * 7919} and goes on about it.")
        session.fold(first_step=1)
    workspace = session.workspace
    with session._at.store.reading() as tx:
        opened = open_tiles(tx, session._at.session, workspace, workspace.blocks, 1_000_000)
    assert len(opened) == 1_050
