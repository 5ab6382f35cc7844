"""Masking of credentials, on by default, before anything is hashed or stored.

Names are matched exactly or by suffix, key shapes only where nothing else looks like
them: a mask that hits ordinary text would change what the agent is given on replay.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import is_
from typing import Final, cast
from urllib.parse import unquote_plus

from .canonical import NOT_JSON, Plain, PrefixMemo, encode, parse_json

__all__ = [
    "SECRET",
    "Masker",
    "identity_plain",
    "is_credential",
    "mask_body_bytes",
    "mask_headers",
    "mask_plain",
    "mask_text",
    "mask_url",
]

SECRET: Final = "<secret>"
"""What stands in place of a credential."""

_FIELDS: Final = frozenset(
    "access_key access_token api_key apikey auth_token authorization aws_access_key_id "
    "aws_secret_access_key aws_session_token bearer_token client_secret credential "
    "credentials id_token passphrase passwd password private_key refresh_token secret "
    "secret_access_key secret_key session_token static_headers vertex_credentials x_api_key".split()
)
_SUFFIXES: Final = (
    "_access_token",
    "_api_key",
    "_auth_token",
    "_client_secret",
    "_credentials",
    "_password",
    "_private_key",
    "_refresh_token",
    "_secret_access_key",
    "_secret_key",
    "_session_token",
)
_HEADERS: Final = frozenset(
    "api-key authorization cookie ocp-apim-subscription-key openai-organization openai- "
    "project proxy-authenticate proxy-authorization set-cookie x-amz-security-token x-api-key "
    "x-auth-token x-csrf-token x-functions-key x-goog-api-key x-goog-iam-authorization-token".split()
)
_QUERY: Final = frozenset(
    "access_token api-key api_key apikey subscription-key x-amz-credential x-amz-security- "
    "token x-amz-signature x-goog-credential x-goog-signature".split()
)
_UNSURE_QUERY: Final = frozenset("auth key sig signature token".split())
"""Parameters that hold a credential only if they look like one: `?key=` may name anything."""

_LOOKS_SECRET: Final = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9._~%+/=-]{24,}")
_OPAQUE: Final = frozenset(
    "b64_json blob bytes data encrypted_content file_data image_url redacted_thinking "
    "signature thoughtSignature thought_signature".split()
)
"""Fields whose text is never searched: a changed byte makes the provider refuse them."""

_SHAPES: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"sk-ant-[A-Za-z0-9_-]{20,}"
    r"|sk-(?:proj|svcacct|admin|or-v1|lf)-[A-Za-z0-9_-]{20,}"
    r"|sk-[A-Za-z0-9]{32,}"
    r"|gsk_[A-Za-z0-9]{32,}"
    r"|xai-[A-Za-z0-9]{40,}"
    r"|hf_[A-Za-z0-9]{30,}"
    r"|AIza[A-Za-z0-9_-]{35}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"
    r"|gh[pousr]_[A-Za-z0-9]{36,}"
    r"|github_pat_[A-Za-z0-9_]{50,}"
    r"|glpat-[A-Za-z0-9_-]{20,}"
    r"|xox[abprs]-[A-Za-z0-9-]{20,}"
    r"|(?:sk|rk)_live_[A-Za-z0-9]{20,}"
    r"|lsv2_(?:pt|sk)_[A-Za-z0-9_]{32,}"
    r"|pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{40,}"
    r"|ya29\.[A-Za-z0-9_-]{40,}"
    r")(?![A-Za-z0-9_-])"
    r"|-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[^-]{40,}-----END (?:[A-Z]+ )?PRIVATE KEY-----"
)
_HINTS: Final = (
    "sk-", "gsk_", "xai-", "hf_", "AIza", "AKIA", "ASIA", "gh", "glpat-", "xox", "_live_", "lsv2_",
    "pypi-", "ya29.", "PRIVATE KEY", "github_pat_",
)  # fmt: skip
_BYTE_HINT: Final = re.compile(
    rb"sk-|gsk_|xai-|hf_|AIza|AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|_live_|lsv2_"
    rb"|pypi-|ya29\.|PRIVATE KEY|(?i:key|secret|token|password|passwd|passphrase|credential"
    rb"|authorization|static_headers)[a-z_]*\\?\"\s*:"
)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_USERINFO: Final = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*://)[^/?#@]*@")


def is_credential(name: str) -> bool:
    """Whether a field of this name holds a credential (`apiKey`, `x-api-key`, `db_password`)."""
    known = _known.get(name)
    if known is None:
        folded = _HUMP.sub("_", name).replace("-", "_").lower()
        known = folded in _FIELDS or folded.endswith(_SUFFIXES)
        if len(_known) < 10_000:
            _known[name] = known
    return known


_known: dict[str, bool] = {}


def mask_headers(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers with credential values replaced, names and order kept."""
    return [(name, _mask_header(name, value)) for name, value in headers]


