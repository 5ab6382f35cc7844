"""A run that must use the corpus fails when it did not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

UNMARKED = "def test_it(): pass\n"
PASSING = "import pytest\n@pytest.mark.corpus\ndef test_it(): pass\n"
SKIPPED = "import pytest\n@pytest.mark.corpus\ndef test_it(): pytest.skip('no corpus')\n"


@pytest.mark.parametrize(
    ("test", "required", "status"),
    [
        (UNMARKED, "", 0),
        (SKIPPED, "", 0),
        (PASSING, "1", 0),
        (UNMARKED, "1", 1),
        (SKIPPED, "1", 1),
    ],
)
def test_skipped_or_missing_corpus_tests_fail_where_the_corpus_is_required(
    tmp_path: Path, test: str, required: str, status: int
) -> None:
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = corpus: recorded traffic\n")
    (tmp_path / "test_it.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    env = {**os.environ, "REWIND_REQUIRE_CORPUS": required, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)

    assert done.returncode == status, done.stdout
