"""Credentials never reach a trace, and nothing else is touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewind.canonical import JsonParser, request_id
from rewind.redact import SECRET, Masker

LONG = "a1B2" * 8
KEY = "sk-ant-api03-" + "aB3" * 20

masker = Masker()


def identity_plain(plain: Any) -> Any:
    return masker.identity({"value": plain})["value"]


def mask_body_bytes(body: bytes) -> bytes:
    return masker.body(body)[0]


@pytest.mark.parametrize(
    "name",
    "Authorization X-Api-Key api-key Cookie openai-project X-Portkey-Virtual-Key Proxy-Authorization x-goog-api-key "
    "X-Amz-Security-Token my-secret-key X-Session-Token".split(),
)
def test_credential_headers_are_masked(name: str) -> None:
    assert masker.sent_headers([("accept", "a"), (name, "abc")]) == [
        ("accept", "a"),
        (name, SECRET),
    ]


@pytest.mark.parametrize(
    "name",
    "api_key apiKey API_KEY api-key openai_api_key aws_secret_access_key db_password password "
    "client_secret access_token refresh_token private_key vertex_credentials authorization "
    "aws_session_token secret".split(),
)
def test_credential_fields_are_masked(name: str) -> None:
    assert masker.plain({"a": [{name: "abc", "b": 1}]}) == {"a": [{name: SECRET, "b": 1}]}
    assert identity_plain(masker.plain({name: "abc", "b": 1})) == {"b": 1}
    assert identity_plain(masker.plain({name: None, "b": 1})) == {"b": 1}


@pytest.mark.parametrize(
    "plain",
    [
        {
            "max_tokens": 5,
            "token": "the",
            "tokens": ["a"],
            "prompt_cache_key": "x",
            "key": "c minor",
        },
        {"properties": {"password": {"type": "string", "description": "of the user"}}},
        {"tool_choice": "auto", "text": "my password is in the sk- drawer"},
        {"logprobs": [{"token": "sk", "bytes": [1]}]},
        {"encrypted_content": KEY, "signature": KEY, "b64_json": KEY},
        {"usage": {"password": 3, "secret": True}},
        {"text": "task-" + "a" * 60 + " ask-" + "b1" * 30},
        {"hash": "0123456789abcdef" * 4, "id": "chatcmpl-" + "A1b2" * 8},
        [1, 2.0, None, "x"],
    ],
)
def test_other_content_is_the_same_object(plain: Any) -> None:
    assert masker.plain(plain) is plain
    assert identity_plain(plain) is plain
    body = json.dumps(plain).encode()
    assert mask_body_bytes(body) is body


@pytest.mark.parametrize(
    "key",
    [
        KEY,
        "sk-proj-" + "aB3_" * 15,
        "sk-" + "aB3" * 16,
        "AKIA" + "ABCD1234" * 2,
        "AIza" + "aB3-e" * 7,
        "ghp_" + "aB3d" * 9,
        "hf_" + "aBcd" * 9,
        "gsk_" + "aB3d" * 13,
        "-----BEGIN PRIVATE KEY-----\n" + "A" * 64 + "\n-----END PRIVATE KEY-----",
    ],
)
def test_unmistakable_keys_in_text_are_masked(key: str) -> None:
    assert masker.text(f"use {key}, please") == f"use {SECRET}, please"
    assert masker.plain({"messages": [{"content": f"key={key}"}]}) == {
        "messages": [{"content": f"key={SECRET}"}]
    }
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {key}."}}).encode()
    assert mask_body_bytes(body) == body.replace(json.dumps(key)[1:-1].encode(), SECRET.encode())


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        (f"https://h/p?a=1&key={LONG}&b=2", f"https://h/p?a=1&key={SECRET}&b=2"),
        ("https://h/p?key=name&token=2", "https://h/p?key=name&token=2"),
        ("https://h/p?api_key=abc#f", f"https://h/p?api_key={SECRET}#f"),
        ("https://h/p?X-Amz-Signature=abc", f"https://h/p?X-Amz-Signature={SECRET}"),
        ("https://user:pw@h/p", f"https://{SECRET}@h/p"),
        ("https://h/p?a=1&a=2&b&c=", "https://h/p?a=1&a=2&b&c="),
        ("https://h/p?x%2Dapi%2Dkey=abc", f"https://h/p?x%2Dapi%2Dkey={SECRET}"),
        ("https://h/p#access_token=x&b=1", f"https://h/p#access_token={SECRET}&b=1"),
        ("https://h/?m=a@b", "https://h/?m=a@b"),
    ],
)
def test_urls(url: str, masked: str) -> None:
    assert masker.url(url) == masked


def test_an_event_stream_is_masked_line_by_line() -> None:
    body = f'event: e\ndata: {{"api_key": "x", "b": 1}}\n\ndata: {{"c": 2}}\n\ndata: {KEY}\n\n'.encode()
    assert (
        mask_body_bytes(body)
        == (
            f'event: e\ndata: {{"api_key": "{SECRET}", "b": 1}}\n\ndata: {{"c": 2}}\n\ndata: {SECRET}\n\n'
        ).encode()
    )


def test_bodies_that_are_not_text_are_kept() -> None:
    body = b'\xff"api_key": "x"'
    assert mask_body_bytes(body) is body


def test_masking_is_stable() -> None:
    plain = {"api_key": "x", "headers": {"Authorization": "Bearer y"}, "t": KEY}
    masked = masker.plain(plain)
    assert masker.plain(masked) is masked


def test_fields_with_typed_keys_are_masked() -> None:
    assert masker.plain({"$map": [[1, 2], ["api_key", "x"]]}) == {
        "$map": [[1, 2], ["api_key", SECRET]]
    }


def test_another_key_or_none_has_the_same_identity() -> None:
    def identity(request: dict[str, Any]) -> str:
        return request_id(b"", identity_plain(masker.plain(request)))

    assert (
        identity({"a": 1, "api_key": "x"})
        == identity({"a": 1, "api_key": "y"})
        == identity({"a": 1})
    )


ELEMENT = st.sampled_from(
    [1, "x" * 600, KEY, {"api_key": "x"}, {"api_key": None}, {"a": [{"secret": "s"}]}]
)


@given(st.lists(st.lists(ELEMENT, min_size=1, max_size=6), min_size=1, max_size=5))
def test_the_memory_of_a_masker_changes_nothing(arrays: list[list[Any]]) -> None:
    remembering, parser = Masker(), JsonParser()
    for array in arrays:
        body = json.dumps({"messages": array, "api_key": "z", "x": {"password": "p"}}).encode()
        request: Any = parser.parse(body)
        masked = remembering.request(request)
        assert masked == Masker().plain(request)
        assert remembering.identity(masked) == Masker().identity(masked)
