"""PDF: what size, weight, place and repetition tell of a text."""

from __future__ import annotations

import json
import random

import pytest

import chunkwise
from chunkwise.chunkers.write_chunks import hit_row, row_of
from chunkwise.core import Box, Document, Query
from chunkwise.documents import LoadOptions, read
from chunkwise.documents.formats.pdf.lines import Line, Page
from chunkwise.documents.formats.pdf.loader import PdfLayout
from documents.conftest import Set
from tables import cases
from untimed import is_linear

SENTENCES = (
    "The keeper climbs the tower before dusk and trims the lamp by hand",
    "while the wind from the harbour rattles every window of the house,",
    "and nobody who has seen it once forgets how quiet it becomes then.",
    "He writes the hour into the book that lies open on the iron table.",
)


WORDS = "amber basil cedar daisy elder fern grape hazel iris juniper kale lilac".split()


def paragraph(y: float, lines: int = 4, *, x: float = 72, size: float = 10) -> list[Set]:
    """Lines of prose below each other, the first at this height."""
    return [Set(x, y - 12 * n, SENTENCES[n % 4], size) for n in range(lines)]


def headings(document: Document) -> list[tuple[int, str]]:
    return [
        (block.level, document.text[block.start : block.end])
        for block in document.blocks or ()
        if block.kind == "heading"
    ]


def kinds(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks or ()]


def test_headings_are_told_by_size_and_number(reader, write, make_pdf) -> None:
    page = [
        Set(72, 740, "1 Introduction", 16, "B"), *paragraph(710),
        Set(72, 640, "1.1 Aims", 13, "B"), *paragraph(615),
        Set(72, 545, "1.2 Means", 13, "B"), *paragraph(520),
        Set(72, 450, "2 Methods", 16, "B"), *paragraph(420),
        Set(72, 350, "References", 16, "B"), *paragraph(320),
        Set(72, 250, "Appendix A", 16, "B"), *paragraph(220),
    ]  # fmt: skip
    document = reader.one(write("a.pdf", make_pdf(page)))
    assert headings(document) == [
        (1, "1 Introduction"),
        (2, "1.1 Aims"),
        (2, "1.2 Means"),
        (1, "2 Methods"),
        (1, "References"),
        (1, "Appendix A"),
    ]
    last = chunkwise.ext.chunk_document(document, "sections")[-1]
    assert last.section == ("Appendix A",)


def test_numbers_tell_levels_where_all_headings_look_alike(reader, write, make_pdf) -> None:
    titles = ["1 First things", "1.1 Of lamps", "1.1.1 Of oil", "2 Last things", "Afterword"]
    page = [
        each
        for n, title in enumerate(titles)
        for each in (Set(72, 740 - 90 * n, title, 10, "B"), *paragraph(715 - 90 * n))
    ]
    document = reader.one(write("a.pdf", make_pdf(page)))
    assert headings(document) == list(zip((1, 2, 3, 1, 1), titles, strict=True))


def test_a_number_and_its_title_on_two_lines_are_one_heading(reader, write, make_pdf) -> None:
    page = [Set(72, 740, "Chapter 3", 18, "B"), Set(72, 710, "Of Lamps", 22, "B"), *paragraph(670)]
    document = reader.one(write("a.pdf", make_pdf(page, paragraph(740))))
    assert headings(document) == [(1, "Chapter 3\n\nOf Lamps")]


def test_formulas_labels_captions_and_cells_are_no_headings(reader, write, make_pdf) -> None:
    page = [
        Set(72, 740, "1 Introduction", 14, "B"), *paragraph(715),
        Set(250, 650, "E = 3 x + 2 A", 14), Set(500, 650, "(1)", 10),
        *paragraph(620),
        Set(250, 550, "MODEL", 10, "B"), Set(252, 530, "Phase A", 7),
        Set(200, 510, "Figure 1: How it all works together", 10, "B"),
        *paragraph(480),
        Set(72, 400, "Name", 10, "B"), Set(172, 400, "Size", 10, "B"), Set(272, 400, "Share", 10, "B"),
        Set(72, 386, "Alpha"), Set(172, 386, "10"), Set(272, 386, "1.0"),
        Set(72, 372, "Beta"), Set(172, 372, "20"), Set(272, 372, "2.0"),
        *paragraph(340),
        Set(72, 260, "2 METHODS", 14, "B"), *paragraph(235),
    ]  # fmt: skip
    document = reader.one(write("a.pdf", make_pdf(page)))
    assert headings(document) == [(1, "1 Introduction"), (1, "2 METHODS")]
    table = [each for each in kinds(document) if each[0] in ("header", "row")]
    assert table == [
        ("header", "Name | Size | Share"),
        ("row", "Alpha | 10 | 1.0"),
        ("row", "Beta | 20 | 2.0"),
    ]


