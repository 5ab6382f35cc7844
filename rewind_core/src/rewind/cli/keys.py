"""Placeholders for API keys: many SDKs refuse to construct without one, and a replay needs none."""

from __future__ import annotations

import os
from collections.abc import Iterable

__all__ = ["PLACEHOLDER", "key_variables", "set_placeholders"]

PLACEHOLDER = "placeholder-set-by-rewind-replay"


def key_variables() -> list[str]:
    """The key variables that the provider tables name."""
    from ..providers import PROVIDERS

    return [name for provider in PROVIDERS for name in provider.key_variables]


def set_placeholders(names: Iterable[str]) -> None:
    """Set what is unset; what is set stays."""
    for name in names:
        if not os.environ.get(name):
            os.environ[name] = PLACEHOLDER
