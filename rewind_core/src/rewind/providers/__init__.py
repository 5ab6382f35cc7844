"""Provider tables: one entry each, no code."""

from __future__ import annotations

from .registry import PROVIDERS, provider_of
from .table import Host, Provider, Route
from .telemetry import UPLOADS, Upload, is_telemetry

__all__ = [
    "PROVIDERS",
    "UPLOADS",
    "Host",
    "Provider",
    "Route",
    "Upload",
    "is_telemetry",
    "provider_of",
]
