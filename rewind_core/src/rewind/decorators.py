"""`@rewind.llm`, `@rewind.tool`, `@rewind.memory`: record the user's own functions."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from .boundary import arun, run
from .calls import LLM_ABSORBS, Call, Kind
from .canonical import from_plain, to_plain
from .errors import LossySerializationWarning, ReplayedError, RewindError
from .session import any_open, find, warn_stray
from .session.saying import say

if TYPE_CHECKING:
    from .canonical import Plain
    from .session import Hints, Session, Slot
    from .trace import Event

__all__ = ["llm", "memory", "tool"]

F = TypeVar("F", bound=Callable[..., Any])


@overload
def llm(function: F, /) -> F: ...
@overload
def llm(*, name: str | None = None) -> Callable[[F], F]: ...
def llm(function: Any = None, /, *, name: str | None = None) -> Any:
    """Record a function that asks a model. `name` replaces its qualified name in the trace."""
    return _decorate(function, "llm", name)


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(*, name: str | None = None) -> Callable[[F], F]: ...
def tool(function: Any = None, /, *, name: str | None = None) -> Any:
    """Record a function with an effect outside the program: an API, a database, a shell."""
    return _decorate(function, "tool", name)


@overload
def memory(function: F, /) -> F: ...
@overload
def memory(*, name: str | None = None) -> Callable[[F], F]: ...
def memory(function: Any = None, /, *, name: str | None = None) -> Any:
    """Record a function that reads state kept outside the program, such as a vector store."""
    return _decorate(function, "memory", name)


def _decorate(function: Any, kind: Kind, name: str | None) -> Any:
    if function is None:
        return functools.partial(_decorate, kind=kind, name=name)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"@rewind.{kind} takes functions and coroutines, not generator functions")
    wrapped = _Function(function, kind, name or _name_of(function))
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def acall(*args: Any, **kwargs: Any) -> Any:
            session = find() if any_open() else None
            if session is None:
                warn_stray(wrapped.name)
                return await function(*args, **kwargs)
            call = wrapped.call(session, args, kwargs)
            return await arun(session, call, lambda: function(*args, **kwargs), _CODEC)

        return acall

    @functools.wraps(function)
    def scall(*args: Any, **kwargs: Any) -> Any:
        session = find() if any_open() else None
        if session is None:
            warn_stray(wrapped.name)
            return function(*args, **kwargs)
        call = wrapped.call(session, args, kwargs)
        return run(session, call, lambda: function(*args, **kwargs), _CODEC)

    return scall


def _name_of(function: Any) -> str:
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name).split("<locals>.")[-1]


def _lossy(value: object) -> None:
    say(
        f"a {type(value).__qualname__} was recorded as its repr and will replay as text",
        LossySerializationWarning,
    )


class _Function:
    """A decorated function's name and how its arguments are named."""

    def __init__(self, function: Any, kind: Kind, name: str) -> None:
        self.kind: Kind = kind
        self.name = name
        self.head = f"function {kind} {name}".encode()
        self.absorbs = LLM_ABSORBS if kind == "llm" else frozenset[str]()
        try:
            self._signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):
            self._signature = None
        parameters = self._signature.parameters.values() if self._signature else ()
        self._only_kwargs = [p.kind for p in parameters] == [inspect.Parameter.VAR_KEYWORD]

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments by parameter name, defaults spelled out; `**kw` is merged in if it can be."""
        if self._only_kwargs and not args:
            return kwargs
        if self._signature is None:
            return {"*args": args, **kwargs}
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError:  # the call itself will say so
            return {"*args": args, **kwargs}
        bound.apply_defaults()
        named: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            kind = self._signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                if value:
                    named[f"*{name}"] = value
            elif kind is inspect.Parameter.VAR_KEYWORD:
                if any(key in bound.arguments or key.startswith("*") for key in value):
                    named[f"**{name}"] = value
                else:
                    named.update(value)
            else:
                named[name] = value
        return named

    def call(self, session: Session, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        arguments = self._arguments(args, kwargs)
        request, identity = session.requests.arguments(self.head, arguments, _lossy)
        return Call(
            kind=self.kind,
            name=self.name,
            ring="function",
            request=request,
            id=identity,
            absorbs=self.absorbs,
        )


class _ValueCodec:
    """Results of decorated functions: plain values, and errors as their class and arguments."""

    def record(self, slot: Slot, value: Any) -> Any:
        slot.finish_value(to_plain(value, lossy=_lossy))
        return value

    def record_error(self, slot: Slot, error: BaseException) -> None:
        slot.fail(dump_error(error))

    def serve(self, event: Event, hints: Hints) -> Any:
        error = event.error_plain
        if error is not None:
            raise revive_error(error, event.seq)
        return from_plain(event.value_plain)


_CODEC = _ValueCodec()
_SCALARS = (str, int, float, bool, type(None))


def dump_error(error: BaseException) -> dict[str, Plain]:
    """An exception as data: its class, message, arguments and plain attributes."""
    kind = type(error)
    attributes = {k: v for k, v in vars(error).items() if isinstance(v, _SCALARS)}
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - a foreign __str__
        message = f"<{kind.__name__} whose str() fails>"
    return {
        "type": f"{kind.__module__}:{kind.__qualname__}",
        "message": message,
        "args": to_plain(list(error.args)),
        "attributes": to_plain(attributes),
    }


def find_error_class(spec: object) -> type[BaseException] | None:
    """The exception class named `module:Qualname`, if its module is imported; else `None`."""
    module, _, qualname = str(spec).partition(":")
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def revive_error(error: dict[str, Plain], step: int) -> BaseException:
    """The recorded error as an instance of `ReplayedError` and of its own class."""
    original = find_error_class(error.get("type"))
    message = str(error.get("message", ""))
    args = cast("list[Any]", from_plain(error.get("args") or []))
    raised: BaseException
    try:
        if original is None:
            raise TypeError
        if not issubclass(original, Exception) or issubclass(original, RewindError):
            return original(*args)
        both = type(
            original.__name__, (ReplayedError, original), {"__module__": original.__module__}
        )
        raised = both.__new__(both, *args)
        raised.args = tuple(args)
        raised.__dict__.update(cast("dict[str, Any]", from_plain(error.get("attributes") or {})))
    except Exception:  # noqa: BLE001 - a foreign class that cannot be made again
        raised = ReplayedError(message)
    replayed = cast("ReplayedError", raised)
    replayed.original_type = str(error.get("type", "")).replace(":", ".")
    replayed.original_message = message
    replayed.step = step
    return raised
