"""Markdown, kept to the character; its front matter is metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.front_matter import FrontMatter, front_matter
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of, text_in
from chunkwise.documents.source import Source

_CHARACTERS = 20_000
"""How far down a heading may stand and still be the title of the whole."""
_LONGEST = 300


def markdown_title(text: str, given: FrontMatter | None = None) -> str:
    """What its front matter says, or its first heading of the first level; empty when there is none."""
    given = given or front_matter(text)
    if given is not None:
        title = given.fields.get("title")
        if isinstance(title, str) and title.strip():
            return " ".join(title.split())[:_LONGEST]
        text = given.cut_from(text)
    if len(text) > _CHARACTERS:
        text = text[:_CHARACTERS]
        text = text[: text.rfind("\n") + 1] or text  # the last line may be cut
    return _first_heading(text.removeprefix("\ufeff"))


def _first_heading(text: str) -> str:
    # Imported here: they bring NumPy, which a run over other formats need not wait for.
    from chunkwise.text.blocks.lines import Lines
    from chunkwise.text.blocks.markdown import markdown_blocks
    from chunkwise.text.blocks.sections import heading_title
    from chunkwise.text.characters import CharacterArrays

    blocks = markdown_blocks(Lines(CharacterArrays(text)))
    for index in blocks.of("heading").tolist():
        block = blocks[index]
        if block.level == 1:
            title = heading_title(text[block.start : block.end])
            if title:
                return title
    return ""


_LOOKED_AT = 200_000
_HEADING = re.compile(r"(#{1,6})[ \t]+\S")
_INLINE = re.compile(r"\*\*\w|\]\([^\s()]+\)")
_SIGNS = ("#", "|", "```", "~~~")
_DELIMITER_CELL = re.compile(r":?-+:?")


class MarkdownLoader:
    """By suffix; without one, when the text is evidently Markdown."""

    suffixes: tuple[str, ...] = (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")
    stream = False
    guarded = False

    def accepts(self, name: str, head: bytes) -> bool:
        suffix = suffix_of(name)
        if suffix:
            return suffix in self.suffixes
        return looks_like_markdown(head.decode("utf-8", "replace"))

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        text = text_in(source, options)
        given = front_matter(text)
        title = markdown_title(text, given)
        if given is not None:
            text = given.cut_from(text)
            if not text.strip():
                raise UnreadableDocument(source.origin, "empty: no text behind its front matter")
        yield Document(
            source.id,
            text,
            title=title,
            source=source.origin,
            format="markdown",
            metadata=given.fields if given is not None else {},
        )


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
