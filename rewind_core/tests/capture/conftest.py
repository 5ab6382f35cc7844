"""Helpers shared by the capture tests, as fixtures."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import rewind
from rewind.integrations import patched
from rewind.testing import StandIn


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_support = _load("capture_support")


@pytest.fixture
def play() -> ModuleType:
    return _support


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.rewind"


@pytest.fixture
def both() -> Iterator[None]:
    with patched("openai", "anthropic"):
        yield


@pytest.fixture
def twice(path: Path) -> Callable[..., tuple[Any, Any, rewind.Trace]]:
    """Run an agent live against `interactions`, then from the trace with the server gone."""

    def run(agent: Callable[[str], Any], *interactions: Any) -> tuple[Any, Any, rewind.Trace]:
        with StandIn(interactions) as server:
            url = server.url
            with rewind.record(path):
                live = agent(url)
            assert not server.unmatched
        with rewind.replay(path):
            replayed = agent(url)
        return live, replayed, rewind.Trace.open(path)

    return run
