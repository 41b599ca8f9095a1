"""PDF: text, pages, and what cannot be read."""

from __future__ import annotations

import pytest

import chunkwise
from chunkwise.chunkers.sentences import Sentences

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


def test_a_page_without_text_still_counts(reader, write, make_pdf) -> None:
    document = reader.one(write("a.pdf", make_pdf("One", "", "Three")))
    assert document.pages == (0, 5, 7)
    assert document.text[7:] == "Three"


def test_a_sentence_that_runs_over_to_the_next_page_is_one(reader, write, make_pdf) -> None:
    first = "Leave is for all.\nThis sentence of the policy runs over to the"
    document = reader.one(write("a.pdf", make_pdf(first, "next page. Then it ends.", "Last page.")))
    assert document.text == f"{first}\nnext page. Then it ends.\n\nLast page."
    assert [document.text[start:][:4] for start in document.pages] == ["Leav", "next", "Last"]
    chunks = chunkwise.chunk_document(document, Sentences(max_tokens=14, overlap=0))
    over = next(chunk for chunk in chunks if "runs over" in chunk.text)
    assert over.text.endswith("runs over to the\nnext page.")
    assert (over.page, over.last_page) == (1, 2)


@pytest.mark.parametrize(
    ("last", "following", "between"),
    [
        ("he spoke of many,", "many things.", "\n"),
        ("the word that is hyphen-", "ated over pages.", ""),
        ("it ends here.", "etc. and so on.", "\n\n"),
        ("it goes on with the following:", "first the one thing.", "\n\n"),
        ("this sentence goes on to the", "Next Page", "\n\n"),
        ("text of the page\n12", "goes on here.", "\n"),
        ("text of the page\nPage 3 of 10", "goes on here.", "\n"),
        ("text of the page.\nPage 3 of 10", "goes on here.", "\n\n"),
        ("text of the page\n- 3 -", "The next goes on here.", "\n\n"),
        ("in the summer of the year 2010", "goes on here.", "\n\n"),
        ("text of the page\nAnnual Report", "goes on here.", "\n\n"),
        ("text of the page\nTHE ANNUAL REPORT", "goes on here.", "\n\n"),
        ("one of these that are\nlisted in order", "b. the second", "\n\n"),
        ("one of these that are\nlisted in order", "iv. the fourth", "\n\n"),
        ("this sentence goes on to the", "", "\n\n"),
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


def test_running_heads_and_feet_part_no_sentence(reader, write, make_pdf) -> None:
    texts = [
        "This goes on over to the",
        "next page. Then it goes on to",
        "the last. It ends here.",
        "New.",
    ]
    pages = [f"ACME Handbook {n}\n{text}\nof the company {n}" for n, text in enumerate(texts)]
    document = reader.one(write("a.pdf", make_pdf(*pages)))
    assert document.text == "\n".join(pages[:3]) + "\n\n" + pages[3]
    assert [document.text[start:][:15] for start in document.pages] == [page[:15] for page in pages]


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


@pytest.mark.parametrize("name", ["a.txt", "a", "a.docx"])
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
        "no text on any of its 2 pages (scanned?); run OCR first",
        "encrypted; save it without its password",
        "damaged or truncated PDF",
    ]
