"""The inner half of the runner: `python -m rewind.cli.launch`, started by `runner` only."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    # -m has put the working directory first; the program's own first entry comes later.
    if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
        del sys.path[0]
    from rewind.cli.host import main

    main()
