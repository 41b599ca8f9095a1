"""Plain text: numbered and named headings, enumerations, logs, and what only looks like them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Block, Document
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.lines import Lines
from chunkwise.text.blocks.markdown import markdown_blocks
from chunkwise.text.blocks.plain_text import is_one_paragraph, plain_blocks
from chunkwise.text.characters import CharacterArrays
from how_many import examples
from tables import cases


def blocks(text: str, *, dense: bool = False) -> list[Block]:
    return list(plain_blocks(Lines(CharacterArrays(text)), dense=dense))


def shown(text: str, kind: str, *, dense: bool = False) -> list[str]:
    return [
        text[block.start : block.end] for block in blocks(text, dense=dense) if block.kind == kind
    ]


def headings(text: str, *, dense: bool = False) -> list[tuple[int, str]]:
    return [
        (block.level, text[block.start : block.end])
        for block in blocks(text, dense=dense)
        if block.kind == "heading"
    ]


CONTRACT = """\
SUPPLY AGREEMENT

This Agreement is made on 1 May 2024 between the parties.

1. Definitions

1.1 Scope

The words below have the meanings given to them.

(a) "Goods" means what is
    sold;
(b) "Price" means:
   (i) the list price; or
   (ii) what is agreed.

2. Delivery

2.1 Place
Delivery is made at the buyer's door.

ARTICLE III

The rest is silence.

Schedule A

Prices.
"""


def test_a_contract_has_the_outline_its_numbers_give() -> None:
    assert headings(CONTRACT) == [
        (2, "SUPPLY AGREEMENT"),
        (3, "1. Definitions"),
        (4, "1.1 Scope"),
        (3, "2. Delivery"),
        (4, "2.1 Place"),
        (3, "ARTICLE III"),
        (3, "Schedule A"),
    ]


def test_an_enumeration_is_one_list_with_nesting() -> None:
    items = [block for block in blocks(CONTRACT) if block.kind == "item"]
    assert [CONTRACT[block.start : block.start + 4].strip() for block in items] == [
        "(a)",
        "(b)",
        "(i)",
        "(ii)",
    ]
    assert CONTRACT[items[0].start : items[0].end].endswith("sold;")
    assert [block.level for block in items] == [0, 0, 1, 1]
    assert len({block.group for block in items}) == 1


BOOK = """\
MEDITATIONS

BOOK ONE

CHAPTER I. Of Loomings

Call me Ishmael. Some years ago I went to sea
and saw the watery part of the world.

CHAPTER II

ON PROVIDENCE

I stuffed a shirt or two.

BOOK TWO

III. ON DRUNKENNESS

The end is near.
"""


def test_books_nest_chapters_and_a_chapters_title_belongs_to_it() -> None:
    assert headings(BOOK) == [
        (2, "MEDITATIONS"),
        (1, "BOOK ONE"),
        (2, "CHAPTER I. Of Loomings"),
        (2, "CHAPTER II"),
        (3, "ON PROVIDENCE"),
        (1, "BOOK TWO"),
        (2, "III. ON DRUNKENNESS"),
    ]


@cases(
    "line, level",
    [
        ("Teil 1", 1), ("Kapitel 3: Der Anfang", 2), ("Abschnitt IV", 3), ("§ 12 Haftung", 3),
        ("Artikel 5", 3), ("Anhang A", 3), ("第一部", 1), ("第三章 开始", 2), ("第12节 方法", 3),
        ("Chapitre 2", 2), ("Capítulo IV", 2), ("Глава 7", 2), ("Часть первая", 1), ("Статья 3", 3),
        ("Part the First", 1), ("APPENDIX B", 3), ("Chapter and verse", 0), ("Partners of the firm", 0),
        ("4.2 Fees and costs", 4), ("4.2.1 Fees", 5), ("4.2 fees and costs", 0), ("PAGE 12", 0),
        ("Page 3 of 9", 0), ("4.2 All fees are due at once.", 0), ("2024", 0), ("INTRODUCTION", 2),
        ("2. Thus they say:--", 0), ("AB", 0), ("GOODS, SERVICES,", 0), ("Dear Sir", 0), ("Ⅳ", 0), ("1.5 %", 0),
        ("A.1 Foo", 4), ("B.2.1 Foo", 5), ("1: Scope", 3), ("अध्याय 1", 2), ("الفصل 1", 2),
        ("الباب الأول", 1), ("บทที่ 1", 2), ("บทที่ ๒ เริ่มต้น", 2), ("الفصل ٣", 2), ("المادة 5", 3),
        ("(1) scope", 0), ("(1) Scope of the work;", 0), ("(1984) Orwell", 0), ("A. Smith", 0), ("A.1 foo", 0),
        ("1: in the beginning", 0), ("12:30 Lunch", 0), ("अध्याय", 0), ("الفصل", 0), ("บทที่ดี", 0), ("U.S. Army", 0),
        ("(1) The buyer shall at once pay for all of the goods", 0), ("J.R. Tolkien", 0), ("A.1 Foo ends.", 0),
        ("E.1 Notes. 1. [*]", 0), ("Exhibit II Table 1 Study (excluding all the later studies)", 3),
        ("Section 3. Representations, Warranties and Covenants of the Agent and the Fund.", 3),
        ("Section 3.01 [Printing of Calling Cards]. Printing of Calling Cards. Acme shall negotiate and", 0),
        ("Section 2.1 Salary. The Employer shall pay $5,000 per month.", 0), ("Section 5. Definitions.", 3),
        ("Section 3.1. Either party may end this contract at once.", 0), ("Chapter 3 is about whales.", 0),
        ("Article 4 Duties. The Employee shall:", 0),
        ("Article 5. Mr. Toad's House", 3), ("Section 3.1.", 3), ("§ 5 gilt nicht.", 0), ("ARTICLE IV. THE END.", 3),
    ],
)  # fmt: skip
def test_a_line_that_stands_alone(line: str, level: int) -> None:
    text = f"Text before it, a whole sentence.\n\n{line}\n\nText after it, a whole sentence.\n"
    assert headings(text) == ([(level, line)] if level else [])


def test_a_line_of_a_paragraph_is_no_heading() -> None:
    assert headings("He read\nCHAPTER II\nand slept.\n") == []
    assert headings("We agreed on\n4.2 Fees\nand no more.\n") == []


TIGHT = """\
1 General
1.1 Working hours
Staff work from nine to five.

