"""Finds links in the Markdown pages that lead to no file or to no heading of it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("*.md", "docs/**/*.md", "rewind_core/*.md", "adapters/*/*.md")

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)[^)]*\)")
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The fragments that the headings of a page answer to."""
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(text))
    return {heading.replace(" ", "-") for heading in plain}


def broken_links(page: Path) -> Iterator[str]:
    """Every link of `page` into this tree that leads nowhere."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in _LINK.findall(text):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, fragment = link.partition("#")
        target = page.parent / name if name else page
        lost = not target.exists()
        if not lost and fragment and target.suffix == ".md":
            lost = fragment not in anchors(target.read_text(encoding="utf-8"))
        if lost:
            yield link


def main() -> int:
    """Print every finding; 1 when there is one."""
    pages = sorted({page for pattern in PAGES for page in ROOT.glob(pattern)})
    findings = [
        f"{page.relative_to(ROOT)}: {link} leads nowhere"
        for page in pages
        for link in broken_links(page)
    ]
    print("\n".join(findings) or f"links: all good in {len(pages)} pages")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
