"""The tool `refactor`, through a client in this process."""

from __future__ import annotations

import pytest
from mcp import Client

from tests.mcp_server.conftest import call, told

pytestmark = pytest.mark.anyio

STEP = {
    "explanation": "Trying the refund of W-2003 to the card it was paid with once more.",
    "calls": [{"name": "refund", "args": {"order": "W-2003"}}],
    "results": [{"text": "Error: the card ending 4471 was refused"}],
}


async def test_a_loop_is_pruned_a_clean_history_left_alone_and_an_invention_marked(client: Client) -> None:
    await call(client, "record", user="Refund W-2003.")
    assert (await told(client, "refactor"))["operator"] == "none"
    for _ in range(4):
        await call(client, "record", step=STEP)
    mended = await told(client, "refactor")
    assert (mended["operator"], mended["applied"], mended["steps"]) == ("path_prune", True, "s1-s3")
    assert mended["tokens"] < mended["was_tokens"]
    marked = await told(client, "refactor", operator="cognitive_boosting", text="Ask about W-9999.")
    assert marked["applied"]
    assert marked["reason"].endswith("not in the log, and marked so: 'W-9999'")
    assert (await told(client, "refactor", operator="cognitive_boosting", text="Use another card."))["applied"]
    assert (await told(client, "undo"))["undone"].startswith("the refactoring cognitive_boosting")
