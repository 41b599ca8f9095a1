"""Headings and section trees of documents whose source has them, read as markup, as HTML and as plain text."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from statistics import mean
from typing import Any, NamedTuple

from benchmarks.archives import members
from benchmarks.corpora import SHARED
from benchmarks.pdf_outline import Headings, outline_scores
from benchmarks.tables import table
from chunkwise.core import Document
from chunkwise.text.analyzed import Analyzed

_BOOKS = {
    "docutils": ("docutils-0.23.tar.gz", "/docs/", True),
    "Sphinx": ("sphinx-9.0.4.tar.gz", "/doc/", False),
    "pytest": ("pytest-9.2.0.tar.gz", "/doc/en/", False),
}
"""Source archives of documentation in reStructuredText, and whether its faults may be looked at."""
_MARKDOWN = ("docs_rustbook", "docs_fastapi_en")
_FEWEST, _PAGES = 3, 20
"""Headings of a page that counts, and pages of a book."""
_QUIET = {
    "report_level": 5, "halt_level": 6, "file_insertion_enabled": False, "raw_enabled": False,
    "doctitle_xform": False, "sectnum_xform": False, "_disable_config": True,
    "use_latex_citations": True, "legacy_column_widths": False,
}  # fmt: skip

_ANCHOR = re.compile(r"[ \t]*\{[ \t]*[#.][^{}\n]*\}[ \t]*$", re.MULTILINE)
"""What FastAPI's generator takes for the address of a heading."""

Reader = Callable[[str], Headings]


class Source(NamedTuple):
    """A page in every form it can be read in, and the headings its own parser finds in the source."""

    book: str
    headings: Headings
    forms: dict[str, str]
    looked_at: bool


def _books() -> Iterator[Source]:
    """Pages of reStructuredText, with the section tree of docutils."""
    for book, (archive, within, looked_at) in _BOOKS.items():
        found = 0
        for name, text in members(archive, within, ".rst"):
            if found == _PAGES or "/announce/" in name:
                continue
            source = _rendered(book, text, looked_at)
            if len(source.headings) >= _FEWEST:
                found += 1
                yield source


def _rendered(book: str, text: str, looked_at: bool) -> Source:
    from docutils import nodes
    from docutils.core import publish_doctree, publish_string

    tree = publish_doctree(text, settings_overrides=_QUIET)
    for message in list(tree.findall(nodes.system_message)):  # what only Sphinx knows
        message.parent.remove(message)
    headings = [
        (_depth(section), " ".join(section[0].astext().split()))
        for section in tree.findall(nodes.section)
        if isinstance(section[0], nodes.title)
    ]

    def written(writer: str) -> str:
        return bytes(publish_string(text, writer=writer, settings_overrides=_QUIET)).decode("utf-8")

    forms = {"reStructuredText": text, "HTML": written("html5"), "LaTeX": written("latex")}
    for form, titled in _TITLES.items():
        forms[form] = "\n\n".join(_plain(tree, titled))
    return Source(book, headings, forms, looked_at)


def _depth(section: Any) -> int:
    depth, node = 0, section
    while node is not None:
        depth += node.tagname == "section"
        node = node.parent
    return depth


_TITLES: dict[str, Callable[[str, tuple[int, ...]], str]] = {
    "text, titles underlined": lambda title, number: (
        f"{title}\n{'=-~.+'[min(len(number), 5) - 1] * len(title)}"
    ),
    "text, titles numbered": lambda title, number: f"{'.'.join(map(str, number))} {title}",
    "text, titles bare": lambda title, number: f"\n{title}",
}


def _plain(
    node: Any, titled: Callable[[str, tuple[int, ...]], str], number: tuple[int, ...] = ()
) -> Iterator[str]:
    """A tree of docutils as lines of at most 76 characters, blocks apart."""
    sections = 0
    for child in node.children:
        if child.tagname == "section":
            sections += 1
            yield from _plain(child, titled, (*number, sections))
        elif child.tagname == "title" and node.tagname == "section":
            yield titled(" ".join(child.astext().split()), number)
        elif child.tagname == "paragraph":
            yield textwrap.fill(" ".join(child.astext().split()), 76)
        elif child.tagname == "literal_block":
            yield textwrap.indent(child.astext(), "    ")
        elif child.tagname in ("bullet_list", "enumerated_list"):
            items = (" ".join(item.astext().split()) for item in child.children)
            yield "\n".join(
                textwrap.fill(f"- {item}", 76, subsequent_indent="  ") for item in items
            )
        elif child.children and child.tagname not in ("comment", "substitution_definition"):
            yield from _plain(child, titled, number)


