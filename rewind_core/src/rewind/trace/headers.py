"""Request headers that hardly change from call to call stand once in a trace."""

from __future__ import annotations

__all__ = ["Pairs", "SharedHeaders", "merge"]

Pairs = list[tuple[str, str]]

_DIFFERENT = 4
_REMEMBERED = 32


class SharedHeaders:
    """Finds, for a list of headers, an earlier event whose list differs in a few values only."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[int, Pairs]] = {}

    def share(self, event: int, headers: Pairs) -> tuple[int | None, Pairs]:
        """The event to refer to and the values that differ, or `None` and all of `headers`."""
        names = tuple(name.lower() for name, _ in headers)
        found = self._known.get(names)
        if found is not None and len(set(names)) == len(names):
            base, known = found
            changed = [new for old, new in zip(known, headers, strict=True) if old != new]
            if len(changed) <= _DIFFERENT:
                return base, changed
        if len(self._known) >= _REMEMBERED:
            self._known.pop(next(iter(self._known)))
        self._known[names] = (event, list(headers))
        return None, headers


def merge(base: Pairs, changed: Pairs) -> Pairs:
    """`base` with the values of `changed` in place of the same-named ones."""
    new = {name.lower(): (name, value) for name, value in changed}
    return [new.get(name.lower(), (name, value)) for name, value in base]
