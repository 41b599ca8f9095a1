"""Small files that a parser takes for much larger ones, and files that end it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence


def _stream(about: bytes, content: bytes) -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream " % (about, len(content), content)


def pdf_of(contents: bytes, form: bytes = b"<<>>") -> bytes:
    """One page; `form` is the object 5, which the page and itself may draw as /X."""
    resources = b"/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>/XObject<</X 5 0 R>>>>"
    objects: Sequence[bytes] = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R" + resources + b">>",
        contents,
        form,
    )
    out, places = b"%PDF-1.4\n", []
    for number, written in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%sendobj\n" % (number, written)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return (
        out
        + b"xref\n0 6\n0000000000 65535 f \n"
        + table
        + b"trailer<</Root 1 0 R/Size 6>>startxref\n%d\n%%%%EOF" % len(out)
    )


def plain_pdf(text: bytes = b"The lamps are lit at dusk.") -> bytes:
    return pdf_of(_stream(b"", b"BT /F 9 Tf 9 99 Td (" + text + b") Tj ET"))


def recursive_pdf() -> bytes:
    """A form that draws itself twice: 2^n forms, however deep the parser goes."""
    about = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>"
    return pdf_of(_stream(b"", b"/X Do"), _stream(about, b"/X Do /X Do"))


def compressed_pdf(letters: int) -> bytes:
    """A page of so many letters, each shown by itself, in a thousandth of its size."""
    page = b"BT /F 9 Tf " + b"(a)Tj " * letters + b"ET"
    return pdf_of(_stream(b"/Filter/FlateDecode", zlib.compress(page, 9)))
