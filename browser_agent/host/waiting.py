"""The acts of one page that wait for the user's answer while their call is out to ask."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import anyio

from browser_agent.host.page import Page, Shown, Wish
from browser_agent.network.effects import Asked
from ctxfold.errors import Refused
from ctxfold.models.deciders.loop import SessionLease

__all__ = ["Waiting"]


_ONCE = "the user is asked once a call, so ask for that in the next"


@dataclass(slots=True, eq=False)
class _Act:
    """One act under way, and the question it put; a second one in the same act counts as a no, for a call asks once."""

    wish: Wish
    asked: Asked | None = None
    again: bool = False
    answer: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    put: asyncio.Event = field(default_factory=asyncio.Event)
    work: asyncio.Task[Shown] = field(init=False)

    async def ask(self, asked: Asked) -> bool:
        """Put a question, and wait for the answer."""
        if self.asked is not None:
            self.again = True
            return False
        self.asked = asked
        self.put.set()
        return await self.answer

    def give(self, agreed: bool) -> None:
        if not self.answer.done():
            self.answer.set_result(agreed)


class Waiting:
    """The acts of `page`. A host may send its user's answer with a second call, so an act outlives the one that began it."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._acts: list[_Act] = []

    async def begin(self, book: SessionLease, wish: Wish) -> Asked | None:
        """Do what a call wants until it is done, or until the user must be asked; what waits for an answer already is not begun anew.

        Returns:
            The question; None where there is none.
        """
        act = next((each for each in self._acts if each.wish == wish and each.asked is not None), None)
        if act is None:
            await self.give_up()
            act = _Act(wish)
            act.work = asyncio.ensure_future(self._page.do(book, wish, act.ask))
            self._acts.append(act)
            put = asyncio.ensure_future(act.put.wait())
            try:
                await asyncio.wait({act.work, put}, return_when=asyncio.FIRST_COMPLETED)
            except anyio.get_cancelled_exc_class():
                self._acts.remove(act)
                act.work.cancel()
                raise
            finally:
                put.cancel()
        return act.asked

    async def finish(self, wish: Wish, agreed: bool) -> Shown:
        """What an act that was begun came to, with the user's answer. Raises Refused: another call came before the answer did; what waited was not sent."""
        act = next((each for each in self._acts if each.wish == wish), None)
        if act is None:
            raise Refused("another call came before the user's answer did, so nothing was sent")
        self._acts.remove(act)
        act.give(agreed)
        try:
            shown = await act.work
        except anyio.get_cancelled_exc_class():
            act.work.cancel()
            raise
        return replace(shown, message=f"{shown.message}; {_ONCE}") if act.again and agreed else shown

    async def give_up(self) -> None:
        """Take what nobody answered for a no."""
        acts, self._acts = self._acts, []
        for act in acts:
            act.give(False)
        if acts:
            await asyncio.wait({act.work for act in acts})
            for act in acts:
                if not act.work.cancelled():
                    act.work.exception()  # whoever asked for it is gone, and the log has what came of it
