"""The commands of `rewind`: names, arguments and help. What each does stands in its own module."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .failures import BAD_INPUT, Failure

if TYPE_CHECKING:
    from ..trace import Trace

__all__ = ["app", "run"]

app = typer.Typer(
    name="rewind",
    help="Record an agent's run, replay it offline, fork it at any step.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

TracePath = Annotated[Path, typer.Argument(metavar="TRACE", help="A recorded trace.")]
Program = Annotated[
    list[str] | None,
    typer.Argument(metavar="-- PROGRAM", help="python FILE, python -m MODULE, or a script."),
]
Match = Annotated[str, typer.Option("--match", help="strict, ordered, fuzzy or parallel.")]
Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", metavar="HOST", help="A host to leave alone.")
]


def run(arguments: list[str]) -> int:
    """Run one command; the exit code. Bad input is one line on stderr."""
    from ..errors import RewindError
    from .console import ReaderGone

    try:
        code = app(arguments or ["--help"], prog_name="rewind", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except (BrokenPipeError, ReaderGone):
        return _quiet()
    except (Failure, RewindError, OSError) as error:
        return _complain(" ".join(str(error).split()))
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort:
        return 130
    except Exception as error:
        # A usage error: typer brings a click of its own, so its class has no public name.
        describe = getattr(error, "format_message", None)
        if describe is None:
            raise
        return _complain(describe() or "no command given, see rewind --help")
    return code if isinstance(code, int) else 0


def _complain(text: str) -> int:
    print(f"rewind: {text}", file=sys.stderr)  # noqa: T201  the error channel of a command
    return BAD_INPUT


def _quiet() -> int:
    """A reader that went away: the code a shell expects, and nothing said."""
    # Python would complain again when it flushes stdout at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


def _opened(path: Path) -> Trace:
    from ..trace import Trace

    return Trace.open(path)


def _name_damage(*traces: Trace) -> None:
    """Say which lines could not be read; what could be has been printed."""
    damaged = [(trace, damage) for trace in traces for damage in trace.damage]
    for trace, damage in damaged[:20]:
        _complain(f"{trace.path}: {damage}")
    if len(damaged) > 20:
        _complain(f"and {len(damaged) - 20} more damaged lines")
    if damaged:
        raise typer.Exit(BAD_INPUT)


@app.command()
def show(
    trace: TracePath,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="With previews.")] = False,
    interactive: Annotated[bool, typer.Option("--interactive", "-i", help="Step by step.")] = False,
) -> None:
    """List the steps of a trace."""
    from . import show as steps
    from .console import Out

    found = _opened(trace)
    if interactive:
        steps.step_through(found, Out())
    else:
        steps.show(found, Out(), verbose=verbose)
    _name_damage(found)


@app.command()
def stats(
    trace: TracePath,
    no_cost: Annotated[bool, typer.Option("--no-cost", help="Tokens only.")] = False,
    price: Annotated[
        list[str] | None,
        typer.Option("--price", metavar="MODEL=IN/OUT", help="USD per million tokens."),
    ] = None,
    prices_file: Annotated[
        Path | None,
        typer.Option(
            "--prices-file", metavar="JSON", help='{"MODEL": {"input": .., "output": ..}}'
        ),
    ] = None,
) -> None:
    """Counts, errors, time, tokens and estimated cost; --price goes before --prices-file."""
    from . import stats as sums
    from .console import Out

    prices = sums.read_prices(prices_file) if prices_file is not None else {}
    prices.update(sums.parse_price(text) for text in price or [])
    found = _opened(trace)
    sums.stats(found, Out(), cost=not no_cost, prices=prices)
    _name_damage(found)


@app.command()
def diff(
    a: Annotated[Path, typer.Argument(metavar="A")],
    b: Annotated[Path, typer.Argument(metavar="B")],
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Full previews.")] = False,
    context: Annotated[int, typer.Option("--context", "-c", min=0, help="Equal steps shown.")] = 1,
) -> None:
    """Where two runs part. Exit code 1 if they do."""
    from ..diff import diff_traces, render_text
    from .console import Out, clean

    found = diff_traces(a, b)
    out = Out()
    styles = {"+": "green", "-": "red", "~": "yellow"}
    for line in render_text(found, context=context, verbose=verbose).splitlines():
        out.line((clean(line), styles.get(line.lstrip()[:1], "")))
    _name_damage(found.a, found.b)
    if found.diverged:
        raise typer.Exit(1)


@app.command()
def cat(
    trace: TracePath,
    event: Annotated[int | None, typer.Option("--event", metavar="N", help="One event.")] = None,
) -> None:
    """The trace as JSON, everything expanded."""
    from . import cat as dump
    from .console import Out

    found = _opened(trace)
    dump.cat(found, Out(), event=event)
    _name_damage(found)


Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="PATH", help="Where to write it.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]


@app.command()
def compact(
    trace: TracePath,
    output: Output = None,
    use_gzip: Annotated[bool, typer.Option("--gzip", help="gzip instead of zstd.")] = False,
    force: Force = False,
) -> None:
    """Pack a finished trace; every command and session reads it as it is."""
    from . import files
    from .console import Out

    files.compact(_opened(trace), Out(), output, "gzip" if use_gzip else "zstd", force=force)


@app.command()
def repair(trace: TracePath, output: Output = None, force: Force = False) -> None:
    """Write what can be read of a damaged or cut-off trace to a sound one; say what is lost."""
    from . import files
    from .console import Out

    files.repair(_opened(trace), Out(), output, force=force)


@app.command()
def doctor() -> None:
    """What is installed, and what would get in the way."""
    from . import doctor as report
    from .console import Out

    if not report.doctor(Out()):
        raise typer.Exit(1)


@app.command(context_settings={"allow_interspersed_args": False})
def record(
    program: Program = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The trace.")] = Path("run.rewind"),
    ignore: Ignore = None,
) -> None:
    """Run a Python program and record it: rewind record -o run.rewind -- python agent.py"""
    from .runner import start

    start({"mode": "record", "path": str(output), "ignore": ignore or []}, program or [])


@app.command()
def replay(
    trace: TracePath,
    program: Program = None,
    match: Match = "strict",
    full: Annotated[
        bool, typer.Option("--full", help="Every recorded step must be asked for.")
    ] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", metavar="HOST", help="May be connected to.")
    ] = None,
    ignore: Ignore = None,
) -> None:
    """Run a Python program from its recording: rewind replay run.rewind -- python agent.py"""
    from .runner import start

    settings = {
        "mode": "replay",
        "path": str(trace),
        "match": match,
        "require_full_consumption": full,
        "allow_hosts": allow_host or [],
        "ignore": ignore or [],
    }
    _opened(trace)
    start(settings, program or [])


@app.command()
def fork(
    trace: TracePath,
    at: Annotated[int, typer.Option("--at", metavar="N", help="The first live step.")],
    program: Program = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the forked run is saved.")
    ] = None,
    match: Match = "strict",
    ignore: Ignore = None,
) -> None:
    """Replay up to a step, then go live: rewind fork run.rewind --at 5 -- python agent.py"""
    from .runner import start

    settings = {
        "mode": "fork",
        "path": str(trace),
        "at": at,
        "match": match,
        "save_as": None if output is None else str(output),
        "ignore": ignore or [],
    }
    steps = len(_opened(trace))
    if not 0 <= at <= steps:
        raise Failure(f"--at {at} is out of range: {trace} has {steps} steps (0 to {steps})")
    start(settings, program or [])
