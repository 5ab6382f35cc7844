"""The outer half of `rewind record|replay|fork -- program`: find the interpreter, become it.

This process replaces itself, so that stdin, signals, the terminal and the exit code are the
program's own. The settings travel in one environment variable, which `launch` removes again.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from .failures import Failure

__all__ = ["VARIABLE", "Invocation", "command_for", "start", "understand"]

VARIABLE = "REWIND_RUN"

_PYTHON = re.compile(r"(python|pypy)[0-9.]*(\.exe)?", re.IGNORECASE)
_WITH_VALUE = "WX"
_NO_REWIND = "ISE"
"""Options of python that may hide an installed rewind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """A python command line taken apart. `target` is a file, module, code, or `-` for stdin."""

    interpreter: str
    options: tuple[str, ...]
    form: str
    target: str
    arguments: tuple[str, ...]


def start(settings: Mapping[str, object], program: Sequence[str]) -> NoReturn:
    """Become the program. Raises `Failure` if there is nothing to run."""
    command, variables = command_for(settings, program)
    environment = {**os.environ, **variables}
    sys.stdout.flush()
    sys.stderr.flush()
    if sys.platform == "win32":  # exec there returns to the shell at once
        sys.exit(subprocess.call(command, env=environment))  # noqa: S603  the user's own program
    os.execvpe(command[0], command, environment)  # noqa: S606  the user's own program


def command_for(
    settings: Mapping[str, object], program: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """The command line that runs `program` in a session, and the variables it needs."""
    found = understand(program)
    run = json.dumps({**settings, "form": found.form, "target": found.target})
    launch = ["-m", "rewind.cli.launch", *found.arguments]
    return [_interpreter(found), *found.options, *launch], {VARIABLE: run}


def understand(program: Sequence[str]) -> Invocation:
    """Take a command line apart; a script is run by the interpreter its first line names."""
    if not program:
        raise Failure("no program given: put it after --, as in -- python agent.py")
    name = program[0]
    if _PYTHON.fullmatch(Path(name).name):
        return _python(name, program[1:])
    path = shutil.which(name)
    if path is None:
        if Path(name).is_file():
            raise Failure(f"{name} is not executable: run it as -- python {name}")
        raise Failure(f"there is no program {name}")
    line = _shebang(Path(path))
    if not line or not _PYTHON.fullmatch(Path(line[0]).name):
        raise Failure(
            f"{name} is not a Python program: give python FILE, python -m MODULE, "
            "or a script whose first line names python"
        )
    return _python(line[0], [*line[1:], path, *program[1:]])


def _python(interpreter: str, words: Sequence[str]) -> Invocation:
    """Options up to the program, as python itself reads them (`-um module`, `-X dev`, …)."""
    options: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "-" or not word.startswith("-"):
            return _script(interpreter, options, word, rest)
        if word == "--":
            continue
        if word.startswith("--"):
            options.append(word)
            if word == "--check-hash-based-pycs" and rest:
                options.append(rest.pop(0))
            continue
        ending = re.search(f"[cm{_WITH_VALUE}]", word)
        if ending is None:
            options.append(word)
            continue
        value = word[ending.end() :] or (rest.pop(0) if rest else None)
        if value is None:
            raise Failure(f"python {word} needs a value")
        flags = word[: ending.start()]
        if ending[0] in _WITH_VALUE:
            options += [f"{flags}{ending[0]}", value]
            continue
        if flags != "-":
            options.append(flags)
        return Invocation(
            interpreter=interpreter,
            options=tuple(options),
            form="module" if ending[0] == "m" else "code",
            target=value,
            arguments=tuple(rest),
        )
    raise Failure("no program given: python needs a file, -m MODULE or -c CODE")


def _script(interpreter: str, options: list[str], name: str, rest: list[str]) -> Invocation:
    if name != "-" and not Path(name).exists():
        raise Failure(f"there is no file {name}")
    return Invocation(
        interpreter=interpreter,
        options=tuple(options),
        form="stdin" if name == "-" else "file",
        target=name,
        arguments=tuple(rest),
    )


def _shebang(path: Path) -> list[str]:
    """The words of a script's first line, `env` and the installers' sh trampoline undone."""
    with path.open("rb") as file:
        head = file.read(2048)
    if not head.startswith(b"#!"):
        return []
    lines = head.decode("utf-8", "replace").splitlines()
    try:
        words = shlex.split(lines[0][2:])
        if words[:1] == ["/bin/sh"] and len(lines) > 1 and lines[1].startswith("'''exec' "):
            words = shlex.split(lines[1].removeprefix("'''exec' "))[:1]
    except ValueError:
        return []
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if word != "-S"]
    return words


def _interpreter(found: Invocation) -> str:
    """The path of the interpreter, which must have rewind installed."""
    path = shutil.which(found.interpreter)
    if path is None:
        if os.sep in found.interpreter:
            raise Failure(f"there is no program {found.interpreter}")
        return sys.executable
    path = str(Path(path).absolute())
    beside = Path(path).parent == Path(sys.executable).absolute().parent
    hidden = any(set(_NO_REWIND) & set(option) for option in found.options)
    if beside and not hidden:
        return path
    probe = [path, *found.options, "-c", "import rewind.cli.host, rewind.integrations"]
    tried = subprocess.run(  # noqa: S603  the interpreter that the user named
        probe, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if tried.returncode != 0:
        raise Failure(
            f"rewind cannot be imported by {path}: install rewind-core there, "
            f"or run the program with {sys.executable}"
        )
    return path
