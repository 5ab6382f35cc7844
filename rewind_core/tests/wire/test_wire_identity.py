"""What makes two HTTP requests the same request."""

from __future__ import annotations

import pytest

from rewind.session import Requests
from rewind.wire import Exchange, Operation, build_call

URL = "https://api.example.com/v1/chat?api-version=3&model=m"
CHAT = Operation(name="p.chat", kind="llm", semantic=("p-beta",), volatile=frozenset({"cache_key"}))
JSON = ("Content-Type", "application/json")


def identity(url=URL, body=b'{"a":1,"b":[1,2]}', headers=(JSON,), method="POST", operation=CHAT):
    return build_call(Exchange.read(method, url, list(headers)), operation, body, Requests()).id


def test_the_key_order_and_spacing_of_a_body_mean_nothing():
    assert identity(body=b'{"b": [1, 2], "a": 1}') == identity()


@pytest.mark.parametrize(
    "change",
    [
        {"body": b'{"a":1,"b":[2,1]}'},
        {"body": b'{"a":1.0,"b":[1,2]}'},
        {"body": b""},
        {"body": b"not json"},
        {"url": URL.replace("version=3", "version=4")},
        {"url": URL.replace("/v1/", "/v2/")},
        {"method": "PUT"},
        {"headers": (JSON, ("P-Beta", "x"))},
        {"headers": (("Content-Type", "text/plain"),)},
        {"operation": Operation(name="p.other", kind="llm")},
    ],
)
def test_what_is_sent_makes_a_difference(change):
    assert identity(**change) != identity()


@pytest.mark.parametrize(
    "change",
    [
        {"headers": (JSON, ("Authorization", "Bearer abc"))},
        {"headers": (JSON, ("X-Request-Id", "17"), ("x-stainless-retry-count", "2"))},
        {"headers": (("content-type", "application/json; charset=utf-8"),)},
        {"url": URL.replace("api.example.com", "localhost:8080")},
        {"url": URL + "&api_key=sk-secret"},
        {"body": b'{"a":1,"b":[1,2],"cache_key":"random"}'},
    ],
)
def test_credentials_hosts_and_volatile_fields_make_none(change):
    assert identity(**change) == identity()


def multipart(boundary, text=b"text"):
    body = b"--%s\r\nContent-Disposition: form-data; name=a\r\n\r\n%s\r\n--%s--\r\n"
    return {
        "headers": (("content-type", f"multipart/form-data; boundary={boundary}"),),
        "body": body % (boundary.encode(), text, boundary.encode()),
    }


def test_the_boundary_of_a_form_is_not_content():
    assert identity(**multipart("abc")) == identity(**multipart("xyz"))
    assert identity(**multipart("abc")) != identity(**multipart("abc", b"other"))


def test_attempts_are_counted_outside_the_identity():
    exchange = Exchange.read("POST", URL, [JSON, ("x-stainless-retry-count", "2")])
    assert build_call(exchange, CHAT, b"{}", Requests()).attempt == 2


def test_unknown_hosts_are_named_by_origin():
    call = build_call(Exchange.read("GET", "http://localhost/x", []), CHAT, b"", Requests())
    assert (call.upstream, call.origin) == (None, "http://localhost:80")


def test_a_body_that_is_no_json_object_is_kept_as_bytes():
    call = build_call(Exchange.read("POST", URL, [JSON]), CHAT, b"[1,2]", Requests())
    assert (call.request, call.opaque_request) == ({}, b"[1,2]")
