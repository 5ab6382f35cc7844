"""Delivery order: a response waits until what was delivered before it in the recording has been.

Starts and ends of recorded calls share one counter (`Event.ticks`). Code such as
`asyncio.as_completed` depends on the order in which answers arrive; this reproduces it.
A wait ends early when nothing moves any more, so it can delay but never block.
"""

from __future__ import annotations

import asyncio
import threading
from bisect import bisect_left
from collections.abc import Iterable

__all__ = ["DeliveryOrder"]

_IDLE_TURNS = 60
_IDLE_SECONDS = 0.02


def _in_asyncio() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class DeliveryOrder:
    def __init__(self, ticks: Iterable[int]) -> None:
        self._ticks = sorted(set(ticks))
        self._done = bytearray(len(self._ticks))
        self._next = 0
        self._moved = threading.Condition()
        self.progress = 0

    @property
    def end(self) -> int:
        """The first tick after the recorded ones."""
        return self._ticks[-1] + 1 if self._ticks else 0

    def mark(self, tick: int) -> None:
        """Note that the start or end with this tick has happened."""
        with self._moved:
            index = bisect_left(self._ticks, tick)
            if index < len(self._ticks) and self._ticks[index] == tick:
                self._done[index] = 1
            while self._next < len(self._ticks) and self._done[self._next]:
                self._next += 1
            self.progress += 1
            self._moved.notify_all()

    def ready(self, tick: int) -> bool:
        return self._next >= len(self._ticks) or self._ticks[self._next] >= tick

    def _give_up(self, tick: int) -> None:
        with self._moved:
            while not self.ready(tick):
                self._done[self._next] = 1
                self._next += 1

    async def wait_async(self, tick: int) -> None:
        """Hold a task until what came before `tick` in the recording has happened."""
        if self.ready(tick) or not _in_asyncio():
            return
        idle, seen = 0, self.progress
        while not self.ready(tick):
            await asyncio.sleep(0)
            idle, seen = (idle + 1, seen) if self.progress == seen else (0, self.progress)
            if idle > _IDLE_TURNS:
                self._give_up(tick)

    def wait(self, tick: int) -> None:
        """Hold a thread likewise; never one that runs an event loop."""
        if self.ready(tick) or _in_asyncio():
            return
        with self._moved:
            seen = self.progress
            while not self.ready(tick):
                self._moved.wait(_IDLE_SECONDS)
                if self.progress == seen:
                    break
                seen = self.progress
        self._give_up(tick)
