"""Headings, sections, reading order and sentences of PDFs whose source is known, beside other readers."""

from __future__ import annotations

import re
import tempfile
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from benchmarks.pdf_sources import HEAD, SETTINGS, Made, made
from benchmarks.tables import table

LOOKED_AT = (
    "LaTeX article, two columns", "Typst, one column", "browser, one column", "groff, one column",
)  # fmt: skip
"""Settings whose faults were looked at while the reader was written, on the Rust book; all others are only scored."""
_MOST = 2


Headings = Sequence[tuple[int, str]]
"""Levels and titles, in order."""


class Read(NamedTuple):
    """What a reader makes of a PDF."""

    text: str
    headings: list[tuple[int, str]] | None
    """Level and title; None: it tells none."""


class Figures(NamedTuple):
    """Of one document, each from 0 to 1."""

    headings: float | None
    sections: float | None
    sentences: float
    order: float
    boilerplate: float


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


_NUMBER = re.compile(
    r"(?:chapter\s+|appendix\s+)?(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)*)[.:]?\s+", re.IGNORECASE
)


def _forms(title: str) -> set[str]:
    """A title with its number and without."""
    title = " ".join(title.split())
    found = {_letters(title)}
    number = _NUMBER.match(title)
    if number:
        found.add(_letters(title[number.end() :]))
    return found


