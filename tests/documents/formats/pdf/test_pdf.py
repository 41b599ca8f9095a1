"""PDF: text, pages, and what cannot be read."""

from __future__ import annotations

import pytest

import chunkwise
from chunkwise.chunkers.sentences import SentenceChunker
from chunkwise.core import Block, Document
from chunkwise.documents.formats.pdf.headings import Bookmark, with_bookmarks
from chunkwise.documents.formats.pdf.lines import without_hyphens
from documents.conftest import Set
from tables import cases
from untimed import is_linear

ENCRYPTED = (
    "/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<" + "41" * 32 + ">/U<" + "42" * 32 + ">>>"
    "/ID[<01><01>]"
)


def test_pages_start_where_they_say(reader, write, make_pdf) -> None:
    document = reader.one(
        write("a.pdf", make_pdf("First page\nsecond line", "Last page", title="T"))
    )
    assert document.text == "First page\nsecond line\n\nLast page"
    assert [document.text[start:][:5] for start in document.pages] == ["First", "Last "]
    assert (document.title, document.format, document.blocks) == ("T", "pdf", None)


@pytest.mark.parametrize(
    ("ff", "fi", "fl", "ffi", "ffl"),
    [("\\033", "\\034", "\\035", "\\036", "\\037"), ("\\013", "\\014", "\\015", "\\016", "\\017")],
    ids=["T1", "OT1"],
)
def test_ligatures_of_bitmap_fonts_are_letters(
    reader, write, make_pdf, ff: str, fi: str, fl: str, ffi: str, ffl: str
) -> None:
    words = (f"The {fi}eld o{ffi}ce", f"o{ff}ers a {fl}at {fl}oor, no wa{ffl}e.", "Last line.")
    lines = [Set(50, 740 - 20 * n, line, 12, "T") for n, line in enumerate(words)]
    document = reader.one(write("a.pdf", make_pdf(lines)))
    assert document.text == "The field office\noffers a flat floor, no waffle.\nLast line."
    assert document.boxes is not None


def test_a_page_without_text_still_counts(reader, write, make_pdf) -> None:
    document = reader.one(write("a.pdf", make_pdf("One", "", "Three")))
    assert document.pages == (0, 5, 5)
    assert document.text[5:] == "Three"
    assert document.page(5) == 3


def test_a_sentence_that_runs_over_to_the_next_page_is_one(reader, write, make_pdf) -> None:
    first = "Leave is for all.\nThis sentence of the policy runs over to the"
    document = reader.one(write("a.pdf", make_pdf(first, "next page. Then it ends.", "Last page.")))
    assert document.text == f"{first}\nnext page. Then it ends.\n\nLast page."
    assert [document.text[start:][:4] for start in document.pages] == ["Leav", "next", "Last"]
    chunks = chunkwise.ext.chunk_document(document, SentenceChunker(max_tokens=14, overlap=0))
    over = next(chunk for chunk in chunks if "runs over" in chunk.text)
    assert over.text.endswith("runs over to the\nnext page.")
    assert (over.page, over.last_page) == (1, 2)


@cases(
    "last, following, between",
    [
        ("he spoke of many,", "many things.", "\n"),
        ("the word that is hyphen-", "ated over pages.", ""),
        ("it ends here.", "etc. and so on.", "\n\n"),
        ("it goes on with the following:", "first the one thing.", "\n\n"),
        ("this sentence goes on to the", "Next Page", "\n\n"),
        ("text of the page\n12", "goes on here.", "\n\n"),
        ("in the summer of the year 2010", "goes on here.", "\n\n"),
        ("text of the page\nAnnual Report", "goes on here.", "\n\n"),
        ("text of the page\nTHE ANNUAL REPORT", "goes on here.", "\n\n"),
        ("one of these that are\nlisted in order", "b. the second", "\n\n"),
        ("one of these that are\nlisted in order", "iv. the fourth", "\n\n"),
    ],
)
def test_where_pages_are_joined(reader, write, make_pdf, last, following, between) -> None:
    document = reader.one(write("a.pdf", make_pdf("One.\n" + last, following, "End")))
    assert document.text == f"One.\n{last}{between}{following}\n\nEnd"
    assert document.pages == (
        0,
        len(f"One.\n{last}{between}"),
        len(f"One.\n{last}{between}{following}\n\n"),
    )


