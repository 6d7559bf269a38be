"""What asyncio says of failures nobody awaited: held until the end of a run is known."""

import asyncio

import pytest

from browser_agent.cli.running import Unheard


def left_behind(unheard: Unheard) -> None:
    """A loop in which something fails that nobody awaits."""

    async def leave() -> None:
        unheard.listen()
        asyncio.get_running_loop().create_future().set_exception(ConnectionError("the driver has gone"))

    asyncio.run(leave())


@pytest.mark.parametrize("told", [True, False])
def test_a_run_that_was_told_to_end_says_nothing_of_it_and_any_other_does(
    caplog: pytest.LogCaptureFixture, told: bool
) -> None:
    unheard = Unheard()
    left_behind(unheard)
    assert caplog.text == ""
    unheard.ended(told=told)
    assert ("the driver has gone" in caplog.text) is not told
