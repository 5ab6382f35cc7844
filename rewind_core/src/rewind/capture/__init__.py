"""The only place that sets attributes on foreign objects.

Importing it makes every session carry contexts into threads, and every replay a closed world.
"""

from __future__ import annotations

from .active import active_providers
from .lifecycle import register

__all__ = ["active_providers", "register"]

register()
