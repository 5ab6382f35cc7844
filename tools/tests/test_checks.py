"""The project's own checks find what they are for."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("x = 1\n" * 400, 0),
        ("x = 1\n" * 401, 1),
        ("def f():\n" + "    x = 1\n" * 49, 0),
        ("async def f():\n" + "    x = 1\n" * 50, 1),
    ],
)
def test_files_and_functions_have_an_upper_bound(text: str, count: int) -> None:
    assert len(list(tool("check_sizes").oversized(Path("some.py"), text))) == count


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('"""Like openai."""\nx = 1  # as anthropic does\n', []),
        ("import openai.types\n", ["openai"]),
        ('if host == "api.Groq.com": pass\n', ["Groq"]),
        ("def patch_anthropic(): ...\n", ["anthropic"]),
        ("maxait = coherent\n", []),
    ],
)
def test_names_are_found_in_code_and_not_in_docstrings(text: str, names: list[str]) -> None:
    assert [name for _, name in tool("check_names").foreign_names(text)] == names


def test_a_link_must_lead_to_a_file_and_to_a_heading_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# One `x`: two\n")
    page = tmp_path / "b.md"
    page.write_text(
        "[1](a.md) [2](a.md#one-x-two) [3](a.md#three) [4](c.md)\n```\n[5](d.md)\n```\n"
    )

    assert list(tool("check_links").broken_links(page)) == ["a.md#three", "c.md"]
