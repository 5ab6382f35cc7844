"""Runs a program as `python` itself would: `__main__`, `sys.argv`, `sys.path` and tracebacks."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import io
import os
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType, TracebackType

from .failures import Failure

__all__ = ["load", "user_frames"]

_OURS = str(Path(__file__).resolve().parent.parent)


def load(form: str, target: str, arguments: list[str]) -> Callable[[], None]:
    """Find the program and return what runs it. `sys.argv` and `sys.path` are set on return.

    Raises `Failure` if there is no such program, `SyntaxError` if it does not compile.
    """
    return _FORMS[form](target, arguments)


def _file(target: str, arguments: list[str]) -> Callable[[], None]:
    """As python does: `sys.argv[0]` is the name as given, everything else the absolute path."""
    sys.argv[:] = [target, *arguments]
    path = os.path.abspath(target)
    spec = importlib.machinery.PathFinder.find_spec("__main__", [path])
    if spec is not None:  # a directory or an archive with a __main__.py
        _first_on_path(path)
        return _from_spec(spec, target)
    _first_on_path(str(Path(path).resolve().parent))
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as error:
        raise Failure(f"can't open file {target!r}: {error.strerror}") from None
    main = _main(path)
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    return lambda: _run(compile(source, path, "exec", dont_inherit=True), main)


def _module(target: str, arguments: list[str]) -> Callable[[], None]:
    sys.argv[:] = ["-m", *arguments]
    _first_on_path(str(Path.cwd()))
    try:
        spec = importlib.util.find_spec(target)
        if spec is not None and spec.submodule_search_locations is not None:
            target = f"{target}.__main__"
            spec = importlib.util.find_spec(target)
    except (ImportError, ValueError) as error:
        raise Failure(f"no module named {target} ({error})") from None
    if spec is None:
        raise Failure(f"no module named {target}")
    run = _from_spec(spec, target)
    sys.argv[0] = spec.origin or target
    return run


def _from_spec(spec: ModuleSpec, name: str) -> Callable[[], None]:
    code_of = getattr(spec.loader, "get_code", None)
    code = code_of(spec.name) if code_of is not None else None
    if not isinstance(code, CodeType):
        raise Failure(f"{name} has no Python code to run")
    main = _main(spec.origin)
    main.__spec__, main.__loader__, main.__package__ = spec, spec.loader, spec.parent
    return lambda: _run(code, main)


def _code(target: str, arguments: list[str]) -> Callable[[], None]:
    sys.argv[:] = ["-c", *arguments]
    _first_on_path("")
    main = _main(None)
    return lambda: _run(compile(target, "<string>", "exec", dont_inherit=True), main)


def _stdin(_: str, arguments: list[str]) -> Callable[[], None]:
    sys.argv[:] = ["-", *arguments]
    _first_on_path("")
    source = sys.stdin.read()
    main = _main(None)
    return lambda: _run(compile(source, "<stdin>", "exec", dont_inherit=True), main)


_FORMS: dict[str, Callable[[str, list[str]], Callable[[], None]]] = {
    "code": _code,
    "file": _file,
    "module": _module,
    "stdin": _stdin,
}


def _first_on_path(entry: str) -> None:
    if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
        sys.path.insert(0, entry)


def _main(file: str | None) -> ModuleType:
    """A fresh `__main__`. It stays for good: threads and exit handlers outlive the program's end."""
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    if file is not None:
        main.__file__ = file
        main.__dict__["__cached__"] = None
    return main


def _run(code: CodeType, main: ModuleType) -> None:
    sys.modules["__main__"] = main
    exec(code, main.__dict__)  # noqa: S102  running the user's program is this module's purpose


def user_frames(trace: TracebackType | None) -> TracebackType | None:
    """A traceback from the program's first frame on."""
    while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def _is_ours(filename: str) -> bool:
    return filename.startswith((_OURS, "<frozen ")) or Path(filename).name == "runpy.py"
