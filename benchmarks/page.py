"""A Markdown page of several parts, each measured when it is asked for."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks import machine

PAGES = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"

Parts = Mapping[str, tuple[str, Callable[[], str]]]
"""By the name on the command line: a title, and what measures and tells."""


def write_page(
    title: str,
    name: str,
    parts: Parts,
    about: str | None,
    options: argparse.ArgumentParser | None = None,
) -> None:
    """Measure the parts named on the command line, or all; the page keeps what it says of the others.

    `options`: those that the parts have been made with already; they are only known and helped with here.
    """
    parser = argparse.ArgumentParser(description=about, parents=[options] if options else [])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts)}; all where none is given")
    parser.add_argument("--output", type=Path, default=PAGES / name)
    given = parser.parse_args()
    unknown = set(given.parts) - set(parts)
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(parts)}")
    told = {}
    for part in given.parts or parts:
        heading, measured = parts[part]
        print(f"measuring: {heading}", file=sys.stderr)
        text = measured().rstrip()
        told[heading] = f"{machine.describe()}\n{text}\n"
        print(f"## {heading}\n\n{told[heading]}")
    before = given.output.read_text(encoding="utf-8") if given.output.is_file() else ""
    page = renewed(before, title, [heading for heading, _ in parts.values()], told)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(page, encoding="utf-8")
    print(f"written to {given.output}", file=sys.stderr)


def renewed(page: str, title: str, headings: Sequence[str], told: Mapping[str, str]) -> str:
    """The page with these parts in place of its own; a kept part says where it was measured."""
    top, *rest = re.split(r"^## ", page, flags=re.MULTILINE)
    found = {
        heading.strip(): text.strip() for heading, _, text in (r.partition("\n") for r in rest)
    }
    # A page once said this for all of its parts, which are now measured one by one.
    where = "\n".join(line for line in top.splitlines() if line.startswith("- "))
    for heading, text in found.items():
        if where and heading in headings and not text.startswith("- "):
            found[heading] = f"{where}\n\n{text}"
    found |= {heading: text.strip() for heading, text in told.items()}
    order = [each for each in headings if each in found]
    order += [each for each in found if each not in headings]
    return "\n\n".join([
        f"# {title}", "Written by `make bench`, each part when it was last measured.",
        *(f"## {heading}\n\n{found[heading]}" for heading in order),
    ]) + "\n"  # fmt: skip
