"""Embeddings have no callbacks, so they are recorded by a wrapper around them."""

from __future__ import annotations

from typing import Any

from langchain_core.embeddings import Embeddings

from rewind.adapting import Action, any_open, aperform, find, perform

__all__ = ["RewindEmbeddings"]


class RewindEmbeddings(Embeddings):
    """Records and serves what `embeddings` computes, in the session that is open at the call.

    Other attributes are those of the wrapped object.
    """

    def __init__(self, embeddings: Embeddings) -> None:
        self.embeddings = embeddings

    def __getattr__(self, name: str) -> Any:
        if name == "embeddings":  # not there yet: a copy or a pickle is being made
            raise AttributeError(name)
        return getattr(self.embeddings, name)

    def _action(self, texts: list[str]) -> Action:
        request = {"model": getattr(self.embeddings, "model", None), "input": texts}
        return Action(kind="llm", name=type(self.embeddings).__name__, request=request)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        session = find() if any_open() else None
        if session is None:
            return self.embeddings.embed_documents(texts)
        return perform(session, self._action(texts), lambda: self.embeddings.embed_documents(texts))

    def embed_query(self, text: str) -> list[float]:
        session = find() if any_open() else None
        if session is None:
            return self.embeddings.embed_query(text)
        return perform(session, self._action([text]), lambda: self.embeddings.embed_query(text))

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        session = find() if any_open() else None
        if session is None:
            return await self.embeddings.aembed_documents(texts)
        return await aperform(
            session, self._action(texts), lambda: self.embeddings.aembed_documents(texts)
        )

    async def aembed_query(self, text: str) -> list[float]:
        session = find() if any_open() else None
        if session is None:
            return await self.embeddings.aembed_query(text)
        return await aperform(
            session, self._action([text]), lambda: self.embeddings.aembed_query(text)
        )
