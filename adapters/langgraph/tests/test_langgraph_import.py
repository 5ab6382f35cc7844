"""The package is installed with its framework and can be imported."""

from __future__ import annotations

import importlib


def test_the_package_imports() -> None:
    package = importlib.import_module("rewind_langgraph")

    assert package.__all__ == sorted(package.__all__)
