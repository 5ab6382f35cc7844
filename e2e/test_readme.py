"""Every Python block of the README runs as pasted."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_examples import CodeExample, EvalExample, find_examples

README = Path(__file__).resolve().parent.parent / "README.md"


@pytest.mark.parametrize("example", [*find_examples(README)], ids=str)
def test_a_block_runs_as_pasted(
    example: CodeExample,
    eval_example: EvalExample,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    eval_example.run(example)
    assert sorted(file.name for file in tmp_path.glob("*.rewind")) == ["fixed.rewind", "run.rewind"]
