"""The hooks on the HTTP clients that the SDKs share."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ..session import any_open, find, warn_stray
from ..wire.httpx import AsyncTransport, Transport, read_exchange
from .active import active_providers, judge, recognise
from .patching import Group, Target, Wrapper

__all__ = ["HTTP"]


class _Stray:
    """Warns when a call that could be recorded is made outside every session."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _look(self, request: Any) -> None:
        try:
            operation = recognise(read_exchange(request))
        except Exception:  # noqa: BLE001 - only a warning is at stake
            return
        if operation is not None:
            warn_stray(operation.name)

    def handle_request(self, request: Any) -> Any:
        self._look(request)
        return self._inner.handle_request(request)

    async def handle_async_request(self, request: Any) -> Any:
        self._look(request)
        return await self._inner.handle_async_request(request)


def _wrapper(proxy: type[Transport] | type[AsyncTransport]) -> Any:
    def make(library: ModuleType) -> Wrapper:
        def transport_for_url(
            wrapped: Any, _client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> Any:
            inner = wrapped(*args, **kwargs)
            session = find()
            if session is not None:
                return proxy(inner, library, session, judge)
            if any_open() and active_providers():
                return _Stray(inner)
            return inner

        return transport_for_url

    return make


HTTP = Group(
    tuple(
        Target(module=module, path=f"{client}._transport_for_url", make=_wrapper(proxy))
        for module in ("httpx", "httpx2")
        for client, proxy in (("Client", Transport), ("AsyncClient", AsyncTransport))
    )
)
