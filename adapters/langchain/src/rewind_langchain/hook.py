"""Where calls of models, tools and retrievers are recorded and served.

A handler only sees; it cannot answer. So the methods that do the work are wrapped in every class
that defines them, and ask the run that the handler has just announced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool

from rewind.adapting import (
    AS_IS,
    Action,
    Conversion,
    SubclassGroup,
    aperform,
    astream,
    perform,
    stream,
)

from .conversion import RESULTS, chat_conversion, dump_message, message_identity
from .runs import Run, claim

if TYPE_CHECKING:
    from collections.abc import Callable

    Describe = Callable[[Run, Any, Any], tuple[Action, Conversion]]
    """From a run, the object that does its work, and what it is asked."""

__all__ = ["install", "refresh", "uninstall"]

_ASKED = ("messages", "prompts", "prompt", "query")
"""What the methods call that which is asked of them."""

_UNTOLD = ("stream", "streaming")
"""Parameters that say how an answer travels, not what is asked."""


def _manager(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    found = kwargs.get("run_manager")
    if found is not None:
        return found
    return next((arg for arg in args if hasattr(arg, "get_child") and hasattr(arg, "run_id")), None)


def _asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if args:
        return args[0]
    return next((kwargs[name] for name in _ASKED if name in kwargs), None)


def _sync(kind: str, describe: Describe) -> Any:
    def wrapper(wrapped: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        run = claim(kind, _manager(args, kwargs))
        if run is None:
            return wrapped(*args, **kwargs)
        action, conversion = describe(run, owner, _asked(args, kwargs))
        return perform(run.session, action, lambda: wrapped(*args, **kwargs), conversion)

    return wrapper


def _async(kind: str, describe: Describe) -> Any:
    async def wrapper(
        wrapped: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        run = claim(kind, _manager(args, kwargs))
        if run is None:
            return await wrapped(*args, **kwargs)
        action, conversion = describe(run, owner, _asked(args, kwargs))
        return await aperform(run.session, action, lambda: wrapped(*args, **kwargs), conversion)

    return wrapper


def _stream(kind: str, describe: Describe) -> Any:
    def wrapper(wrapped: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        run = claim(kind, _manager(args, kwargs))
        if run is None:
            return wrapped(*args, **kwargs)
        action, conversion = describe(run, owner, _asked(args, kwargs))
        return stream(run.session, action, lambda: wrapped(*args, **kwargs), conversion)

    return wrapper


def _astream(kind: str, describe: Describe) -> Any:
    def wrapper(wrapped: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        run = claim(kind, _manager(args, kwargs))
        if run is None:
            return wrapped(*args, **kwargs)
        action, conversion = describe(run, owner, _asked(args, kwargs))
        return astream(run.session, action, lambda: wrapped(*args, **kwargs), conversion)

    return wrapper


def _params(run: Run) -> dict[str, Any]:
    return {k: v for k, v in run.params.items() if k not in _UNTOLD and v is not None}


def _model(params: dict[str, Any]) -> dict[str, Any]:
    model = params.pop("model", None) or params.get("model_name") or params.get("model_id")
    return {"model": model} if model is not None else {}


def _describe_chat(run: Run, owner: Any, asked: Any) -> tuple[Action, Conversion]:
    params = _params(run)
    request = {
        **_model(params),
        "messages": [dump_message(one) for one in asked],
        **({"params": params} if params else {}),
    }
    identity = {**request, "messages": [message_identity(one) for one in request["messages"]]}
    action = Action(
        kind="llm",
        name=type(owner).__name__,
        request=request,
        identity=identity,
        meta={"format": "langchain", **run.meta},
    )
    return action, chat_conversion(run.run_id)


def _describe_text(run: Run, owner: Any, asked: Any) -> tuple[Action, Conversion]:
    params = _params(run)
    request = {
        **_model(params),
        "prompts": [asked] if isinstance(asked, str) else asked,
        **({"params": params} if params else {}),
    }
    meta = {"format": "langchain", **run.meta}
    return Action(kind="llm", name=type(owner).__name__, request=request, meta=meta), RESULTS


def _describe_tool(run: Run, owner: Any, _asked: Any) -> tuple[Action, Conversion]:
    inputs = run.inputs if isinstance(run.inputs, dict) else {"input": run.inputs}
    action = Action(kind="tool", name=owner.name, request=inputs, meta=run.meta, runs=run.runs)
    return action, AS_IS


def _describe_retriever(run: Run, _owner: Any, asked: Any) -> tuple[Action, Conversion]:
    request = {"query": asked}
    return Action(kind="memory", name=run.name, request=request, meta=run.meta), AS_IS


def _model_methods(describe: Describe) -> dict[str, Any]:
    return {
        "_generate": _sync("llm", describe),
        "_agenerate": _async("llm", describe),
        "_stream": _stream("llm", describe),
        "_astream": _astream("llm", describe),
    }


_EVENTS = {
    "_stream_chat_model_events": _stream("llm", _describe_chat),
    "_astream_chat_model_events": _astream("llm", _describe_chat),
}
_STREAMS = ("_stream", "_astream")
"""Compared by identity with the base's to find out whether a model streams at all."""

_HOOKS: tuple[tuple[type, SubclassGroup], ...] = (
    (
        BaseChatModel,
        SubclassGroup({**_model_methods(_describe_chat), **_EVENTS}, abstract=_STREAMS),
    ),
    (BaseLLM, SubclassGroup(_model_methods(_describe_text), abstract=_STREAMS)),
    (
        BaseTool,
        SubclassGroup(
            {
                "_run": _sync("tool", _describe_tool),
                "_arun": _async("tool", _describe_tool),
            }
        ),
    ),
    (
        BaseRetriever,
        SubclassGroup(
            {
                "_get_relevant_documents": _sync("retriever", _describe_retriever),
                "_aget_relevant_documents": _async("retriever", _describe_retriever),
            }
        ),
    ),
)


def install() -> None:
    """Wrap what exists; counted, one `uninstall` each."""
    for base, group in _HOOKS:
        group.acquire(base)


def refresh() -> None:
    """Wrap classes that were defined since."""
    for base, group in _HOOKS:
        group.refresh(base)


def uninstall() -> None:
    """Undo one `install`."""
    for _, group in _HOOKS:
        group.release()
