"""The hooks on httpx and its successor, which most SDKs share."""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

from ..session import any_open, find
from ..wire.httpx import AsyncTransport, Transport, quiet, read_exchange
from .active import judge, outside
from .patching import Group, Target, Wrapper

__all__ = ["HTTPX"]


class _Outside:
    """Looks at what is sent outside every session, while one is open."""

    def __init__(self, inner: Any, library: ModuleType) -> None:
        self._inner = inner
        self._library = library

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _answer(self, request: Any) -> Any:
        return quiet(self._library) if outside(partial(read_exchange, request)) else None

    def handle_request(self, request: Any) -> Any:
        return self._answer(request) or self._inner.handle_request(request)

    async def handle_async_request(self, request: Any) -> Any:
        return self._answer(request) or await self._inner.handle_async_request(request)


def _wrapper(proxy: type[Transport] | type[AsyncTransport]) -> Any:
    def make(library: ModuleType) -> Wrapper:
        def transport_for_url(
            wrapped: Any, _client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> Any:
            inner = wrapped(*args, **kwargs)
            session = find()
            if session is not None:
                return proxy(inner, library, session, judge)
            return _Outside(inner, library) if any_open() else inner

        return transport_for_url

    return make


HTTPX = Group(
    tuple(
        Target(module=module, path=f"{client}._transport_for_url", make=_wrapper(proxy))
        for module in ("httpx", "httpx2")
        for client, proxy in (("Client", Transport), ("AsyncClient", AsyncTransport))
    )
)
