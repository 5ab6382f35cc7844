"""Telemetry sent through other HTTP clients than the hooked ones: answered on replay.

Most of them stand on one connection pool, so that is where it is caught.
"""

from __future__ import annotations

import importlib
import io
from types import ModuleType
from typing import Any

from ..providers import is_telemetry
from ..session import find, telemetry_is_quiet
from ..wire import Exchange
from .patching import Group, Target, Wrapper

__all__ = ["UPLOADS"]


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _exchange(pool: Any, method: str, url: str, headers: Any) -> Exchange:
    if not url.startswith(("http://", "https://")):
        port = f":{pool.port}" if pool.port else ""
        url = f"{pool.scheme}://{pool.host}{port}{url}"
    given = headers if headers is not None else (pool.headers or {})
    return Exchange.read(method, url, [(_text(k), _text(v)) for k, v in given.items()])


def _urlopen(_module: ModuleType) -> Wrapper:
    response = importlib.import_module("urllib3.response")

    def urlopen(wrapped: Any, pool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not telemetry_is_quiet(find()):
            return wrapped(*args, **kwargs)
        method, url, _body, headers = _first_four(*args, **kwargs)
        if not is_telemetry(_exchange(pool, method, url, headers)):
            return wrapped(*args, **kwargs)
        return response.HTTPResponse(
            body=io.BytesIO(b"{}"),
            headers={"content-type": "application/json"},
            status=200,
            reason="OK",
            preload_content=kwargs.get("preload_content", True),
        )

    return urlopen


def _first_four(
    method: str, url: str, body: Any = None, headers: Any = None, *_rest: Any, **_more: Any
) -> tuple[str, str, Any, Any]:
    return method, url, body, headers


UPLOADS = Group(
    (Target(module="urllib3.connectionpool", path="HTTPConnectionPool.urlopen", make=_urlopen),)
)