@pytest.mark.parametrize(
    ("last", "between"), [("text of the page", "\n"), ("text of the page.", "\n\n")]
)
def test_a_page_number_that_says_so_parts_no_sentence(
    reader, write, make_pdf, last, between
) -> None:
    document = reader.one(
        write("a.pdf", make_pdf(f"One.\n{last}\nPage 3 of 10", "goes on here.", "End"))
    )
    assert document.text == f"One.\n{last}{between}goes on here.\n\nEnd"


RUNNING = [
    "This goes on over to the",
    "next page. Then it goes on to",
    "the last. It ends here.",
    "New.",
]


def test_running_heads_and_feet_are_no_part_of_the_text(reader, write, make_pdf) -> None:
    pages = [f"ACME Handbook {n}\n{text}\nof the company {n}" for n, text in enumerate(RUNNING)]
    document = reader.one(write("a.pdf", make_pdf(*pages)))
    assert document.text == "\n".join(RUNNING[:3]) + "\n\n" + RUNNING[3]
    assert [document.text[start:][:4] for start in document.pages] == [page[:4] for page in RUNNING]


def test_running_heads_are_kept_where_they_are_asked_for(reader, write, make_pdf) -> None:
    pages = [f"ACME Handbook {n}\n{text}\nof the company {n}" for n, text in enumerate(RUNNING)]
    document = reader.one(write("a.pdf", make_pdf(*pages)), loader="pdf(keep_boilerplate=true)")
    assert document.text.startswith("\n".join(RUNNING[:3]) + "\n\n")
    assert all(f"ACME Handbook {n}" in document.text for n in range(4))


def test_a_hyphen_at_the_end_of_a_line_stays_unless_the_word_is_known_whole(
    reader, write, make_pdf
) -> None:
    cut = "It is well-\nknown and Hyphen-\nated state-of-the-\nart or twenty-\none."
    document = reader.one(write("a.pdf", make_pdf(cut)))
    assert document.text == "It is well-known and Hyphen-ated state-of-the-art or twenty-one."
    known = "Words are hyphenated, wellknown too, but well-known, theart."
    document = reader.one(write("b.pdf", make_pdf(cut, known)))
    assert document.text.startswith("It is well-known and Hyphenated state-of-the")
    assert [document.text[start:][:5] for start in document.pages] == ["It is", "Words"]


@cases("name", ["a.txt", "a", "a.docx"])
def test_a_pdf_by_any_name_is_a_pdf(reader, write, make_pdf, name) -> None:
    assert reader.one(write(name, make_pdf("Hello"))).format == "pdf"


def test_a_text_named_pdf_is_a_text(reader, write) -> None:
    assert reader.one(write("a.pdf", "just words")).format == "text"


def test_scanned_encrypted_and_truncated(reader, write, make_pdf) -> None:
    write("a.pdf", make_pdf("", ""))
    write("b.pdf", make_pdf("secret", trailer=ENCRYPTED))
    write("c.pdf", make_pdf("Hello")[:60])
    folder = write("d.txt", "fine").parent
    assert [document.id for document in reader(folder)] == ["d.txt"]
    assert reader.reasons == [
        "no text on any of its 2 pages (scanned?); use OCR: --ocr 'tesseract {} -'",
        "encrypted; save it without a password",
        "damaged or truncated PDF",
    ]


Mark = tuple[str, int, int]
"""Title, level from 1, page from 0."""

PROSE = "The valve is opened by hand before the pump starts,\nand it is closed again at night."


def outline(pages: int, marks: list[Mark]) -> list[str]:
    """The objects of an outline in a PDF of so many pages."""
    root = 4 + 2 * pages
    links: list[dict[str, int]] = [{} for _ in range(len(marks) + 1)]
    open_, last = [0], {}
    for number, (_, level, _) in enumerate(marks, 1):
        del open_[level:]
        parent = open_[-1]
        if parent in last:
            links[last[parent]]["Next"] = number
        else:
            links[parent]["First"] = number
        last[parent] = links[parent]["Last"] = number
        links[number]["Parent"] = parent
        open_.append(number)
    names = ["/Type/Outlines"]
    names += [f"/Title({title})/Dest[{4 + 2 * page} 0 R/Fit]" for title, _, page in marks]
    return [
        f"<<{name}{''.join(f'/{key} {root + to} 0 R' for key, to in link.items())}>>"
        for name, link in zip(names, links, strict=True)
    ]


def headings(document: Document) -> list[tuple[int, str]]:
    return [
        (block.level, document.text[block.start : block.end])
        for block in document.blocks or ()
        if block.kind == "heading"
    ]


