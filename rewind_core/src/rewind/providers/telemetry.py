"""Tracing uploads: write endpoints whose traffic is no part of a run.

Reads from the same hosts (prompt pulls, feature flags) are ordinary events, so every entry
names the method and the exact path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..wire import Exchange

__all__ = ["UPLOADS", "Upload", "is_telemetry"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """`path` is a regular expression for the whole path. Where the path alone could be an
    application's own, a `hosts` pattern or the client's `agent` must match too.
    """

    name: str
    path: str
    methods: tuple[str, ...] = ("POST",)
    hosts: tuple[str, ...] = ()
    agent: str = ""

    def matches(self, exchange: Exchange) -> bool:
        if exchange.method not in self.methods or not re.fullmatch(self.path, exchange.path):
            return False
        if not self.hosts and not self.agent:
            return True
        agent = exchange.lookup.get("user-agent", "")
        if self.agent and re.match(self.agent, agent):
            return True
        return any(fnmatchcase(exchange.host, pattern) for pattern in self.hosts)


_LANGSMITH = ("*.smith.langchain.com",)
_POSTHOG = ("*.posthog.com",)

UPLOADS: tuple[Upload, ...] = (
    Upload(
        name="langsmith",
        path=r"(?:/api)?(?:/v1)?/runs(?:/batch|/multipart)?",
        hosts=_LANGSMITH,
        agent="langsmith",
    ),
    Upload(
        name="langsmith",
        path=r"(?:/api)?(?:/v1)?/runs/[0-9a-fA-F-]{36}",
        methods=("PATCH",),
        hosts=_LANGSMITH,
        agent="langsmith",
    ),
    Upload(name="langfuse", path=r"/api/public/ingestion"),
    Upload(name="otlp", path=r"(?:/api/public/otel|/otlp|/otel)?/v1/(?:traces|logs|metrics)"),
    Upload(name="agents", path=r"/v1/traces/ingest"),
    Upload(
        name="posthog",
        path=r"/(?:i/v0/e|batch|capture|e)/?",
        hosts=_POSTHOG,
        agent="posthog",
    ),
    Upload(
        name="hub",
        path=r"/api/telemetry/.*",
        methods=("HEAD",),
        hosts=("huggingface.co",),
    ),
    Upload(name="sentry", path=r"(?:/[^/]+)*/api/\d+/(?:envelope|store)/?"),
)


def is_telemetry(exchange: Exchange) -> bool:
    return any(upload.matches(exchange) for upload in UPLOADS)
