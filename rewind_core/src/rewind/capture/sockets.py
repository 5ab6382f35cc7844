"""The closed world: during replay nothing of the session reaches the network by accident."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..session import find
from .patching import Group, Target, Wrapper

if TYPE_CHECKING:
    from ..session import Session

__all__ = ["SOCKETS", "forget", "guard"]

_INTERNET = (socket.AF_INET, socket.AF_INET6)
_LOCAL_NAMES = ("", "localhost", "ip6-localhost", "localhost.localdomain")

_resolved: dict[int, set[str]] = {}
"""Addresses of allowed host names, by session: a connect sees only the address."""


def _is_local(host: str) -> bool:
    if host in _LOCAL_NAMES or host.endswith(".localhost"):
        return True
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host.split("%")[0])
        return address.is_loopback or address.is_unspecified
    return False


def _allowed(session: Session, host: str, port: object) -> bool:
    if _is_local(host) or host in _resolved.get(id(session), ()):
        return True
    hosts = session.allow_hosts | session.ignore
    return host in hosts or f"{host}:{port}" in hosts or any(host.endswith(f".{h}") for h in hosts)


def _text(host: object) -> str:
    return host.decode("latin-1") if isinstance(host, bytes) else str(host or "")


def forget(session: Session) -> None:
    _resolved.pop(id(session), None)


def _remember(session: Session | None, found: Iterable[tuple[Any, ...]]) -> None:
    """What an allowed name stands for is allowed too."""
    if session is not None:
        _resolved.setdefault(id(session), set()).update(entry[4][0] for entry in found)


def guard(host: object, port: object) -> Session | None:
    """Refuse the connection, or return the replaying session that allows it."""
    session = find()
    if session is None or session.network_allowed():
        return None
    name = _text(host).lower()
    if not _allowed(session, name, port):
        session.refuse(
            f"nothing goes live during replay. Capture the call (patch its provider, "
            f"auto_patch(), or a decorator) and record again, or pass allow_hosts=[{name!r}]",
            name=f"a connection to {name}:{port}",
        )
    return session


def _connect(_module: ModuleType) -> Wrapper:
    def connect(wrapped: Any, sock: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        address = args[0] if args else None
        if sock.family in _INTERNET and isinstance(address, tuple) and len(address) >= 2:
            guard(address[0], address[1])
        return wrapped(*args, **kwargs)

    return connect


def _getaddrinfo(_module: ModuleType) -> Wrapper:
    def getaddrinfo(
        wrapped: Any, _instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        host = args[0] if args else kwargs.get("host")
        if _text(host) == socket.gethostname():
            return wrapped(*args, **kwargs)
        session = guard(host, args[1] if len(args) > 1 else kwargs.get("port"))
        found = wrapped(*args, **kwargs)
        _remember(session, found)
        return found

    return getaddrinfo


def _loop_getaddrinfo(_module: ModuleType) -> Wrapper:
    async def getaddrinfo(
        wrapped: Any, _loop: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        session = guard(args[0], args[1] if len(args) > 1 else kwargs.get("port"))
        found = await wrapped(*args, **kwargs)
        _remember(session, found)
        return found

    return getaddrinfo


def _create_connection(_module: ModuleType) -> Wrapper:
    def create_connection(
        wrapped: Any, _loop: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        host = kwargs.get("host", args[1] if len(args) > 1 else None)
        if host is not None:
            guard(host, kwargs.get("port", args[2] if len(args) > 2 else None))
        return wrapped(*args, **kwargs)

    return create_connection


SOCKETS = Group((
    Target(module="socket", path="socket.connect", make=_connect),
    Target(module="socket", path="socket.connect_ex", make=_connect),
    Target(module="socket", path="getaddrinfo", make=_getaddrinfo),
    Target(module="uvloop", path="Loop.create_connection", make=_create_connection),
    Target(module="uvloop", path="Loop.getaddrinfo", make=_loop_getaddrinfo),
))  # fmt: skip
