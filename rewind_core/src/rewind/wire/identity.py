"""From an HTTP request to a `Call`: what is stored of it, and what makes it the same request."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, urlsplit

from ..calls import Call
from ..canonical import NOT_JSON, encode
from ..redact import SECRET
from ..trace import WireRecord

if TYPE_CHECKING:
    from ..canonical import Plain
    from ..session import Requests
    from .exchange import Exchange, Operation

__all__ = ["build_call"]

_BOUNDARY = re.compile(r'boundary="?([^";,]+)"?', re.IGNORECASE)
_ONE_BOUNDARY = b"boundary-of-this-request"
_ATTEMPT_HEADER = "x-stainless-retry-count"


def _query(url: str) -> list[list[str]]:
    """The masked query in its own order, without the parameters that hold credentials."""
    pairs = (part.partition("=") for part in urlsplit(url).query.split("&") if part)
    return [[name, value] for name, _, value in pairs if unquote(value) != SECRET]


def _head(exchange: Exchange, operation: Operation, url: str) -> bytes:
    headers = {
        name: exchange.lookup[name] for name in operation.semantic if name in exchange.lookup
    }
    head: dict[str, Plain] = {
        "kind": operation.kind,
        "name": operation.name,
        "method": exchange.method,
        "path": urlsplit(url).path,
        "query": cast("Plain", _query(url)),
        "media": exchange.media_type,
        "headers": cast("Plain", headers),
    }
    return encode(head)


def _one_boundary(exchange: Exchange, body: bytes) -> bytes:
    """A multipart body whose random boundary is a constant."""
    if not exchange.media_type.startswith("multipart/"):
        return body
    found = _BOUNDARY.search(exchange.lookup.get("content-type", ""))
    return body.replace(found.group(1).encode(), _ONE_BOUNDARY) if found else body


def _tagged(parsed: dict[str, Plain]) -> bool:
    """Whether this stands for another value than a JSON object of these keys."""
    return len(parsed) == 1 and next(iter(parsed)).startswith("$")


def _attempt(exchange: Exchange) -> int:
    count = exchange.lookup.get(_ATTEMPT_HEADER, "0")
    return int(count) if count.isdecimal() and len(count) < 6 else 0


def build_call(exchange: Exchange, operation: Operation, body: bytes, requests: Requests) -> Call:
    masker = requests.masker
    masker.learn_request(exchange.headers, exchange.url)
    url = masker.url(exchange.url)
    head = _head(exchange, operation, url)
    parsed = requests.parse(body) if body else NOT_JSON
    request: dict[str, Plain] = {}
    opaque: bytes | None = None
    identity: dict[str, Plain] = {}
    if isinstance(parsed, dict) and not _tagged(cast("dict[str, Plain]", parsed)):
        request = masker.request(cast("dict[str, Plain]", parsed))
        identity = {k: v for k, v in request.items() if k not in operation.volatile}
    elif body:
        opaque, _ = masker.body(_one_boundary(exchange, body))
        identity = {"opaque": blake2b(opaque, digest_size=16).hexdigest()}
    return Call(
        kind=operation.kind,
        name=operation.name,
        ring="wire",
        request=request,
        id=requests.identify(head, identity),
        upstream=operation.upstream,
        origin=exchange.origin if operation.upstream is None else None,
        attempt=_attempt(exchange),
        meta={"format": operation.format} if operation.format else {},
        opaque_request=opaque,
        wire=WireRecord(
            method=exchange.method,
            url=url,
            request_headers=masker.sent_headers(exchange.headers),
            status=0,
            reason="",
            http_version="",
            headers=[],
        ),
    )
