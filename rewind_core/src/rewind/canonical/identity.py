"""Content identity: a hash that is the same in every process, and cheap for long histories.

An agent re-sends its history with every call, so array elements are chained: what was
hashed for the last call is not hashed again.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import cast

from .codec import Plain, encode_sorted
from .memo import shared_length

__all__ = ["Chains", "Links", "RequestIdentity", "fingerprint", "request_id"]

_SIZE = 16
_START = bytes(_SIZE)
_REMEMBERED = 16
"""Arrays a `Chain` keeps; more than the agents that usually take turns in one session."""


def fingerprint(plain: Plain) -> bytes:
    """Return the 16-byte digest of a plain value; members in any order."""
    return blake2b(encode_sorted(plain), digest_size=_SIZE).digest()


def request_id(head: bytes, request: dict[str, Plain]) -> str:
    """Return the identity of a request, 32 hex digits.

    `head` is what identifies the call beside its request (operation, method, path, …).
    """
    return RequestIdentity().id(head, request)


class Links:
    """Digests of an array: of each element, and of each prefix (`prefix[0]` is empty).

    `sizes` are the bytes of each element's canonical text.
    """

    __slots__ = ("digests", "elements", "prefix", "sizes")

    def __init__(
        self,
        elements: list[Plain],
        digests: list[bytes],
        prefix: list[bytes],
        sizes: list[int],
    ) -> None:
        self.elements = elements
        self.sizes = sizes
        self.digests = digests
        self.prefix = prefix


class _Chain:
    """Digests of arrays, reusing those of a recent array that begins with the same objects.

    Plain values are never changed in place; equal objects are recognised by identity
    alone, because `1 == True == 1.0`.
    """

    __slots__ = ("_recent",)

    def __init__(self) -> None:
        self._recent: list[Links] = []

    def links(self, elements: list[Plain]) -> Links:
        """Return the digests of `elements`, in time proportional to what is new."""
        base, shared = self._best(elements)
        if base is not None and shared == len(elements) == len(base.elements):
            return base
        digests = base.digests[:shared] if base else []
        prefix = base.prefix[: shared + 1] if base else [_START]
        sizes = base.sizes[:shared] if base else []
        link = prefix[-1]
        for element in elements[shared:]:
            text = encode_sorted(element)
            sizes.append(len(text))
            digest = blake2b(text, digest_size=_SIZE).digest()
            link = blake2b(link + digest, digest_size=_SIZE).digest()
            digests.append(digest)
            prefix.append(link)
        links = Links(list(elements), digests, prefix, sizes)
        if elements:
            self._remember(links, base if base and shared == len(base.elements) else None)
        return links

    def _best(self, elements: list[Plain]) -> tuple[Links | None, int]:
        best: Links | None = None
        longest = 0
        for links in reversed(self._recent):
            known = links.elements
            if len(known) <= longest or not elements or known[0] is not elements[0]:
                continue
            shared = shared_length(known, elements)
            if shared > longest:
                best, longest = links, shared
            if shared == len(elements):
                break
        return best, longest

    def _remember(self, links: Links, replaced: Links | None) -> None:
        if replaced is not None:
            self._recent = [entry for entry in self._recent if entry is not replaced]
        self._recent.append(links)
        if len(self._recent) > _REMEMBERED:
            del self._recent[0]


class Chains:
    """The digests of the arrays of requests, told apart by the name of the member they are in.

    Threads may share it; a lost race only costs time.
    """

    __slots__ = ("_chains",)

    def __init__(self) -> None:
        self._chains: dict[str, _Chain] = {}

    def links(self, member: str, elements: list[Plain]) -> Links:
        """Return the digests of `elements`, in time proportional to what is new."""
        chain = self._chains.get(member)
        if chain is None:
            chain = self._chains.setdefault(member, _Chain())
        return chain.links(elements)


class RequestIdentity:
    """`request_id` with a memory of recent arrays; one per session; threads may share it."""

    __slots__ = ("_chains",)

    def __init__(self, chains: Chains | None = None) -> None:
        self._chains = chains or Chains()

    def id(self, head: bytes, request: dict[str, Plain]) -> str:
        """Return what `request_id(head, request)` returns."""
        total = blake2b(digest_size=_SIZE)
        total.update(_framed(head))
        for key in sorted(request):
            value = request[key]
            total.update(_framed(key.encode("utf-8", "surrogatepass")))
            if type(value) is list:
                links = self._chains.links(key, cast("list[Plain]", value))
                total.update(b"[" + links.prefix[-1])
            else:
                total.update(b"=" + fingerprint(value))
        return total.hexdigest()


def _framed(data: bytes) -> bytes:
    return len(data).to_bytes(8, "big") + data
