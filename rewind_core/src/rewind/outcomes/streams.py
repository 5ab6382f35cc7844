"""Generators and async generators as recorded streams of values."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
)
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..session import on_close
from ..session.lineage import Line, current_line, set_line
from ..wire.errors import is_cancellation
from ..wire.streams import Ending
from .conversion import AS_IS, Conversion
from .errors import dump_error, revive_error

if TYPE_CHECKING:
    from ..session import Hints, Session, Slot
    from ..trace import Event

__all__ = ["AsyncStreamCodec", "Source", "StreamCodec", "async_driver", "drive"]

_open: weakref.WeakSet[Recorder] = weakref.WeakSet()


class Unrecorded:
    """Watches a stream that is nobody's business."""

    def resumed(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def feed(self, item: object) -> None: ...
    def finish(self, returned: object) -> None: ...
    def fail(self, error: BaseException) -> None: ...
    def end(self, truncated: str) -> None: ...


class Recorder(Unrecorded):
    """Writes what a generator yields. Only the first ending counts."""

    def __init__(self, slot: Slot, conversion: Conversion) -> None:
        self.slot = slot
        self._conversion = conversion
        self._line: Line | None = None
        self._ended = False
        slot.protect(slot.head)
        _open.add(self)

    @contextlib.contextmanager
    def resumed(self) -> Generator[None]:
        """While the generator's own code runs, calls are its children."""
        outer = current_line()
        if outer is None or outer.session is not self.slot.session:
            yield
            return
        set_line(self._line or outer.within(self.slot.node))
        try:
            yield
        finally:
            self._line = current_line()
            set_line(outer)

    def feed(self, item: object) -> None:
        self.slot.protect(lambda: self.slot.chunk(self._conversion.plain_chunk(item)))

    def finish(self, returned: object) -> None:
        self._done(returned=self._conversion.plain(returned) if returned is not None else None)

    def fail(self, error: BaseException) -> None:
        if is_cancellation(type(error).__name__):
            self.end("cancelled")
        elif isinstance(error, Exception):
            self._done(error=dump_error(error))
        else:
            self.end("interrupted")

    def end(self, truncated: str) -> None:
        self._done(truncated=truncated)

    def _done(self, **outcome: Any) -> None:
        if not self._ended:
            self._ended = True
            _open.discard(self)
            self.slot.protect(lambda: self.slot.done(**outcome))


def _close(session: Session) -> None:
    """End what the program has not finished reading when its session closes."""
    for recorder in list(_open):
        if recorder.slot.session is session:
            recorder.end("session closed")


on_close(_close)


@dataclass(frozen=True, slots=True)
class Source:
    """A generator, live or recorded, and who watches it."""

    stream: Any
    watch: Unrecorded = field(default_factory=Unrecorded)


class StreamCodec:
    """Records what a generator yields and returns, and yields it again."""

    def __init__(self, conversion: Conversion = AS_IS) -> None:
        self._conversion = conversion

    def record(self, slot: Slot, value: Source) -> Source:
        return Source(value.stream, Recorder(slot, self._conversion))

    def record_error(self, slot: Slot, error: BaseException) -> None:
        slot.fail(dump_error(error))

    def serve(self, event: Event, hints: Hints) -> Source:
        return Source(_recorded(event, self._conversion))


class AsyncStreamCodec(StreamCodec):
    def serve(self, event: Event, hints: Hints) -> Source:
        return Source(_arecorded(event, self._conversion))


def _recorded(event: Event, conversion: Conversion) -> Iterator[Any]:
    ending = Ending(event=event, revive=revive_error)
    chunks = event.chunks()
    try:
        for chunk in chunks[:-1]:
            yield conversion.native_chunk(chunk)
        ending.arrive()
        for chunk in chunks[-1:]:
            yield conversion.native_chunk(chunk)
        ending.raise_recorded()
    finally:
        ending.leave()
    returned = event.returned_plain
    return conversion.native(returned) if returned is not None else None


async def _arecorded(event: Event, conversion: Conversion) -> AsyncIterator[Any]:
    ending = Ending(event=event, revive=revive_error)
    chunks = event.chunks()
    try:
        for chunk in chunks[:-1]:
            yield conversion.native_chunk(chunk)
        await ending.arrive_async()
        for chunk in chunks[-1:]:
            yield conversion.native_chunk(chunk)
        await ending.wait_if_cancelled()
        ending.raise_recorded()
    finally:
        ending.leave()


def drive(source: Source) -> Generator[Any, Any, Any]:
    """Run a generator as `yield from` would, watched."""
    stream, watch = source.stream, source.watch
    sent: Any = None
    thrown: BaseException | None = None
    while True:
        try:
            with watch.resumed():
                item = stream.send(sent) if thrown is None else stream.throw(thrown)
        except StopIteration as stop:
            watch.finish(stop.value)
            return stop.value
        except BaseException as error:
            watch.fail(error)
            raise
        watch.feed(item)
        sent, thrown = None, None
        try:
            sent = yield item
        except GeneratorExit:
            watch.end("closed")
            with watch.resumed():
                stream.close()
            raise
        except BaseException as error:  # noqa: BLE001 - handed to the generator
            thrown = error


def async_driver(
    function: Any, opened: Callable[[tuple[Any, ...], dict[str, Any]], Awaitable[Source]]
) -> Any:
    """`function`, an async generator function, run through what `opened` gives, watched."""

    @functools.wraps(function)
    async def driven(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        source = await opened(args, kwargs)
        stream, watch = source.stream, source.watch
        sent: Any = None
        thrown: BaseException | None = None
        while True:
            try:
                with watch.resumed():
                    item = await (stream.asend(sent) if thrown is None else stream.athrow(thrown))
            except StopAsyncIteration:
                watch.finish(None)
                return
            except BaseException as error:
                watch.fail(error)
                raise
            watch.feed(item)
            sent, thrown = None, None
            try:
                sent = yield item
            except GeneratorExit:
                watch.end("closed")
                with watch.resumed():
                    await stream.aclose()
                raise
            except BaseException as error:  # noqa: BLE001 - handed to the generator
                thrown = error

    return driven