def test_bookmarks_are_headings(reader, write, make_pdf) -> None:
    pages = (f"Overview\n{PROSE}\nGetting started\n{PROSE}", f"{PROSE}\nTroubleshooting\n{PROSE}")
    marks = [("Overview", 1, 0), ("Getting started", 2, 0), ("Troubleshooting", 2, 1)]
    document = reader.one(write("a.pdf", make_pdf(*pages, outline=outline(2, marks))))
    assert headings(document) == [(level, title) for title, level, _ in marks]
    bare = reader.one(write("b.pdf", make_pdf(*pages)))
    assert (bare.text, bare.blocks) == (document.text, None)
    chunks = chunkwise.ext.chunk_document(document, "sections")
    assert [chunk.section for chunk in chunks] == [
        ("Overview",),
        ("Overview", "Getting started"),
        ("Overview", "Troubleshooting"),
    ]
    assert chunks[1].text == f"Getting started\n{PROSE}\n\n{PROSE}"


@cases(
    "title, lines",
    [
        ("Opening  the valve!", "Opening the valve"),
        ("Opening the Valve", "OPENING THE VALVE"),
        ("Opening the valve", "1.2 Opening the valve"),
        ("1.2 Opening the valve", "1.2 Opening the valve"),
        ("A Opening the valve", "Appendix A Opening the valve"),
        ("Opening the valve", "Chapter 12: Opening the valve"),
        ("Opening the valve and closing it again", "Opening the valve\nand closing it\nagain"),
        ("Opening the valve", "3\n3 Opening the valve"),
    ],
)
def test_a_title_is_found_as_it_is_set(reader, write, make_pdf, title, lines) -> None:
    pdf = make_pdf(f"{PROSE}\n{lines}\n{PROSE}", outline=outline(1, [(title, 1, 0)]))
    assert headings(reader.one(write("a.pdf", pdf))) == [(1, lines.removeprefix("3\n"))]


@cases(
    "mark",
    [
        ("Not there", 1, 0),
        ("Overview", 1, 1),
        ("The valve is opened", 1, 0),
        ("--", 1, 1),
        ("12", 1, 1),
        ("Page 12", 1, 1),
    ],
)
def test_a_title_that_is_no_line_of_its_page_is_ignored(reader, write, make_pdf, mark) -> None:
    pdf = make_pdf(f"Overview\n{PROSE}", f"{PROSE}\n--\n12\nPage 12", outline=outline(2, [mark]))
    assert reader.one(write("a.pdf", pdf)).blocks is None


def test_of_equal_lines_each_is_taken_once(reader, write, make_pdf) -> None:
    page = f"First\n{PROSE}\nExample\n{PROSE}\nSecond\n{PROSE}\nExample\n{PROSE}"
    marks = [("First", 1, 0), ("Example", 2, 0), ("Second", 1, 0), ("Example", 2, 0), ("Example", 2, 0)]  # fmt: skip
    document = reader.one(write("a.pdf", make_pdf(page, outline=outline(1, marks))))
    assert headings(document) == [(level, title) for title, level, _ in marks[:4]]


def test_what_the_rules_find_stands_below_the_outline_of_a_whole_document() -> None:
    titles = [f"Of {name} lamps" for name in ("one", "two", "three", "four", "five")]
    page = f"{PROSE}\n\nTHE SMALL PRINT\n\n{PROSE}"
    text = "\n\n".join(f"{title}\n{page}" for title in titles)
    document = Document("a", text, format="pdf", pages=(0,))
    marks = [Bookmark(title, 2, 0) for title in titles]
    whole = headings(with_bookmarks(document, marks))
    assert [title for _, title in whole[:2]] == ["Of one lamps", "THE SMALL PRINT"]
    assert [level for level, _ in whole] == [2, 3] * 5
    few = headings(with_bookmarks(document, [Bookmark("Of one lamps", 5, 0)]))
    assert {title: level for level, title in few}["THE SMALL PRINT"] < 5


def test_levels_of_the_rules_are_read_in_those_of_the_outline() -> None:
    text = "\n\n".join(f"{title}\n\n{PROSE}" for title in ("LARGE PRINT", "SMALL PRINT"))
    document = Document("a", text, format="pdf", pages=(0,))
    for level in (1, 6):
        found = headings(with_bookmarks(document, [Bookmark("Small print", level, 0)]))
        assert found == [(level, "LARGE PRINT"), (level, "SMALL PRINT")]