def _mask_header(name: str, value: str) -> str:
    lower = name.lower()
    if lower.startswith("access-control-"):  # names and permits credentials, holds none
        return value
    if lower in _HEADERS or is_credential(lower):
        return SECRET
    if lower in ("location", "content-location", "referer"):
        return mask_url(value)
    return mask_text(value)


def mask_url(url: str) -> str:
    """Return the URL with user info and credential parameters replaced."""
    if "@" in url:
        url = _USERINFO.sub(rf"\1{SECRET}@", url)
    front, hash_mark, fragment = url.partition("#")
    base, mark, query = front.partition("?")
    return mask_text(base) + mark + _mask_query(query) + hash_mark + _mask_query(fragment)


def _mask_query(query: str) -> str:
    return "&".join(_mask_pair(pair) for pair in query.split("&"))


def _mask_pair(pair: str) -> str:
    name, mark, value = pair.partition("=")
    plain_name = unquote_plus(name)
    if mark and value and _is_secret_parameter(plain_name, value):
        return f"{name}={SECRET}"
    return mask_text(pair)


def _is_secret_parameter(name: str, value: str) -> bool:
    if name.lower() in _UNSURE_QUERY:
        return _LOOKS_SECRET.fullmatch(value) is not None
    return name.lower() in _QUERY or is_credential(name)


def mask_text(text: str) -> str:
    """Return the text with unmistakable keys replaced."""
    for hint in _HINTS:
        if hint in text:
            return _SHAPES.sub(SECRET, text)
    return text


def mask_plain(plain: Plain) -> Plain:
    """Return the plain value with credentials replaced; the same object if there are none."""
    if type(plain) is str:
        return mask_text(plain)
    if type(plain) is list:
        return _mask_list(cast("list[Plain]", plain))
    if type(plain) is dict:
        return _mask_dict(cast("dict[str, Plain]", plain))
    return plain


def _mask_list(items: list[Plain]) -> list[Plain]:
    masked = [mask_plain(item) for item in items]
    return masked if any(a is not b for a, b in zip(items, masked)) else items


def _mask_dict(members: dict[str, Plain]) -> dict[str, Plain]:
    changed: dict[str, Plain] = {}
    for key, value in members.items():
        masked = _mask_member(key, value)
        if masked is not value:
            changed[key] = masked
    return {**members, **changed} if changed else members


def _mask_member(key: str, value: Plain) -> Plain:
    if value is None:
        return value
    if key in _OPAQUE and type(value) is str:
        return value
    if is_credential(key) and _is_value(value):
        return value if value == SECRET else SECRET
    if key == "$map" and type(value) is list:
        return _mask_pairs(cast("list[Plain]", value))
    if key in ("$bytes", "$bytearray", "$surrogates"):
        return value
    return mask_plain(value)


def _mask_pairs(pairs: list[Plain]) -> list[Plain]:
    masked = [_mask_map_pair(pair) for pair in pairs]
    return masked if any(a is not b for a, b in zip(pairs, masked)) else pairs


