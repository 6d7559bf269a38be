"""What asyncio says of failures nobody awaited: held until the end of a run is known."""

import asyncio

import pytest

from browser_agent.cli.browse import DeferredReports


def left_behind(deferred: DeferredReports) -> None:
    """A loop in which something fails that nobody awaits."""

    async def leave() -> None:
        deferred.listen()
        asyncio.get_running_loop().create_future().set_exception(ConnectionError("the driver has gone"))

    asyncio.run(leave())


def test_what_nobody_awaited_is_held_until_it_is_passed_on(caplog: pytest.LogCaptureFixture) -> None:
    deferred = DeferredReports()
    left_behind(deferred)
    assert caplog.text == ""
    deferred.pass_on()
    assert "the driver has gone" in caplog.text
