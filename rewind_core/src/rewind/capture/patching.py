"""Setting attributes on foreign objects, and undoing it.

A group of targets is counted: it is in place while anyone holds it. A wrapper that someone
else has wrapped since is switched off in place, because ripping it out would drop theirs too.
"""

from __future__ import annotations

import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import wrapt

from ..errors import PatchGapWarning

__all__ = ["Group", "SubclassGroup", "Target", "Wrapper"]

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


class Patches:
    """What has been set on foreign objects, and how it was before."""

    def __init__(self, enabled: Callable[[], bool]) -> None:
        self._enabled = enabled
        self._applied: list[_Applied] = []

    def wrap(self, parent: Any, name: str, original: Any, wrapper: Wrapper) -> None:
        """Put `wrapper` around `parent.name`, once; it is inert while not enabled."""
        if any(one.parent is parent and one.name == name for one in self._applied):
            return
        inherited = name not in vars(parent)
        wrapped = wrapt.FunctionWrapper(original, wrapper, enabled=self._enabled)
        setattr(parent, name, wrapped)
        self._applied.append(
            _Applied(
                parent=parent, name=name, wrapper=wrapped, original=original, inherited=inherited
            )
        )

    def undo(self) -> None:
        while self._applied:
            one = self._applied.pop()
            if vars(one.parent).get(one.name) is not one.wrapper:
                continue
            if one.inherited:
                delattr(one.parent, one.name)
            else:
                setattr(one.parent, one.name, one.original)


class Group:
    """Targets that are installed and removed together."""

    def __init__(self, targets: tuple[Target, ...]) -> None:
        self._targets = targets
        self._lock = threading.RLock()
        self._holders = 0
        self._patches = Patches(lambda: self.active)
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
                self._patches.undo()

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
        self._patches.wrap(parent, name, original, target.make(module))


class SubclassGroup:
    """Methods of a class and of all its subclasses, wrapped where a class defines them itself.

    Classes come into being at any time: `refresh` finds the new ones. The methods of `abstract`
    are left alone on the base, where frameworks compare them by identity.
    """

    def __init__(self, methods: Mapping[str, Wrapper], *, abstract: Collection[str] = ()) -> None:
        self._methods = methods
        self._abstract = frozenset(abstract)
        self._lock = threading.RLock()
        self._holders = 0
        self._patches = Patches(lambda: self._holders > 0)
        self._seen: weakref.WeakSet[type] = weakref.WeakSet()

    def acquire(self, base: type) -> None:
        with self._lock:
            self._holders += 1
            self.refresh(base)

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._patches.undo()
                self._seen.clear()

    def refresh(self, base: type) -> None:
        """Wrap what classes defined since the last time."""
        stack = [base]
        while stack:
            one = stack.pop()
            stack.extend(type.__subclasses__(one))
            if one not in self._seen:
                self._wrap(one, is_base=one is base)

    def _wrap(self, one: type, *, is_base: bool) -> None:
        with self._lock:
            self._seen.add(one)
            for name, wrapper in self._methods.items():
                original = vars(one).get(name)
                if original is not None and not (is_base and name in self._abstract):
                    self._patches.wrap(one, name, original, wrapper)
