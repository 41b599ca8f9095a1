"""Slides, sheets and OpenDocument files, made part by part as the programs write them."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
NAMES = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    f'xmlns:r="{RELATIONS}"'
)
SHEETS = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{RELATIONS}"'
OPEN = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
    for name, space in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
        "presentation": "presentation", "meta": "meta",
    }.items()
)  # fmt: skip


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)  # without the time of day
    return out.getvalue()


def relations(links: Mapping[str, tuple[str, str]]) -> str:
    inner = "".join(
        f'<Relationship Id="{id}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for id, (kind, target) in links.items()
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inner}</Relationships>'


def shape(*paragraphs: str, role: str | None = None, level: int = 0) -> str:
    place = f'<p:ph type="{role}"/>' if role else ""
    inner = "".join(
        f'<a:p><a:pPr lvl="{level if number else 0}"/><a:r><a:t>{text}</a:t></a:r></a:p>'
        for number, text in enumerate(paragraphs)
    )
    return f"<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody>{inner}</p:txBody></p:sp>"


def slide(*shapes: str, root: str = "sld") -> str:
    tree = f"<p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld>"
    return f"<p:{root} {NAMES}>{tree}</p:{root}>"


def pptx_bytes(
    slides: Sequence[str],
    notes: Mapping[int, str] | None = None,
    more: Mapping[str, str] | None = None,
) -> bytes:
    """Slides in this order; the files are numbered the other way round, as after sorting them by hand."""
    count = len(slides)
    ids = "".join(f'<p:sldId id="{256 + at}" r:id="r{at}"/>' for at in range(count))
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES,
        "ppt/presentation.xml": f"<p:presentation {NAMES}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            {f"r{at}": ("slide", f"slides/slide{count - at}.xml") for at in range(count)}
        ),
    }
    for at, xml in enumerate(slides):
        parts[f"ppt/slides/slide{count - at}.xml"] = xml
        if at in (notes or {}):
            link = {"n": ("notesSlide", f"../notesSlides/n{at}.xml")}
            parts[f"ppt/slides/_rels/slide{count - at}.xml.rels"] = relations(link)
            parts[f"ppt/notesSlides/n{at}.xml"] = (notes or {})[at]
    return zipped({**parts, **(more or {})})


def sheet(*rows: str) -> str:
    return f"<worksheet {SHEETS}><sheetData>{''.join(rows)}</sheetData></worksheet>"


def xlsx_bytes(
    sheets: Mapping[str, str], *, texts: Sequence[str] = (), styles: str = "", about: str = ""
) -> bytes:
    named = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>' for at, name in enumerate(sheets, 1)
    )
    links = {f"r{at}": ("worksheet", f"worksheets/s{at}.xml") for at in range(1, len(sheets) + 1)}
    links |= {"t": ("sharedStrings", "sharedStrings.xml"), "s": ("styles", "/xl/styles.xml")}
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES,
        "xl/workbook.xml": f"<workbook {SHEETS}>{about}<sheets>{named}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(links),
        "xl/sharedStrings.xml": f"<sst {SHEETS}>{''.join(f'<si><t>{text}</t></si>' for text in texts)}</sst>",
        "xl/styles.xml": styles or f"<styleSheet {SHEETS}/>",
    }
    for at, xml in enumerate(sheets.values(), 1):
        parts[f"xl/worksheets/s{at}.xml"] = xml
    return zipped(parts)


def odt_bytes(
    body: str, *, styles: str = "", kind: str = "text", meta: str = "", more: str = ""
) -> bytes:
    content = (
        f"<office:document-content {OPEN}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    parts = {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content}
    if meta:
        parts["meta.xml"] = (
            f'<office:document-meta {OPEN} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
            f"<dc:title>{meta}</dc:title></office:meta></office:document-meta>"
        )
    if more:
        parts["META-INF/manifest.xml"] = more
    return zipped(parts)
