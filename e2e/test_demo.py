"""The first things a newcomer runs: the demo and the README's blocks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORPUS = os.environ.get("REWIND_CORPUS", "")


def run_demo(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONWARNINGS": "error::UserWarning"}
    for name in ("REWIND_CORPUS", "REWIND_DEMO_LIVE", "OPENAI_API_KEY"):
        environment.pop(name, None)
    return subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.slow
def test_the_demo_replays_without_a_connection_and_ends_well(tmp_path: Path) -> None:
    done = run_demo(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "6 of 6 steps served, 0 connections" in done.stdout
    assert "2 equal, 4 changed" in done.stdout
    assert "gpt-4o-mini-2024-07-18" in done.stdout
    assert sorted(file.name for file in tmp_path.glob("*/*")) == ["storm.rewind", "trip.rewind"]


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS, reason="no recorded provider traffic: REWIND_CORPUS is unset")
def test_the_demo_plays_a_real_run_where_there_is_one(tmp_path: Path) -> None:
    done = run_demo(tmp_path, REWIND_CORPUS=CORPUS)
    assert done.returncode == 0, done.stderr
    assert "8 steps replayed with the server gone" in done.stdout


def test_a_live_demo_asks_for_a_key(tmp_path: Path) -> None:
    done = run_demo(tmp_path, REWIND_DEMO_LIVE="1")
    assert done.returncode == 2
    assert "OPENAI_API_KEY" in done.stdout
