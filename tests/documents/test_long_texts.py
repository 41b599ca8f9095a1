"""A large file read as a stream says what its loader says of it, to the character."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkwise import Document
from chunkwise.documents import LoadOptions, long_texts, reading
from chunkwise.documents.long_texts import long_text
from chunkwise.documents.reading import loaded
from chunkwise.documents.source import Source
from tables import cases

TEXT = "# Überschrift\n\nEin Satz über Möwen, naïve 灯台 📚.\r\nNoch einer.\n\n" * 400


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_texts, "SMALL", 1_000)
    monkeypatch.setattr("chunkwise.records.encoding._PIECE", 1_001)  # characters are cut in two


def _source(folder: Path, name: str, data: bytes) -> Source:
    path = folder / name
    path.write_bytes(data)
    return Source(name, str(path), path=str(path))


def _streamed(source: Source, options: LoadOptions) -> tuple[Document, str] | None:
    with long_text(source, options) as found:
        return None if found is None else (found.document, "".join(found.read()))


def _whole(source: Source, options: LoadOptions) -> Document:
    (document,) = loaded(source, options)
    assert isinstance(document, Document), document
    return document


@cases(
    "name, data, encoding",
    [
        ("a.md", TEXT.encode(), None),
        ("a.txt", TEXT.encode(), None),
        ("none", TEXT.encode(), None),
        ("mark.md", b"\xef\xbb\xbf" + TEXT.encode(), None),
        ("wide.txt", TEXT.encode("utf-16"), None),
        ("wider.txt", b"\x00\x00\xfe\xff" + TEXT.encode("utf-32-be"), None),
        ("front.md", f"---\ntitle: Möwen\ntags: [a, b]\n---\n{TEXT}".encode(), None),
        ("latin.txt", TEXT.encode("cp1252", "replace"), "cp1252"),
        ("named.md", TEXT.encode(), "cp1252"),
    ],
)
def test_a_stream_is_what_the_loader_reads(
    tmp_path: Path, name: str, data: bytes, encoding: str | None
) -> None:
    source, options = _source(tmp_path, name, data), LoadOptions(encoding=encoding)
    found, whole = _streamed(source, options), _whole(source, options)
    assert found is not None
    document, text = found
    assert text == whole.text
    for each in ("id", "title", "source", "format", "metadata"):
        assert getattr(document, each) == getattr(whole, each)


@cases(
    "name, data, encoding",
    [
        ("small.md", b"# Short\n", None),
        ("page.html", b"<p>" + TEXT.encode(), None),
        ("lines.jsonl", b'{"id": "a", "text": "b"}\n' * 100, None),
        ("broken.txt", TEXT.encode() + b"\xff", None),
        ("binary.txt", TEXT.encode() + b"\xff\0", "cp1252"),
        ("shifted.txt", TEXT.encode("iso2022_jp", "replace"), "iso2022_jp"),
        ("wide.txt", TEXT.encode("utf-16-le"), "utf-16-le"),
        ("wide ASCII.txt", ("plain words " * 1_000).encode("utf-16-le"), "utf-16-le"),
        ("empty.md", b"---\ntitle: x\n---\n" + b" \n" * 1_000, None),
    ],
)
def test_what_only_its_loader_can_read_or_refuse_is_left_to_it(
    tmp_path: Path, name: str, data: bytes, encoding: str | None
) -> None:
    assert _streamed(_source(tmp_path, name, data), LoadOptions(encoding=encoding)) is None


def test_a_file_larger_than_allowed_is_left_to_its_loader(tmp_path: Path) -> None:
    source = _source(tmp_path, "a.txt", TEXT.encode())
    assert _streamed(source, LoadOptions(max_bytes=5_000)) is None
    assert _streamed(source, LoadOptions(loader="code")) is None
    assert reading.SMALL > 1_000_000