def test_a_heading_ends_the_item_it_stands_in() -> None:
    text = "- one item\n- another item\nOverview\nText below it."
    document = with_bookmarks(
        Document("a", text, format="pdf", pages=(0,)), [Bookmark("Overview", 1, 0)]
    )
    kinds = [(each.kind, text[each.start : each.end]) for each in document.blocks or ()]
    assert kinds == [
        ("item", "- one item"),
        ("item", "- another item"),
        ("heading", "Overview"),
        ("paragraph", "Text below it."),
    ]


def test_an_outline_that_runs_in_a_circle(reader, write, make_pdf, caplog) -> None:
    objects = outline(1, [("Overview", 1, 0), ("Getting started", 1, 0), ("Getting started", 2, 0)])
    objects[2] = objects[2].replace(">>", "/Next 7 0 R>>")
    objects[3] = objects[3].replace(">>", "/First 7 0 R>>")
    pdf = make_pdf(f"Overview\n{PROSE}\nGetting started\n{PROSE}", outline=objects)
    assert headings(reader.one(write("a.pdf", pdf))) == [(1, "Overview"), (1, "Getting started")]
    assert caplog.text == ""


@pytest.mark.unwatched
@pytest.mark.parametrize("deep", [False, True])
def test_an_outline_of_very_many_entries(reader, write, make_pdf, deep) -> None:
    marks = [("Overview", n if deep else 1, 0) for n in range(1, 50_000)]
    marks = marks[:2000] if deep else marks
    pdf = make_pdf(f"Overview\n{PROSE}", outline=outline(1, marks))
    assert headings(reader.one(write("a.pdf", pdf))) == [(1, "Overview")]


@pytest.mark.unwatched
def test_an_outline_is_read_once(reader, write, make_pdf) -> None:
    def work(size: int) -> None:
        marks = [("Overview", 1, 0)] * size
        reader.one(write("a.pdf", make_pdf(f"Overview\n{PROSE}", outline=outline(1, marks))))

    is_linear(work, 1_000)


def test_titles_and_places_that_are_damaged(reader, write, make_pdf) -> None:
    objects = outline(1, [("x", 1, 0), ("Overview", 1, 7), ("", 1, 0), ("Overview", 1, 0)])
    objects[1] = objects[1].replace("(x)", "<FEFFD800>")
    pdf = make_pdf(f"Overview\n{PROSE}", outline=objects)
    assert headings(reader.one(write("a.pdf", pdf))) == [(1, "Overview")]


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
def test_pages_of_very_many_lines_take_linear_time() -> None:
    def work(size: int) -> None:
        marks = [Bookmark("Overview", 1, 0)] * size + [Bookmark("Overview", 1, -1)]
        document = Document("a", "Overview\n" * 10 * size, format="pdf", pages=(0,))
        found = with_bookmarks(document, marks)
        assert found.blocks is not None
        assert found.blocks[:2] == (Block("heading", 0, 8, 1), Block("heading", 9, 17, 1))

    is_linear(work, 500)


@cases(
    "page, expected",
    [
        ("hyphen\x02ated, hyphenated", "hyphenated, hyphenated"),
        ("well\x02known, well-known", "well-known, well-known"),
        ("in\x02for\x02mal, infor, formal", "informal, infor, formal"),
        (
            "manip\x02ulation, co\x02location, co, location",
            "manip-ulation, co-location, co, location",
        ),
        (
            "hyphen\x02ated hyphenated manip\x02ulation, co\x02location, co, location",
            "hyphenated hyphenated manipulation, co-location, co, location",
        ),
        ("1\x02a b\x022 Über\x02maß übermaß", "1-a b-2 Übermaß übermaß"),
    ],
)
def test_the_document_tells_which_hyphens_stay(page: str, expected: str) -> None:
    assert without_hyphens(page)[0] == expected


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("behind", ["x" * 2_000_000, "x\x02" * 500_000, "\x02" * 2_000_000])
def test_long_runs_take_linear_time(behind: str) -> None:
    """Each start of a run tried anew would take hours."""
    page, _ = without_hyphens(f"a\x02b {behind}")
    assert page == f"a-b {behind}".replace("\x02", "-")


def test_a_title_of_half_a_character_is_none(reader, write, make_pdf) -> None:
    pdf = make_pdf("Words", title="x").replace(b"(x)", b"<FEFFD8000041>")
    document = reader.one(write("a.pdf", pdf))
    assert (document.title, document.text) == ("", "Words")
