"""All provider tables, and which one an exchange belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import (
    anthropic,
    cohere,
    fireworks,
    gemini,
    groq,
    huggingface,
    mistral,
    ollama,
    openai,
    together,
)

if TYPE_CHECKING:
    from ..wire import Exchange
    from .table import Provider

__all__ = ["PROVIDERS", "provider_of"]

_TABLES = (
    anthropic,
    openai,
    cohere,
    fireworks,
    gemini,
    groq,
    huggingface,
    mistral,
    ollama,
    together,
)

PROVIDERS: dict[str, Provider] = {table.PROVIDER.name: table.PROVIDER for table in _TABLES}


def provider_of(exchange: Exchange) -> Provider | None:
    """By the SDK that signs the call, else the host, else the manner of the call."""
    tables = PROVIDERS.values()
    for table in tables:
        if table.is_sdk(exchange):
            return table
    for table in tables:
        if table.host(exchange) is not None:
            return table
    return next((table for table in tables if table.speaks(exchange)), None)
