"""Plain text, reStructuredText, AsciiDoc and Org, kept to the character; text is the last resort for any file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from chunkwise.core import Document
from chunkwise.documents.loader import (
    LoadOptions,
    OnUnreadable,
    SuffixLoader,
    text_in,
    with_blank_head,
)
from chunkwise.documents.source import Source

_LOOKED_AT = 20_000
"""Characters among which the title of the whole may stand."""
_LONGEST = 300
_ORG_HEAD = re.compile(r"\ufeff?(?:[ \t]*(?:#\+\w+:.*|#(?![+\w]).*)?\n)+")
"""Settings and comments before the first line of text: what the file says of itself."""
_ORG_SETTING = re.compile(r"^[ \t]*#\+(\w+):(.*)$", re.MULTILINE)
_ORG_TITLE = re.compile(r"^#\+title:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_RST_COMMENT = re.compile(
    r"[ \t]*\.\.(?:\s|\Z)(?!\s*(?:\[[^\]\n]+\]|_[^\n]*:|__|\|[^|\n]+\||[A-Za-z0-9][\w.+:-]*[ ]?::))"
)
_INK = re.compile(r"\S")


class MarkupLoader(SuffixLoader):
    """By suffix; `format` names the scanner of its blocks."""

    guarded = False
    format = ""
    suffixes: tuple[str, ...] = ()

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        text = text_in(source, options)
        yield Document(
            source.id, text, title=self.title(text), source=source.origin, format=self.format
        )

    def title(self, text: str) -> str:
        """The first heading, if none of its level follows: it names the whole."""
        # Imported here: it brings NumPy, which a run over other formats need not wait for.
        from chunkwise.text.blocks.markup import MARKUPS

        markup = MARKUPS[self.format]
        blocks = markup.blocks(text[:_LOOKED_AT])
        headings = [blocks[index] for index in blocks.of("heading").tolist()]
        if not headings or any(heading.level <= headings[0].level for heading in headings[1:]):
            return ""
        return markup.title(text[headings[0].start : headings[0].end][: 4 * _LONGEST])[:_LONGEST]


class RstLoader(MarkupLoader):
    """reStructuredText; comments become white space, so that every position stays."""

    format = "rst"
    suffixes = (".rst", ".rest")

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        for document in super().load(source, options, on_unreadable):
            text = without_rst_comments(document.text)
            yield replace(document, text=text) if text.strip() else document


def without_rst_comments(text: str) -> str:
    """Put white space in place of comments: `.. text` that is no directive, target, note or substitution."""
    if ".." not in text:
        return text
    lines = text.splitlines(keepends=True)
    depth, last = -1, ""
    for at, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" \t"))
        if depth >= 0 and line.strip() and indent <= depth:
            depth = -1
        if depth < 0 and not last.strip() and _RST_COMMENT.match(line):
            is_empty = line.strip() == ".."
            # An empty comment ends at once, unless text follows in the next line.
            has_body = not is_empty or (at + 1 < len(lines) and lines[at + 1].strip() != "")
            depth = indent if has_body else -1
            last, lines[at] = "", _INK.sub(" ", line)
        elif depth >= 0:
            lines[at] = _INK.sub(" ", line)
        else:
            last = line
    return "".join(lines)


class AsciidocLoader(MarkupLoader):
    """AsciiDoc; its title is level 0 in its own words, 1 in ours."""

    format = "asciidoc"
    suffixes = (".adoc", ".asciidoc", ".asc")


class OrgLoader(MarkupLoader):
    """Org mode; its settings before the text are metadata."""

    format = "org"
    suffixes = (".org",)

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        for document in super().load(source, options, on_unreadable):
            head = _ORG_HEAD.match(document.text)
            if head is None or not document.text[head.end() :].strip():
                yield document
                continue
            said = _ORG_SETTING.findall(head[0])
            fields = {name.lower(): value.strip() for name, value in said if value.strip()}
            text = with_blank_head(document.text, head.end())
            yield replace(document, text=text, metadata=fields)

    def title(self, text: str) -> str:
        match = _ORG_TITLE.search(text[:_LOOKED_AT])
        return match[1].strip()[:_LONGEST] if match else super().title(text)


class TextLoader:
    """Accepts everything, so it must be asked last."""

    suffixes: tuple[str, ...] = (".txt", ".text", ".log")
    stream = False
    guarded = False

    def accepts(self, name: str, head: bytes) -> bool:
        return True

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        text = text_in(source, options)
        yield Document(source.id, text, source=source.origin)
