"""Markdown, kept to the character."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chunkwise.core import Document
from chunkwise.documents.encoding import decode
from chunkwise.documents.loader import OnSkip, suffix_of
from chunkwise.documents.markdown_title import markdown_title
from chunkwise.documents.options import LoadOptions
from chunkwise.documents.source import Source

_LOOKED_AT = 200_000
_HEADING = re.compile(r"(#{1,6})[ \t]+\S")
_INLINE = re.compile(r"\*\*\w|\]\([^\s()]+\)")
_SIGNS = ("#", "|", "```", "~~~")
_DELIMITER_CELL = re.compile(r":?-+:?")


class MarkdownLoader:
    """By suffix; without one, when the text is evidently Markdown."""

    suffixes: tuple[str, ...] = (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        suffix = suffix_of(name)
        if suffix:
            return suffix in self.suffixes
        return looks_like_markdown(head.decode("utf-8", "replace"))

    def load(self, source: Source, options: LoadOptions, on_skip: OnSkip) -> Iterator[Document]:
        text = decode(source.read(options.max_bytes), source.origin, options.encoding)
        title = markdown_title(text)
        yield Document(source.id, text, title=title, source=source.origin, format="markdown")


def looks_like_markdown(text: str) -> bool:
    """Sure signs only: a fenced block, a table, or several headings; `# comment` lines are none."""
    if not any(sign in text for sign in _SIGNS):  # most records of most corpora
        return False
    fence = ""
    titles: list[bool] = []  # of each heading: is it set off by an empty line below?
    deep = False
    lines = text[:_LOOKED_AT].split("\n")
    before = ""
    for number, line in enumerate(lines):
        line = line.strip()
        if fence:
            if line.startswith(fence) and not line.strip(fence[0]):
                return True
        elif line.startswith(("```", "~~~")):
            fence = line[:3]
        elif "|" in before and _is_delimiter_row(line):
            return True
        elif not before and (heading := _HEADING.match(line)):
            titles.append(number + 1 == len(lines) or not lines[number + 1].strip())
            deep = deep or len(heading[1]) > 1
        before = line
    if len(titles) > 1 and (deep or all(titles)):
        return True
    return any(titles) and _INLINE.search(text[:_LOOKED_AT]) is not None


def _is_delimiter_row(line: str) -> bool:
    if "|" not in line or "-" not in line:
        return False
    return all(_DELIMITER_CELL.fullmatch(cell.strip()) for cell in line.strip("|").split("|"))
