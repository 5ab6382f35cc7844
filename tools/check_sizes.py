"""Keeps the tails bounded: no source file over 400 lines, no function over 50.

Tests are not counted: a table of cases may be as long as it has cases.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("rewind_core/src", "adapters/*/src", "tools/*.py", "bench/*.py")
MAX_FILE = 400
MAX_FUNCTION = 50


def source_files(root: Path) -> Iterator[Path]:
    """Every Python file that the bounds apply to, in a stable order."""
    for pattern in SOURCES:
        for found in sorted(root.glob(pattern)):
            yield from sorted(found.rglob("*.py")) if found.is_dir() else [found]


def oversized(path: Path, text: str) -> Iterator[str]:
    """One line per bound that `text` breaks."""
    lines = text.count("\n")
    if lines > MAX_FILE:
        yield f"{path}: {lines} lines, {MAX_FILE} are allowed"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines, {MAX_FUNCTION} are allowed"


def main() -> int:
    """Print every finding; 1 when there is one."""
    findings = [
        finding
        for path in source_files(ROOT)
        for finding in oversized(path.relative_to(ROOT), path.read_text(encoding="utf-8"))
    ]
    print("\n".join(findings) or "sizes: all files and functions within their bounds")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