2 Safety
Do not run.

2.1 Fire
- Leave.
- Do not come back.
"""


def test_numbered_headings_right_above_their_text() -> None:
    assert headings(TIGHT) == [
        (3, "1 General"),
        (4, "1.1 Working hours"),
        (3, "2 Safety"),
        (4, "2.1 Fire"),
    ]


@cases(
    "text",
    [
        "1. Apples\n2. Pears\n3. Plums\n",
        "1. Buy milk\nIt is cheap.\n2. Buy bread\nIt is not.\n",
        "1 General\n1.1 Hours\n1.2 Pay\n2 Safety\n2.1 Fire\n",
        "1. Heaven and earth and all that is between them are of\nGod.\n\n"
        "2. Man takes his law from the Earth and the Earth from\nHeaven.\n",
        "10 Downing Street\nLondon SW1\n",
        "1. Scope\nof the work\n\n2. Term\nof the contract\n",
        "4.2 Late delivery. If a Lot is not\ndelivered by noon, it is late.\n",
        "4.2 Late delivery. If a Lot is not\nDelivered by noon, it is late.\n",
    ],
)
def test_what_only_looks_like_a_numbered_heading(text: str) -> None:
    assert headings(text) == []


@cases("numbers", [(1, 2, 10), (1, 3, 5), (3, 12), (1, 2, 4, 7)])
def test_numbers_without_a_mark_may_leave_some_out(numbers: tuple[int, ...]) -> None:
    text = "".join(f"{number} Part\n\nText of it.\n\n" for number in numbers)
    assert headings(text) == [(3, f"{number} Part") for number in numbers]


def test_a_title_below_an_articles_number_is_that_articles() -> None:
    text = "ARTICLE III\n\nTHE PARTIES\n\nThey agree.\n\nARTICLE IV\n\nThey part.\n"
    assert headings(text) == [(3, "ARTICLE III"), (4, "THE PARTIES"), (3, "ARTICLE IV")]


@cases("gap", ["\n", "\n\n", "\n\n\n"])
def test_numbered_lines_that_follow_each_other_are_a_list(gap: str) -> None:
    text = "Bring:\n\n" + gap.join(["1. Apples", "2. Pears", "3. Plums"]) + "\n\nThat is all.\n"
    assert headings(text) == []
    assert shown(text, "item") == ["1. Apples", "2. Pears", "3. Plums"]


@cases("bullet", "-*+•‣◦▪–—●")
def test_bullets(bullet: str) -> None:
    text = f"Bring:\n{bullet} apples\n{bullet} pears\nand plums\n\nThanks.\n"
    assert shown(text, "item") == [f"{bullet} apples", f"{bullet} pears\nand plums"]


def test_a_name_with_an_initial_is_no_item() -> None:
    assert shown("A. Smith came.\nB. Jones left.\n", "item") == []
    assert shown("a. first\nb. second\n", "item") == ["a. first", "b. second"]


def test_paragraphs_are_parted_by_blank_lines() -> None:
    assert shown("One\ntwo.\n\n\n  Three.\n \t \nFour.", "paragraph") == [
        "One\ntwo.",
        "Three.",
        "Four.",
    ]


LOG = [f"2024-05-01 12:00:{n:02} INFO request {n} done" for n in range(20)]


def test_a_log_is_a_block_a_line() -> None:
    assert shown("\n".join(LOG), "paragraph") == LOG
    brackets = [f"[{n:03}] started" for n in range(9)]
    assert shown("\n".join(brackets), "paragraph") == brackets


def test_prose_that_starts_a_line_with_a_year_is_no_log() -> None:
    assert len(shown("It rained in\n1984 and again in\nspring and in\n1985 too.", "paragraph")) == 1


@cases("text", ["", "\n", "\n\n", " ", "x", "\x00", "\ud800", "(", "1.", "§", "\x0c", "\u2028"])
@cases("dense", [False, True])
def test_the_smallest_texts(text: str, dense: bool) -> None:
    found = blocks(text, dense=dense)
    assert [text[block.start : block.end] for block in found] == ([text] if text.strip() else [])


def test_ten_thousand_headings() -> None:
    text = "".join(f"CHAPTER {n}\n\nText of chapter {n}.\n\n" for n in range(10_000))
    assert len(headings(text)) == 10_000


TWO_LINES = """\
THE CONTRACT

