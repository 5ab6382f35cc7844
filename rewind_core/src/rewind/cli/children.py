"""Says once that a child Python process is on its own: a session covers one process."""

from __future__ import annotations

import os
import sys

__all__ = ["watch"]

_STARTS = {"subprocess.Popen": 2, "os.posix_spawn": 2, "os.spawn": 3, "os.system": 1, "os.fork": 0}
"""Audit events that start a process, and how many arguments may name the program."""

_WORKERS = (
    "multiprocessing.popen_forkserver",
    "multiprocessing.popen_spawn_posix",
    "multiprocessing.popen_spawn_win32",
)
"""Modules that multiprocessing imports to start its first worker of these kinds, which raise
no audit event of their own."""


def watch(mode: str) -> None:
    """Print one line on stderr when the first child that may be Python starts."""
    owner = os.getpid()
    said = False
    verb = "recorded" if mode == "record" else "replayed"

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal said
        if said or os.getpid() != owner:
            return
        if _starts_python(event, arguments):
            said = True
            print(  # noqa: T201  the runner's only channel beside the program's own output
                f"rewind: the program starts a child process; its calls are not {verb}",
                file=sys.stderr,
            )

    sys.addaudithook(hook)


def _starts_python(event: str, arguments: tuple[object, ...]) -> bool:
    if event == "import":
        return arguments[0] in _WORKERS
    if event not in _STARTS:
        return False
    return event == "os.fork" or _names_python(arguments[: _STARTS[event]])


def _names_python(arguments: tuple[object, ...]) -> bool:
    words: list[object] = []
    for argument in arguments:
        words += argument[:3] if isinstance(argument, (list, tuple)) else [argument]
    return any(
        "python" in os.fsdecode(w) for w in words if isinstance(w, (str, bytes, os.PathLike))
    )
