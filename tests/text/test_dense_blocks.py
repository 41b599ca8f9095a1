"""Text of PDF files: headings no blank line sets off, and lines every page repeats."""

import pytest
from test_plain_blocks import headings, shown

from chunkwise.text.characters import Characters
from chunkwise.text.lines import Lines
from chunkwise.text.plain_blocks import plain_blocks

PDF = """\
ANNUAL REPORT
The year was good. Sales rose and
costs fell, as the table shows.
2.1 Sales in Europe
Sales rose by 4.2 % in all of
the markets.
1. first point
2. second point
Outlook is good.
"""


def test_a_pdf_has_headings_no_blank_line_sets_off() -> None:
    assert headings(PDF, dense=True) == [(2, "ANNUAL REPORT"), (4, "2.1 Sales in Europe")]
    assert headings(PDF) == []
    assert shown(PDF, "item", dense=True) == ["1. first point", "2. second point\nOutlook is good."]


FULL = "The works stand by the sea and were built long ago by people nobody knows.\n" * 3


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("1.1 Sub of 1", 4), ("Chapter 1: The beginning", 2), ("PART II", 1), ("§ 12 Haftung", 3),
        ("第三章 开始", 2), ("ARTICLE IV.", 3), ("ANNUAL REPORT", 2), ("OUTLOOK", 2),
        ("MARK6END.", 0), ("Section 5 of the Act", 0), ("Chapter and verse", 0), ("5 March", 0),
        ("THE SELLER DISCLAIMS ALL WARRANTIES OF ANY KIND AND OF ALL GOODS", 0), ("OUTLOOK:", 0),
    ],
)  # fmt: skip
def test_a_line_between_paragraphs_of_a_pdf(line: str, level: int) -> None:
    assert headings(f"{FULL}{line}\n{FULL}", dense=True) == ([(level, line)] if level else [])


@pytest.mark.parametrize("line", ["4.2 Fees", "CHAPTER II", "OUTLOOK"])
def test_a_line_inside_a_paragraph_of_a_pdf_is_no_heading(line: str) -> None:
    assert headings(f"{FULL[:-2]}\n{line}\n{FULL}", dense=True) == []
    assert headings(f"{FULL}{line}\nof the works. {FULL}", dense=True) == []


def test_chapters_of_a_pdf_are_numbered_in_order() -> None:
    text = "".join(f"{n}. Chapter number {n}\n{FULL}" for n in (1, 2, 3))
    assert headings(text, dense=True) == [(3, f"{n}. Chapter number {n}") for n in (1, 2, 3)]


def paged(pages: list[str]) -> list[str]:
    text = "".join(pages)
    starts = [sum(map(len, pages[:n])) for n in range(len(pages))]
    found = plain_blocks(Lines(Characters(text)), dense=True, pages=starts)
    return [text[block.start : block.end] for block in found if block.kind == "heading"]


def test_lines_that_head_or_foot_most_pages_are_no_headings() -> None:
    pages = [
        f"ACME CORPORATION\nIN CONFIDENCE\n{FULL}ANNUAL REPORT PAGE {n}\n{n} Acme Report 2024\n"
        for n in range(1, 5)
    ]
    assert paged(pages) == []
    assert paged([*pages[:2], FULL, FULL, FULL]) != []


def test_chapters_that_each_start_a_page_are_headings() -> None:
    assert paged([f"Chapter {n}\n{FULL}" for n in range(1, 5)]) == [
        f"Chapter {n}" for n in range(1, 5)
    ]
    titles = [f"{n}. Chapter number {n}" for n in range(1, 5)]
    assert paged([f"{title}\n{FULL}" for title in titles]) == titles


def test_pages_without_text() -> None:
    assert plain_blocks(Lines(Characters("A B\n")), dense=True, pages=(0, 4, 4, 4)) is not None
