"""PDF: text, pages, and what cannot be read."""

from __future__ import annotations

import pytest

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
