"""The user's encoding is for what cannot be told: marks and valid UTF-8 come first."""

from __future__ import annotations

import json

from tables import cases

WORDS = "Déjà vu – naïve"


@cases("name", ["a.txt", "a.md", "a.py", "a.html", "a.csv", "a.jsonl", "a.json"])
@cases("mark", ["", "\ufeff"])
def test_utf8_stays_utf8(reader, write, name, mark) -> None:
    form = {"a.csv": f"text\n{WORDS}", "a.jsonl": json.dumps({"text": WORDS}, ensure_ascii=False)}
    form["a.json"] = f"[{form['a.jsonl']}]"
    path = write(name, mark + form.get(name, WORDS))
    assert reader.one(path, encoding="cp1252").text.lstrip("\ufeff") == WORDS


@cases("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_a_byte_order_mark_comes_before_the_users_encoding(reader, write, encoding) -> None:
    path = write("a.txt", f"\ufeff{WORDS}".encode(encoding))
    assert reader.one(path, encoding="cp1252").text == f"\ufeff{WORDS}"
    path = write("c.jsonl", f'\ufeff{{"text":"{WORDS}"}}\n'.encode(encoding))
    assert reader.one(path, encoding="cp1252").text == WORDS


@cases(
    "encoding, text",
    [
        ("cp1252", WORDS),
        ("shift_jis", "日本語です"),
        ("utf-16-le", "plain words"),
        ("utf-16-be", "Привет, мир"),
        ("utf-32-le", "plain words"),
        ("iso2022_jp", "日本語 and ASCII"),
        ("hz", "中文 and ASCII"),
        ("utf-7", "日本語"),
        ("cp500", "plain words"),
    ],
)
def test_what_is_neither_is_read_as_the_user_says(reader, write, encoding, text) -> None:
    assert reader.one(write("a.txt", text.encode(encoding)), encoding=encoding).text == text
    line = json.dumps({"text": text}, ensure_ascii=False) + "\n"
    path = write("c.jsonl", (line * 2).replace(text, "x", 1).encode(encoding))
    documents = reader(path, encoding=encoding)
    assert [document.text for document in documents] == ["x", text]


def test_lines_of_a_corpus_are_told_apart(reader, write) -> None:
    good, old = (json.dumps({"text": WORDS}, ensure_ascii=False) + "\n" for _ in range(2))
    path = write("c.jsonl", good.encode() + old.encode("cp1252"))
    assert [document.text for document in reader(path, encoding="cp1252")] == [WORDS, WORDS]
    assert [document.text for document in reader(path)] == [WORDS]
    assert "--encoding cp1252" in reader.reasons[0]


def test_an_encoding_makes_no_text_of_binary_files(reader, write) -> None:
    write("a.png", b"\x89PNG\r\n\x1a\n\0\0")
    folder = write("b.x", b"words then \0\xff\xfe\xfd").parent
    assert reader(folder / "a.png", folder / "b.x", encoding="latin-1") == []
    assert reader.reasons == [
        "an image; use OCR: --ocr 'tesseract {} -'",
        "a binary file",
    ]
