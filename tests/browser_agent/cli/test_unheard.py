"""What asyncio says of failures nobody awaited: held until the end of a run is known."""

import asyncio

import pytest

from browser_agent.cli.run import DeferredReports


def left_behind(deferred: DeferredReports) -> None:
    """A loop in which something fails that nobody awaits."""

    async def leave() -> None:
        deferred.listen()
        asyncio.get_running_loop().create_future().set_exception(ConnectionError("the driver has gone"))

    asyncio.run(leave())


@pytest.mark.parametrize("told", [True, False])
def test_a_run_that_was_told_to_end_says_nothing_of_it_and_any_other_does(
    caplog: pytest.LogCaptureFixture, told: bool
) -> None:
    deferred = DeferredReports()
    left_behind(deferred)
    assert caplog.text == ""
    deferred.ended(told=told)
    assert ("the driver has gone" in caplog.text) is not told
