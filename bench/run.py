"""Measures what a recorded and a replayed call cost, through the public API only.

Prints microseconds per call beside the bare function; the best of several rounds counts, since
everything else on the machine only adds to a round. `--json FILE` keeps the figures.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rewind

if TYPE_CHECKING:
    from collections.abc import Callable

ANSWER: dict[str, object] = {
    "choices": [{"message": {"role": "assistant", "content": "ok " * 60}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
}
Workload = list[dict[str, Any]]


def answer(**_request: object) -> dict[str, object]:
    """Stands for the model; it costs nothing."""
    return ANSWER


def distinct(calls: int) -> Workload:
    """Calls of about a kilobyte each, no two alike."""
    return [
        {"model": "m", "messages": [{"role": "user", "content": f"{number} " + "x" * 1000}]}
        for number in range(calls)
    ]


def growing(turns: int) -> Workload:
    """An agent that sends its whole history again on every turn."""
    history = [{"role": "user", "content": f"{turn} " + "y" * 1000} for turn in range(turns)]
    return [{"model": "m", "messages": history[: turn + 1]} for turn in range(turns)]


def seconds(function: Callable[..., object], workload: Workload) -> float:
    """How long the calls of `workload` take together."""
    started = time.perf_counter()
    for request in workload:
        function(**request)
    return time.perf_counter() - started


def measure(workload: Workload, rounds: int, folder: Path) -> dict[str, float]:
    """Microseconds per call that each mode adds to the bare function."""
    model = rewind.llm(answer)
    best: dict[str, float] = {}

    def note(mode: str, spent: float) -> None:
        best[mode] = min(spent, best.get(mode, spent))

    for number in range(rounds):
        path = folder / f"{number}.rewind"
        note("bare", seconds(answer, workload))
        note("no session", seconds(model, workload))
        with rewind.record(path):
            note("record", seconds(model, workload))
        with rewind.replay(path):
            note("replay", seconds(model, workload))
    bare = best.pop("bare")
    return {mode: (spent - bare) / len(workload) * 1e6 for mode, spent in best.items()}


def main() -> int:
    """Run the workloads and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    workloads = {
        f"{options.calls} distinct calls": distinct(options.calls),
        f"{options.turns} growing turns": growing(options.turns),
    }
    figures: dict[str, dict[str, float]] = {}
    print(f"{'us per call':24}{'no session':>12}{'record':>12}{'replay':>12}")
    for name, workload in workloads.items():
        with tempfile.TemporaryDirectory() as folder:
            figures[name] = measure(workload, options.rounds, Path(folder))
        print(f"{name:24}" + "".join(f"{value:12.1f}" for value in figures[name].values()))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
