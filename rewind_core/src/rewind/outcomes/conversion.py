"""How a ring's results become plain data and come back: values as they are, or as converted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..canonical import from_plain, to_plain
from ..errors import LossySerializationWarning
from ..session.saying import say
from .errors import dump_error, revive_error

if TYPE_CHECKING:
    from ..canonical import Plain
    from ..session import Hints, Slot
    from ..trace import Event

__all__ = ["AS_IS", "Conversion", "ValueCodec", "say_lossy"]


def say_lossy(value: object) -> None:
    """Warn that `value` will not come back as what it is."""
    say(
        f"a {type(value).__module__}.{type(value).__qualname__} cannot be recorded as what it is "
        "and will replay as plain data or text",
        LossySerializationWarning,
    )


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """`dump` turns a native value into values that a trace keeps exactly, `load` turns it back.

    `dump_chunk` and `load_chunk` do the same for one item of a stream.
    """

    dump: Callable[[Any], Any] = _same
    load: Callable[[Any], Any] = _same
    dump_chunk: Callable[[Any], Any] = _same
    load_chunk: Callable[[Any], Any] = _same

    def plain(self, value: Any) -> Plain:
        return to_plain(self.dump(value), lossy=say_lossy)

    def native(self, plain: Plain) -> Any:
        return self.load(from_plain(plain))

    def plain_chunk(self, item: Any) -> Plain:
        return to_plain(self.dump_chunk(item), lossy=say_lossy)

    def native_chunk(self, plain: Plain) -> Any:
        return self.load_chunk(from_plain(plain))


AS_IS = Conversion()


class ValueCodec:
    """Results that are values, and errors as their class and arguments."""

    def __init__(self, conversion: Conversion = AS_IS) -> None:
        self._conversion = conversion

    def record(self, slot: Slot, value: Any) -> Any:
        slot.finish_value(self._conversion.plain(value))
        return value

    def record_error(self, slot: Slot, error: BaseException) -> None:
        slot.fail(dump_error(error))

    def serve(self, event: Event, hints: Hints) -> Any:
        error = event.error_plain
        if error is not None:
            raise revive_error(error, event.seq)
        return self._conversion.native(event.value_plain)