def _matched(truth: Sequence[str], found: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of equal titles, the most there are in order."""
    wanted = [_letters(title) for title in truth]
    forms = [_forms(title) for title in found]
    best = [[0] * (len(found) + 1) for _ in range(len(truth) + 1)]
    for i in range(len(truth) - 1, -1, -1):
        for j in range(len(found) - 1, -1, -1):
            same = best[i + 1][j + 1] + 1 if wanted[i] in forms[j] else 0
            best[i][j] = max(same, best[i + 1][j], best[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(truth) and j < len(found):
        if wanted[i] in forms[j] and best[i][j] == best[i + 1][j + 1] + 1:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _parents(headings: Headings) -> list[int]:
    """Of each heading the one it stands below; -1: none."""
    open_: list[tuple[int, int]] = []
    found = []
    for at, (level, _) in enumerate(headings):
        while open_ and open_[-1][0] >= level:
            open_.pop()
        found.append(open_[-1][1] if open_ else -1)
        open_.append((level, at))
    return found


def _f1(hits: int, wanted: int, found: int) -> float:
    return 2 * hits / (wanted + found) if wanted + found else 1.0


def outline_scores(truth: Headings, found: Headings) -> tuple[float, float]:
    """F1 of the titles in order, and of those that also stand below the right one."""
    pairs = _matched([title for _, title in truth], [title for _, title in found])
    ours = dict(pairs)
    wanted, below = _parents(truth), _parents(found)
    right = sum(below[j] == (ours.get(wanted[i], -2) if wanted[i] >= 0 else -1) for i, j in pairs)
    sizes = len(truth), len(found)
    return _f1(len(pairs), *sizes), _f1(right, *sizes)


def score(truth: Made, read: Read) -> Figures:
    """How much of the source is found again."""
    headings = sections = None
    if read.headings is not None:
        headings, sections = outline_scores(truth.headings, read.headings)
    text = " ".join(read.text.split())
    flat = _letters(read.text)
    paragraphs = [paragraph for paragraph in truth.paragraphs if len(paragraph) > 60]
    sentences = [
        sentence for paragraph in paragraphs for sentence in re.split(r"(?<=[.!?]) (?=[A-Z])", paragraph)
        if len(sentence) > 40
    ]  # fmt: skip
    whole = mean(_letters(sentence) in flat for sentence in sentences)
    openings = Counter(_letters(paragraph)[:50] for paragraph in paragraphs)
    # What opens two paragraphs tells no order.
    places = [flat.find(opening) for opening, count in openings.items() if count == 1]
    order = _longest_rise([place for place in places if place >= 0]) / len(places)
    heads = text.count(HEAD)
    pages = max(truth_pages(truth), 1)
    return Figures(headings, sections, whole, order, min(heads / pages, 1.0))


def truth_pages(truth: Made) -> int:
    import pypdfium2

    with pypdfium2.PdfDocument(truth.path) as pdf:
        return len(pdf)


def _longest_rise(places: Sequence[int]) -> int:
    """Of the longest part that is in order."""
    ends: list[int] = []
    for place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
    return len(ends)


def _chunkwise(path: Path) -> Read:
    """Without bookmarks: headings are to be found by how they are set. In this process, whose time is measured."""
    from chunkwise.documents import LoadOptions, read
    from chunkwise.documents.formats.pdf import loader as pdf
    from chunkwise.text.analyzed import Analyzed

    known, pdf.bookmarks = pdf.bookmarks, lambda _: []
    try:
        (document,) = read([str(path)], LoadOptions(limits="none", on_unreadable=print))
    finally:
        pdf.bookmarks = known
    blocks = Analyzed(document).blocks
    return Read(
        document.text,
        [(b.level, document.text[b.start : b.end]) for b in blocks if b.kind == "heading"],
    )


def _pypdf(path: Path) -> Read:
    import pypdf

    return Read("\n".join(page.extract_text() for page in pypdf.PdfReader(path).pages), None)


def _pdfminer(path: Path) -> Read:
    from pdfminer.high_level import extract_text

    return Read(extract_text(path), None)


def _pymupdf4llm(path: Path) -> Read:
    """Without bookmarks as well."""
    import pymupdf
    import pymupdf4llm

    pdf = pymupdf.open(path)
    pdf.set_toc([])
    text = pymupdf4llm.to_markdown(pdf, show_progress=False)
    lines = re.findall(r"^(#{1,6}) +(.*)$", text, re.MULTILINE)
    plain = re.sub(r"[*_`#]|<[^<>]*>", "", text)
    return Read(plain, [(len(marks), re.sub(r"[*_`]", "", title)) for marks, title in lines])


READERS: dict[str, tuple[str, Callable[[Path], Read]]] = {
    "chunkwise": ("chunkwise", _chunkwise),
    "pymupdf4llm": ("pymupdf4llm", _pymupdf4llm),
    "pypdf": ("pypdf", _pypdf),
    "pdfminer.six": ("pdfminer", _pdfminer),
}


def samples(folder: Path, source: str, settings: Sequence[str]) -> Iterator[Made]:
    for setting in settings:
        yield from made(source, setting, folder, _MOST)


def measured(folder: Path | None = None, readers: Sequence[str] = tuple(READERS)) -> str:
    """Tables as Markdown."""
    if folder is None:
        with tempfile.TemporaryDirectory() as made_here:
            return measured(Path(made_here), readers)
    rest = [setting for setting in SETTINGS if setting not in LOOKED_AT]
    parts = {
        "looked at: the Rust book": samples(folder, "docs_rustbook", LOOKED_AT),
        "only scored: other settings of the Rust book": samples(folder, "docs_rustbook", rest),
        "only scored: the FastAPI documentation": samples(
            folder, "docs_fastapi_en", list(SETTINGS)
        ),
    }
    told = [_ABOUT]
    for title, found in parts.items():
        documents = list(found)
        if documents:
            told += [
                f"### {title[0].upper()}{title[1:]} ({len(documents)} PDFs)\n",
                _table(documents, readers),
                "",
            ]
            told += [_by_setting(documents), ""]
    return "\n".join(told)


_ABOUT = f"""Books in Markdown are set by LaTeX, groff, Typst and a browser, in one and two columns, with running heads,
page numbers, footnotes, formulas, figures with labels, tables, code, a list of references and an appendix.
*Headings*: F1 of their titles in order. *Sections*: F1 of headings that also stand below the right one. *Sentences*:
those of the source found whole. *Order*: paragraphs found in the order of the source. *Boilerplate*: running heads
("{HEAD}") a page that are left in the text; here 0 is best. Bookmarks are taken away from every reader;
one that tells no headings has none scored. *Only scored* PDFs were not what the rules were written on, but a few
general fixes came after all scores had been seen, two of them for faults that the scores of groff in two columns and
of the LaTeX book had shown.
Pages per second are measured in CPU time of one core.
Not measured: docling (needs a layout model from Hugging Face, which was not reachable) and unstructured (needs
spaCy's `en_core_web_sm`, which is not on PyPI).
"""


def _table(documents: Sequence[Made], readers: Sequence[str]) -> str:
    rows = []
    for name in readers:
        module, read = READERS[name]
        if not find_spec(module):
            continue
        began = time.process_time()
        found = [read(document.path) for document in documents]
        seconds = time.process_time() - began
        figures = [score(document, each) for document, each in zip(documents, found, strict=True)]
        pages = sum(map(truth_pages, documents))
        rows.append([name, *_means(figures), f"{pages / seconds:,.0f}"])
    return table(["", *Figures._fields, "pages per second"], rows)


def _by_setting(documents: Sequence[Made]) -> str:
    rows = []
    for setting in dict.fromkeys(document.setting for document in documents):
        figures = [
            score(each, _chunkwise(each.path)) for each in documents if each.setting == setting
        ]
        rows.append([setting, *_means(figures)])
    return table(["chunkwise, by setting", *Figures._fields], rows)


def _means(figures: Sequence[Figures]) -> Iterator[str]:
    for kind in Figures._fields:
        known = [value for each in figures if (value := getattr(each, kind)) is not None]
        yield f"{mean(known):.3f}" if known else "–"
