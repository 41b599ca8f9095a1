"""Links that stand in a text, in the ways of its markup, and what the name of a file says."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

import regex

from chunkwise.core import Document
from chunkwise.text.terms import folded

LONGEST_LINK = 80
"""Characters of a link's text that may be a name."""
_MARKDOWN = regex.compile(
    r"\[(?P<text>[^\[\]\n]{1,80})\]\((?:<(?P<target>[^<>\n]{1,200})>|(?P<target>[^()\s<>]{1,200}))"
)
_OTHERS = {
    "rst": regex.compile(
        r":(?:doc|any|download):`(?P<text>(?P<target>[^`<>\n]{1,80}))`"
        r"|`(?P<text>[^`<>\n]{1,80}+)<(?P<target>[^`<>\n]{1,200})>`"
    ),
    "asciidoc": regex.compile(
        r"(?:link|xref):(?P<target>[^\s\[\]]{1,200})\[(?P<text>[^\[\]\n]{1,80})\]"
        r"|<<(?P<target>[^<>,\n]{1,200}),(?P<text>[^<>\n]{1,80})>>"
    ),
    "org": regex.compile(
        r"\[\[(?:file:)?(?P<target>[^\[\]\n]{1,200})\]\[(?P<text>[^\[\]\n]{1,80})\]\]"
    ),
}
"""By the format of the document; in all others links are those of Markdown."""
_REFERENCE = regex.compile(r"\[([^\[\]\n]{1,80})\](?:\[([^\[\]\n]{0,80})\])?(?![:(\[])")
_DEFINITION = regex.compile(
    r"^ {0,3}\[([^\[\]\n]{1,80})\]:[ \t]{0,8}<?([^\s<>]{1,200})", regex.MULTILINE
)
"""Where Markdown says what [text][reference] leads to."""
_EXTENSION = regex.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_PLAIN_FILES = frozenset("index readme".split())
"""A file of such a name is about what its folder is."""
_LONGEST_FILE = 200


def written_links(text: str, document: Document) -> Iterator[tuple[int, int, str]]:
    """Start and end of each link's text, and where it leads; `text` is the document's, line ends aside."""
    if document.format in _OTHERS:
        for match in _OTHERS[document.format].finditer(text):
            low, high = match.span("text")
            yield low, low + len(text[low:high].rstrip()), match["target"]
        return
    for match in _MARKDOWN.finditer(text):
        yield *match.span("text"), match["target"]
    if "]:" in document.text:
        result = {folded(name): target for name, target in _DEFINITION.findall(document.text)}
        for match in _REFERENCE.finditer(text) if result else ():
            if target := result.get(folded(match[2] or match[1])):
                yield *match.span(1), target


def is_file_name(path: str) -> bool:
    """Whether a document is called by its file, and not by a number in a corpus."""
    return _EXTENSION.search(path) is not None


def file_title(path: str) -> str:
    """What a file is about by its name: leave policy for ../leave_policy.md#who and for leave_policy/index.html.

    Empty where the path is an address elsewhere, or a place in the same file.
    """
    path = path.partition("#")[0].partition("?")[0].strip()
    if ":" in path or path.startswith("//"):
        return ""
    parts = [part for part in path.split("/") if part.strip(".")]
    text = _EXTENSION.sub("", parts[-1]) if parts else ""
    if text.lower() in _PLAIN_FILES:
        text = parts[-2] if len(parts) > 1 else ""
    return unquote(text[:_LONGEST_FILE]).replace("_", " ")
