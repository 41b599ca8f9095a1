"""Text in pictures and scanned pages, by a command or a function of the user's own."""

from __future__ import annotations

import shlex
import sys
import zlib

import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.documents import LoadOptions
from chunkwise.documents.ocr import png
from documents.conftest import pdf_bytes
from tables import cases

PNG = png(b"\0\xff" * 8, 2, 8, 2)


def command(script: str, *words: str) -> str:
    return shlex.join([sys.executable, "-c", script, *words])


SIZE = "import sys; print('bytes:', len(open(sys.argv[1], 'rb').read()), sys.argv[1][-4:])"


def test_a_picture_is_read_by_a_function(reader, write) -> None:
    path = write("a.png", PNG)
    document = reader.one(path, ocr=lambda data: f"words of {len(data)} bytes")
    assert (document.text, document.format) == (f"words of {len(PNG)} bytes", "picture")


@pytest.mark.usefixtures("processes")
def test_a_picture_is_read_by_a_command(reader, write) -> None:
    path = write("a b;$(x).png", PNG)
    assert reader.one(path, ocr=command(SIZE, "{}")).text == f"bytes: {len(PNG)} .png"
    piped = command("import sys; print(len(sys.stdin.buffer.read()))")
    assert reader.one(path, ocr=piped).text == str(len(PNG))


def test_in_a_folder_pictures_are_read_too(reader, write, tmp_path) -> None:
    write("a.png", PNG)
    write("b.md", "words")
    documents = reader(tmp_path, ocr=lambda data: "seen", on_passed_over=pytest.fail)
    assert [document.text for document in documents] == ["seen", "words"]


def test_without_it_the_line_says_how(reader, write) -> None:
    assert reader(write("a.png", PNG)) == []
    assert reader.reasons == ["an image; use OCR: --ocr 'tesseract {} -'"]


@pytest.mark.usefixtures("processes")
@cases(
    "ocr, reason",
    [
        (
            command("import sys; sys.exit('no such font')"),
            "the OCR command exited with status 1: no such font",
        ),
        (
            "no-such-command-here {}",
            "the OCR command 'no-such-command-here' isn't installed",
        ),
        (command("print()"), "empty"),
    ],
)
def test_a_command_that_fails_is_one_line(reader, write, ocr, reason) -> None:
    assert reader(write("a.png", PNG), ocr=ocr) == []
    assert reader.reasons == [reason]


@cases("ocr", ["", "  ", "tesseract 'x"])
def test_what_is_no_command_is_an_error(ocr) -> None:
    with pytest.raises(InvalidParameter, match="ocr is"):
        LoadOptions(ocr=ocr)


def test_pages_without_text_are_drawn_and_read(reader, write) -> None:
    seen: list[bytes] = []

    def ocr(picture: bytes) -> str:
        seen.append(picture)
        return "read from the page"

    document = reader.one(write("a.pdf", pdf_bytes("First page.", "", "Third page.")), ocr=ocr)
    assert document.text.split("\n\n") == ["First page.", "read from the page", "Third page."]
    assert [document.page(document.text.index(word)) for word in ("First", "read", "Third")] == [
        1,
        2,
        3,
    ]
    assert len(seen) == 1
    assert seen[0].startswith(b"\x89PNG")


@pytest.mark.usefixtures("processes")
def test_a_page_that_cannot_be_read_is_told_of_its_file(reader, write) -> None:
    path = write("a.pdf", pdf_bytes("First page.", ""))
    assert reader(path, ocr="no-such-command-here {}") == []
    assert reader.skipped[0].source == str(path)
    assert reader.reasons == ["page 2: the OCR command 'no-such-command-here' isn't installed"]


def test_a_scan_without_it_names_the_option(reader, write) -> None:
    assert reader(write("a.pdf", pdf_bytes("", ""))) == []
    assert reader.reasons == [
        "no text on any of its 2 pages (scanned?); use OCR: --ocr 'tesseract {} -'"
    ]


def test_a_picture_is_written_as_png() -> None:
    data = png(b"\x01\x02\xff\x03\x04\xff", 2, 2, 3)
    start = data.index(b"IDAT") + 4
    assert zlib.decompress(data[start : data.index(b"IEND") - 8]) == b"\0\x01\x02\0\x03\x04"
