"""`compact` and `repair`: traces made from traces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..trace import repair as repair_trace
from .failures import Failure

if TYPE_CHECKING:
    from ..trace import Trace
    from ..trace.archive import Compression
    from .console import Out

__all__ = ["compact", "repair"]

_SUFFIX = {"gzip": ".gz", "zstd": ".zst"}


def _target(trace: Trace, chosen: Path | None, usual: Path, *, force: bool) -> Path:
    target = chosen or usual
    if target.is_dir():
        raise Failure(f"{target}: is a directory; name a file with -o")
    if target.exists() and target.resolve() == trace.path.resolve():
        raise Failure(f"{target}: is the trace itself; name another file with -o")
    if target.exists() and not force:
        raise Failure(f"{target}: is there already; name another file with -o, or use --force")
    return target


def compact(
    trace: Trace, out: Out, chosen: Path | None, compression: Compression, *, force: bool
) -> None:
    """Write a packed copy beside the trace. Raises `Failure` for one that is not finished."""
    source = trace.path
    if source.suffix in _SUFFIX.values():
        raise Failure(f"{source}: is packed already")
    if not trace.complete or trace.damage:
        state = "is damaged" if trace.damage else "did not finish"
        raise Failure(f"{source}: {state}; make it whole first: rewind repair {source}")
    usual = source.with_name(source.name + _SUFFIX[compression])
    packed = trace.dump(_target(trace, chosen, usual, force=force), compression=compression)
    before, after = source.stat().st_size, packed.stat().st_size
    out.line(f"{packed}: {after:,} bytes, {after / before:.0%} of {before:,}")


def repair(trace: Trace, out: Out, chosen: Path | None, *, force: bool) -> None:
    """Write a sound copy and name every loss. Raises `Failure` if there is nothing to do."""
    source = trace.path
    if trace.complete and not trace.damage:
        out.line(f"{source}: is whole, nothing to repair")
        return
    if source.suffix == ".partial":
        usual = source.with_name(source.name.removesuffix(".partial"))
    else:
        usual = source.with_name(f"{source.stem}.repaired{source.suffix}")
    done = repair_trace(trace, _target(trace, chosen, usual, force=force))
    out.line(f"{done.path}: {done.kept} of {len(trace)} steps kept")
    for loss in done.losses:
        out.line(f"  {loss}")
