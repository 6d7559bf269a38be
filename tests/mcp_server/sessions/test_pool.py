import threading

import anyio
import pytest

import ctxfold
from ctxfold import Session
from ctxfold.errors import BudgetError, UnknownSession
from mcp_server.sessions.pool import Pools

pytestmark = pytest.mark.anyio


def tip(session: Session) -> int:
    return session.tip


async def test_opening_again_keeps_the_budget_unless_another_is_said() -> None:
    pool = Pools().get(None)
    assert (await pool.open("paris-trip", None, None)).budget == 8000
    assert (await pool.open("paris-trip", None, 3000)).budget == 3000
    assert (await pool.open("paris-trip", None, None)).budget == 3000
    for name in ("paris-trip", "rome-trip"):
        with pytest.raises(BudgetError):
            await pool.open(name, None, 1)
    assert [info.name for info in await pool.list()] == ["paris-trip"]
    assert await pool.use("paris-trip", lambda session: session.budget) == 3000
    await pool.close()


async def test_a_session_deleted_elsewhere_is_unknown_and_no_other_takes_its_place() -> None:
    pool = Pools().get(None)
    await pool.open("paris-trip", None, None)
    await pool.use("paris-trip", lambda session: session.record_turn("Old words."))
    ctxfold.delete_session("paris-trip")
    await pool.open("rome-trip", None, None)
    await pool.use("rome-trip", lambda session: session.record_turn("My code is 4711."))
    for _ in range(2):
        with pytest.raises(UnknownSession):
            await pool.use("paris-trip", lambda session: session.record_reply("Noted."))
    assert await pool.use("rome-trip", lambda session: session.recall("s1").text) == "## s1.1 user\nMy code is 4711."
    assert [info.name for info in await pool.list()] == ["rome-trip"]
    await pool.close()


async def test_work_on_one_session_waits_and_work_on_another_does_not() -> None:
    pool = Pools().get(None)
    for name in ("one", "two"):
        await pool.open(name, None, None)
    held, go = threading.Event(), threading.Event()
    order: list[str] = []

    def hold(_session: Session) -> None:
        held.set()
        go.wait(10)
        order.append("first on one")

    def let_go(_session: Session) -> None:
        order.append("on two")
        go.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pool.use, "one", hold)
        await anyio.to_thread.run_sync(held.wait)
        tasks.start_soon(pool.use, "one", lambda _session: order.append("second on one"))
        tasks.start_soon(pool.use, "two", let_go)
    assert order == ["on two", "first on one", "second on one"]
    await pool.close()


async def test_only_so_many_handles_stay_open_and_none_is_missed() -> None:
    pool = Pools().get(None)
    for n in range(70):
        await pool.open(f"session-{n}", None, None)
        await pool.use(f"session-{n}", lambda session: session.record_turn(user="Hi."))
    assert [await pool.use(f"session-{n}", tip) for n in range(70)] == [1] * 70
    await pool.close()
