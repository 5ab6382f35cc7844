"""One content, one identity, however it was computed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewind.canonical
from rewind.canonical import RequestIdentity, request_id, to_plain

LEAVES = st.sampled_from([0, 1, True, 1.0, "1", "a", None, "x" * 600, [], {}, {"a": 1}])


@given(st.lists(st.lists(LEAVES, max_size=6), min_size=2, max_size=8))
def test_memory_changes_no_identity(arrays: list[list[Any]]) -> None:
    identity = RequestIdentity()
    for array in arrays:
        request = {"messages": array, "model": "m"}
        assert identity.id(b"h", request) == request_id(b"h", request)


def test_a_growing_history_has_the_identity_of_a_fresh_one() -> None:
    identity = RequestIdentity()
    history: list[Any] = []
    for turn in range(50):
        history.append({"role": "user", "content": f"{turn}"})
        if turn == 30:
            history[3] = {"role": "system"}
        assert identity.id(b"h", {"m": list(history)}) == request_id(b"h", {"m": list(history)})


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"a": [1]}, {"a": [True]}),
        ({"a": [1]}, {"a": [1.0]}),
        ({"a": [[1], 2]}, {"a": [1, [2]]}),
        ({"a": []}, {"a": {}}),
        ({"a": []}, {}),
        ({"a": [1], "b": 2}, {"a": 2, "b": [1]}),
        ({"ab": 1}, {"a": 1, "b": 1}),
    ],
)
def test_different_requests_differ(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert request_id(b"", one) != request_id(b"", two)


def test_the_head_takes_part() -> None:
    assert request_id(b"a", {}) != request_id(b"b", {})


def test_identity_is_the_same_in_another_process() -> None:
    code = (
        "from rewind.canonical import request_id, to_plain;"
        "print(request_id(b'h', {'a': to_plain([{'x','y','z'}, {'k': 1.5}, object()])}))"
    )
    source = str(Path(rewind.canonical.__file__).parents[2])
    seen = {request_id(b"h", {"a": to_plain([{"x", "y", "z"}, {"k": 1.5}, object()])})}
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": source}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, check=True
        )
        seen.add(done.stdout.decode().strip())
    assert len(seen) == 1
