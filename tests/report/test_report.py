"""A report is the same in terminal, page, Markdown and JSON; text in it is shown and never obeyed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError
from chunkwise.report.format_values import format_value
from chunkwise.report.report import (
    Axis,
    Badge,
    Chart,
    Code,
    Column,
    Estimate,
    Excerpt,
    Headline,
    KeyFigure,
    KeyFigures,
    Next,
    Note,
    Point,
    Report,
    ReportPart,
    Section,
    Series,
    TextRun,
    ValueTable,
)
from chunkwise.report.to_html import report_fragment, report_page
from chunkwise.report.to_markdown import to_markdown
from chunkwise.report.to_terminal import terminal_text
from chunkwise.report.write_report import write_report
from real_browser import needs_browser
from report.reading_pages import EVIL, Page, in_browser, luminance
from tables import cases

HOSTILE = "{{ 7 * 7 }}{% raw %}</textarea>`` ` ```\n# x\n| a | <b> [x](http://evil) @who " + EVIL
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
VALUES = [
    ("score", 0.8125, "81%"), ("score", 0.041, "4.1%"), ("score", 0.997, "99.7%"), ("score", 1.0, "100%"),
    ("score", 0, "0%"), ("share", -0.5, "−50%"), ("change", -0.021, "−2.1 pts"), ("change", 0.0004, "0.0 pts"),
    ("change", -0.0004, "0.0 pts"), ("count", 1234, "1,234"), ("bytes", 1_530_000, "1.5 MB"),
    ("bytes", 12, "12 bytes"),
    ("seconds", 0.0042, "4.2 ms"), ("seconds", 12.34, "12.3 s"), ("seconds", 400, "7 min"), ("money", 12.5, "$12.50"),
    ("money", 0.001, "under $0.01"), ("p", 0.0004, "<0.001"), ("p", 0.042, "0.042"), ("number", -1.2345, "−1.23"),
    ("score", Estimate(0.8125, 0.734, 0.871), "81% (73–87)"), ("score", Estimate(None), "–"),
    ("change", Estimate(-0.021, -0.05, 0.008), "−2.1 pts (−5.0 to 0.8)"), ("score", None, "–"),
    ("text", ("list", "negation"), "list, negation"), ("text", Badge("worse", "bad"), "▼ worse"),
]  # fmt: skip


def test_values_are_written_by_their_kind() -> None:
    assert [format_value(value, kind) for kind, value, _ in VALUES] == [text for *_, text in VALUES]


def places_of(text: str) -> dict[Any, list[float | str]]:
    return {"columns": ["a", text], "rows": ["a", text], "lines": ["a", text], "points": [1.0, 2.5]}


def _series(name: str, places: list[float | str]) -> Series:
    points = tuple(Point(x, Estimate(0.1 * y, 0.0, 0.9), name) for y, x in enumerate(places))
    return Series(name, points, is_line=True)


def report_with(text: str) -> Report:
    """Every kind of part, with this text wherever a text may be."""
    rows = tuple(
        (text, (text, "b"), Estimate(at / 20, 0.0, 1.0), None, Badge(text, "bad"), text)
        for at in range(15)
    )
    columns = (
        Column(text, "code"), Column(text, is_filter=True), Column(text, "score", is_drawn=True), Column(text, "count"),
        Column("verdict"), Column(text),
    )  # fmt: skip
    excerpt = Excerpt((TextRun(text), TextRun(text, "gold")), text, text, "good")
    charts = [
        Chart(
            text,
            shape,
            Axis(text),
            Axis(text, "score"),
            tuple(_series(f"{text}{at}", places) for at in range(2)),
        )
        for shape, places in places_of(text).items()
    ]
    parts: tuple[ReportPart, ...] = (
        Headline(text, "good"), Note(text, is_warning=True), KeyFigures((KeyFigure(text, 0.5, "score", text),)),
        ValueTable(columns, rows, text, "row", details=((excerpt,),) * len(rows)), excerpt, Code(text, text),
        *charts, Section(text, (Note(text), Section(text, (excerpt,), is_folded=True)), text, is_beside=True),
        Next(text),
    )  # fmt: skip
    return Report(text, parts, "test", text)


def test_a_report_of_anybody_is_whole_in_all_four_forms() -> None:
    """Only what a plug-in can import: no renderer knows of its kind."""
    report = Report(
        "Parking",
        (
            Headline("Nine of ten find a place.", "good"),
            ValueTable((Column("lot"), Column("free", "share")), (("north", 0.9), ("south", 0.125))),
        ),
    )  # fmt: skip
    for text in (terminal_text(report), to_markdown(report), Page(report_page(report)).text):
        for expected in ("Parking", "Nine of ten find a place.", "north", "90%", "south", "12%"):
            assert expected in text
    data = msgspec.to_builtins(report)
    assert data["parts"][1]["rows"] == (("north", 0.9), ("south", 0.125))


@given(text=st.one_of(st.text(max_size=80), st.just(HOSTILE)))
def test_text_is_shown_and_never_obeyed(text: str) -> None:
    report, calm = report_with(text), report_with("lamp " * 9)
    for write in (report_page, report_fragment):
        html = write(report)
        tags, usual = ([tag for tag, _ in Page(page).tags] for page in (html, write(calm)))
        assert set(tags) <= set(usual)
        assert tags.count("script") == usual.count("script")
        assert not CONTROL.search(html)
        assert html.encode("utf-8")
        for tag, attributes in Page(html).tags:
            assert not [name for name in attributes if name.startswith("on")], tag
    shown = terminal_text(report, 80, verbose=True)
    assert not CONTROL.search(shown)
    assert max(map(len, shown.splitlines())) <= 160  # 80 cells; some letters take none
    heads, usual_heads = (
        len(re.findall(r"(?m)^#+ ", to_markdown(each))) for each in (report, calm)
    )
    assert heads - HOSTILE.count("\n# ") * (text == HOSTILE) <= usual_heads
    outside_code = re.sub(r"(?ms)^(`{3,})$.*?^\1$", "", to_markdown(report))
    assert not re.search(
        r"<(?!/?(code|details|summary)>)|\]\(|://|@",
        re.sub(r"`[^`\n]*`$", "", outside_code, flags=re.M),
    )


def test_numbers_of_a_page_are_in_its_json(tmp_path: Path) -> None:
    report = report_with("lamp")
    write_report(report, tmp_path / "a.json")
    data = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert (
        msgspec.convert(
            {name: data[name] for name in ("type", "title", "parts", "kind", "subtitle")}, Report
        )
        == report
    )


def test_files_are_whole_or_not_there(tmp_path: Path) -> None:
    report = report_with("lamp")
    for name in ("a.html", "b/a.html", "a.md"):
        write_report(report, tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b" / "a.html").read_bytes()
    assert (tmp_path / "a.md").read_text("utf-8").startswith("# lamp")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ChunkwiseError):
        write_report(report, tmp_path / "folder.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.html",
        "a.md",
        "b",
        "folder.html",
    ]


def test_the_policy_allows_the_two_inline_texts_and_nothing_else() -> None:
    page = Page(report_page(report_with("lamp")))

    def source(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert page.policy["default-src"] == "'none'"
    assert page.policy["style-src"] == source(page.style)
    assert page.policy["script-src"] == source(page.script)
    assert not re.search(r"@import|url\(|https?://", page.style + page.script)


def test_details_and_rows_beyond_the_brief_ones_are_shown_on_request() -> None:
    table = ValueTable((Column("name"),), tuple((f"row {at}",) for at in range(9)), brief_rows=2)
    report = Report("t", (table, Note("a detail", detail=True)))
    brief, whole = terminal_text(report), terminal_text(report, verbose=True)
    assert "row 1" in brief
    assert "row 2" not in brief
    assert "a detail" not in brief
    assert "row 8" in whole
    assert "a detail" in whole
    assert "row 8" in report_page(report)
    assert "row 8" not in report_fragment(report)


@cases("dark", [False, True])
def test_text_can_be_read_on_its_ground(dark: bool) -> None:
    style = (files("chunkwise.report") / "assets" / "page.css").read_text("utf-8")
    themes = [
        dict(re.findall("--([a-z-]+): (#[0-9a-f]{6})", each)) for each in style.split(":root")[1:3]
    ]
    colors = themes[dark]
    assert set(themes[0]) == set(themes[1])
    for ink, grounds in {
        "ink": ("page", "card", "mark-soft", "green-soft", "rail"), "soft": ("page", "card"), "green": ("page", "card"),
        "accent": ("page", "card", "accent-soft"), "mark": ("page", "card", "mark-soft"),
    }.items():  # fmt: skip
        for ground in grounds:
            low, high = sorted((luminance(colors[ink]), luminance(colors[ground])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, ground)


_DRIVE = """
const shown = () => [...document.querySelectorAll("#table-1 tbody tr:not([hidden])")];
const tools = document.querySelector("form.tools"), wanted = tools.querySelector("input");
const tell = (element, value, event) => { element.value = value; element.dispatchEvent(new Event(event)); };
const head = (key) => document.querySelector(`#table-1 [data-sort="${key}"] button`).click();
const found = [shown().length];
head("c1"); head("c1"); found.push(shown()[0].cells[0].textContent);
tell(tools.querySelector("select"), "1", "change"); found.push(shown().length);
tell(tools.querySelector("select"), "", "change");
tell(wanted, "row 7", "input"); found.push(shown().length);
return found;
"""


@pytest.mark.usefixtures("processes")
@needs_browser
def test_long_tables_are_paged_sorted_filtered_and_searched(tmp_path: Path) -> None:
    columns = (Column("name"), Column("score", "score"), Column("type", is_filter=True))
    rows = tuple((f"row {at}", at / 30, ("even", "odd")[at % 2]) for at in range(30))
    html = report_page(Report("t", (ValueTable(columns, rows, noun="row"),)))
    assert in_browser(html, tmp_path, _DRIVE) == ["20", "row 29", "15", "1"]


@pytest.mark.usefixtures("browser")
@needs_browser
def test_a_telephone_needs_no_scrolling_sideways_and_hostile_text_does_nothing(
    tmp_path: Path,
) -> None:
    script = """
    for (const each of document.querySelectorAll("details")) each.open = true;
    return [document.title === "owned", document.documentElement.scrollWidth];
    """
    *found, title = in_browser(
        report_page(report_with(HOSTILE)), tmp_path, script, width=390, as_it_is=True
    )
    assert found == ["false", "390"]
    assert title != "owned"
