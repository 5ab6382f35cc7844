"""Which providers are switched on, and what an HTTP exchange is under that."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..providers import PROVIDERS, is_telemetry, provider_of
from ..session import telemetry_is_quiet, warn_stray
from ..wire import Operation
from .sockets import guard

if TYPE_CHECKING:
    from ..session import Session
    from ..wire import Exchange

__all__ = ["EVERYTHING", "active_providers", "judge", "outside", "switch_off", "switch_on"]

EVERYTHING = "*"
"""The name under which "any other HTTP too" is switched on."""

_IN_PROCESS = ("ASGITransport", "WSGITransport", "_TestClientTransport")
"""Transports that call the program's own application: what it answers is no outside read."""

_DIALLING = ("HTTPTransport", "AsyncHTTPTransport")
"""Transports that open connections."""

_lock = threading.Lock()
_active: Counter[str] = Counter()


def switch_on(name: str) -> None:
    with _lock:
        _active[name] += 1


def switch_off(name: str) -> None:
    with _lock:
        _active[name] -= 1


def active_providers() -> frozenset[str]:
    """Names of the providers whose traffic is captured."""
    if _active[EVERYTHING] > 0:
        return frozenset(PROVIDERS)
    return frozenset(name for name in PROVIDERS if _active[name] > 0)


def outside(read: Callable[[], Exchange]) -> bool:
    """Look at a request that is sent outside every session, while one is open: warn of one that
    could be recorded. True for an upload that stays here, because a replay is open.
    """
    try:
        exchange = read()
        if telemetry_is_quiet(None) and is_telemetry(exchange):
            return True
        provider = provider_of(exchange)
        wanted = provider is not None and (_active[provider.name] > 0 or _active[EVERYTHING] > 0)
        operation = provider.operation(exchange) if provider is not None and wanted else None
    except Exception:  # noqa: BLE001 - the request is none of ours
        return False
    if operation is not None:
        warn_stray(operation.name)
    return False


def _ignored(exchange: Exchange, hosts: frozenset[str]) -> bool:
    return any(
        exchange.host == host
        or f"{exchange.host}:{exchange.port}" == host
        or exchange.host.endswith(f".{host}")
        for host in hosts
    )


def judge(exchange: Exchange, session: Session, transport: Any) -> Operation | str | None:
    """What to do with an exchange of `session`: record it as an operation, answer it as
    telemetry (any string), or leave it alone (`None`).

    Raises `DivergenceError` for one that replay would let out to the network: here the error
    still reaches the caller as itself, not in a group that the dialling tasks make of it.
    """
    verdict = _judge(exchange, session, transport)
    if verdict is None and any(kind.__name__ in _DIALLING for kind in type(transport).__mro__):
        guard(exchange.host, exchange.port)
    return verdict


def _judge(exchange: Exchange, session: Session, transport: Any) -> Operation | str | None:
    if is_telemetry(exchange):
        return "telemetry" if telemetry_is_quiet(session) else None
    if session.ignore and _ignored(exchange, session.ignore):
        return None
    everything = session.capture_all or _active[EVERYTHING] > 0
    provider = provider_of(exchange)
    if provider is not None and (everything or _active[provider.name] > 0):
        return provider.operation(exchange)
    if not everything or type(transport).__name__ in _IN_PROCESS:
        return None
    if "upgrade" in exchange.lookup:  # the connection becomes something else than HTTP
        return None
    return Operation(name=f"http.{exchange.method}", kind="http")
