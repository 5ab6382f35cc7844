"""LangChain in the conformance suite: `create_agent` with the OpenAI chat model."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool, tool
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models.base import BaseChatOpenAI

from rewind.testing.adapters import AdapterConformance, Capability, Mode, Outcome, Task, Way
from rewind_langchain import RewindCallbackHandler


class Port:
    classes = (BaseChatModel, BaseChatOpenAI, ChatOpenAI, BaseTool, StructuredTool)

    def opened(self, mode: Mode, path: Path, **options: Any) -> AbstractContextManager[Any]:
        return getattr(RewindCallbackHandler, mode)(path, **options)

    def run(self, task: Task, url: str, wiring: Any) -> Outcome:
        config: Any = {"callbacks": [wiring]} if wiring is not None else {}
        try:
            if task.way in (Way.ASYNC, Way.ASYNC_STREAM):
                return asyncio.run(_arun(task, url, config))
            return _run(task, url, config)
        except Exception as error:
            return Outcome(error=(type(error).__name__, str(error)))


def _model(task: Task, url: str) -> Any:
    if not task.http:
        return FakeListChatModel(responses=["Hello there."])

    def chat(name: str) -> Any:
        return ChatOpenAI(
            model=name, base_url=f"{url}/v1", api_key="sk-test", max_retries=task.max_retries,
            stream_usage=True,
        )  # fmt: skip

    model = chat(task.model)
    return model.with_fallbacks([chat(task.fallback)]) if task.fallback else model


def _is_plain(task: Task) -> bool:
    return not (task.tools or task.sub_agent or task.output)


def _agent(task: Task, url: str, name: str = "assistant") -> Runnable[Any, Any]:
    tools: list[Any] = [tool(function) for function in task.tools]
    if task.sub_agent is not None:
        expert = _agent(task.sub_agent, url, "expert")

        @tool("expert")
        def ask_expert(task: str) -> str:
            """Ask the expert."""
            return expert.invoke({"messages": [HumanMessage(task)]})["messages"][-1].content

        tools.append(ask_expert)
    return create_agent(_model(task, url), tools, name=name, response_format=task.output)


def _prompt(task: Task) -> HumanMessage:
    if task.image is None:
        return HumanMessage(task.prompt, id="prompt")
    image = {
        "type": "image", "base64": base64.b64encode(task.image).decode(), "mime_type": "image/png"
    }  # fmt: skip
    return HumanMessage([{"type": "text", "text": task.prompt}, image], id="prompt")


def _outcome(task: Task, state: Any) -> Outcome:
    results = tuple(str(m.content) for m in state["messages"] if isinstance(m, ToolMessage))
    if task.output is not None:
        return Outcome(text=state["structured_response"], tool_results=results)
    return Outcome(text=state["messages"][-1].text, tool_results=results)


def _run(task: Task, url: str, config: Any) -> Outcome:
    model = _model(task, url)
    if task.batch:
        answers = model.batch(list(task.batch), config)
        return Outcome(text=[answer.content for answer in answers])
    if task.way is Way.STREAM:
        if _is_plain(task):
            return _taken(task, model.stream([_prompt(task)], config))
        parts = _agent(task, url).stream(
            {"messages": [_prompt(task)]}, config, stream_mode="messages"
        )
        return _taken(task, (part for part, _ in parts))
    if _is_plain(task):
        message: AIMessage = model.invoke([_prompt(task)], config)
        return Outcome(text=message.content)
    return _outcome(task, _agent(task, url).invoke({"messages": [_prompt(task)]}, config))


def _texts(part: Any) -> list[str]:
    if not isinstance(part, AIMessageChunk):
        return []
    fragments = [chunk["args"] or "" for chunk in part.tool_call_chunks]
    return [piece for piece in (str(part.text), *fragments) if piece]


def _taken(task: Task, parts: Iterator[Any]) -> Outcome:
    chunks: list[str] = []
    for part in parts:
        chunks += _texts(part)
        if task.leave_after is not None and len(chunks) >= task.leave_after:
            parts.close()  # type: ignore[attr-defined]
            break
    return Outcome(chunks=tuple(chunks))


async def _ataken(task: Task, parts: AsyncIterator[Any]) -> Outcome:
    chunks: list[str] = []
    async for part in parts:
        chunks += _texts(part)
        if task.leave_after is not None and len(chunks) >= task.leave_after:
            await parts.aclose()  # type: ignore[attr-defined]
            break
    return Outcome(chunks=tuple(chunks))


async def _arun(task: Task, url: str, config: Any) -> Outcome:
    model = _model(task, url)
    if task.batch:
        answers = await model.abatch(list(task.batch), config)
        return Outcome(text=[answer.content for answer in answers])
    if task.way is Way.ASYNC_STREAM:
        if _is_plain(task):
            return await _ataken(task, model.astream([_prompt(task)], config))
        parts = _agent(task, url).astream(
            {"messages": [_prompt(task)]}, config, stream_mode="messages"
        )
        return await _ataken(task, (part async for part, _ in parts))
    return _outcome(task, await _agent(task, url).ainvoke({"messages": [_prompt(task)]}, config))


class TestConformance(AdapterConformance):
    port = Port()
    capabilities = frozenset(Capability)