def _mask_map_pair(pair: Plain) -> Plain:
    key, value = pair
    masked = _mask_member(key, value) if type(key) is str else mask_plain(value)
    return pair if masked is value else [key, masked]


def _is_value(value: Plain) -> bool:
    """A credential is text, or the headers or fields that hold it, not a schema or a flag."""
    if type(value) is str:
        return value != ""
    if type(value) is dict:
        return not ({"type", "$ref", "description", "anyOf"} & value.keys())
    return False


def identity_plain(plain: Plain) -> Plain:
    """Return a masked plain value without its credential fields.

    Another key, or none, then has the same identity.
    """
    if type(plain) is list:
        items = cast("list[Plain]", plain)
        kept = [identity_plain(item) for item in items]
        return kept if any(a is not b for a, b in zip(items, kept)) else items
    if type(plain) is dict:
        return _identity_dict(cast("dict[str, Plain]", plain))
    return plain


def _is_masked(key: str, value: Plain) -> bool:
    return is_credential(key) and (value is None or value == "" or value == SECRET)


def _identity_dict(members: dict[str, Plain]) -> dict[str, Plain]:
    result: dict[str, Plain] = {}
    changed = False
    for key, value in members.items():
        if _is_masked(key, value):
            changed = True
            continue
        kept = identity_plain(value)
        changed = changed or kept is not value
        result[key] = kept
    return result if changed else members


def mask_body_bytes(body: bytes) -> bytes:
    """Return the body with credentials replaced; the same object if there are none.

    JSON is re-encoded only if something in it is masked; event streams are masked
    `data:` line by line; other text by key shapes.
    """
    if _BYTE_HINT.search(body) is None:
        return body
    value = parse_json(body)
    if value is not NOT_JSON:
        masked = mask_plain(value)
        return body if masked is value else encode(masked)
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return body
    masked_text = _mask_lines(text) if "data:" in text else mask_text(text)
    return body if masked_text == text else masked_text.encode()


def _mask_lines(text: str) -> str:
    return "\n".join(_mask_line(line) for line in text.split("\n"))


def _mask_line(line: str) -> str:
    if not line.startswith("data:"):
        return mask_text(line)
    payload = line[5:].strip()
    value = parse_json(payload.encode())
    if value is NOT_JSON:
        return mask_text(line)
    masked = mask_plain(value)
    if masked is value:
        return line
    return line.replace(payload, encode(masked).decode())


class Masker:
    """`mask_plain` and `identity_plain` of requests, with a memory of recent arrays.

    One per session; threads may share it.
    """

    __slots__ = ("_identities", "_masks")

    def __init__(self) -> None:
        self._masks: dict[str, PrefixMemo[Plain]] = {}
        self._identities: dict[str, PrefixMemo[Plain]] = {}

    def mask(self, request: dict[str, Plain]) -> dict[str, Plain]:
        """Return what `mask_plain(request)` returns."""
        return self._map(request, self._masks, mask_plain, _mask_member)

    def identity(self, request: dict[str, Plain]) -> dict[str, Plain]:
        """Return what `identity_plain(request)` returns."""
        kept = {key: value for key, value in request.items() if not _is_masked(key, value)}
        done = self._map(kept, self._identities, identity_plain, lambda _, v: identity_plain(v))
        return request if done is kept and len(kept) == len(request) else done

    def _map(
        self,
        request: dict[str, Plain],
        memos: dict[str, PrefixMemo[Plain]],
        function: Callable[[Plain], Plain],
        member: Callable[[str, Plain], Plain],
    ) -> dict[str, Plain]:
        changed: dict[str, Plain] = {}
        for key, value in request.items():
            if type(value) is list and not key.startswith("$"):
                items = cast("list[Plain]", value)
                memo = memos.setdefault(key, PrefixMemo(function))
                mapped = memo.map(items)
                if not all(map(is_, items, mapped)):
                    changed[key] = mapped
            else:
                done = member(key, value)
                if done is not value:
                    changed[key] = done
        return {**request, **changed} if changed else request
