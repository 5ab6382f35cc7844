"""Placeholders for API keys: many SDKs refuse to construct without one, and a replay needs none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

__all__ = ["PLACEHOLDER", "key_variables", "set_placeholders"]

PLACEHOLDER = "placeholder-set-by-rewind-replay"


def key_variables(path: str | os.PathLike[str]) -> list[str]:
    """The key variables of every known SDK, and of the upstreams that the trace at `path` has.

    SDKs and services name theirs by one habit: `<NAME>_API_KEY`, `<SERVICE>_<SDK>_API_KEY`.
    """
    from .providers import PROVIDERS
    from .trace import Trace

    names = {_variable(provider.package) for provider in PROVIDERS.values()}
    for event in Trace.open(path).events:
        provider = PROVIDERS.get(event.name.partition(".")[0])
        if provider is not None and event.upstream:
            names |= {_variable(event.upstream), _variable(event.upstream, provider.package)}
    return sorted(names)


def set_placeholders(names: Iterable[str]) -> None:
    """Set what is unset; what is set stays."""
    for name in names:
        if not os.environ.get(name):
            os.environ[name] = PLACEHOLDER


def _variable(*words: str) -> str:
    return "_".join([*(re.sub(r"[^A-Z0-9]", "", word.upper()) for word in words), "API_KEY"])
