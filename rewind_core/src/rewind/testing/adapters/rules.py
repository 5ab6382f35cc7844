"""What holds for every test of the suite: capabilities tell the truth, and tests stay whole."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from .tasks import Capability

__all__ = ["check_overrides", "needs"]

Test = TypeVar("Test", bound=Callable[..., None])


def needs(capability: Capability) -> Callable[[Test], Test]:
    """Mark a test as the proof of a capability.

    Where the adapter does not declare it, the test has to fail: a capability that is there is
    declared.
    """

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def checked(self: Any, *args: Any, **kwargs: Any) -> None:
            if capability in self.capabilities:
                test(self, *args, **kwargs)
                return
            try:
                test(self, *args, **kwargs)
            except Exception as missing:  # noqa: BLE001 - whatever the framework says
                pytest.xfail(f"not declared: {capability.value} ({type(missing).__name__})")
            pytest.fail(f"{capability.value} works; declare {capability}", pytrace=False)

        return checked  # type: ignore[return-value]

    return decorate


def check_overrides(suite: type, subclass: type) -> None:
    """Refuse a subclass that replaces a test of `suite` without `xfail(reason=…)`.

    Raises `TypeError`.
    """
    for name, test in vars(subclass).items():
        if not name.startswith("test_") or not hasattr(suite, name):
            continue
        marks = getattr(test, "pytestmark", [])
        if not any(mark.name == "xfail" and mark.kwargs.get("reason") for mark in marks):
            raise TypeError(
                f"{subclass.__name__}.{name} replaces a test of the suite; "
                "mark it xfail(reason=...) or leave it alone"
            )
