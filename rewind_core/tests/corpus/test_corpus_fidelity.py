"""Real traffic through the real SDKs: bare, recorded and replayed are the same to the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from corpus_drive import KEY, Mode, drive

import rewind
from rewind.integrations import patched
from rewind.testing import Split, StandIn

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.parametrize("mode", Mode, ids=lambda mode: mode.value),
]


def assert_faithful(case: Any, mode: Mode, split: Split, folder: Path) -> None:
    """Drives a case bare, recorded, and replayed after the provider has gone."""
    file = folder / "run.rewind"
    with StandIn(case.interactions, split=split, match="body") as provider:
        bare = drive(case, mode, provider.url)
        with patched("openai", "anthropic"), rewind.record(file):
            recorded = drive(case, mode, provider.url)
        assert not provider.unmatched
    connections = provider.connections
    assert recorded == bare

    with patched("openai", "anthropic"), rewind.replay(file):
        replayed = drive(case, mode, provider.url)
    assert replayed == recorded
    assert provider.connections == connections
    assert len(rewind.Trace.load(file)) == len(case.steps)
    assert KEY.encode() not in file.read_bytes()


def test_an_interaction(interaction: Any, mode: Mode, split: Split, tmp_path: Path) -> None:
    assert_faithful(interaction, mode, split, tmp_path)


def test_a_run_in_one_session(run: Any, mode: Mode, split: Split, tmp_path: Path) -> None:
    assert_faithful(run, mode, split, tmp_path)
