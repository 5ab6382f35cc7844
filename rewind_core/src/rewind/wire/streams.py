"""The two ends of a body: a tee on the live stream, and a stream of recorded chunks.

The classes are completed per client library, whose clients insist on their own base classes.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import DivergenceError
from ..session import find
from .errors import revive

if TYPE_CHECKING:
    from ..trace import Event
    from .sink import Sink

__all__ = ["Ending", "StreamClasses", "stream_classes"]

_CANCEL_WAIT = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What comes after the last recorded chunk of an event."""

    event: Event
    revive: Callable[[dict[str, Any], int], BaseException] = revive

    def arrive(self) -> None:
        """Before the last chunk: wait for what ended earlier in the recording."""
        session = find()
        if session is not None:
            session.order.wait(self.event.ended)
            session.order.mark(self.event.ended)

    async def arrive_async(self) -> None:
        """The same in a task."""
        session = find()
        if session is not None:
            await session.order.wait_async(self.event.ended)
            session.order.mark(self.event.ended)

    def leave(self) -> None:
        """The reader is gone: nobody waits for this end any more."""
        session = find()
        if session is not None:
            session.order.mark(self.event.ended)

    def raise_recorded(self) -> None:
        """Raise the recorded error; refuse to invent what the recording never read."""
        error = self.event.error_plain
        if error is not None:
            raise self.revive(error, self.event.seq)
        if self.event.truncated is None:
            return
        reason = (
            f"the recording left this response early ({self.event.truncated}) and the program "
            "now reads on; record again"
        )
        session = find()
        if session is not None:
            session.refuse(reason, name=self.event.name)
        raise DivergenceError(f"{self.event.name}: {reason}", step=self.event.seq, reason=reason)

    async def wait_if_cancelled(self) -> None:
        """A recorded cancellation arrived while the reader waited: let it arrive again."""
        if self.event.truncated == "cancelled":
            await wait_for_cancellation()


async def wait_for_cancellation() -> None:
    """Give the program's own timeout or cancel scope the time to act."""
    with contextlib.suppress(RuntimeError):  # no asyncio loop
        asyncio.get_running_loop()
        await asyncio.sleep(_CANCEL_WAIT)


class _SyncTee:
    def __init__(self, inner: Any, sink: Sink) -> None:
        self._inner = inner
        self._sink = sink

    def __iter__(self) -> Iterator[bytes]:
        try:
            for raw in self._inner:
                self._sink.feed(raw)
                yield raw
        except GeneratorExit:
            self._sink.end("closed")
            raise
        except BaseException as error:
            self._sink.fail(error)
            raise
        self._sink.end(None)

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._sink.end("closed")

    def __del__(self) -> None:
        self._sink.end("abandoned")


class _AsyncTee:
    def __init__(self, inner: Any, sink: Sink) -> None:
        self._inner = inner
        self._sink = sink

    async def __aiter__(self) -> AsyncIterator[bytes]:
        stream = self._inner.__aiter__()
        try:
            async for raw in stream:
                self._sink.feed(raw)
                yield raw
        except GeneratorExit:
            self._sink.end("closed")
            raise
        except BaseException as error:
            self._sink.fail(error)
            raise
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
        self._sink.end(None)

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            self._sink.end("closed")

    def __del__(self) -> None:
        self._sink.end("abandoned")


class _SyncRecorded:
    def __init__(self, chunks: list[bytes], ending: Ending) -> None:
        self._chunks = chunks
        self._ending = ending

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks[:-1]
        self._ending.arrive()
        yield from self._chunks[-1:]
        self._ending.raise_recorded()

    def close(self) -> None:
        self._ending.leave()


class _AsyncRecorded:
    def __init__(self, chunks: list[bytes], ending: Ending) -> None:
        self._chunks = chunks
        self._ending = ending

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks[:-1]:
            yield chunk
        await self._ending.arrive_async()
        for chunk in self._chunks[-1:]:
            yield chunk
        await self._ending.wait_if_cancelled()
        self._ending.raise_recorded()

    async def aclose(self) -> None:
        self._ending.leave()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamClasses:
    tee: Any
    async_tee: Any
    recorded: Any
    async_recorded: Any


@functools.lru_cache(maxsize=8)
def stream_classes(library: ModuleType) -> StreamClasses:
    """The four classes as subclasses of `library`'s stream bases (httpx and its kin)."""
    sync, asynchronous = library.SyncByteStream, library.AsyncByteStream
    return StreamClasses(
        tee=type("Tee", (_SyncTee, sync), {}),
        async_tee=type("AsyncTee", (_AsyncTee, asynchronous), {}),
        recorded=type("Recorded", (_SyncRecorded, sync), {}),
        async_recorded=type("AsyncRecorded", (_AsyncRecorded, asynchronous), {}),
    )
