"""What the anthropic SDK gives an agent on replay is what it gave live."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import pydantic
import pytest

from rewind.testing import Interaction

pytestmark = pytest.mark.usefixtures("both")
ASK: Any = {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}


def client(url: str, **more: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="anything", base_url=url, **more)


def test_a_plain_call(twice, play):
    def agent(url):
        with client(url) as sdk:
            return sdk.messages.create(**ASK)

    live, replayed, trace = twice(agent, play.message())
    assert live == replayed
    assert (trace.events[0].name, trace.events[0].kind) == ("anthropic.messages", "llm")


def test_the_stream_helper(twice, play):
    def agent(url):
        with client(url) as sdk, sdk.messages.stream(**ASK) as stream:
            return list(stream.text_stream), stream.get_final_message()

    live, replayed, trace = twice(agent, play.message_stream("a", "b"))
    assert live == replayed
    assert trace.events[0].truncated is None


def test_the_async_stream_helper(twice, play):
    def agent(url):
        async def main():
            async with anthropic.AsyncAnthropic(api_key="k", base_url=url) as sdk:
                async with sdk.messages.stream(**ASK) as stream:
                    return [text async for text in stream.text_stream]

        return asyncio.run(main())

    live, replayed, _ = twice(agent, play.message_stream("a", "b"))
    assert live == replayed == ["a", "b"]


def test_the_beta_namespace_is_another_request(twice, play):
    def agent(url):
        with client(url) as sdk:
            plain = sdk.messages.create(**ASK)
            beta = sdk.beta.messages.create(**ASK, betas=["context-1m-2025-08-07"])
            return plain.content[0].text, beta.content[0].text

    beta = play.message("beta")
    live, replayed, trace = twice(agent, play.message("plain"), beta)
    assert live == replayed == ("plain", "beta")
    assert len({event.id for event in trace}) == 2


def test_parsed_output(twice, play):
    class City(pydantic.BaseModel):
        name: str

    def agent(url):
        with client(url) as sdk:
            return sdk.messages.parse(**ASK, output_format=City)

    live, replayed, trace = twice(agent, play.message('{"name": "Oslo"}'))
    assert live == replayed
    assert replayed.parsed_output == City(name="Oslo")
    assert len(trace) == 1


def test_the_tool_runner(twice, play):
    asked: list[str] = []

    @anthropic.beta_tool
    def weather(city: str) -> str:
        """Tell the weather.

        Args:
            city: a name
        """
        asked.append(city)
        return f"sunny in {city}"

    def agent(url):
        with client(url) as sdk:
            return list(sdk.beta.messages.tool_runner(**ASK, tools=[weather]))

    use = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}}
    live, replayed, trace = twice(agent, play.message_of(use, "tool_use"), play.message("sunny"))
    assert live == replayed
    assert [type(turn.content[0]) for turn in live] == [type(turn.content[0]) for turn in replayed]
    assert replayed[-1].content[0].text == "sunny"
    assert asked == ["Oslo", "Oslo"]  # a tool of the program that is not decorated runs again
    assert len(trace) == 2


def test_counting_tokens_is_no_model_call(twice):
    def agent(url):
        with client(url) as sdk:
            return sdk.messages.count_tokens(model="claude", messages=ASK["messages"])

    answer = Interaction.answer("/v1/messages/count_tokens", {"input_tokens": 5})
    live, replayed, trace = twice(agent, answer)
    assert live == replayed
    assert (trace.events[0].name, trace.events[0].kind) == ("anthropic.count_tokens", "http")


def test_an_overloaded_server(twice, play):
    def agent(url):
        with client(url, max_retries=0) as sdk, pytest.raises(anthropic.APIStatusError) as caught:
            sdk.messages.create(**ASK)
        return type(caught.value), str(caught.value)

    body = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    live, replayed, _ = twice(agent, Interaction.answer(play.MESSAGES, body, status=529))
    assert live == replayed
