"""Keeps providers and frameworks out of the core: a name stands only in its own table.

Identifiers and strings are searched. Docstrings and comments may give an example.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
CORE = "rewind_core/src/rewind"

NAMES = (
    "anthropic", "autogen", "azure", "bedrock", "cerebras", "cohere", "crewai", "deepseek",
    "fireworks", "gemini", "groq", "huggingface", "langchain", "langfuse", "langgraph",
    "langsmith", "litellm", "llama_index", "mistral", "ollama", "openai", "openrouter",
    "pydantic_ai", "smolagents", "vertexai", "voyageai", "xai",
)  # fmt: skip

# Where a name is at home, below the core package, and why.
ALLOWED = {
    "__init__.py": "offers patch_<provider> as public names",
    "formats/": "one module per wire format",
    "integrations.py": "the public patch_<provider> functions",
    "providers/": "one table per provider",
    "redact/rules.py": "the tables of credential headers and key shapes",
    "testing/": "stand-ins that speak a provider's protocol",
}

_NAME = re.compile(rf"(?<![a-z])({'|'.join(NAMES)})(?![a-z])", re.IGNORECASE)


def _docstrings(tree: ast.Module) -> set[int]:
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, owners) and node.body and isinstance(node.body[0], ast.Expr)
    }


def _words(node: ast.AST) -> Iterator[str]:
    """The identifiers and strings that stand in this node itself."""
    for field in ("id", "attr", "arg", "name", "asname", "module", "value"):
        word = getattr(node, field, None)
        if isinstance(word, str):
            yield word


def foreign_names(text: str) -> Iterator[tuple[int, str]]:
    """Line and name of every provider or framework that the code itself mentions."""
    tree = ast.parse(text)
    skipped = _docstrings(tree)
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        for word in _words(node):
            for found in _NAME.findall(word):
                yield getattr(node, "lineno", 1), found


def main() -> int:
    """Print every finding; 1 when there is one."""
    core = ROOT / CORE
    findings: list[str] = []
    for path in sorted(core.rglob("*.py")):
        relative = path.relative_to(core).as_posix()
        if relative.startswith(tuple(ALLOWED)):
            continue
        for line, name in foreign_names(path.read_text(encoding="utf-8")):
            findings.append(f"{CORE}/{relative}:{line}: {name!r} belongs into its own table")
    print("\n".join(findings) or "names: every provider and framework stands in its own table")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