def test_code_is_told_by_its_type(reader, write, make_pdf) -> None:
    code = [
        Set(72, 650, "def lit\\(\\):", 10, "C"), Set(84, 638, "return True", 10, "C"),
        Set(72, 626, "LIT = 1", 10, "C"),
    ]  # fmt: skip
    document = reader.one(write("a.pdf", make_pdf([*paragraph(715), *code, *paragraph(600)])))
    assert ("code", "def lit():\nreturn True\nLIT = 1") in kinds(document)


def test_columns_are_read_one_after_the_other(reader, write, make_pdf) -> None:
    left = [
        Set(60, 700 - 12 * n, f"Left line {n} goes to the gutter of the page", 9) for n in range(12)
    ]
    right = [
        Set(320, 700 - 12 * n, f"right line {n} goes to the edge of the page", 9) for n in range(12)
    ]
    title = [Set(150, 740, "A title over both of the columns", 18, "B")]
    document = reader.one(write("a.pdf", make_pdf([*title, *right, *left])))
    flat = " ".join(document.text.split())
    order = [
        flat.index(text) for text in ("A title", "Left line 0", "Left line 11", "right line 0")
    ]
    assert order == sorted(order)


def test_columns_that_are_drawn_row_by_row_are_parted(reader, write, make_pdf) -> None:
    page = [
        Set(x, 700 - 12 * n, f"{side} line {n} goes to the end of its column", 9)
        for n in range(12)
        for x, side in ((60, "Left"), (320, "right"))
    ]
    document = reader.one(write("a.pdf", make_pdf(page)))
    lines = document.text.split()
    assert document.text.index("Left line 11") < document.text.index("right line 0")
    assert lines.count("Left") == lines.count("right") == 12
    assert document.boxes is not None
    assert document.boxes.line(0).x1 < 320


def test_a_footnote_stands_behind_the_sentence_it_interrupts(reader, write, make_pdf) -> None:
    note = [
        Set(72, 90, "1 A note that says a little more about lamps.", 7),
        Set(72, 80, "And it goes on with a second line here.", 7),
    ]
    first = [*paragraph(700), Set(72, 640, "This sentence of the page runs over to the"), *note]
    document = reader.one(
        write("a.pdf", make_pdf(first, [Set(72, 740, "next page. Then it ends."), *paragraph(700)]))
    )
    assert "runs over to the\nnext page. Then it ends." in document.text
    assert document.text.index("1 A note that") > document.text.index("Then it ends.")
    at = document.text.index("1 A note that")
    assert [box.page for box in document.boxes_of(at, at + 5)] == [1]


def test_a_name_may_begin_the_next_page(reader, write, make_pdf) -> None:
    first = [
        *paragraph(700, 3),
        Set(72, 664, "He handed the heavy book that lay open on the iron table over to Mr"),
    ]
    second = [
        Set(72, 740, "Hale, who read the hours aloud and nodded at every one of them"),
        *paragraph(728),
    ]
    document = reader.one(write("a.pdf", make_pdf(first, second)))
    assert "over to Mr\nHale, who" in document.text


def test_running_heads_that_change_with_the_chapter_leave_the_text(reader, write, make_pdf) -> None:
    pages = []
    for number in range(12):
        chapter, own = number // 3, WORDS[number]
        pages.append(
            [
                Set(
                    72,
                    770,
                    f"Chapter {chapter + 1}: Of Lamps and {'oil wicks glass brass'.split()[chapter]}",
                    8,
                ),
                Set(500, 770, str(number + 1), 8),
                *(Set(72, 740 - 12 * n, f"{own} goes on {other}") for n, other in enumerate(WORDS)),
            ]
        )
    document = reader.one(write("a.pdf", make_pdf(*pages)))
    assert "Chapter" not in document.text
    assert headings(document) == []
    assert document.text.count("goes on amber") == 12