ARTICLE I
DEFINITIONS

Section 1.1 Terms. In this contract "Goods" means what is sold.

Section 1.2 Time

Days are days.

Article II
The Terms

They are few.

ARTICLE III
PAY
The buyer pays.

ARTICLE 4 - TERMS
The buyer pays at once.

Article V

Section 5.1 Place

At the door.
"""


@cases(
    "text",
    [
        "Bring:\n\n(1) Apples\n\n(2) Pears\n\nThat is all.\n",
        "The parties are:\n\n(1) Acme Limited\n\nand\n\n(2) Foo Limited\n",
        "(1) Apples\n(2) Pears\n",
        "It ends here.\n\n(1) Apples\n",
    ],
)
def test_what_only_looks_like_a_heading_in_brackets(text: str) -> None:
    assert headings(text) == []


WORDS = [
    "Chapter", "chapter", "PART", "Section", "Act", "I", "IV", "iv", "xi", "ix", "A", "a", "the", "The", "LAMP", "Lamp",
    "WHO", "1", "2.1", "12", "§", "第一章", "灯", "глава", "Глава", "é", "É", "ß", "ǅ", "ª", "page", "May", "مادة",
    ".", ")", "(", ":", "-", "#", "|", ">", "*", "`", "_", "=", "’", "…", "。", " ", "  ", "\t", "\u00a0",
    "\u0301", "\u200d",
]  # fmt: skip
LINES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map("".join)


@settings(max_examples=examples(100), deadline=None)
@given(
    LINES
    | st.text(st.characters(exclude_characters="\n\r\v\f\x85\u2028\u2029\x1c\x1d\x1e"), max_size=40)
)
def test_what_is_taken_for_a_paragraph_is_one(text: str) -> None:
    for line in (text, text + " word" * 50):
        if is_one_paragraph(line):
            check(line)


def check(text: str) -> None:
    lines = Lines(CharacterArrays(text))
    for blocks in (plain_blocks(lines), plain_blocks(lines, dense=True), markdown_blocks(lines)):
        (block,) = blocks
        assert (block.kind, block.start, text[block.end :].strip()) == ("paragraph", 0, ""), text


@cases(
    "text",
    [
        "The lamps are lit at dusk.",
        "Chapters are short.",
        "lamps",
        "Über den Turm.",
        "Lamp 4, north  ",
    ],
)
def test_short_prose_is_taken_at_once(text: str) -> None:
    assert is_one_paragraph(text)


@cases(
    "text",
    [
        "Chapter 4",
        "CARE OF THE LAMP",
        "IV. Of Lamps",
        "iv) the lamp",
        "4 Lamps",
        "- a lamp",
        "Lamp.\nLamp.",
    ],
)
def test_what_may_be_more_is_looked_at(text: str) -> None:
    assert not is_one_paragraph(text)


UNDERLINED = """\
==========
Rope Guide
==========

Rope is old, and was made of hemp.

History
-------
It was made of hemp.

Knots and splices
~~~~~~~~~~~~~~~~~

A knot holds.

Care
----

Dry it.
"""


def test_underlined_titles_are_headings_by_the_order_of_their_signs() -> None:
    found = [
        (b.level, UNDERLINED[b.start : b.end]) for b in blocks(UNDERLINED) if b.kind == "heading"
    ]
    assert found == [
        (1, "Rope Guide\n=========="),
        (2, "History\n-------"),
        (3, "Knots and splices\n~~~~~~~~~~~~~~~~~"),
        (2, "Care\n----"),
    ]
    sections = Analyzed(Document("guide", UNDERLINED)).sections
    assert sections.paths[2:4] == [
        ("Rope Guide", "History"),
        ("Rope Guide", "History", "Knots and splices"),
    ]


@cases(
    "text",
    [
        "A sentence that goes on\nand is followed by a rule\n-----\n\nMore.",
        "Name   Price\n-----  -----\nRope   5\n",
        "End of a long paragraph of the text.\n\n----------\n\nAnother.",
        "Yes.\n" + "-" * 60 + "\nNo.",
        "======\n------\n\nText.",
    ],
)
def test_a_rule_below_other_text_is_no_underline(text: str) -> None:
    assert not [block for block in blocks(text) if block.kind == "heading"]
