"""Turning a call's arguments or body into a masked request, without redoing a grown history.

An agent sends its whole message list with every call. A body is compared with recent bodies, a
list of arguments with recent lists by its `marshal` bytes (which tell all built-in types apart);
only what is new is parsed, converted, masked and hashed. Elements that were there before are the
same objects again, which is how masking, identity and the trace recognise them.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from ..canonical import Chains, JsonParser, RequestIdentity, to_plain
from ..redact import Masker

if TYPE_CHECKING:
    from ..canonical import NotJson, Plain

__all__ = ["Requests"]

_SHORT = 4
_REMEMBERED = 8
_LIST_HEADER = 5  # marshal's type byte and length of a list


class Requests:
    """The memory of one session. Threads may share it; a lost race only costs time."""

    def __init__(self, masker: Masker | None = None, chains: Chains | None = None) -> None:
        self.masker = masker or Masker()
        self._parser = JsonParser()
        self._identity = RequestIdentity(chains)
        self._histories: dict[str, list[tuple[bytes, list[Plain]]]] = {}

    def arguments(
        self, head: bytes, arguments: Mapping[str, Any], lossy: Callable[[object], None]
    ) -> tuple[dict[str, Plain], str]:
        """Arguments as the masked request that is stored, and its identity."""
        plain = {key: self._plain(key, value, lossy) for key, value in arguments.items()}
        stored = self.masker.request(plain)
        return stored, self.identify(head, stored)

    def parse(self, body: bytes) -> Plain | NotJson:
        """What `canonical.parse_json` returns."""
        return self._parser.parse(body)

    def identify(self, head: bytes, masked: dict[str, Plain]) -> str:
        """Identity of a masked request; credential fields take no part in it."""
        return self._identity.id(head, self.masker.identity(masked))

    def _plain(self, key: str, value: Any, lossy: Callable[[object], None]) -> Plain:
        if type(value) is not list or len(cast("list[Any]", value)) < _SHORT:
            return to_plain(value, lossy=lossy)
        elements = cast("list[Any]", value)
        try:
            data = marshal.dumps(elements, 2)[_LIST_HEADER:]
        except ValueError:  # more than built-in types
            return to_plain(elements, lossy=lossy)
        recent = self._histories.setdefault(key, [])
        fitting = [entry for entry in list(recent) if data.startswith(entry[0])]
        base = max(fitting, key=lambda entry: len(entry[1]), default=None)
        known = base[1] if base is not None else []
        new = [to_plain(element, lossy=lossy) for element in elements[len(known) :]]
        plain = [*known, *new]
        self._histories[key] = [*(e for e in recent if e is not base), (data, plain)][-_REMEMBERED:]
        return cast("Plain", plain)
