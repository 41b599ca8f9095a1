r"""LaTeX, its places kept: comments and what is no text (before `\begin{document}`) are spaces in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chunkwise.core import Document
from chunkwise.documents.loader import LoadOptions, OnUnreadable, SuffixLoader, text_in
from chunkwise.documents.source import Source

_BEGIN = re.compile(r"\\begin\s*\{document\}")
_FRONT = re.compile(
    r"(?:\s{0,100}\\(?:maketitle|tableofcontents|listof(?:figures|tables)|frontmatter|mainmatter|clearpage|newpage)"
    r"(?![A-Za-z]))*"
)
"""What begins a document and says nothing by itself."""
_END = "\\end{document}"
_MARK = re.compile(
    r"\\verb\*?([^a-zA-Z\s*])[^\r\n]{0,300}?\1"
    r"|\\(?:url|nolinkurl|path|href|lstinline)\s*\{[^{}\r\n]*\}"
    r"|\\begin\{(verbatim\*?|Verbatim|lstlisting|minted|alltt|comment)\}"
    r"|\\."
    r"|%[^\r\n]*",
    re.DOTALL,
)
_TITLE = re.compile(r"\\title\s*(?:\[[^\[\]]{0,300}\]\s*)?\{")
_SOLID = re.compile(r"[^\s\ufeff]")


class TexLoader(SuffixLoader):
    """By suffix."""

    suffixes: tuple[str, ...] = (".tex", ".latex", ".ltx")
    guarded = False

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        text = without_comments(text_in(source, options))
        yield Document(
            source.id,
            _body(text),
            title=_title(text),
            source=source.origin,
            format="tex",
        )


def without_comments(text: str) -> str:
    """The same text with spaces in place of comments; a sign of a comment in a listing is none."""
    out: list[str] = []
    done = position = 0
    unclosed: set[str] = set()
    while match := _MARK.search(text, position):
        position = match.end()
        environment = match[2]
        if match[0].startswith("%"):
            start = match.start()
        elif environment and environment not in unclosed:
            end = text.find(f"\\end{{{environment}}}", position)
            if end < 0:
                unclosed.add(environment)
                continue
            position = end
            if environment != "comment":
                continue
            start = match.start()
            position += len("\\end{comment}")
        else:
            continue
        out += (text[done:start], _SOLID.sub(" ", text[start:position]))
        done = position
    out.append(text[done:])
    return "".join(out)


def _body(text: str) -> str:
    """Spaces for all that stands before the document and behind it; a part of a larger one is all text."""
    begin = _BEGIN.search(text)
    if begin is None:
        return text
    front = _FRONT.match(text, begin.end())
    start = front.end() if front else begin.end()
    end = text.find(_END, start)
    end = len(text) if end < 0 else end
    return _SOLID.sub(" ", text[:start]) + text[start:end] + _SOLID.sub(" ", text[end:])


def _title(text: str) -> str:
    from chunkwise.text.blocks.tex import closing_brace, tex_words

    match = _TITLE.search(text)
    end = closing_brace(text, match.end()) if match else 0
    return tex_words(text[match.end() : end - 1]) if match and end else ""
