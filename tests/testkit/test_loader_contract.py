"""The contract of loaders: kept by ours on a file of each format, and each breach found in one that breaks it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import docx
import pytest

from chunkwise.base.errors import BrokenContract, InvalidParameter, UnreadableDocument
from chunkwise.core import Block, Document, Link
from chunkwise.documents.loader import loaders
from chunkwise.documents.source import Source
from chunkwise.testkit import check_loader
from documents.conftest import pdf_bytes
from documents.office_files import odt_bytes, pptx_bytes, shape, sheet, slide, xlsx_bytes
from tables import cases

TEXTS = {
    "html": "<html><title>T</title><h1>Head</h1><p>Text.<table><tr><td>1<td>2</table></html>",
    "csv": "id,text\n1,the lamps\n2,are lit\n",
    "jsonl": '{"id": "1", "text": "the lamps"}\n{"id": "2", "text": "are lit"}\n',
    "json": '[{"id": "1", "text": "the lamps"}, {"id": "2", "text": "are lit"}]',
    "code": "def light():\n    return 'lamps'\n",
    "markdown": "# Head\n\nText.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "text": "The lamps are lit at dusk.\n",
    "rtf": "{\\rtf1 The lamps {\\b are} lit.\\par At dusk.}",
    "eml": "From: a@example.org\nSubject: Lamps\n\nThey are lit.\n",
    "xml": "<book><title>Lamps</title><p>They are <b>lit</b>.</p></book>",
    "notebook": '{"cells": [{"cell_type": "markdown", "source": ["# Lamps"]}, {"cell_type": "code", "source": "x"}]}',
    "subtitles": "1\n00:00:01,000 --> 00:00:02,000\nThe lamps are lit.\n",
    "rst": "Lamps\n=====\n\nThey are lit.\n\n- one\n",
    "tex": "% remark\n\\begin{document}\n\\section{Lamps}\nThey are lit.\n\\end{document}\n",
    "asciidoc": "= Lamps\n\nThey are lit.\n\n----\ncode\n----\n",
    "org": "* Lamps\nThey are lit.\n- one\n",
}
SUFFIXES = {
    "code": "py", "markdown": "md", "text": "txt", "notebook": "ipynb", "subtitles": "srt",
    "asciidoc": "adoc", "picture": "png",
}  # fmt: skip
OFFICE = {
    "pptx": pptx_bytes([slide(shape("Lamps", role="title"), shape("They are lit."))]),
    "xlsx": xlsx_bytes({"Lamps": sheet("<row><c><v>1</v></c></row>")}),
    "odt": odt_bytes("<text:h>Lamps</text:h><text:p>They are lit.</text:p>"),
}
CHAPTER = '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>One</h1><p>Lamps.</p></body></html>'
PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><manifest>'
    '<item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="c"/></spine></package>'
)
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="p.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def sample(folder: Path, name: str) -> Path:
    file = folder / f"sample.{SUFFIXES.get(name, name)}"
    if name == "pdf":
        file.write_bytes(pdf_bytes("The lamps are lit.", "The harbour is closed."))
    elif name == "docx":
        made = docx.Document()
        made.add_heading("Head", 1)
        made.add_paragraph("The lamps are lit.")
        made.save(str(file))
    elif name in OFFICE:
        file.write_bytes(OFFICE[name])
    elif name == "epub":
        with ZipFile(file, "w") as archive:
            archive.writestr("mimetype", "application/epub+zip")
            archive.writestr("META-INF/container.xml", CONTAINER)
            archive.writestr("p.opf", PACKAGE)
            archive.writestr("c.xhtml", CHAPTER)
    elif name == "parquet":
        pa = pytest.importorskip("pyarrow")
        rows = pa.table({"id": ["1", "2"], "text": ["the lamps", "are lit"]})
        pytest.importorskip("pyarrow.parquet").write_table(rows, file)
    elif name == "arrow":
        pa = pytest.importorskip("pyarrow")
        rows = pa.table({"id": ["1", "2"], "text": ["the lamps", "are lit"]})
        pytest.importorskip("pyarrow.feather").write_feather(
            rows, str(file), compression="uncompressed"
        )
    else:
        file.write_text(TEXTS[name], encoding="utf-8")
    return file


@cases("name", [name for name in loaders.builtin if name not in ("picture", "man")])
def test_what_we_have_keeps_the_contract(name: str, tmp_path: Path) -> None:
    check_loader(name, [sample(tmp_path, name)])


class Shout:
    """Reads .shout files, in capitals."""

    suffixes = (".shout",)
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        return name.endswith(".shout")

    def load(self, source: Source, options: Any, on_unreadable: Any) -> Iterator[Document]:
        yield Document(source.id, source.read().decode("utf-8", "replace").upper())


def broken(**methods: Callable[..., Any]) -> Shout:
    made: Shout = type("Broken", (Shout,), methods)()
    return made


def text_of(source: Source) -> str:
    return source.read().decode("utf-8", "replace")


def crashes(self: Shout, source: Source, options: Any, on_unreadable: Any) -> Iterator[Document]:
    yield Document(source.id, source.read().decode("utf-8"))


def refuses(self: Shout, source: Source, options: Any, on_unreadable: Any) -> Iterator[Document]:
    raise UnreadableDocument(source.origin, "not today")
    yield


def tells_a_text(self: Shout, source: Source, options: Any, on_unreadable: Any) -> Any:
    on_unreadable("not today")
    yield Document(source.id, text_of(source))


def gives_text(self: Shout, source: Source, options: Any, on_unreadable: Any) -> Any:
    yield text_of(source)


def no_id(self: Shout, source: Source, options: Any, on_unreadable: Any) -> Any:
    yield Document("", text_of(source))


def twice(self: Shout, source: Source, options: Any, on_unreadable: Any) -> Any:
    yield Document(source.id, "one")
    yield Document(source.id, "two")


def blocks_outside(self: Shout, source: Source, options: Any, on_unreadable: Any) -> Any:
    yield Document(source.id, "text", blocks=(Block("paragraph", 0, 5),))


def blocks_overlap(self: Shout, source: Source, options: Any, on_unreadable: Any) -> Any:
    yield Document(source.id, "text", blocks=(Block("paragraph", 0, 3), Block("row", 2, 4)))


def odd_block(self: Shout, source: Source, options: Any, on_unreadable: Any) -> Any:
    yield Document(source.id, "text", blocks=(Block("poem", 0, 4),))  # type: ignore[arg-type]


def pages_outside(self: Shout, source: Source, options: Any, on_unreadable: Any) -> Any:
    yield Document(source.id, "text", pages=(0, 9))


def links_outside(self: Shout, source: Source, options: Any, on_unreadable: Any) -> Any:
    yield Document(source.id, "text", links=(Link(2, 9, "a.md"),))


calls = 0


def fickle(self: Shout, source: Source, options: Any, on_unreadable: Any) -> Any:
    global calls
    calls += 1
    yield Document(source.id, f"call {calls}")


def test_one_of_somebody_else_keeps_it(tmp_path: Path) -> None:
    file = tmp_path / "a.shout"
    file.write_text("hey, you")
    check_loader(Shout(), [file])
    with pytest.raises(InvalidParameter, match="files is empty"):
        check_loader(Shout(), [])


@cases(
    "methods, said",
    [
        ({"accepts": lambda self, name, head: head[0] > 3}, r"accepts\(.*raised IndexError"),
        ({"accepts": lambda self, name, head: len(head)}, "expected True or False"),
        ({"accepts": lambda self, name, head: False}, "doesn't accept a.shout"),
        ({"load": crashes}, "raised UnicodeDecodeError"),
        ({"load": refuses}, "found no text in a.shout"),
        ({"load": tells_a_text}, "reported 'not today'.*UnreadableDocument"),
        ({"load": gives_text}, "returned str.* Document"),
        ({"load": no_id}, "has no id"),
        ({"load": twice}, "have the same id"),
        ({"load": blocks_outside}, r"\[0:5\].*outside of the text"),
        ({"load": blocks_overlap}, r"\[2:4\].*overlaps the previous one"),
        ({"load": odd_block}, "is a 'poem'; known: heading"),
        ({"load": pages_outside}, "t ordered offsets of its text"),
        ({"load": links_outside}, r"the link \[2:9\].*outside of the text"),
        ({"load": fickle}, "a second run"),
    ],
)
def test_a_breach_is_told(methods: dict[str, Any], said: str, tmp_path: Path) -> None:
    file = tmp_path / "a.shout"
    file.write_text("hey, you")
    with pytest.raises(BrokenContract, match=said):
        check_loader(broken(**methods), [file])
