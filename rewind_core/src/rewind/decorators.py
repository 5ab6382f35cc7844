"""`@rewind.llm`, `@rewind.tool`, `@rewind.memory`: record the user's own functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from .boundary import arun, run
from .calls import LLM_ABSORBS, Call, Kind
from .canonical import class_name, to_plain
from .outcomes import (
    AsyncStreamCodec,
    Source,
    StreamCodec,
    ValueCodec,
    async_driver,
    drive,
    say_lossy,
)
from .session import any_open, find, warn_stray

if TYPE_CHECKING:
    from .session import Session

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
    if isinstance(function, (staticmethod, classmethod)):
        method: Any = function
        return type(method)(_decorate(method.__func__, kind, name))
    wrapped = _Function(function, kind, name or _name_of(function))
    if inspect.isgeneratorfunction(function):
        return _generator(function, wrapped)
    if inspect.isasyncgenfunction(function):
        return _async_generator(function, wrapped)
    if inspect.iscoroutinefunction(function):
        return _coroutine(function, wrapped)
    return _function(function, wrapped)


def _session_for(wrapped: _Function) -> Session | None:
    session = find() if any_open() else None
    if session is None:
        warn_stray(wrapped.name)
    return session


def _function(function: Any, wrapped: _Function) -> Any:
    @functools.wraps(function)
    def scall(*args: Any, **kwargs: Any) -> Any:
        session = _session_for(wrapped)
        if session is None:
            return function(*args, **kwargs)
        call = wrapped.call(session, args, kwargs)
        return run(session, call, lambda: function(*args, **kwargs), _CODEC)

    return scall


def _coroutine(function: Any, wrapped: _Function) -> Any:
    @functools.wraps(function)
    async def acall(*args: Any, **kwargs: Any) -> Any:
        session = _session_for(wrapped)
        if session is None:
            return await function(*args, **kwargs)
        call = wrapped.call(session, args, kwargs)
        return await arun(session, call, lambda: function(*args, **kwargs), _CODEC)

    return acall


def _generator(function: Any, wrapped: _Function) -> Any:
    @functools.wraps(function)
    def gcall(*args: Any, **kwargs: Any) -> Any:
        def live() -> Source:
            return Source(function(*args, **kwargs))

        session = _session_for(wrapped)
        if session is None:
            return (yield from drive(live()))
        call = wrapped.call(session, args, kwargs)
        return (yield from drive(run(session, call, live, _STREAM_CODEC)))

    return gcall


def _async_generator(function: Any, wrapped: _Function) -> Any:
    async def opened(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Source:
        async def live() -> Source:
            return Source(function(*args, **kwargs))

        session = _session_for(wrapped)
        if session is None:
            return await live()
        call = wrapped.call(session, args, kwargs)
        return await arun(session, call, live, _ASYNC_STREAM_CODEC)

    return async_driver(function, opened)


def _name_of(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name).split("<locals>.")[-1]


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
        parameters = list(self._signature.parameters.values()) if self._signature else []
        self._receiver = _receiver_of(function, [p.name for p in parameters])
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
        if self._receiver and self._receiver in arguments:
            arguments[self._receiver] = _described(arguments[self._receiver])
        request, identity = session.requests.arguments(self.head, arguments, say_lossy)
        return Call(
            kind=self.kind,
            name=self.name,
            ring="function",
            request=request,
            id=identity,
            absorbs=self.absorbs,
        )


def _receiver_of(function: Any, parameters: list[str]) -> str:
    """The name of a method's first parameter; empty for other functions."""
    owner = str(getattr(function, "__qualname__", "")).rpartition(".")[0]
    is_method = owner != "" and not owner.endswith("<locals>")
    return parameters[0] if is_method and parameters[:1] in (["self"], ["cls"]) else ""


def _described(receiver: object) -> object:
    """What a method was called on: a data object as it is, else the name of its class."""
    if isinstance(receiver, type):
        return class_name(receiver)
    plain = to_plain(receiver)
    lost = isinstance(plain, dict) and "$repr" in cast("dict[str, object]", plain)
    return class_name(type(receiver)) if lost else receiver


_CODEC = ValueCodec()
_STREAM_CODEC = StreamCodec()
_ASYNC_STREAM_CODEC = AsyncStreamCodec()