def test_page_numbers_in_roman_figures_leave_the_text(reader, write, make_pdf) -> None:
    numbers = ["i", "ii", "iii", "iv"]
    pages = [[*paragraph(700), Set(300, 40 + 9 * (n % 2), each)] for n, each in enumerate(numbers)]
    document = reader.one(write("a.pdf", make_pdf(*pages)))
    assert not {"i", "ii", "iii", "iv"} & set(document.text.split("\n"))


def test_numbers_that_do_not_rise_with_the_pages_stay(reader, write, make_pdf) -> None:
    pages = [[*paragraph(700), Set(72, 40, f"{value}")] for value in (120, 7, 431, 56)]
    document = reader.one(write("a.pdf", make_pdf(*pages)))
    assert {"120", "7", "431", "56"} <= set(document.text.split())


def test_paragraphs_are_parted_by_room_and_by_indents(reader, write, make_pdf) -> None:
    apart = [*paragraph(700), *paragraph(640)]
    (one, other) = reader.one(write("a.pdf", make_pdf(apart))).text.split("\n\n")
    assert one == other == "\n".join(SENTENCES)
    indented = [*paragraph(700), Set(84, 652, SENTENCES[0]), *paragraph(640)]
    document = reader.one(write("b.pdf", make_pdf(indented)))
    assert document.text.split("\n\n")[1].startswith(SENTENCES[0])


def test_a_chunk_knows_its_rectangles(reader, write, make_pdf) -> None:
    document = reader.one(
        write("a.pdf", make_pdf([*paragraph(700), *paragraph(600)], paragraph(740)))
    )
    first, *_, last = chunkwise.ext.chunk_document(document, "paragraphs(max_tokens=100)")
    (box,) = first.boxes
    assert box.page == 1
    assert 70 < box.x0 < 74
    assert 660 < box.y0 < 666
    assert 700 < box.y1 < 712
    assert last.boxes[0].page == 2
    assert first.to_dict()["boxes"] == [list(box)]
    assert json.loads(row_of(first)["boxes"]) == [list(box)]
    assert document.boxes is not None
    assert len(list(document.boxes.lines(first.start, first.end))) == 4
    line = next(document.boxes.lines(first.start, first.start + 1))
    assert (line.page, line.y0) == (1, pytest.approx(697.9, abs=1))


def test_documents_without_pages_have_no_rectangles() -> None:
    (chunk,) = chunkwise.chunk_text("A lamp is lit.")
    assert chunk.boxes == ()
    assert chunk.to_dict()["boxes"] == []


def test_a_hit_knows_its_rectangles_as_its_chunk_does(write, make_pdf, tmp_path) -> None:
    path = write(
        "in/a.pdf", make_pdf([Set(72, 500, "The valve is opened by hand.")], paragraph(740))
    )
    index = chunkwise.index(str(path), into=str(tmp_path / "kb"), vectors="none")
    (document,) = read([str(path)], LoadOptions(on_unreadable=print))
    for searched in (index, chunkwise.open_index(str(tmp_path / "kb"))):
        (hit, *_) = searched.search("who opens the valve", k=1)
        assert hit.boxes == document.boxes_of(hit.start, hit.end)
        assert hit.boxes[0].page == 1
        assert hit.to_dict()["boxes"] == list(map(list, hit.boxes))
        assert hit_row(Query("q", "?"), hit)["boxes"] == hit.to_dict()["boxes"]


def test_a_page_whose_corner_is_elsewhere_has_boxes_of_its_own_coordinates(
    reader, write, make_pdf
) -> None:
    plain = reader.one(write("a.pdf", make_pdf(paragraph(700))))
    moved = make_pdf(paragraph(700), page_entries="/MediaBox[-10 -20 602 772]")
    assert reader.one(write("b.pdf", moved)).boxes == plain.boxes


def test_a_turned_page_is_read_as_it_is_shown(reader, write, make_pdf) -> None:
    """Its boxes are those of the page's own coordinates, as annotations have them."""
    lines = [Set(100 + 12 * n, 60, text, upwards=True) for n, text in enumerate(SENTENCES)]
    turned = make_pdf(lines, page_entries="/MediaBox[0 0 612 792]/Rotate 90")
    document = reader.one(write("a.pdf", turned))
    assert document.text == "\n".join(SENTENCES)
    assert document.boxes is not None
    first = document.boxes.line(0)
    assert 90 < first.x0 < first.x1 < 105
    assert 58 < first.y0 < 65
    assert first.y1 > 300


