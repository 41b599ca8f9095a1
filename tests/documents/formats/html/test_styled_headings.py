"""Pages without heading elements: headings are told by how they are set."""

from __future__ import annotations

from pathlib import Path

import chunkwise
from chunkwise.documents.formats.html.loader import html_text
from tables import cases

PROSE = "The ferry leaves at seven, and whoever comes later waits for the next one."


def headings(markup: str) -> list[tuple[str, int]]:
    layout = html_text(markup).layout
    return [(layout.text[b.start : b.end], b.level) for b in layout.blocks if b.kind == "heading"]


@cases(
    "line",
    [
        "<p><b>Leave</b></p>",
        "<p><strong>Leave</strong></p>",
        "<div><span style='font-weight: bold'>Leave</span></div>",
        "<p style='font-size: 18pt'>Leave</p>",
        "<p><font size=5>Leave</font></p>",
        "<p><span style='font-size:150%'>Leave</span></p>",
        "<div class='title'>Leave</div>",
        "<p class='doc-title'>Leave</p>",
        "<div role=heading aria-level=1>Leave</div>",
    ],
)
def test_a_short_line_set_apart_is_a_heading(line: str) -> None:
    assert headings(f"{line}<p>{PROSE}</p>") == [("Leave", 1)]


def test_sizes_make_levels() -> None:
    page = (
        f"<p style='font-size:24px'>Handbook</p><p>{PROSE}</p><p style='font-size:20px'>Leave</p><p>{PROSE}</p>"
        f"<p><b>In winter</b></p><p>{PROSE}</p><p style='font-size:20px'>Wages</p><p>{PROSE}</p>"
    )
    assert headings(page) == [("Handbook", 1), ("Leave", 2), ("In winter", 3), ("Wages", 2)]


def test_names_say_levels() -> None:
    page = (
        f"<p class=heading1>Handbook</p><p>{PROSE}</p><p class='heading-2'>Leave</p><p>{PROSE}</p>"
    )
    assert headings(page) == [("Handbook", 1), ("Leave", 2)]


def test_roles_say_levels_beside_heading_elements() -> None:
    page = (
        f"<h1>Handbook</h1><p>{PROSE}</p><div role=heading aria-level=3>Leave</div><p>{PROSE}</p>"
    )
    assert headings(page) == [("Handbook", 1), ("Leave", 3)]


@cases(
    "markup",
    [
        f"<h1>Handbook</h1><p><b>Leave</b></p><p>{PROSE}</p>",
        f"<p><b>Take care:</b></p><p>{PROSE}</p>",
        f"<p><b>Nobody may swim here.</b></p><p>{PROSE}</p>",
        f"<p><b>Leave</b> is given.</p><p>{PROSE}</p>",
        f"<p><b>{PROSE * 3}</b></p><p>{PROSE}</p>",
        f"<p>{PROSE}</p><p><b>The council</b></p>",
        "".join(f"<p><b>Line {number}</b></p>" for number in "abcdefg") + f"<p>{PROSE}</p>",
        f"<p><b>***</b></p><p>{PROSE}</p>",
        f"<ul><li><b>Leave</b></li></ul><p>{PROSE}</p>",
    ],
)  # fmt: skip
def test_what_is_no_heading_stays_text(markup: str) -> None:
    assert [text for text, _ in headings(markup) if text != "Handbook"] == []


def test_chunks_know_their_styled_section(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f"<p><b>Leave</b></p><p>{PROSE}</p>")
    assert [chunk.section_path for chunk in chunkwise.chunk(tmp_path / "page.html")] == ["Leave"]
