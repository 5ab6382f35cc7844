"""A session: the one place that decides whether a call is recorded, served or let through."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import tempfile
import threading
import traceback
import weakref
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ..canonical import decode, encode, parse_json, request_id, to_plain
from ..errors import DivergenceError, RecordingWarning, SessionError
from ..matching import Choice, Miss, Strategy, StrictMatcher, Tape, report
from ..redact import Edit, Masker, apply_edits
from ..trace import Event, EventRecord, Trace, TraceWriter, Value, copy_event
from .decisions import Aside, Decision, Hints, Live, Rerun, Serve
from .lineage import Line, Node, current_line, open_line, set_line
from .order import DeliveryOrder
from .requests import Requests
from .saying import say
from .slots import Slot

if TYPE_CHECKING:
    from ..calls import Call
    from ..canonical import Plain

__all__ = ["Hook", "Session"]

Hook = Callable[[Any], Any]
_ASIDE = Aside()
_JSON_LINE = re.compile(rb"^(?:data:[ \t]*)?([{\[].*)$", re.MULTILINE)


def _renumber(numbers: dict[int, int], seq: int | None, otherwise: int) -> int:
    return otherwise if seq is None else numbers.get(seq, otherwise)


class Session:
    """What `record`, `replay` and `fork` yield.

    `trace` is the trace being replayed or forked (`None` while recording), `cursor` the number
    of events served or recorded so far, `mode` one of "record", "replay", "fork",
    `new_events` the events that a fork made live.
    """

    _troubled = False
    _went_live = False

    def __init__(
        self,
        *,
        mode: str,
        path: Path,
        trace: Trace | None = None,
        at: int | None = None,
        writer: TraceWriter | None = None,
        masker: Masker | None = None,
        strategy: Strategy | None = None,
        redact: Hook | None = None,
        normalize: Hook | None = None,
        on_step: Callable[[Event], object] | None = None,
        break_at: int | None = None,
        require_full_consumption: bool = False,
        allow_hosts: Iterable[str] = (),
        ignore: Iterable[str] = (),
        capture_all: bool = False,
        retries: str = "all",
    ) -> None:
        self.mode = mode
        self.path = path
        self.trace = trace
        self.at = at
        self.retries = retries
        self.allow_hosts = frozenset(allow_hosts)
        self.ignore = frozenset(ignore)
        self.capture_all = capture_all
        self.require_full_consumption = require_full_consumption
        self.closed = False
        self.pid = os.getpid()
        self.misses: list[DivergenceError] = []
        self.masker = masker or Masker()
        self.masker.learn_environment()
        self.requests = Requests(self.masker, writer.chains if writer is not None else None)
        self._redact = redact
        self._normalize = normalize
        self._on_step = on_step
        self._break_at = break_at
        self._lock = threading.RLock()
        self._writer = writer
        self._seq = itertools.count()
        self._labels: dict[str, str] = {}
        self._scratch: Path | None = None
        self._started = 0
        self.strategy: Strategy = strategy or StrictMatcher()
        events = trace.events if trace is not None else ()
        self._tape = Tape(events, at, in_order=self.strategy.in_order)
        self.order = DeliveryOrder(self._tape.ticks())
        self._ticks = itertools.count(self.order.end)

    # -- what the user sees ------------------------------------------------------------------

    @property
    def cursor(self) -> int:
        return self._started

    @property
    def new_events(self) -> list[Event]:
        """The events made live in a fork, in call-start order."""
        if self._writer is None or self.mode == "record" or not self._went_live:
            return []
        path = (
            self._writer.path
            if self.closed and self._writer.path.exists()
            else self._writer.partial
        )
        return [event for event in Trace.load(path).events if event.live]

    def acknowledge(self) -> None:
        """Declare the misses so far as handled: they are not raised again at exit."""
        self.misses.clear()

    def network_allowed(self) -> bool:
        return self.mode != "replay" or self.closed

    # -- deciding ----------------------------------------------------------------------------

    def decide(self, call: Call) -> Decision:
        """Serve, go live or stand aside. Pure but for the bookkeeping under the lock.

        Raises `DivergenceError` when replay has no answer.
        """
        line = current_line(adopt=True)
        if line is None or line.session is not self:
            line = open_line(self)
            set_line(line)
        if line.parent is not None and line.parent.covers(call):
            return _ASIDE
        if self._normalize is not None:
            call.id = self._normalized_id(call)
        with self._lock:
            if self.mode == "record":
                return Live(self._reserve(call, line, None))
            decision = self._answer(call, line)
        if isinstance(decision, Miss):
            self._raise_miss(report(decision, path=str(self.path), step=self._started))
        return decision

    def _normalized_id(self, call: Call) -> str:
        assert self._normalize is not None
        normalized = to_plain(self._normalize(decode(encode(cast("Plain", call.request)))))
        return request_id(f"normalized {call.kind} {call.name}".encode(), {"request": normalized})

    def _answer(self, call: Call, line: Line) -> Decision | Miss:
        if self.mode == "fork" and self._past_fork(line):
            return Live(self._reserve(call, line, None))
        choice = self.strategy.choose(self._tape, call, line)
        if isinstance(choice, Miss):
            if choice.event is not None and choice.event.damage is not None:
                self._tape.served.add(choice.event.seq)  # asked for: what follows it can be served
            elif self.mode == "fork" and self.strategy.at_end(self._tape, line):
                return Live(self._reserve(call, line, None))
            return choice
        return self._give(choice, call, line)

    def _give(self, choice: Choice, call: Call, line: Line) -> Decision:
        found = choice.event
        if self.mode == "fork" and (call.runs or self._tape.crosses_limit(found)):
            slot = self._reserve(call, line, found)
            self._tape.take(found, call, slot.node, run=True)
            self._settle_order(found.seq)
            return Live(slot)
        while self.retries == "final" and (later := self._tape.next_attempt(found)) is not None:
            self._tape.served.add(found.seq)
            self._settle_order(found.seq)
            found = later
        node = self._node(call, line, found.seq)
        self._tape.take(found, call, node, run=call.runs)
        if call.runs:
            self._settle_order(found.seq)
            return Rerun(node)
        self.order.mark(found.ticks[0])
        for seq in self._tape.descendants(found.seq):
            self._settle_order(seq)
        self._copy(found, node, line)
        set_line(line.past(node))
        retried = self._tape.next_attempt(found) is not None
        hints = Hints(retry_next=retried, final=self.retries == "final")
        return Serve(self, found, hints, not found.attempt, choice.note)

    def _settle_order(self, seq: int) -> None:
        """Nobody will wait for this event: it is not delivered on its own."""
        event = self._tape.events.get(seq)
        if event is not None:
            for tick in (*event.ticks, event.ended):
                self.order.mark(tick)

    def _past_fork(self, line: Line) -> bool:
        last = line.last
        return last is not None and last.recorded is None

    def _node(self, call: Call, line: Line, recorded: int | None) -> Node:
        self._started += 1
        return Node(next(self._seq), call, line.last, recorded)

    def _reserve(self, call: Call, line: Line, event: Event | None) -> Slot:
        node = self._node(call, line, event.seq if event is not None else None)
        after = line.last.seq if line.last is not None else None
        parent = line.parent.seq if line.parent is not None else None
        self.label(call)
        slot = Slot(self, node, call, after, parent, line.branch, next(self._ticks))
        if self.mode != "record":
            self._went_live = True
            self._need_writer()
        if self._writer is not None:
            self._writer.start(node.seq, call.kind, call.name)
        set_line(line.past(node))
        return slot

    def label(self, call: Call) -> str | None:
        """The upstream label of `call`: a known host's name, else one ordinal per origin."""
        if call.origin is None:
            return call.upstream
        if call.origin not in self._labels:
            self._labels[call.origin] = f"upstream-{len(self._labels)}"
        return self._labels[call.origin]

    # -- misses ------------------------------------------------------------------------------

    def _raise_miss(self, error: DivergenceError) -> NoReturn:
        with self._lock:
            self.misses.append(error)
        raise error

    def refuse(self, reason: str, *, name: str) -> NoReturn:
        """Note and raise a miss that is not a recordable call (a socket, a forked child)."""
        text = f"replay refused {name}: {reason}"
        self._raise_miss(DivergenceError(text[:4000], step=self._started, reason=reason[:500]))

    # -- serving -----------------------------------------------------------------------------

    def delivered(self, event: Event) -> None:
        """Note a delivery, copy it into the fork's trace, and run the step hooks."""
        self.order.mark(event.ticks[1])
        if self._on_step is not None:
            self._on_step(event)
        if self._break_at is not None and event.seq == self._break_at:
            breakpoint()

    def _copy(self, event: Event, node: Node, line: Line) -> None:
        """Write a served event, and what was recorded inside it, into the fork's trace."""
        if self._writer is None or self.mode != "fork":
            return
        numbers = {event.seq: node.seq}
        inner = sorted(s for s in self._tape.descendants(event.seq) if s in self._tape.events)
        for seq in (event.seq, *inner):
            source = self._tape.events[seq]
            if seq != event.seq:
                numbers[seq] = next(self._seq)
                self._started += 1
            after = line.last.seq if line.last is not None else None
            parent = line.parent.seq if line.parent is not None else None
            copy_event(
                self._writer,
                source,
                seq=numbers[seq],
                after=after if seq == event.seq else _renumber(numbers, source.after, node.seq),
                parent=parent if seq == event.seq else _renumber(numbers, source.parent, node.seq),
                meta={**source.meta, "live": False},
            )

    def _need_writer(self) -> None:
        if self._writer is None:
            self._scratch = Path(tempfile.mkdtemp(prefix="rewind-"))
            weakref.finalize(self, shutil.rmtree, self._scratch, ignore_errors=True)
            self._writer = TraceWriter(self._scratch / "fork.rewind", mode="fork")

    # -- recording ---------------------------------------------------------------------------

    def next_tick(self) -> int:
        return next(self._ticks)

    def trouble(self, error: BaseException) -> None:
        """Say once that recording has a problem; the agent goes on."""
        if not self._troubled:
            self._troubled = True
            last = traceback.extract_tb(error.__traceback__)[-1:] or [None]
            where = f" at {Path(last[0].filename).name}:{last[0].lineno}" if last[0] else ""
            problem = self.masker.text(f"{type(error).__name__}: {error}")
            say(f"a call could not be recorded ({problem}{where})", RecordingWarning)

    def write_event(self, record: EventRecord) -> None:
        if self._writer is not None:
            with self._lock:
                self._writer.event(record)

    def write_chunk(self, seq: int, data: bytes | Value, *, more: bool = False) -> None:
        if self._writer is not None:
            with self._lock:
                self._writer.chunk(seq, data, more=more)

    def write_done(self, seq: int, **outcome: Any) -> None:
        if self._writer is not None:
            with self._lock:
                self._writer.done(seq, tick=self.next_tick(), **outcome)

    def scrub(self, value: Any) -> Any:
        """Apply the user's `redact=` to what is stored."""
        if self._redact is None:
            return value
        return to_plain(self._redact(decode(encode(value))))

    def scrub_request(self, request: dict[str, Plain]) -> dict[str, Plain]:
        scrubbed = self.scrub(request)
        return scrubbed if isinstance(scrubbed, dict) else {"redacted": scrubbed}

    @property
    def scrubs(self) -> bool:
        return self._redact is not None

    def scrub_body(self, data: bytes, cuts: tuple[int, ...]) -> tuple[bytes, tuple[int, ...]]:
        """Apply the user's `redact=` to a JSON body, or to each JSON line of another one."""
        if self._redact is None or not data:
            return data, cuts
        edits: list[Edit] = []
        whole = parse_json(data)
        if isinstance(whole, (dict, list)):
            edits = self._scrub_document(cast("Plain", whole), 0, len(data))
        else:
            for found in _JSON_LINE.finditer(data):
                value = parse_json(found.group(1))
                if isinstance(value, (dict, list)):
                    edits += self._scrub_document(cast("Plain", value), *found.span(1))
        return apply_edits(data, edits, cuts)

    def _scrub_document(self, value: Plain, start: int, end: int) -> list[Edit]:
        scrubbed = self.scrub(value)
        return [] if scrubbed == value else [Edit(start, end, encode(scrubbed))]

    # -- the end -----------------------------------------------------------------------------

    @property
    def writer(self) -> TraceWriter | None:
        return self._writer

    @property
    def scratch(self) -> bool:
        return self._scratch is not None

    @property
    def tape(self) -> Tape:
        return self._tape

    @property
    def started(self) -> int:
        return self._started

    def check_open(self) -> None:
        if self.closed:
            raise SessionError("this session is closed")

    def meta(self) -> Mapping[str, Any]:
        return self.trace.meta if self.trace is not None else {}
