"""What an adapter package is built on: one action of a framework, recorded, served or made.

An adapter names the action, dumps its arguments, and says how results are converted; everything
else (slots, lineage, nesting, masking, errors, streams left early) happens here.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
)
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .boundary import arun, run
from .calls import LLM_ABSORBS, Call, Kind
from .canonical import to_plain
from .capture.patching import SubclassGroup
from .keys import key_variables, set_placeholders
from .outcomes import (
    AS_IS,
    AsyncStreamCodec,
    Conversion,
    Source,
    StreamCodec,
    ValueCodec,
    async_driver,
    drive,
)
from .session import Attachment, Session, any_open, current_session, find

if TYPE_CHECKING:
    import os

    from .canonical import Plain

__all__ = [
    "AS_IS",
    "Action",
    "Attachment",
    "Conversion",
    "Session",
    "SubclassGroup",
    "any_open",
    "aperform",
    "astream",
    "current_session",
    "find",
    "perform",
    "placeholder_keys",
    "stream",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing a framework is about to do.

    `request` is stored, `identity` (by default the same) makes it the same action; both hold
    values that `to_plain` keeps. `meta` describes the event and takes no part in matching: names
    of the enclosing runs (`within`), run ids, tags. `runs`: on replay the action is made again
    and only what it calls is served.
    """

    kind: Kind
    name: str
    request: Mapping[str, Any]
    identity: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    runs: bool = False

    def call(self, session: Session) -> Call:
        """The action as a call of `session`."""
        head = f"framework {self.kind} {self.name}".encode()
        stored, identity = session.requests.arguments(head, self.request, _unsaid)
        if self.identity is not None:
            _, identity = session.requests.arguments(head, self.identity, _unsaid)
        meta: dict[str, Plain] = {
            key: session.masker.plain(to_plain(value)) for key, value in self.meta.items()
        }
        return Call(
            kind=self.kind,
            name=self.name,
            ring="framework",
            request=stored,
            id=identity,
            absorbs=LLM_ABSORBS if self.kind == "llm" else frozenset[str](),
            meta=meta,
            runs=self.runs,
        )


def _unsaid(_value: object) -> None:
    """What a request loses is lost to the eye only: it is never given back."""


def perform(
    session: Session, action: Action, live: Callable[[], Any], conversion: Conversion = AS_IS
) -> Any:
    """The recorded result of `action`, or that of `live`, which is recorded.

    Raises the recorded error, or `DivergenceError` if replay has no answer.
    """
    return run(session, action.call(session), live, ValueCodec(conversion))


async def aperform(
    session: Session,
    action: Action,
    live: Callable[[], Awaitable[Any]],
    conversion: Conversion = AS_IS,
) -> Any:
    """`perform` for a coroutine."""
    return await arun(session, action.call(session), live, ValueCodec(conversion))


def _items(iterator: Iterator[Any]) -> Generator[Any, Any, Any]:
    return (yield from iterator)


async def _aitems(iterator: AsyncIterator[Any]) -> AsyncGenerator[Any]:
    async for item in iterator:
        yield item


def stream(
    session: Session,
    action: Action,
    live: Callable[[], Iterator[Any]],
    conversion: Conversion = AS_IS,
) -> Generator[Any, Any, Any]:
    """The recorded items of `action`, or those of `live`, recorded as they are consumed."""
    codec = StreamCodec(conversion)
    source = run(session, action.call(session), lambda: Source(_items(live())), codec)
    return (yield from drive(source))


def astream(
    session: Session,
    action: Action,
    live: Callable[[], AsyncIterator[Any]],
    conversion: Conversion = AS_IS,
) -> AsyncGenerator[Any]:
    """`stream` for an async iterator."""

    async def source() -> Source:
        return Source(_aitems(live()))

    async def opened(_args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Source:
        codec = AsyncStreamCodec(conversion)
        return await arun(session, action.call(session), source, codec)

    return async_driver(_aitems, opened)()


def placeholder_keys(path: str | os.PathLike[str]) -> None:
    """Set a placeholder for each unset key variable that replaying the trace at `path` may need."""
    set_placeholders(key_variables(path))