def _markdown() -> Iterator[Source]:
    """Pages of Markdown, with the headings of markdown-it, which follows CommonMark."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    for book in _MARKDOWN:
        found = 0
        path = SHARED / book / "corpus.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        for line in lines:
            text = _ANCHOR.sub("", json.loads(line)["text"])
            tokens = parser.parse(text)
            headings = [
                (int(tag.tag[1]), _words(inline.content))
                for tag, inline in pairwise(tokens)
                if tag.type == "heading_open"
            ]
            if len(headings) >= _FEWEST and found < _PAGES:
                found += 1
                page = f"<html><body>{parser.render(text)}</body></html>"
                yield Source(book, headings, {"Markdown": text, "HTML": page}, True)


def _words(text: str) -> str:
    """Of a title in Markdown, what is read of it."""
    text = re.sub(r"\{\s*[#.][^{}]*\}|<[^<>]*>", " ", text)
    return " ".join(re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", text).split())


def _ours(format: str) -> Reader:
    def read(text: str) -> Headings:
        sections = Analyzed(Document("page", text, format=format)).sections
        levels = sections.level.tolist()
        return [
            (level, path[-1] if path else "")
            for level, path in zip(levels[1:], sections.paths[1:], strict=True)
        ]

    return read


def _our_html(text: str) -> Headings:
    from chunkwise.documents.formats.html.loader import html_text

    layout = html_text(text, keep_boilerplate=False).layout
    return [
        (each.level, layout.text[each.start : each.end])
        for each in layout.blocks
        if each.kind == "heading"
    ]


def _trafilatura(text: str) -> Headings:
    import trafilatura

    found = trafilatura.extract(text, output_format="markdown", favor_recall=True) or ""
    return [
        (len(marks), title) for marks, title in re.findall(r"^(#{1,6}) +(.+)$", found, re.MULTILINE)
    ]


def _unstructured(text: str) -> Headings:
    from unstructured.partition.html import partition_html

    return [
        ((each.metadata.category_depth or 0) + 1, each.text)
        for each in partition_html(text=text)
        if each.category == "Title"
    ]


def _docling(text: str) -> Headings:
    return [
        (getattr(item, "level", 0) + 1 if item.label == "section_header" else 1, item.text)
        for item, _ in docling_document(text).iterate_items()
        if item.label in ("title", "section_header")
    ]


def docling_document(markup: str) -> Any:
    """By docling's reader of HTML alone: its converter asks for torch, even where no model is run."""
    from io import BytesIO

    from docling.backend.html_backend import HTMLDocumentBackend
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.document import InputDocument

    stream = BytesIO(markup.encode("utf-8", "replace"))
    source = InputDocument(
        path_or_stream=stream, format=InputFormat.HTML, backend=HTMLDocumentBackend, filename="page.html"
    )  # fmt: skip
    return HTMLDocumentBackend(source, stream).convert()


_READERS: dict[str, dict[str, Reader]] = {
    "reStructuredText": {"chunkwise": _ours("rst")},
    "LaTeX": {"chunkwise": _ours("tex")},
    "Markdown": {"chunkwise": _ours("markdown")},
    "HTML": {
        "chunkwise": _our_html, "trafilatura": _trafilatura, "unstructured": _unstructured, "docling": _docling,
    },
    **{form: {"chunkwise": _ours("text")} for form in _TITLES},
}  # fmt: skip

_ABOUT = """\
Documentation of docutils, Sphinx and pytest (reStructuredText in their source archives on PyPI; the section tree is
that of docutils), and of Rust and FastAPI (Markdown; the headings are those of markdown-it). Each page is read in its
original form, and as written by docutils and markdown-it: HTML, LaTeX, and plain text of 76 columns with titles that
are underlined, numbered ("2.1 Title"), or on a line of their own. *Headings*: F1 of titles in order. *Sections*: F1
of headings with the correct parent. Mean over pages with at least three headings, up to twenty per book.
The pages of Sphinx and pytest were not inspected. A first score of 0 showed that underlined titles in plain text were
missed. Titles on a line of their own without any markup are not recognized as headings.
"""


def run() -> str:
    sources = [*_books(), *_markdown()]
    told = [_ABOUT]
    without: dict[str, str] = {}
    for looked_at, title in ((False, "Only scored"), (True, "Looked at")):
        rows = []
        chosen = [each for each in sources if each.looked_at == looked_at]
        for form, readers in _READERS.items():
            pages = [each for each in chosen if form in each.forms]
            for name, reader in readers.items():
                if not pages or name in without:
                    continue
                try:
                    scores = [
                        outline_scores(each.headings, reader(each.forms[form])) for each in pages
                    ]
                except Exception as error:  # foreign readers fail in ways nobody lists
                    missing = isinstance(error, ImportError)
                    without[name] = (
                        "not installed" if missing else "asks for files that are not on PyPI"
                    )
                    print(f"left out: {name}: {str(error)[:200]}", file=sys.stderr)
                    continue
                rows.append([form, name, str(len(pages)), *_means(scores)])
        books = ", ".join(dict.fromkeys(each.book for each in chosen))
        told.append(f"### {title}: {books}\n")
        told.append(f"{table(['read as', 'reader', 'pages', 'headings', 'sections'], rows)}\n")
    if without:
        reasons = (f"{name} ({why})" for name, why in sorted(without.items()))
        told.append(f"Left out: {', '.join(reasons)}.\n")
    return "\n".join(told)


def _means(scores: Sequence[tuple[float, float]]) -> list[str]:
    return [f"{mean(each):.3f}" for each in zip(*scores, strict=True)]


if __name__ == "__main__":
    print(run())
