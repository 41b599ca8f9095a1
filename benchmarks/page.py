"""A Markdown page of several parts, each measured when it is asked for."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
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
    """Measure the parts named on the command line, or all, and write them to the terminal and to a file.

    `options`: those that the parts have been made with already; they are only known and helped with here.
    """
    parser = argparse.ArgumentParser(description=about, parents=[options] if options else [])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts)}; all where none is given")
    parser.add_argument("--output", type=Path, default=PAGES / name)
    given = parser.parse_args()
    unknown = set(given.parts) - set(parts)
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(parts)}")
    told = []
    for part in given.parts or parts:
        heading, measured = parts[part]
        print(f"measuring: {heading}", file=sys.stderr)
        told += [f"## {heading}\n", f"{measured().rstrip()}\n"]
    page = [f"# {title}\n", "Written by `make bench`.\n", machine.describe(), *told]
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text("\n".join(page), encoding="utf-8")
    print("\n".join(page))
    print(f"written to {given.output}", file=sys.stderr)
