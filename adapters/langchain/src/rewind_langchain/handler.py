"""`RewindCallbackHandler`: handing it to a run is all that recording and replaying it needs."""

from __future__ import annotations

import atexit
import contextlib
import threading
import warnings
import weakref
from collections.abc import Collection, Generator
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.globals import get_llm_cache
from langchain_core.tracers.context import register_configure_hook

import rewind
from rewind.adapting import Attachment, Session, any_open, find, placeholder_keys

from . import hook
from .runs import Run, forget, offer

if TYPE_CHECKING:
    import os
    from uuid import UUID

__all__ = ["RewindCallbackHandler", "tracing"]

_traced: ContextVar[RewindCallbackHandler | None] = ContextVar(
    "rewind_langchain_traced", default=None
)
register_configure_hook(_traced, inheritable=True)


class RewindCallbackHandler(BaseCallbackHandler):
    """Records, serves or forks every model, tool and retriever call of the runs it is given to.

    `RewindCallbackHandler()` follows the rewind session that is open where a call is made, and
    does nothing without one. `.record`, `.replay` and `.fork` make a handler with a session of
    its own: use it in a `with` block, or `close()` it; a forgotten one is closed at exit.

    Recorded tools are served, not run, on replay. `run_tools` names those that must run because
    they change the program's own state; what such a tool calls is then served one by one.
    """

    raise_error = True
    run_inline = True
    """In async code the handler shares the context of the run only if it is called in it."""

    def __init__(
        self, *, run_tools: Collection[str] = (), session: rewind.SessionContext | None = None
    ) -> None:
        self._own = session
        self._session: Session | None = None
        self._attachment: Attachment | None = None
        if session is not None:
            self._session = session.start()
            self._attachment = Attachment(self._session)
            atexit.register(self.close)
        self._run_tools = frozenset([run_tools] if isinstance(run_tools, str) else run_tools)
        self._names: dict[UUID, tuple[str, ...]] = {}
        self._lock = threading.Lock()
        self._cache_said = False
        hook.install()
        self._installed = weakref.finalize(self, hook.uninstall)

    # -- sessions of its own -----------------------------------------------------------------

    @classmethod
    def record(
        cls, path: str | os.PathLike[str], *, run_tools: Collection[str] = (), **options: Any
    ) -> RewindCallbackHandler:
        """A handler that records to `path`; `options` as for `rewind.record`."""
        return cls(run_tools=run_tools, session=rewind.record(path, **options))

    @classmethod
    def replay(
        cls, path: str | os.PathLike[str], *, run_tools: Collection[str] = (), **options: Any
    ) -> RewindCallbackHandler:
        """A handler that answers from `path`, offline; `options` as for `rewind.replay`.

        Key variables of known providers that are not set get a placeholder, because many clients
        cannot be made without one.
        """
        placeholder_keys(path)
        return cls(run_tools=run_tools, session=rewind.replay(path, **options))

    @classmethod
    def fork(
        cls,
        path: str | os.PathLike[str],
        *,
        at: int,
        run_tools: Collection[str] = (),
        **options: Any,
    ) -> RewindCallbackHandler:
        """A handler that serves the steps before `at` and goes live; `options` as for
        `rewind.fork`."""
        return cls(run_tools=run_tools, session=rewind.fork(path, at=at, **options))

    @property
    def session(self) -> Session | None:
        """The handler's own session, else the one that is open here."""
        if self._session is not None:
            return None if self._session.closed else self._session
        return find() if any_open() else None

    def close(self, error: BaseException | None = None) -> None:
        """Close the handler's own session; a replay raises what it found wrong.

        Raises `DivergenceError` for misses and skipped steps, as the end of `rewind.replay` does.
        """
        atexit.unregister(self.close)
        self._installed()
        if self._own is not None:
            self._own.stop(error)

    def __enter__(self) -> RewindCallbackHandler:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(error)

    async def __aenter__(self) -> RewindCallbackHandler:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(error)

    # -- starts ------------------------------------------------------------------------------

    def _started(
        self, kind: str, serialized: Any, run_id: UUID, parent_run_id: UUID | None, more: Any
    ) -> Run | None:
        """Note a run; the `Run` that its call will take, or `None` outside every session."""
        session = self.session
        if session is None:
            return None
        name = more.get("name") or _name_of(serialized) or kind
        with self._lock:
            within = self._names.get(parent_run_id, ()) if parent_run_id is not None else ()
            is_root = parent_run_id not in self._names
            self._names[run_id] = (*within, name)
        if is_root and self._attachment is not None:
            self._attachment.enter(run_id)
        return Run(
            session=session,
            kind=kind,
            name=name,
            run_id=run_id,
            parent_run_id=parent_run_id,
            within=within,
            tags=tuple(more.get("tags") or ()),
            metadata=_plain_items(more.get("metadata")),
        )

    def _ended(self, run_id: UUID) -> None:
        forget(run_id)
        with self._lock:
            self._names.pop(run_id, None)
        if self._attachment is not None:
            self._attachment.leave(run_id)

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        self._started("chain", serialized, run_id, parent_run_id, kwargs)

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        self._model_started(serialized, run_id, parent_run_id, kwargs)

    def on_llm_start(
        self,
        serialized: Any,
        prompts: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        self._model_started(serialized, run_id, parent_run_id, kwargs)

    def _model_started(
        self, serialized: Any, run_id: UUID, parent_run_id: UUID | None, more: Any
    ) -> None:
        run = self._started("llm", serialized, run_id, parent_run_id, more)
        if run is None:
            return
        hook.refresh()
        run.params = more.get("invocation_params") or {}
        self._mind_the_cache()
        offer(run)

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: Any = None,
        **kwargs: Any,
    ) -> None:
        run = self._started("tool", serialized, run_id, parent_run_id, kwargs)
        if run is None:
            return
        hook.refresh()
        run.inputs = inputs if inputs is not None else input_str
        run.runs = run.name in self._run_tools or _name_of(serialized) in self._run_tools
        offer(run)

    def on_retriever_start(
        self,
        serialized: Any,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        run = self._started("retriever", serialized, run_id, parent_run_id, kwargs)
        if run is None:
            return
        hook.refresh()
        offer(run)

    def _mind_the_cache(self) -> None:
        if not self._cache_said and get_llm_cache() is not None:
            self._cache_said = True
            warnings.warn(
                "a global LLM cache is set: what it answers is neither recorded nor served. "
                "Switch it off while recording and replaying: set_llm_cache(None)",
                rewind.RecordingWarning,
                stacklevel=2,
            )

    # -- ends --------------------------------------------------------------------------------

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._ended(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._ended(run_id)

    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._ended(run_id)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._ended(run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._ended(run_id)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._ended(run_id)

    def on_retriever_end(self, documents: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._ended(run_id)

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._ended(run_id)


def _name_of(serialized: Any) -> str:
    if not isinstance(serialized, dict):
        return ""
    identifier = serialized.get("id")
    last = identifier[-1] if isinstance(identifier, list) and identifier else ""
    return str(serialized.get("name") or last)


def _plain_items(metadata: Any) -> dict[str, Any]:
    """What of a run's metadata can be stored as it is."""
    if not isinstance(metadata, dict):
        return {}
    kinds = (str, int, float, bool, tuple, list)
    return {key: value for key, value in metadata.items() if isinstance(value, kinds)}


@contextlib.contextmanager
def tracing(handler: RewindCallbackHandler | None = None) -> Generator[RewindCallbackHandler]:
    """Every run that starts in the `with` block gets the handler, without any `config`."""
    given = handler or RewindCallbackHandler()
    token = _traced.set(given)
    try:
        yield given
    finally:
        _traced.reset(token)
