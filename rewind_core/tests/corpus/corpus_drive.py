"""Drives recorded calls through the real SDKs and turns what comes out into comparable trees.

A tree keeps everything an agent can see: values, the class of every nested object, which fields
were set, stream events, headers, request ids, and for errors class, status, body and message.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import warnings
from collections.abc import AsyncIterator, Iterator
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import anthropic
import openai
from pydantic import BaseModel

if TYPE_CHECKING:
    from rewind.testing import Interaction

KEY = "sk-not-a-real-key"


class Mode(Enum):
    SYNC = "sync"
    ASYNC = "async"
    RAW = "raw"
    ASYNC_RAW = "async-raw"
    UNREAD = "unread"
    """`with_streaming_response`: the body is read by the agent itself, as bytes."""

    @property
    def is_async(self) -> bool:
        return self in (Mode.ASYNC, Mode.ASYNC_RAW)

    @property
    def is_raw(self) -> bool:
        return self in (Mode.RAW, Mode.ASYNC_RAW)


# (SDK, API) -> the method, and the end of the path that the SDK itself adds to its base URL.
METHODS = {
    ("openai", "chat"): ("chat.completions.create", "/chat/completions"),
    ("openai", "responses"): ("responses.create", "/responses"),
    ("openai", "responses.count"): ("responses.input_tokens.count", "/responses/input_tokens"),
    ("openai", "responses.retrieve"): ("responses.retrieve", "/responses/"),
    ("openai", "embeddings"): ("embeddings.create", "/embeddings"),
    ("anthropic", "messages"): ("messages.create", "/v1/messages"),
    ("anthropic", "messages.count"): ("messages.count_tokens", "/v1/messages"),
}
CLIENTS = {
    ("openai", False): (openai.OpenAI, openai.DefaultHttpxClient),
    ("openai", True): (openai.AsyncOpenAI, openai.DefaultAsyncHttpxClient),
    ("anthropic", False): (anthropic.Anthropic, anthropic.DefaultHttpxClient),
    ("anthropic", True): (anthropic.AsyncAnthropic, anthropic.DefaultAsyncHttpxClient),
}


def drive(case: Any, mode: Mode, url: str) -> list[object]:
    """Makes every call of a case, in order, against `url`; one tree per call."""
    with warnings.catch_warnings():
        # Recorded requests name models that the SDK has since called outdated.
        warnings.simplefilter("ignore", DeprecationWarning)
        if mode.is_async:
            return asyncio.run(_drive_async(case, mode, url))
        return _drive_sync(case, mode, url)


def _drive_sync(case: Any, mode: Mode, url: str) -> list[object]:
    trees: list[object] = []
    for step in case.steps:
        with _client(case.sdk, step, url, is_async=False) as client:
            try:
                result = _method(client, case.sdk, step, mode)(**_arguments(client, case.sdk, step))
                trees.append(_unread(result) if mode is Mode.UNREAD else _seen(result, mode))
            except (openai.APIError, anthropic.APIError) as error:
                trees.append(_error(error))
    return trees


async def _drive_async(case: Any, mode: Mode, url: str) -> list[object]:
    trees: list[object] = []
    for step in case.steps:
        async with _client(case.sdk, step, url, is_async=True) as client:
            try:
                method = _method(client, case.sdk, step, mode)
                result = await method(**_arguments(client, case.sdk, step))
                trees.append(await _seen_async(result, mode))
            except (openai.APIError, anthropic.APIError) as error:
                trees.append(_error(error))
    return trees


def _client(sdk: str, step: Any, url: str, *, is_async: bool) -> Any:
    path = urlsplit(step.interaction.path).path
    prefix = path[: path.rindex(METHODS[sdk, step.api][1])]
    make, http = CLIENTS[sdk, is_async]
    # No certificates are needed here, and loading them would be most of a test's time.
    return make(api_key=KEY, base_url=url + prefix, max_retries=0, http_client=http(verify=False))


def _method(client: Any, sdk: str, step: Any, mode: Mode) -> Any:
    name = METHODS[sdk, step.api][0]
    if "beta=true" in step.interaction.path:
        name = f"beta.{name}"
    owner, _, last = name.rpartition(".")
    if mode.is_raw:
        name = f"{owner}.with_raw_response.{last}"
    elif mode is Mode.UNREAD:
        name = f"{owner}.with_streaming_response.{last}"
    return attrgetter(name)(client)


def _arguments(client: Any, sdk: str, step: Any) -> dict[str, Any]:
    """The recorded body as arguments; what the signature does not know goes to `extra_body`."""
    interaction: Interaction = step.interaction
    target = urlsplit(interaction.path)
    if step.api == "responses.retrieve":
        query = {name: _argument(value) for name, value in parse_qsl(target.query)}
        return {"response_id": target.path.rpartition("/")[2], **query}
    known = inspect.signature(_method(client, sdk, step, Mode.SYNC)).parameters
    given: dict[str, Any] = dict(interaction.request)
    extra = {name: given.pop(name) for name in list(given) if name not in known}
    if extra:
        given["extra_body"] = extra
    return {**given, "timeout": 30}


def _argument(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def _seen(result: Any, mode: Mode) -> dict[str, object]:
    tree: dict[str, object] = {}
    if mode.is_raw:
        tree["raw"] = _raw(result)
        result = result.parse()
    if isinstance(result, Iterator):
        events: list[object] = []
        try:
            events.extend(_tree(event) for event in result)
        except (openai.APIError, anthropic.APIError) as error:
            events.append(_error(error))
        return {**tree, **_stream(result), "events": events}
    return {**tree, **_value(result)}


async def _seen_async(result: Any, mode: Mode) -> dict[str, object]:
    tree: dict[str, object] = {}
    if mode.is_raw:
        tree["raw"] = _raw(result)
        result = result.parse()
        if inspect.isawaitable(result):
            result = await result
    if isinstance(result, AsyncIterator):
        events: list[object] = []
        try:
            async for event in result:
                events.append(_tree(event))
        except (openai.APIError, anthropic.APIError) as error:
            events.append(_error(error))
        return {**tree, **_stream(result), "events": events}
    return {**tree, **_value(result)}


def _unread(manager: Any) -> dict[str, object]:
    with manager as response:
        # Where a body without chunks is cut is up to the operating system.
        return {"raw": _raw(response), "bytes": b"".join(response.iter_bytes())}


def _value(result: Any) -> dict[str, object]:
    return {"value": _tree(result), "request id": getattr(result, "_request_id", None)}


def _stream(stream: Any) -> dict[str, object]:
    return {
        "stream": _name(stream),
        "is a stream": isinstance(
            stream, (openai.Stream, openai.AsyncStream, anthropic.Stream, anthropic.AsyncStream)
        ),
        "response": _response(stream.response),
    }


def _raw(raw: Any) -> dict[str, object]:
    return {
        "class": _name(raw),
        "request id": getattr(raw, "request_id", None),
        "retries": raw.retries_taken,
        "response": _response(raw.http_response),
    }


def _response(response: Any) -> dict[str, object]:
    return {
        "class": _name(response),
        "status": response.status_code,
        "reason": response.reason_phrase,
        "version": response.http_version,
        "headers": response.headers.multi_items(),
        "encoding": response.encoding,
    }


def _error(error: Any) -> dict[str, object]:
    return {
        "error": _name(error),
        "text": str(error),
        "body": error.body,
        "fields": {
            name: getattr(error, name, None)
            for name in ("status_code", "code", "param", "type", "request_id", "message")
        },
        "response": _response(error.response) if hasattr(error, "response") else None,
    }


def _name(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _tree(value: Any) -> object:
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        fields.update(value.model_extra or {})
        return {
            "class": _name(value),
            "set": sorted(value.model_fields_set),
            "fields": {name: _tree(field) for name, field in fields.items()},
            "dump": value.model_dump_json(warnings=False),
        }
    if isinstance(value, dict):
        return {"dict": {key: _tree(item) for key, item in value.items()}}
    if isinstance(value, (list, tuple)):
        return [_name(value), *(_tree(item) for item in value)]
    return (_name(value), value)
