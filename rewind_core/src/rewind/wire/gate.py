"""The way of one HTTP request from a client's hook to the session, whatever the client."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from .identity import build_call

if TYPE_CHECKING:
    from ..calls import Call
    from ..session import Session
    from .exchange import Exchange, Operation

__all__ = ["Gate", "Judge"]


class Judge(Protocol):
    """Decides what an exchange is: an operation to record, telemetry, or nothing (`None`)."""

    def __call__(
        self, exchange: Exchange, session: Session, transport: Any
    ) -> Operation | str | None: ...


class Gate:
    """Asks what a request of `session` is and builds its call.

    Trouble with either is said once while recording, and the request goes out unrecorded; in a
    replay it is raised.
    """

    def __init__(self, session: Session, judge: Judge) -> None:
        self.session = session
        self._judge = judge

    def verdict(
        self, read: Callable[[], Exchange], transport: Any
    ) -> tuple[Exchange | None, Operation | str | None]:
        """The request as an exchange, and what it is."""
        try:
            exchange = read()
            return exchange, self._judge(exchange, self.session, transport)
        except Exception as trouble:  # noqa: BLE001 - recording trouble is not the agent's
            self._troubled(trouble)
            return None, None

    def call(self, exchange: Exchange | None, operation: Operation, body: bytes) -> Call | None:
        assert exchange is not None
        try:
            return build_call(exchange, operation, body, self.session.requests)
        except Exception as trouble:  # noqa: BLE001 - as above
            self._troubled(trouble)
            return None

    def given(self, response: Any, call: Call) -> Any:
        """`response`, unless it is the `None` of a call that was cancelled while it waited."""
        if response is None:
            self.session.refuse("its recording was cancelled while it waited", name=call.name)
        return response

    def _troubled(self, trouble: Exception) -> None:
        if self.session.mode == "replay":
            self.session.refuse(f"{type(trouble).__name__}: {trouble}", name="a request")
        self.session.trouble(trouble)
