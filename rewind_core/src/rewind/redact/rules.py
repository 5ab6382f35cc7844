"""What is a credential: tables of names and of key shapes, and how one is told by its look.

Names are matched exactly or by suffix, key shapes only where nothing else looks like
them: a mask that hits ordinary text would change what the agent is given on replay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = [
    "OPAQUE",
    "SECRET",
    "is_credential",
    "is_credential_header",
    "is_credential_parameter",
    "is_credential_variable",
    "looks_secret",
    "may_hold_credential",
    "may_hold_shape",
    "shape_spans",
    "starts_shape",
]

SECRET: Final = "<secret>"
"""What stands in place of a credential."""

OPAQUE: Final = frozenset(
    "b64_json blob bytes data encrypted_content file_data image_url redacted_thinking "
    "signature thoughtSignature thought_signature".split()
)
"""Fields whose text is never searched: a changed byte makes the provider refuse them."""

_FIELDS: Final = frozenset(
    "access_key access_token api_key apikey auth_token authorization aws_access_key_id "
    "aws_secret_access_key aws_session_token bearer_token client_secret credential "
    "credentials id_token passphrase passwd password private_key refresh_token secret "
    "secret_access_key secret_key session_token static_headers vertex_credentials x_api_key".split()
)
_SUFFIXES: Final = (
    "_access_token", "_api_key", "_auth_token", "_client_secret", "_credentials", "_password",
    "_private_key", "_refresh_token", "_secret_access_key", "_secret_key", "_session_token",
)  # fmt: skip
_VARIABLE_SUFFIXES: Final = (*_SUFFIXES, "_key", "_token", "_secret", "_passwd", "_pat")
_VARIABLES: Final = frozenset(("key", "token", *_FIELDS))

_HEADERS: Final = frozenset(
    (
        "api-key authorization cookie ocp-apim-subscription-key openai-organization "
        "openai-project proxy-authenticate proxy-authorization set-cookie x-amz-security-token "
        "x-api-key x-auth-token x-csrf-token x-functions-key x-goog-api-key "
        "x-goog-iam-authorization-token"
    ).split()
)
_SENT_HEADER_SUFFIXES: Final = ("-auth", "-key", "-password", "-secret", "-signature", "-token")
_PUBLIC_HEADERS: Final = frozenset(
    (
        "accept accept-encoding accept-language anthropic-beta anthropic-version connection "
        "content-length content-type date host idempotency-key if-modified-since if-none-match "
        "openai-beta origin range referer traceparent tracestate user-agent x-client-request-id "
        "x-request-id"
    ).split()
)
"""Headers that a client sends with long values that are no secret."""

_QUERY: Final = frozenset(
    (
        "access_token api-key api_key apikey subscription-key x-amz-credential "
        "x-amz-security-token x-amz-signature x-goog-credential x-goog-signature"
    ).split()
)
_UNSURE_QUERY: Final = frozenset("auth key sig signature token".split())
"""Parameters that hold a credential only if they look like one: `?key=` may name anything."""

_LOOKS_SECRET: Final = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9._~%+/=-]{24,}")
_LOOKS_RANDOM: Final = re.compile(
    r"(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])(?:[A-Za-z0-9_-]|%2[BbFf]|%3[Dd]|[+/=]){24,}"
)

_BODIES: Final = (
    r"sk-ant-[A-Za-z0-9_-]{20,}",
    r"sk-(?:proj|svcacct|admin|or-v1|lf)-[A-Za-z0-9_-]{20,}",
    r"sk-[A-Za-z0-9]{32,}",
    r"gsk_[A-Za-z0-9]{32,}",
    r"xai-[A-Za-z0-9]{40,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"AIza[A-Za-z0-9_-]{35}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"gh[pousr]_[A-Za-z0-9]{36,}",
    r"github_pat_[A-Za-z0-9_]{50,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"xox[abprs]-[A-Za-z0-9-]{20,}",
    r"(?:sk|rk)_live_[A-Za-z0-9]{20,}",
    r"lsv2_(?:pt|sk)_[A-Za-z0-9_]{32,}",
    r"pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{40,}",
    r"ya29\.[A-Za-z0-9_-]{40,}",
    r"eyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}",
)
_PEM: Final = (
    r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[^-]{40,}-----END (?:[A-Z]+ )?PRIVATE KEY-----"
)
_SHAPES: Final = re.compile(rf"(?<![A-Za-z0-9_-])(?:{'|'.join(_BODIES)})(?![A-Za-z0-9_-])|{_PEM}")
_STARTS: Final = (
    "sk-", "gsk_", "xai-", "hf_", "AIza", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
    "glpat-", "xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "sk_live_", "rk_live_", "lsv2_",
    "pypi-", "ya29.", "github_pat_", "eyJ",
)  # fmt: skip
_HINTS: Final = (*(s for s in _STARTS if not s.endswith("k_live_")), "_live_", "PRIVATE KEY")
_MARKED_HINTS: Final = (
    ("_", tuple(hint for hint in _HINTS if "_" in hint)),
    ("-", tuple(hint for hint in _HINTS if "_" not in hint and "-" in hint)),
    ("", tuple(hint for hint in _HINTS if "_" not in hint and "-" not in hint)),
)
_MARKED_BYTES: Final = tuple(
    (mark.encode(), tuple(hint.encode() for hint in hints)) for mark, hints in _MARKED_HINTS
)
_SHORTEST_SHAPE: Final = 16
_MEMBER_NAME: Final = re.compile(rb'"([A-Za-z0-9_-]{3,40})\\?"\s*:')

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_known: dict[str, bool] = {}


def is_credential(name: str) -> bool:
    """Whether a field of this name holds a credential (`apiKey`, `x-api-key`, `db_password`)."""
    known = _known.get(name)
    if known is None:
        folded = _fold(name)
        known = folded in _FIELDS or folded.endswith(_SUFFIXES)
        if len(_known) < 10_000:
            _known[name] = known
    return known


def _fold(name: str) -> str:
    return _HUMP.sub("_", name).replace("-", "_").lower()


def is_credential_variable(name: str) -> bool:
    """Whether an environment variable of this name holds a credential."""
    folded = _fold(name)
    return folded in _VARIABLES or folded.endswith(_VARIABLE_SUFFIXES)


def is_credential_header(name: str, value: str, *, sent: bool) -> bool:
    """Whether the value of a header is a credential.

    A client may name the header of its key as it likes, so what it sends under a name that is
    not known is judged by its look; what a server answers is not (request ids look alike).
    """
    lower = name.lower()
    if lower.startswith("access-control-"):  # names and permits credentials, holds none
        return False
    if lower in _HEADERS or is_credential(lower):
        return True
    if not sent or lower in _PUBLIC_HEADERS or lower.startswith("x-stainless-"):
        return False
    if lower.endswith("id"):  # of a request, a session, a trace
        return False
    return lower.endswith(_SENT_HEADER_SUFFIXES) or looks_secret(value)


def is_credential_parameter(name: str, value: str) -> bool:
    """Whether a query parameter holds a credential."""
    if name.lower() in _UNSURE_QUERY:
        return _LOOKS_RANDOM.fullmatch(value) is not None
    return name.lower() in _QUERY or is_credential(name)


def looks_secret(value: str) -> bool:
    """Whether a whole header value looks like a key: one long word of letters and digits."""
    return _LOOKS_SECRET.fullmatch(value) is not None


def may_hold_shape(text: str) -> bool:
    """Quickly, whether `shape_spans` can find anything; most prose has no `_` and few `-`."""
    if len(text) < _SHORTEST_SHAPE:
        return False
    return any(mark in text and any(h in text for h in hints) for mark, hints in _MARKED_HINTS)


def may_hold_credential(data: bytes) -> bool:
    """Quickly, whether a body can hold a key shape or a credential field."""
    if any(mark in data and any(h in data for h in hints) for mark, hints in _MARKED_BYTES):
        return True
    return any(is_credential(name.decode()) for name in set(_MEMBER_NAME.findall(data)))


def shape_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where unmistakable keys stand in `text`."""
    return (found.span() for found in _SHAPES.finditer(text))


def starts_shape(word: str) -> bool:
    """Whether `word`, at the end of what has been read, may go on to be a key."""
    return any(start.startswith(word) or word.startswith(start) for start in _STARTS)
