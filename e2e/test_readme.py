"""Every Python block of the README runs as pasted."""

from __future__ import annotations

import subprocess
import sys
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
    if "import pytest" in example.source:
        replay_as_a_test(example.source, tmp_path)
        return
    eval_example.run(example)
    assert sorted(file.name for file in tmp_path.glob("*.rewind")) == ["fixed.rewind", "run.rewind"]


def replay_as_a_test(source: str, folder: Path) -> None:
    (folder / "test_readme_block.py").write_text(source, encoding="utf-8")
    for more in (["--rewind-record"], []):
        command = [sys.executable, "-m", "pytest", "-q", *more, "test_readme_block.py"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "traces" / "weekend.rewind").exists()
