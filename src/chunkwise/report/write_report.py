"""A report as a file: a page, data or Markdown, by the end of its name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from chunkwise.base.atomic_files import replacing, says_what_it_writes
from chunkwise.base.own_files import PAGE_FORMAT
from chunkwise.records.json import json_text
from chunkwise.report.report import Report

VERSION = 2
"""Of a report as data."""


def write_report(report: Report, path: str | os.PathLike[str]) -> None:
    """Write a report to a file, atomically.

    Args:
        report: The report.
        path: A .json or .md file; any other name gets an HTML page.
    """
    place = Path(path)
    match place.suffix.lower():
        case ".json":
            text = json_text(report_dict(report), indent=1) + "\n"
        case ".md":
            from chunkwise.report.to_markdown import to_markdown

            text = to_markdown(report)
        case _:
            from chunkwise.report.to_html import report_page

            text = report_page(report)
    with replacing(place) as temporary, says_what_it_writes(place):
        temporary.write_bytes(text.encode("utf-8"))


def report_dict(report: Report) -> dict[str, Any]:
    """Plain values behind what they are: nobody takes such a file for a document."""
    return {"format": PAGE_FORMAT, "version": VERSION, **msgspec.to_builtins(report)}