def test_what_runs_up_the_margin_parts_no_sentence(reader, write, make_pdf) -> None:
    page = [
        *paragraph(700, 2),
        Set(30, 300, "A stamp in the margin", 12, "F", True),
        *paragraph(676, 2),
    ]
    document = reader.one(write("a.pdf", make_pdf(page)))
    assert (
        document.text == "\n".join((*SENTENCES[:2], *SENTENCES[:2])) + "\n\nA stamp in the margin"
    )


def test_pages_that_are_copies_of_each_other_keep_their_text(reader, write, make_pdf) -> None:
    document = reader.one(
        write("a.pdf", make_pdf(*[[*paragraph(700), Set(72, 40, f"Page {n}")] for n in range(5)]))
    )
    assert document.text.count(SENTENCES[0]) == 5
    assert "Page" not in document.text


@cases(
    "entries",
    [
        "/MediaBox[0 0 1e30 1e30]",
        "/MediaBox[0 0 0 0]",
        "/MediaBox[9 9 1 1]/Rotate 90",
        "/UserUnit 1e9/MediaBox[0 0 612 792]",
        "/MediaBox[0 0 612 792]/Rotate 33",
    ],
)
@cases("size", [0, -10, 1e30, 1e-30])
def test_pages_and_types_of_any_size_are_read(reader, write, make_pdf, entries, size) -> None:
    page = [
        Set(72, 700, "A lamp is lit."),
        Set(1e30, -1e30, "Far away.", size),
        Set(72, 600, "Here", size),
    ]
    (document,) = reader(write("a.pdf", make_pdf(page, page, page, page_entries=entries)))
    assert "A lamp is lit." in document.text


def test_damaged_bytes_are_one_line_or_a_document(reader, write, make_pdf) -> None:
    whole = make_pdf([Set(72, 740, "1 Introduction", 14, "B"), *paragraph(700)], paragraph(740))
    rng = random.Random(3)
    for number in range(40):
        data = bytearray(whole)
        for _ in range(1 + number % 7):
            data[rng.randrange(9, len(data))] = rng.randrange(256)
        found = reader(write("a.pdf", bytes(data[: len(data) - number * 20])))
        assert len(found) + len(reader.skipped) == 1
        assert not any("loader failed" in reason for reason in reader.reasons)


def line(
    number: int, x: float, y: float, text: str = "A lamp is lit at dusk", *, wide: float = 200
) -> Line:
    return Line(0, text, x, y, x + wide, y + 8, y, 10.0, box=(x, y, x + wide, y + 8), number=number)


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("kind", ["below", "beside", "columns", "across", "table", "at random"])
def test_pages_of_very_many_lines_are_laid_out_in_linear_time(kind: str) -> None:
    def work(size: int) -> None:
        rng = random.Random(1)
        made = []
        for n in range(size):
            y = 1000.0 * size - 12 * n
            if kind == "beside":
                made.append(line(n, 3.0 * n, 700, wide=2))
            elif kind == "columns":
                made.append(line(n, 72 + 250 * (n % 2), y))
            elif kind == "across":
                made.append(line(n, (72, 322, 150)[n % 3], y - 6 * (n % 3)))
            elif kind == "at random":
                made.append(line(n, rng.random() * 500, rng.random() * 12 * size))
            else:
                made.append(line(n, 72, y))
            if kind == "table":
                made[-1].cells = ((72, 80), (110 + n % 9, 120), (200, 210))
        assert PdfLayout([Page(612, 792, made)]).text

    is_linear(work, 300)


def test_boxes_join_lines_of_a_column_and_part_pages() -> None:
    lines = [line(n, 72, 700 - 12.0 * n) for n in range(3)] + [line(3, 320, 700)]
    layout = PdfLayout([Page(612, 792, lines), Page(612, 792, [])])
    assert layout.boxes.within(0, len(layout.text)) == (
        Box(1, 72, 676, 272, 708),
        Box(1, 320, 700, 520, 708),
    )
    assert layout.boxes.within(5, 5) == ()
    assert layout.pages == (0, len(layout.text))


