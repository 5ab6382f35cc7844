"""Bodies of other programs are read faithfully or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewind.canonical import NOT_JSON, JsonParser, decode, encode, from_plain, parse_json

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None)),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_a_body_comes_back(value: Any) -> None:
    plain = parse_json(json.dumps(value).encode())
    assert from_plain(decode(encode(plain))) == value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"a":1,"a":1}',
        b'[{"x":{"a":1,"b":2,"a":3}}]',
        b"[1e400]",
        b"\xff",
        b"\xef\xbb\xbf{}",
        b"{}{}",
        b"[" * 5000 + b"]" * 5000,
        b"[" * 300 + b"]" * 300,
        b'"\n"',
    ],
)
def test_a_body_without_one_meaning_is_not_json(body: bytes) -> None:
    assert parse_json(body) is NOT_JSON
    assert JsonParser().parse(body) is NOT_JSON


def test_what_json_libraries_differ_in_is_kept() -> None:
    body = b'[NaN,-Infinity,123456789012345678901234567890,1e16,1.0,"\\ud800",{"$run":[1]}]'
    plain = parse_json(body)
    assert plain == [
        {"$float": "nan"},
        {"$float": "-inf"},
        {"$int": "123456789012345678901234567890"},
        1e16,
        1.0,
        {"$surrogates": "7aCA"},
        {"$dict": {"$run": [1]}},
    ]
    assert type(plain[4]) is float


MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": JSON}),
    min_size=1,
    max_size=8,
)


@given(MESSAGES, MESSAGES, st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]), st.data())
def test_the_memory_of_a_parser_changes_nothing(
    first: list[Any], more: list[Any], separators: tuple[str, str], data: Any
) -> None:
    parser = JsonParser()
    history = list(first)
    for message in more:
        history.append(message)
        if data.draw(st.booleans()):
            history[data.draw(st.integers(0, len(history) - 1))] = {"role": "x" * 300}
        request = {
            "model": "m",
            "messages": history,
            "tools": [{"a": "t" * 600}],
            "n": len(history),
        }
        body = json.dumps(request, separators=separators).encode()
        expected = parse_json(body)
        assert encode(parser.parse(body)) == encode(expected)


@pytest.mark.parametrize(
    "tail",
    [
        b"",
        b"]",
        b"}",
        b"]}",
        b",]}",
        b'],"messages":[]}',
        b'{"a":1}]}',
        b',{"a":1,"a":2}]}',
        b"]}x",
    ],
)
def test_a_known_beginning_with_a_bad_end(tail: bytes) -> None:
    parser = JsonParser()
    element = b'{"role":"user","content":"' + b"x" * 3000 + b'"}'
    beginning = b'{"model":"m","messages":[' + b",".join([element] * 3)
    assert parser.parse(beginning + b"]}") is not NOT_JSON
    body = beginning + tail
    expected = parse_json(body)
    got = parser.parse(body)
    assert (got is NOT_JSON) == (expected is NOT_JSON)
    if expected is not NOT_JSON:
        assert encode(got) == encode(expected)


def test_repeated_elements_are_the_same_objects() -> None:
    parser = JsonParser()
    message = {"role": "user", "content": "x" * 2000}
    one = parser.parse(json.dumps({"messages": [message] * 3}).encode())
    two = parser.parse(json.dumps({"messages": [message] * 3 + [{"b": 1}], "x": 1}).encode())
    assert all(a is b for a, b in zip(one["messages"], two["messages"]))
