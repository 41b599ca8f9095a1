"""Text, Markdown and code keep their file to the character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter, UnknownName, UnreadableDocument
from chunkwise.documents import LoadOptions, Source, load
from chunkwise.documents.formats.code import language_of
from chunkwise.documents.formats.markdown import looks_like_markdown, markdown_title
from chunkwise.text.blocks.lines import Lines
from chunkwise.text.blocks.markdown import markdown_blocks
from chunkwise.text.blocks.sections import SectionTree
from chunkwise.text.characters import CharacterArrays
from tables import cases


def loaded(name: str, data: bytes, **options: object) -> tuple[list, list[str]]:
    skipped: list[UnreadableDocument] = []
    chosen = LoadOptions(**options)  # type: ignore[arg-type]
    documents = list(load(Source(name, name, data=data), chosen, skipped.append))
    return documents, [problem.reason for problem in skipped]


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.py"])
@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_text_is_kept_to_the_character(name: str, text: str) -> None:
    data = text.encode()
    documents, reasons = loaded(name, data)
    if documents:
        assert [document.text for document in documents] == [text]
        assert reasons == []
    else:  # mostly control characters, or nothing but white space
        assert any(code < 32 for code in data) or not text.lstrip("\ufeff").strip()
        assert len(reasons) == 1


@given(data=st.binary(min_size=1))
def test_any_bytes_are_a_text_or_one_reason(data: bytes) -> None:
    documents, reasons = loaded("a.md", data)
    assert len(documents) + len(reasons) == 1


@cases("text", ["a\r\nb\rc\n", "\ufeffmarked", "\ttab  \u2028\x0b\x85 nbsp\xa0"])
def test_line_ends_marks_and_odd_spaces_stay(text: str) -> None:
    assert loaded("a.txt", text.encode())[0][0].text == text


@cases("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_tells_the_encoding_and_stays_in_the_text(encoding: str) -> None:
    text = "\ufeffDéjà 中文 😀"
    assert loaded("a.txt", text.encode(encoding))[0][0].text == text


def test_utf16_without_mark_is_named() -> None:
    assert loaded("a.txt", "plain words".encode("utf-16-le"))[1] == [
        "maybe UTF-16 without a byte order mark: pass --encoding utf-16-le "
        "(LoadOptions(encoding='utf-16-le') in Python)"
    ]


def test_wrong_encoding_names_the_byte_and_the_way_out() -> None:
    data = "the caf\xe9 is open".encode("latin-1")
    assert loaded("a.txt", data)[1] == [
        "not valid UTF-8 at byte 7; pass its encoding, such as --encoding cp1252 "
        "(LoadOptions(encoding='cp1252') in Python)"
    ]
    assert loaded("a.txt", data, encoding="latin-1")[0][0].text == "the café is open"


def test_truncated_utf16_is_one_reason() -> None:
    (reason,) = loaded("a.txt", "\ufeffab".encode("utf-16-le")[:-1])[1]
    assert reason.startswith("not valid UTF-16-LE at byte 4")


@cases(
    "data, reason",
    [
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n\0\0", "an image; use OCR: --ocr 'tesseract {} -'"),
        (b"\x7fELF\x02\x01\0\0", "a program"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            "an old or password-protected Office file; save it as .docx",
        ),
        (b"words then \0\xff\xfe\xfd", "a binary file"),
    ],
)
def test_what_is_no_text_is_named(data: bytes, reason: str) -> None:
    assert loaded("notes.txt", data) == ([], [reason])


def test_a_note_about_an_image_format_is_no_image() -> None:
    assert loaded("a.txt", b"GIF89a is a format")[0][0].text == "GIF89a is a format"


@cases(
    "name, data",
    [
        ("a.txt", b" \n\n"),
        ("a.md", "\ufeff\n\u3000".encode()),
        ("__init__.py", b"\n"),
        ("a.html", b"<html><title>T</title><p> </p></html>"),
    ],
)
def test_what_has_no_text_is_told_as_empty(name: str, data: bytes) -> None:
    assert loaded(name, data) == ([], ["empty"])
    assert loaded(name, b"") == ([], ["empty"])


def test_larger_than_allowed_is_skipped() -> None:
    assert loaded("a.txt", b"123456", max_bytes=5)[1] == ["larger than 5 bytes"]


@cases(
    "name, language",
    [("a.py", "python"), ("A.RS", "rust"), ("x.test.tsx", "tsx"), ("c.h", "c"), ("s.toml", "")],
)
def test_language_by_suffix(name: str, language: str) -> None:
    (document,) = loaded(name, b"x = 1\n")[0]
    assert (document.format, document.language) == ("code" if language else "text", language)


def test_language_by_shebang_when_there_is_no_suffix() -> None:
    assert language_of("run", b"#!/usr/bin/env python3\nprint()") == "python"
    assert language_of("run", b"just words") == ""


def test_unknown_encoding_and_loader_are_the_users_errors() -> None:
    with pytest.raises(InvalidParameter, match="klingon"):
        LoadOptions(encoding="klingon")
    with pytest.raises(UnknownName, match="markdown"):
        loaded("a.txt", b"x", loader="markdwn")


def test_a_loader_can_be_forced() -> None:
    assert loaded("a.html", b"<p>x</p>", loader="text")[0][0].text == "<p>x</p>"


@cases(
    "text",
    [
        "# Title\n\nText\n\n## Part\n\nmore",
        "intro\n\n```python\n# x\n```\n",
        "a | b\n--|:-:\n1 | 2\n",
        "# Title\n\nsee [here](https://x.org/y) for more",
    ],
)
def test_evident_markdown(text: str) -> None:
    assert looks_like_markdown(text)


@cases(
    "text",
    [
        "",
        "# a comment\nx = 1\n",
        "import x\n\n# one comment\n\ny = 2",
        "#!/bin/sh\n# a\n# b\nls | wc\n",
        "prose with a | bar\nand - dash",
        "#hashtag and #another",
        "a ``` in a line, never closed\n```\n",
    ],
)
def test_not_evidently_markdown(text: str) -> None:
    assert not looks_like_markdown(text)


@cases(
    "text, title",
    [
        ("---\ntitle: Plain value # not this\ntags: [a]\n---\n# Other\n", "Plain value"),
        ('---\r\nlayout: post\r\ntitle: "A: \\"b\\""\r\n---\r\n', 'A: "b"'),
        ("\ufeff---\ntitle: 'It''s'\n...\n", "It's"),
        ('+++\ntitle = "Toml"\n+++\n', "Toml"),
        ("---\nsub:\n  title: no\n---\n\n# Yes\n", "Yes"),
        ("---\ntitle:\n---\n# Yes", "Yes"),
        ("---\ntitle: >\n  folded\n---\n# Yes", "folded"),
        ("---\n\ntitle: no front matter, a rule\n\n# Yes", "Yes"),
        ("intro\n\n## Second\n\n# The *first* H1 ##\n\n# More", "The first H1"),
        ("# `code` and **bold** [link](x.md)", "code and bold link"),
        ("Setext\n title\n======\n", "Setext title"),
        ("Second\n------\n\nFirst\n=\n", "First"),
        ("```sh\n# comment\n```\n\n# Yes", "Yes"),
        ("    # code\n\n#hashtag\n\n#\n\n# Yes", "Yes"),
        ("> quote\n====\n", ""),
        ("text\n" * 200 + "\n# Far down", "Far down"),
        ("text\n" * 4000 + "\n# Too far down", ""),
        ("text\n" * 3999 + "\n# Cut in the middle", ""),
        ("\ufeff# After a mark\n", "After a mark"),
        ("+++\n# A comment\nweight = 1\n+++\n\n# Yes\n", "Yes"),
        ("---\n# A comment\n---\n# Yes\n", "Yes"),
        ("<h1>Html &amp; more</h1>\n", "Html & more"),
        ("# snake_case and \\*stars\\*\n", "snake_case and *stars*"),
        ("", ""),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert markdown_title(text) == title


@cases("heading", ["# The *first* `x_y` ##", "Two\n lines\n===", "# [a](b) &lt;"])
def test_a_title_is_what_the_section_is_called(heading: str) -> None:
    text = f"{heading}\n\ntext\n"
    sections = SectionTree(text, markdown_blocks(Lines(CharacterArrays(text))))
    assert (markdown_title(text),) == sections.paths[1]


def test_the_loaders_give_the_title(reader, write) -> None:
    assert reader.one(write("a.md", "# Title\n\ntext")).title == "Title"
    assert reader.one(write("a.txt", "# Title\n\ntext")).title == ""


HOSTILE = {
    "brackets": "# " + "[" * 3_000_000,
    "quotes": "---\ntitle: '" + "'" * 3_000_000,
    "signs": "# #" * 1_000_000,
}


@cases("kind", HOSTILE)
def test_hostile_titles_take_linear_time(kind: str) -> None:
    """With the square of it, hours."""
    assert isinstance(markdown_title(HOSTILE[kind]), str)
