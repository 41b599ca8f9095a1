"""Small documents of every format, made by hand so that no test needs a file from elsewhere."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents import LoadOptions, read


class Reader:
    """Reads inputs and keeps the lines about what was skipped."""

    def __init__(self) -> None:
        self.skipped: list[UnreadableDocument] = []

    def __call__(self, *inputs: object, **options: object) -> list[Document]:
        self.skipped.clear()
        chosen = LoadOptions(on_unreadable=self.skipped.append, **options)  # type: ignore[arg-type]
        return list(read([str(given) for given in inputs], chosen))

    def one(self, *inputs: object, **options: object) -> Document:
        documents = self(*inputs, **options)
        assert self.skipped == []
        assert len(documents) == 1
        check_blocks(documents[0])
        return documents[0]

    @property
    def reasons(self) -> list[str]:
        return [problem.reason for problem in self.skipped]


def check_blocks(document: Document) -> None:
    end = 0
    for block in document.blocks or ():
        assert end <= block.start < block.end <= len(document.text)
        end = block.end


@pytest.fixture
def reader() -> Reader:
    return Reader()


class Set(NamedTuple):
    """A line of type on a page: `F` is Helvetica, `B` bold, `C` Courier."""

    x: float
    y: float
    text: str
    size: float = 10
    font: str = "F"
    upwards: bool = False
    """Written from the bottom to the top of the page."""


def drawn(page: str | Sequence[Set]) -> str:
    """What draws a page; of a text one line of Helvetica for each of its lines."""
    if isinstance(page, str):
        page = [Set(50, 740 - 20 * n, line, 12) for n, line in enumerate(page.split("\n"))]
    return "".join(
        f"BT /{each.font} {each.size} Tf {'0 1 -1 0' if each.upwards else '1 0 0 1'} {each.x} {each.y} Tm"
        f" ({each.text}) Tj ET\n"
        for each in page
    )


BITMAP_FONT = (
    "/Type/Font/Subtype/Type3/FontBBox[0 0 50 70]/FontMatrix[.01 0 0 .01 0 0]/CharProcs<<>>/FirstChar 0/LastChar 127"
    f"/Widths[{'50 ' * 128}]/Encoding<</Differences[0 {''.join(f'/a{code}' for code in range(128))}]>>"
)
"""As TeX writes one: its glyphs have numbers for names, so that nothing says which characters they are."""


def pdf_bytes(
    *pages: str | Sequence[Set],
    title: str = "",
    trailer: str = "",
    outline: Sequence[str] = (),
    page_entries: str = "/MediaBox[0 0 612 792]",
) -> bytes:
    """A valid PDF with the lines of each page.

    The pages are the objects 4, 6, 8 …; those of `outline`, the root first, come behind what the last page draws.
    """
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        f"<</Type/Catalog/Pages 2 0 R{f'/Outlines {4 + 2 * len(pages)} 0 R' if outline else ''}>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, page in enumerate(pages):
        lines = drawn(page)
        fonts = "".join(
            f"/{name}<</Type/Font/Subtype/Type1/BaseFont/{font}>>"
            for name, font in (("B", "Helvetica-Bold"), ("C", "Courier"))
        )
        fonts += f"/T<<{BITMAP_FONT}>>"
        objects.append(
            f"<</Type/Page/Parent 2 0 R{page_entries}/Resources<</Font<</F 3 0 R{fonts}>>>>"
            f"/Contents {5 + 2 * number} 0 R>>"
        )
        objects.append(f"<</Length {len(lines)}>>\nstream\n{lines}endstream")
    objects += outline
    objects.append(f"<</Title({title})>>")
    out, offsets = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    out += f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R/Info {len(objects)} 0 R{trailer}>>\n"
    return (out + f"startxref\n{start}\n%%EOF\n").encode("latin-1")


@pytest.fixture
def make_pdf() -> Callable[..., bytes]:
    return pdf_bytes


def zip_bytes(members: dict[str, bytes | str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.fixture
def make_zip() -> Callable[[dict[str, bytes | str]], bytes]:
    return zip_bytes


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes | str], Path]:
    def write_file(name: str, data: bytes | str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
        return path

    return write_file
