"""Recorded transport errors come back as their own class, and as nothing else."""

from __future__ import annotations

import httpx2
import pytest

from rewind import ReplayedError
from rewind.wire.errors import describe, revive


def test_a_class_survives():
    error = revive(describe(httpx2.ConnectError("no route")))
    assert type(error) is httpx2.ConnectError
    assert str(error) == "no route"


def test_a_class_whose_constructor_wants_more_is_built_without_it():
    error = revive(describe(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad")))
    assert type(error) is UnicodeDecodeError


@pytest.mark.parametrize(
    "name", ["os:system", "builtins:SystemExit", "never.imported:Error", "builtins:dict", "", ":"]
)
def test_only_exceptions_of_imported_modules_are_resolved(name):
    error = revive({"type": name, "message": "m"}, step=4)
    assert type(error) is ReplayedError
    assert (error.original_type, error.original_message, error.step) == (name, "m", 4)
