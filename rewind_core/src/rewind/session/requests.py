"""Turning a call's arguments into a masked request, without redoing a history that only grew.

An agent passes its whole message list with every call. The list's bytes (by `marshal`, which
tells all built-in types apart) are compared with those of recent lists; only what is new is
converted, masked and hashed. Elements that were there before are the same objects again, which
is how the identity and the trace recognise them.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from ..canonical import RequestIdentity, to_plain
from ..redact import identity_plain, mask_plain

if TYPE_CHECKING:
    from ..canonical import Plain

__all__ = ["Requests"]

_SHORT = 4
_REMEMBERED = 8
_LIST_HEADER = 5  # marshal's type byte and length of a list


class _History:
    """A list seen in an earlier call: its bytes, and its elements as stored and as matched."""

    __slots__ = ("data", "matched", "stored")

    def __init__(self, data: bytes, stored: list[Plain], matched: list[Plain]) -> None:
        self.data = data
        self.stored = stored
        self.matched = matched


class Requests:
    """One per session; the caller holds no lock, a lost race only costs time."""

    def __init__(self) -> None:
        self._identity = RequestIdentity()
        self._histories: dict[str, list[_History]] = {}

    def take(
        self, head: bytes, arguments: Mapping[str, Any], lossy: Callable[[object], None]
    ) -> tuple[dict[str, Plain], str]:
        """The masked request as it is stored, and its identity."""
        long: dict[str, _History] = {}
        rest: dict[str, Plain] = {}
        for key, value in arguments.items():
            history = self._history(key, value, lossy) if type(value) is list else None
            if history is not None:
                long[key] = history
            else:
                rest[key] = to_plain(value, lossy=lossy)
        stored = cast("dict[str, Plain]", mask_plain(rest))
        matched = dict(cast("dict[str, Plain]", identity_plain(stored)))
        if long:
            stored = {k: cast("Plain", long[k].stored) if k in long else stored[k] for k in arguments}
            matched.update({k: cast("Plain", h.matched) for k, h in long.items()})
        return stored, self._identity.id(head, matched)

    def _history(
        self, key: str, value: list[Any], lossy: Callable[[object], None]
    ) -> _History | None:
        """`value` as a history, or `None` if it is short or holds more than built-in types."""
        if len(value) < _SHORT or _is_named_secret(key):
            return None
        try:
            data = marshal.dumps(value, 2)[_LIST_HEADER:]
        except ValueError:
            return None
        recent = self._histories.setdefault(key, [])
        base = max(
            (h for h in list(recent) if data.startswith(h.data)),
            key=lambda h: len(h.stored),
            default=None,
        )
        known = len(base.stored) if base is not None else 0
        new = [mask_plain(to_plain(element, lossy=lossy)) for element in value[known:]]
        ids = [identity_plain(element) for element in new]
        history = _History(
            data,
            [*base.stored, *new] if base is not None else new,
            [*base.matched, *ids] if base is not None else ids,
        )
        recent.append(history)
        if base is not None and base in recent:
            recent.remove(base)
        del recent[:-_REMEMBERED]
        return history


def _is_named_secret(key: str) -> bool:
    return mask_plain({key: "x"}) != {key: "x"}
