"""Setting attributes on foreign objects, and undoing it.

A group of targets is counted: it is in place while anyone holds it. A wrapper that someone
else has wrapped since is switched off in place, because ripping it out would drop theirs too.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import wrapt

from ..errors import PatchGapWarning

__all__ = ["Group", "Target"]

Wrapper = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], Any]
"""`(wrapped, instance, args, kwargs) -> result`, as in wrapt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`make` gets the imported module and returns the wrapper for `path` inside it."""

    module: str
    path: str
    make: Callable[[ModuleType], Wrapper]
    optional: bool = False


@dataclass(slots=True, kw_only=True)
class _Applied:
    parent: Any
    name: str
    wrapper: Any
    original: Any
    inherited: bool


class Group:
    """Targets that are installed and removed together."""

    def __init__(self, targets: tuple[Target, ...]) -> None:
        self._targets = targets
        self._lock = threading.RLock()
        self._holders = 0
        self._applied: list[_Applied] = []
        self._hooked: set[str] = set()

    @property
    def active(self) -> bool:
        return self._holders > 0

    def acquire(self) -> None:
        with self._lock:
            self._holders += 1
            if self._holders == 1:
                for target in self._targets:
                    self._arrange(target.module)

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                while self._applied:
                    self._remove(self._applied.pop())

    def _arrange(self, module: str) -> None:
        """Apply now, or when the module is imported."""
        if module in sys.modules:
            self._apply(sys.modules[module], module)
        elif module not in self._hooked:
            self._hooked.add(module)
            wrapt.register_post_import_hook(lambda found: self._apply(found, module), module)

    def _apply(self, found: ModuleType, module: str) -> None:
        with self._lock:
            if not self.active:
                return
            for target in self._targets:
                if target.module == module:
                    self._wrap(found, target)

    def _wrap(self, module: ModuleType, target: Target) -> None:
        try:
            parent, name, original = wrapt.resolve_path(module, target.path)
        except AttributeError:
            if not target.optional:
                warnings.warn(
                    f"{target.module}.{target.path} is missing in the installed version: "
                    "its calls are not captured",
                    PatchGapWarning,
                    stacklevel=2,
                )
            return
        if any(one.parent is parent and one.name == name for one in self._applied):
            return
        inherited = name not in vars(parent)
        wrapper = wrapt.FunctionWrapper(original, target.make(module), enabled=lambda: self.active)
        setattr(parent, name, wrapper)
        self._applied.append(
            _Applied(
                parent=parent, name=name, wrapper=wrapper, original=original, inherited=inherited
            )
        )

    def _remove(self, one: _Applied) -> None:
        if vars(one.parent).get(one.name) is not one.wrapper:
            return
        if one.inherited:
            delattr(one.parent, one.name)
        else:
            setattr(one.parent, one.name, one.original)
