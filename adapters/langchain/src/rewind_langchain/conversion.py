"""Messages, generations and results of LangChain as plain records, and back exactly.

A message of a known class is a dict of its `type` and the fields that it has set; anything else
is left to the core, which keeps the class by name.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
)
from langchain_core.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    ChatResult,
    Generation,
    GenerationChunk,
    LLMResult,
)
from langchain_core.utils import utils

from rewind.adapting import Conversion

__all__ = ["RESULTS", "chat_conversion", "dump_message", "load_message", "message_identity"]

_MESSAGES: dict[str, type[BaseMessage]] = {
    kind.model_fields["type"].default: kind
    for kind in (
        AIMessage,
        AIMessageChunk,
        ChatMessage,
        ChatMessageChunk,
        FunctionMessage,
        FunctionMessageChunk,
        HumanMessage,
        HumanMessageChunk,
        RemoveMessage,
        SystemMessage,
        SystemMessageChunk,
        ToolMessage,
        ToolMessageChunk,
    )
}
_GENERATIONS: dict[str, type[Generation]] = {
    kind.model_fields["type"].default: kind
    for kind in (Generation, GenerationChunk, ChatGeneration, ChatGenerationChunk)
}
_VOLATILE = ("id", "response_metadata", "usage_metadata")
"""What a message carries of the call that made it: never part of what is asked."""

_RUN_PREFIX: str = getattr(utils, "LC_ID_PREFIX", "run-")


def _fields(value: Any) -> dict[str, Any]:
    """The fields that are set or differ from their defaults, and the extra ones."""
    fields = type(value).model_fields
    found = {
        name: getattr(value, name)
        for name, field in fields.items()
        if name in value.model_fields_set
        or getattr(value, name) != field.get_default(call_default_factory=True)
    }
    found.update(value.model_extra or {})
    return found


def _made(kind: Any, fields: dict[str, Any]) -> Any:
    return kind.model_construct(_fields_set=set(fields), **fields)


def dump_message(message: Any) -> Any:
    """The record of a message."""
    kind: object = getattr(message, "type", None)
    if not isinstance(kind, str) or type(message) is not _MESSAGES.get(kind):
        return message
    fields = _fields(message)
    fields.pop("type", None)
    return {"type": kind, **fields}


def load_message(record: Any) -> Any:
    """The message of a record."""
    if not isinstance(record, dict) or record.get("type") not in _MESSAGES:
        return record
    fields = dict(record)
    return _made(_MESSAGES[fields.pop("type")], fields)


def message_identity(record: Any) -> Any:
    """What of a message's record makes a request the same request."""
    if not isinstance(record, dict):
        return record
    return {key: value for key, value in record.items() if key not in _VOLATILE}


def _dump_generation(generation: Any) -> Any:
    kind: object = getattr(generation, "type", None)
    if not isinstance(kind, str) or type(generation) is not _GENERATIONS.get(kind):
        return generation
    fields = _fields(generation)
    fields.pop("type", None)
    if isinstance(generation, ChatGeneration):
        fields.pop("text", None)  # read from the message
        fields["message"] = dump_message(generation.message)
    return {"generation": kind, **fields}


def _load_generation(record: Any) -> Any:
    if not isinstance(record, dict) or record.get("generation") not in _GENERATIONS:
        return record
    fields = dict(record)
    kind = _GENERATIONS[fields.pop("generation")]
    if "message" in fields:
        fields["message"] = load_message(fields["message"])
    return kind(**fields)


def _dump_result(result: Any) -> Any:
    if type(result) is ChatResult:
        generations: list[Any] = [_dump_generation(one) for one in result.generations]
    elif type(result) is LLMResult:
        generations = [[_dump_generation(one) for one in row] for row in result.generations]
    else:
        return result
    return {"generations": generations, "llm_output": result.llm_output}


def _load_result(record: Any) -> Any:
    if not isinstance(record, dict) or "generations" not in record:
        return record
    rows = record["generations"]
    output = record.get("llm_output")
    if rows and isinstance(rows[0], list):
        return LLMResult(
            generations=[[_load_generation(one) for one in row] for row in rows],
            llm_output=output,
        )
    return ChatResult(generations=[_load_generation(one) for one in rows], llm_output=output)


RESULTS = Conversion(
    dump=_dump_result,
    load=_load_result,
    dump_chunk=_dump_generation,
    load_chunk=_load_generation,
)


def chat_conversion(run_id: object) -> Conversion:
    """`RESULTS` for a chat model's run: a message without an id gets the one that its run gives.

    The base class names such messages after the run, whose id is another one on replay.
    """

    def dump(result: Any) -> Any:
        record = _dump_result(result)
        return {**record, "run": str(run_id)} if isinstance(record, dict) else record

    def load(record: Any) -> Any:
        result = _load_result(record)
        if isinstance(result, ChatResult):
            for index, generation in enumerate(result.generations):
                _name(generation, f"{_RUN_PREFIX}-{record.get('run')}-{index}")
        return result

    def dump_chunk(chunk: Any) -> Any:
        record = _dump_generation(chunk)
        return {**record, "run": str(run_id)} if isinstance(record, dict) else record

    def load_chunk(record: Any) -> Any:
        run = record.pop("run", None) if isinstance(record, dict) else None
        chunk = _load_generation(record)
        if run is not None:
            _name(chunk, f"{_RUN_PREFIX}-{run}")
        return chunk

    return Conversion(dump=dump, load=load, dump_chunk=dump_chunk, load_chunk=load_chunk)


def _name(generation: Any, identifier: str) -> None:
    message = getattr(generation, "message", None)
    if message is not None and message.id is None:
        message.id = identifier
