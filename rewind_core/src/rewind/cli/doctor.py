"""`rewind doctor`: what is installed here, and what would get in the way."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata

from .console import Out

__all__ = ["doctor"]

_OWN = "rewind-core"
_CLIENTS = ("httpx", "httpx2", "requests", "aiohttp", "botocore", "grpcio", "websockets")
_EXTRAS = {"genai-prices": "cost", "rapidfuzz": "fuzzy", "zstandard": "zstd"}


def doctor(out: Out) -> bool:
    """Print the report; whether all is well."""
    out.line(("rewind", "bold"), f"  {_version(_OWN) or 'not installed as a distribution'}")
    out.line(("python", "bold"), f"  {platform.python_version()}  {sys.executable}")
    _table(out, "HTTP clients", _CLIENTS)
    _table(out, "SDKs", _sdk_names())
    _table(out, "extras", _EXTRAS)
    _table(out, "adapters", _adapters())
    plugin = any(
        point.value.startswith("rewind.") for point in metadata.entry_points(group="pytest11")
    )
    pytest = _version("pytest")
    out.line(
        ("pytest", "bold"),
        f"  {pytest or 'not installed'}",
        ", plugin registered" if plugin else "",
    )
    problems = [*_clashes()]
    for problem in problems:
        out.line(("problem: ", "red"), problem, wrap=True)
    if not problems:
        out.line(("no problem found", "green"))
    return not problems


def _table(out: Out, title: str, names: Iterable[str]) -> None:
    found = [(name, version) for name in names if (version := _version(name))]
    out.line((title, "bold"), "" if found else "  none installed")
    for name, version in found:
        out.line(f"  {name:<16} {version}")


def _sdk_names() -> list[str]:
    from ..providers import PROVIDERS

    return sorted(provider.package for provider in PROVIDERS.values())


def _adapters() -> list[str]:
    names = {str(found.metadata["Name"] or "") for found in metadata.distributions()}
    return sorted(name for name in names if name.startswith("rewind-") and name != _OWN)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _clashes() -> Iterator[str]:
    """Other distributions that install a top-level `rewind`, over or beside this one."""
    for found in metadata.distributions():
        name = str(found.metadata["Name"] or "")
        if name.lower().replace("_", "-") == _OWN:
            continue
        if any(file.parts[:1] in (("rewind",), ("rewind.py",)) for file in found.files or ()):
            yield (
                f"{name} {found.version} also installs a top-level `rewind`: "
                f"pip uninstall {name}, then reinstall {_OWN}"
            )
