"""A credential of no known shape is found by its value, once a request has used it."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewind.redact import SECRET, Masker, StreamMasker

ODD = "q7/Zt+93=kd.Ab_0xLmWv4Rt"
"""A key without a known shape, with characters that URLs and JSON may escape."""


def knowing(*values: str) -> Masker:
    masker = Masker()
    for value in values:
        masker.known.learn(value)
    return masker


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", f"Bearer {ODD}"),
        ("authorization", ODD),
        ("x-api-key", ODD),
        ("X-My-Gateway", ODD),
        ("X-My-Gateway", f"Token {ODD}"),
        ("helicone-auth", f"Bearer {ODD}"),
        ("Proxy-Authorization", "Basic " + base64.b64encode(f"me:{ODD}".encode()).decode()),
        ("Cookie", f"theme=dark; session={ODD}123"),
    ],
)
def test_what_a_request_authenticates_with_is_found_in_text(name: str, value: str) -> None:
    masker = Masker()
    masker.learn_request([("accept", "*/*"), (name, value)], "https://h/p")
    suffix = "123" if name == "Cookie" else ""
    assert masker.text(f"the key {ODD}{suffix}.") == f"the key {SECRET}."
    assert masker.sent_headers([(name, value)])[0][1] in (SECRET, f"Token {SECRET}")


def test_what_a_url_authenticates_with_is_found_in_text() -> None:
    masker = Masker()
    masker.learn_request([], "https://me:pass%2Fword1@h/p?api_key=q7Zt93kdAb")
    assert masker.text("pass/word1 q7Zt93kdAb") == f"{SECRET} {SECRET}"


def test_the_environment_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "q7Zt93kdAb")
    monkeypatch.setenv("DATABASE", "postgres://me:hunter2222@db/x")
    monkeypatch.setenv("SOME_KEY", "/etc/keys/1234567890.pem")
    monkeypatch.setenv("TOKEN", "EMPTY")
    masker = Masker()
    masker.learn_environment()
    text = "q7Zt93kdAb hunter2222 /etc/keys/1234567890.pem EMPTY"
    assert masker.text(text) == f"{SECRET} {SECRET} /etc/keys/1234567890.pem EMPTY"


@pytest.mark.parametrize("word", ["EMPTY", "ollama", "test", "not-needed", "dummy", "key 12345678"])
def test_words_that_stand_for_a_key_are_left_in_text(word: str) -> None:
    masker = Masker()
    masker.learn_request([("authorization", f"Bearer {word}")], "https://h/p")
    assert masker.text(f"run {word} now") == f"run {word} now"


def test_a_short_value_is_not_cut_out_of_a_longer_word() -> None:
    masker = knowing("abc12345")
    assert masker.text("xabc12345 abc123456 abc12345!") == f"xabc12345 abc123456 {SECRET}!"


@pytest.mark.parametrize(
    "name",
    "x-request-id x-correlation-id traceparent user-agent x-stainless-runtime-version "
    "idempotency-key host anthropic-version".split(),
)
def test_long_values_that_are_no_secret_are_kept(name: str) -> None:
    value = "a0" * 16
    masker = Masker()
    masker.learn_request([(name, value)], "https://h/p")
    assert masker.sent_headers([(name, value)]) == [(name, value)]
    assert masker.text(value) == value


def test_a_set_cookie_header_keeps_its_name_and_attributes() -> None:
    header = ("Set-Cookie", "__cf_bm=abc=def; path=/; HttpOnly")
    assert Masker().received_headers([header]) == [
        ("Set-Cookie", f"__cf_bm={SECRET}; path=/; HttpOnly")
    ]


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"error": {"message": f"bad key: {ODD}"}}).encode(),
        json.dumps({"error": f"bad key: {ODD}"}).replace("/", "\\/").encode(),
        json.dumps({"error": f"bad key\n{ODD}"}).encode(),
        json.dumps({"args": json.dumps({"k": ODD})}).encode(),
        f"bad key {ODD}".encode(),
        f"<a href='/p?k={ODD.replace('/', '%2F').replace('+', '%2B').replace('=', '%3D')}'>".encode(),
        b"\xff\x00" + ODD.encode(),
        f'data: {{"text": "{ODD}"}}\n\ndata: {ODD}\n\n'.encode(),
    ],
)
def test_no_body_keeps_a_known_value(body: bytes) -> None:
    masker = Masker()
    masker.learn_request([("authorization", f"Bearer {ODD}")], "https://h/p")
    masked, _ = masker.body(body)
    assert SECRET.encode() in masked
    for piece in (ODD, ODD.replace("/", "\\/"), "q7%2F"):
        assert piece.encode() not in masked


def test_a_value_learned_later_is_masked_in_a_history_that_was_seen_before() -> None:
    masker = Masker()
    history: list[Any] = [f"message {i} {ODD}" for i in range(6)]
    before = masker.request({"messages": history})
    masker.known.learn(ODD)
    assert before == {"messages": history}
    masked = {"messages": [f"message {i} {SECRET}" for i in range(6)]}
    assert masker.request({"messages": history}) == masked


def test_the_cuts_of_a_body_stay_where_they_were() -> None:
    body = b'{"a": 1, "api_key": "0123456789", "b": 2}'
    cuts = (3, 22, 25, 31, 36)
    masked, moved = Masker().body(body, cuts)
    assert masked == b'{"a": 1, "api_key": "<secret>", "b": 2}'
    assert moved == (3, 29, 34)


EVENTS = [
    b'event: x\ndata: {"delta": "hello", "api_key": "q"}\n\n',
    b'data: {"text": "' + ODD.encode() + b'"}\n\n',
    b'data: {"signature": "' + ODD.encode() + b'"}\n\n',
    b": ping\n\n",
    b"data: " + ODD.encode() + b"\n\n",
    b'data: {"usage": {"tokens": 1}}\r\n\r\n',
    b"data: [DONE]\n\n",
]


def consume(stream: StreamMasker, chunks: list[bytes]) -> list[bytes]:
    """What a reader makes of the pieces: those with `more` go on in the next."""
    pieces = [piece for chunk in chunks for piece in stream.feed(chunk)] + stream.flush()
    result, begun = [], b""
    for data, more in pieces:
        begun += data
        if not more:
            result.append(begun)
            begun = b""
    return [*result, begun] if begun else result


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(place % len(data) for place in cuts)})
    return [data[a:b] for a, b in pairwise(places)]


@given(
    st.lists(st.sampled_from(EVENTS), min_size=1, max_size=8),
    st.lists(st.integers(0, 1000), max_size=30),
    st.booleans(),
)
def test_a_stream_is_masked_alike_however_it_is_cut(
    events: list[bytes], cuts: list[int], by_line: bool
) -> None:
    masker = knowing(ODD)
    data = b"".join(events)
    chunks = cut(data, cuts)
    got = consume(StreamMasker(masker, None, by_line=by_line), chunks)
    if by_line:
        assert b"".join(got) == masker.body(data)[0]
        assert len(got) <= len(chunks)
    untouched = b"".join(event for event in events if b"signature" in event)
    assert b"".join(got).count(ODD.encode()) <= untouched.count(ODD.encode())


@given(st.lists(st.integers(0, 1000), max_size=30))
def test_chunks_without_a_secret_stay_as_they_came(cuts: list[int]) -> None:
    chunks = cut(b"".join(EVENTS[3:4] + EVENTS[5:]) * 3, cuts)
    for by_line in (True, False):
        assert consume(StreamMasker(knowing(ODD), None, by_line=by_line), chunks) == chunks


def test_complete_lines_are_written_at_once() -> None:
    stream = StreamMasker(Masker(), None, by_line=True)
    assert stream.feed(b"data: 1\n\ndata:") == [(b"data: 1\n\n", True)]
    assert stream.feed(b" 2\n\n") == [(b"data:", False), (b" 2\n\n", False)]
    plain = StreamMasker(Masker(), None, by_line=False)
    assert plain.feed(b"Hello wor") == [(b"Hello wor", False)]


def test_a_stream_left_in_the_middle_of_a_key_keeps_none_of_it() -> None:
    stream = StreamMasker(knowing(ODD), None, by_line=False)
    pieces = stream.feed(b"your key: " + ODD[:12].encode()) + stream.flush()
    assert pieces == [(b"your key: ", True), (b"<secret>", False)]


def test_an_endless_line_is_given_on() -> None:
    stream = StreamMasker(Masker(), None, by_line=True)
    assert sum(len(piece.data) for piece in stream.feed(b"x" * 100_000)) == 100_000
