"""`state_abstract`: what came of a long stretch in place of how it came about. Facts stay, prose and calls yield; at high water it is a consolidation.

Source: ACR's state abstraction: net results replace sequences; the latest instruction and observation stay as they are.
"""

from __future__ import annotations

from ctxfold.folding import Settings, due, embedded_tile
from ctxfold.folding.consolidate import price
from ctxfold.folding.embedded import Room
from ctxfold.refactoring.telling import told
from ctxfold.refactoring.values import Case, Put, Refactoring, Refusal
from ctxfold.render import query_of
from ctxfold.workspace import Origin, spans

__all__ = ["state_abstract"]

_SETTINGS = Settings()


def state_abstract(case: Case, text: str | None, origin: Origin) -> Refactoring | Refusal:
    """Fold what stands before the latest step into one tile.

    Args:
        case: what is looked at.
        text: the state in words; None keeps what a consolidation keeps where one is due, else every fact, with as much prose as the low-water mark leaves.
        origin: who wrote it.

    Returns:
        One tile, or why there is none.
    """
    workspace = case.workspace
    wanted = due(workspace, case.budget, _SETTINGS)
    blocks = workspace.blocks[: case.protected] if wanted is None or text is not None else wanted[0]
    if text is not None:
        return told("state_abstract", case, blocks, text, origin)
    if not blocks:
        return Refusal("state_abstract", "nothing stands before the latest step")
    cost = sum(block.tokens for block in blocks)
    room = wanted[1] if wanted is not None else Room(cost, min(int(_SETTINGS.rest * case.budget), cost // 2))
    tile = embedded_tile(workspace, blocks, case.tile, room, query_of(workspace))
    if tile.whole or price(tile) >= price(*blocks):
        return Refusal("state_abstract", "what stands there is facts alone; nothing could be shortened")
    return Refactoring("state_abstract", (Put(tile),), f"state of {spans(tile.steps)}")
