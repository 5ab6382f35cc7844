"""The hooks on the HTTP clients that the SDKs share."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ..providers import is_telemetry
from ..session import any_open, find, telemetry_is_quiet, warn_stray
from ..wire.httpx import AsyncTransport, Transport, quiet, read_exchange
from .active import judge, recognise
from .patching import Group, Target, Wrapper

__all__ = ["HTTP"]


class _Outside:
    """Looks at what is sent outside every session: uploads stay here while a replay is open,
    and a call that could be recorded gets a warning.
    """

    def __init__(self, inner: Any, library: ModuleType) -> None:
        self._inner = inner
        self._library = library

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _answer(self, request: Any) -> Any:
        try:
            exchange = read_exchange(request)
            if telemetry_is_quiet(None) and is_telemetry(exchange):
                return quiet(self._library)
            operation = recognise(exchange)
        except Exception:  # noqa: BLE001 - the request is none of ours
            return None
        if operation is not None:
            warn_stray(operation.name)
        return None

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


HTTP = Group(
    tuple(
        Target(module=module, path=f"{client}._transport_for_url", make=_wrapper(proxy))
        for module in ("httpx", "httpx2")
        for client, proxy in (("Client", Transport), ("AsyncClient", AsyncTransport))
    )
)
