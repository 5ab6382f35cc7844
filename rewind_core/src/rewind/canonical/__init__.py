"""Values as plain data: conversion, the one JSON encoder, and content identity.

Everything that is stored, compared or hashed passes through this package, so that
the same value has the same bytes in every process.
"""

from __future__ import annotations

from .codec import NOT_JSON, NotJson, Plain, decode, encode, encode_sorted, parse_json
from .identity import Chains, Links, RequestIdentity, fingerprint, request_id
from .memo import PrefixMemo
from .parsing import JsonParser
from .plain import class_name, to_plain
from .revive import from_plain

__all__ = [
    "NOT_JSON",
    "Chains",
    "JsonParser",
    "Links",
    "NotJson",
    "Plain",
    "PrefixMemo",
    "RequestIdentity",
    "class_name",
    "decode",
    "encode",
    "encode_sorted",
    "fingerprint",
    "from_plain",
    "parse_json",
    "request_id",
    "to_plain",
]
