import threading

import anyio
import pytest

import ctxfold
from ctxfold import Session
from ctxfold.errors import BudgetError, SessionNameError, UnknownSession
from mcp_server.sessions.pool import Desk, Desks, Seat

pytestmark = pytest.mark.anyio


def tip(seat: Seat) -> int:
    return seat.session.tip


async def test_a_session_that_is_not_there_is_unknown_and_not_made() -> None:
    desk = Desk()
    with pytest.raises(UnknownSession):
        await desk.use("no-such", tip)
    assert await desk.list() == []


async def test_a_session_opened_elsewhere_is_taken_up_at_its_first_use() -> None:
    with Session.open("paris-trip") as session:
        session.record_turn(user="Hi.")
    desk = Desk()
    assert await desk.use("paris-trip", tip) == 1
    await desk.close()


async def test_a_name_outside_the_pattern_is_refused() -> None:
    desk = Desk()
    for name in ("", "A", "a/b", "..", "a\0", "con:", "x" * 65):
        with pytest.raises(SessionNameError):
            await desk.open(name, None, None)
        with pytest.raises(SessionNameError):
            await desk.use(name, tip)


async def test_opening_again_keeps_the_budget_unless_another_is_said() -> None:
    desk = Desk()
    assert (await desk.open("paris-trip", None, None)).budget == 8000
    assert (await desk.open("paris-trip", None, 3000)).budget == 3000
    assert (await desk.open("paris-trip", None, None)).budget == 3000
    for name in ("paris-trip", "rome-trip"):
        with pytest.raises(BudgetError):
            await desk.open(name, None, 1)
    assert [info.name for info in await desk.list()] == ["paris-trip"]
    assert await desk.use("paris-trip", lambda seat: seat.budget) == 3000
    await desk.close()


async def test_a_budget_outlives_the_process_that_set_it() -> None:
    first, second = Desk(), Desk()
    await first.open("paris-trip", None, 3000)
    await first.close()
    assert await second.use("paris-trip", lambda seat: seat.budget) == 3000
    assert (await second.open("paris-trip", None, None)).budget == 3000
    await second.close()


async def test_a_session_deleted_elsewhere_is_unknown_and_no_other_takes_its_seat() -> None:
    desk = Desk()
    await desk.open("paris-trip", None, None)
    await desk.use("paris-trip", lambda seat: seat.session.record_turn("Old words.").step)
    ctxfold.delete_session("paris-trip")
    await desk.open("rome-trip", None, None)
    await desk.use("rome-trip", lambda seat: seat.session.record_turn("My code is 4711.").step)
    for _ in range(2):
        with pytest.raises(UnknownSession):
            await desk.use("paris-trip", lambda seat: seat.session.record_reply("Noted.").step)
    assert await desk.use("rome-trip", lambda seat: seat.session.recall("s1").text) == "## s1.1 user\nMy code is 4711."
    assert [info.name for info in await desk.list()] == ["rome-trip"]
    await desk.close()


async def test_a_session_deleted_and_begun_again_elsewhere_is_taken_up_at_the_next_use() -> None:
    desk = Desk()
    await desk.open("paris-trip", None, None)
    ctxfold.delete_session("paris-trip")
    with Session.open("paris-trip") as session:
        session.record_turn("New words.")
        session.record_reply("Hello.")
        session.record_turn("More.")
    with pytest.raises(UnknownSession):
        await desk.use("paris-trip", tip)
    assert await desk.use("paris-trip", tip) == 2
    await desk.close()


async def test_work_on_one_session_waits_and_work_on_another_does_not() -> None:
    desk = Desk()
    for name in ("one", "two"):
        await desk.open(name, None, None)
    held, go = threading.Event(), threading.Event()
    order: list[str] = []

    def hold(_seat: Seat) -> None:
        held.set()
        go.wait(10)
        order.append("first on one")

    def let_go(_seat: Seat) -> None:
        order.append("on two")
        go.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.use, "one", hold)
        await anyio.to_thread.run_sync(held.wait)
        tasks.start_soon(desk.use, "one", lambda _seat: order.append("second on one"))
        tasks.start_soon(desk.use, "two", let_go)
    assert order == ["on two", "first on one", "second on one"]
    await desk.close()


async def test_only_so_many_handles_stay_open_and_none_is_missed() -> None:
    desk = Desk()
    for n in range(70):
        await desk.open(f"session-{n}", None, None)
        await desk.use(f"session-{n}", lambda seat: seat.session.record_turn(user="Hi.").step)
    assert [await desk.use(f"session-{n}", tip) for n in range(70)] == [1] * 70
    await desk.close()


async def test_a_closed_desk_takes_sessions_up_again() -> None:
    desk = Desk()
    await desk.open("paris-trip", None, None)
    await desk.close()
    await desk.close()
    assert await desk.use("paris-trip", tip) == 0
    await desk.close()


async def test_principals_share_no_session() -> None:
    desks = Desks()
    await desks.of("alice").open("paris-trip", "Alice's.", None)
    with pytest.raises(UnknownSession):
        await desks.of("bob").use("paris-trip", tip)
    with pytest.raises(UnknownSession):
        await desks.of(None).use("paris-trip", tip)
    assert await desks.of("bob").list() == []
    assert (await desks.of("bob").open("paris-trip", None, None)).session.goal == ""
    await desks.close()
