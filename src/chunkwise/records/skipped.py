"""Many lines about one file as one line, with all of them in a file beside the cache."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from chunkwise.base.wording import counted
from chunkwise.models.home_folder import home


def in_one_line(lines: Sequence[str], what: str = "question") -> str:
    """The line itself where it is alone; else how many of what, where all lines are, and the first."""
    if len(lines) == 1:
        return lines[0]
    text = "".join(f"{line}\n" for line in lines)
    path = home() / "skipped" / f"{sha256(text.encode(errors='replace')).hexdigest()[:12]}.txt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError:  # the count and the first are told all the same
        return f"{counted(len(lines), what)}; the first: {lines[0]}"
    return f"{counted(len(lines), what)}, listed in {path}; the first: {lines[0]}"