def test_a_box_holds_lines_that_are_set_in() -> None:
    lines = [line(0, 90, 700), line(1, 72, 688), line(2, 80, 676, wide=230)]
    layout = PdfLayout([Page(612, 792, lines)])
    assert layout.boxes.within(0, len(layout.text)) == (Box(1, 72, 676, 310, 708),)


def body_pages() -> list[list[Set]]:
    """Two pages of numbered sections and subsections."""
    return [
        [
            Set(72, 740, f"{n} {title}", 14, "B"), *paragraph(715),
            Set(72, 640, f"{n}.1 Of the {title.lower()}", 11, "B"), *paragraph(615),
            Set(72, 540, f"{n + 1} Other {title.lower()}", 14, "B"), *paragraph(515),
        ]
        for n, title in ((1, "Definitions"), (3, "Fees"))
    ]  # fmt: skip


SECTIONS = [
    "1 Definitions", "1.1 Of the definitions", "2 Other definitions", "3 Fees", "3.1 Of the fees", "4 Other fees",
]  # fmt: skip


def centered(y: float, text: str, size: float, font: str = "B") -> Set:
    return Set(306 - 0.3 * size * len(text), y, text, size, font)


def parties(size: float) -> list[Set]:
    """A title page with two names of this size below the title."""
    return [
        centered(600, "SERVICE AGREEMENT", 24), centered(560, "between", 10, "R"),
        centered(520, "NORTHERN LIGHTS LTD", size), centered(480, "and", 10, "R"),
        centered(440, "BETA HOLDINGS LTD", size), centered(400, "dated 5 May 2024", 10, "R"),
    ]  # fmt: skip


NAME_FIRST = [
    centered(640, "NORTHERN LIGHTS LTD", 16),
    centered(560, "Service Agreement", 24),
    centered(480, "5 May 2024", 10, "R"),
]  # fmt: skip
NOTICE_FIRST = [
    *(Set(72, 740 - 12 * n, f"CONFIDENTIAL TREATMENT IS REQUESTED FOR PART {n} OF THIS", 10, "B") for n in range(3)),
    *parties(24),
]  # fmt: skip


@cases("title_page, title", [
    (parties(24), "SERVICE AGREEMENT"),
    (parties(16), "SERVICE AGREEMENT"),
    (NAME_FIRST, "Service Agreement"),
    (NOTICE_FIRST, "SERVICE AGREEMENT"),
])  # fmt: skip
def test_of_a_title_page_the_title_alone_stands_above_the_sections(
    reader, write, make_pdf, title_page, title
) -> None:
    document = reader.one(write("a.pdf", make_pdf(title_page, *body_pages())))
    found = headings(document)
    assert [text for _, text in found] == [title, *SECTIONS]
    assert [level for level, _ in found] == [1, 2, 3, 2, 2, 3, 2]
    sections = {chunk.section for chunk in chunkwise.ext.chunk_document(document, "sections")}
    assert not any("LTD" in part for path in sections for part in path)


def test_authors_above_an_abstract_are_no_section(reader, write, make_pdf) -> None:
    first = [
        centered(740, "On the Drift of Boats", 20), centered(705, "Anna Hale and Bert Stone", 15),
        centered(680, "University of the Isle", 10, "R"), Set(72, 640, "Abstract", 14, "B"), *paragraph(615),
    ]  # fmt: skip
    document = reader.one(write("a.pdf", make_pdf(first, *body_pages())))
    assert [text for _, text in headings(document)] == [
        "On the Drift of Boats", "Abstract", *SECTIONS
    ]  # fmt: skip


def test_stacked_headings_of_a_book_are_kept(reader, write, make_pdf) -> None:
    """A part above a chapter above a section: the style of each comes again."""
    parts = [
        [
            Set(72, 740, f"Part {n}", 24, "B"), Set(72, 690, f"The {word} light", 18, "B"),
            Set(72, 650, f"Its {word} lamp", 14, "B"), *paragraph(625),
            Set(72, 550, f"Its {word} oil", 14, "B"), *paragraph(525),
        ]
        for n, word in (("I", "first"), ("II", "second"))
    ]  # fmt: skip
    document = reader.one(write("a.pdf", make_pdf(*parts)))
    assert [text.replace("\n\n", " ") for _, text in headings(document)] == [
        "Part I The first light", "Its first lamp", "Its first oil",
        "Part II The second light", "Its second lamp", "Its second oil",
    ]  # fmt: skip
