"""Telemetry sent through other HTTP clients than the hooked ones: answered on replay."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ..providers import is_telemetry
from ..session import find
from ..wire import Exchange
from .patching import Group, Target, Wrapper

__all__ = ["UPLOADS"]


def _answer(module: ModuleType, request: Any) -> Any:
    response = module.Response()
    response.status_code = 200
    response.reason = "OK"
    response.url = request.url
    response.request = request
    response.headers["Content-Type"] = "application/json"
    response._content = b"{}"  # noqa: SLF001 - as its own adapters fill it
    return response


def _requests(module: ModuleType) -> Wrapper:
    def send(wrapped: Any, _adapter: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        session = find()
        if session is None or session.network_allowed():
            return wrapped(*args, **kwargs)
        request = args[0] if args else kwargs["request"]
        exchange = Exchange.read(request.method, request.url, _text_pairs(request.headers))
        return _answer(module, request) if is_telemetry(exchange) else wrapped(*args, **kwargs)

    return send


def _text_pairs(headers: Any) -> list[tuple[str, str]]:
    def text(value: Any) -> str:
        return value.decode("latin-1") if isinstance(value, bytes) else str(value)

    return [(text(name), text(value)) for name, value in headers.items()]


UPLOADS = Group((Target(module="requests.adapters", path="HTTPAdapter.send", make=_requests),))
