"""The blocks of LaTeX: sectioning commands, items, displays and listings kept whole."""

from __future__ import annotations

import re
from bisect import bisect_left

from chunkwise.text.blocks.blocks import Blocks
from chunkwise.text.blocks.lines import LineBlocks, MarkupLine, markup_lines

_LEVELS = {
    name: level
    for level, names in enumerate(
        (
            "part addpart",
            "chapter addchap",
            "section addsec",
            "subsection",
            "subsubsection",
            "paragraph",
            "subparagraph",
        ),
        1,
    )
    for name in names.split()
} | {"frametitle": 8, "framesubtitle": 9}
_HEADING = re.compile(rf"\\({'|'.join(_LEVELS)})\*?\s*(?:\[[^\[\]]{{0,300}}\]\s*)?\{{")
_FRAME = re.compile(r"\\begin\{frame\}\s*(?:[<\[][^\]>]{0,100}[\]>]\s*)*\{")
_FRAME_LEVEL = _LEVELS["frametitle"]
_LONGEST = 1000
"""Characters of a title; what is longer is a brace that was never closed."""
_BRACE = re.compile(
    rf"(?P<stop>\\(?:{'|'.join(_LEVELS)})(?![a-zA-Z])|\\begin\{{frame\}}|\n[^\S\n]*\n)|\\.|(?P<brace>[{{}}])"
)
"""Nothing goes over a `stop`: TeX itself takes a title for one that was never closed there."""
WHOLE = frozenset(
    "verbatim Verbatim lstlisting minted alltt equation align alignat gather multline eqnarray math displaymath "
    "flalign tabular tabularx tabulary longtable array tikzpicture algorithm algorithmic algorithm2e".split()
)
"""Environments that are read as one piece."""
_BEGIN = re.compile(r"\\begin\{(\w+)(\*?)\}")
_ENVIRONMENT_LINE = re.compile(
    r"\\(?:begin|end)\{[^{}]*\}(?:\s*(?:\[[^\[\]]*\]|\{[^{}]*\}))*|\\(?:centering|maketitle|tableofcontents|clearpage|"
    r"newpage|label\{[^{}]*\}|small|footnotesize|noindent|appendix|frontmatter|mainmatter|backmatter)"
)
_LABEL = re.compile(r"\s{0,20}\\label\{[^{}\s]{0,200}\}")
_ARGUMENT = re.compile(r"\\(?:label|index|footnote|thanks|vspace|hspace|ref|cite\w*)\s*\{[^{}]*\}")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?\s*")
_SIGNS = re.compile(r"\\([&%$#_{}])")


def tex_blocks(text: str) -> Blocks:
    """Headings, paragraphs, items and what is kept whole of a LaTeX text, in order."""
    return _TexReader(text).read()


def tex_title(heading: str) -> str:
    r"""The words of `\section*[short]{Words}` without commands."""
    opened = _HEADING.match(heading) or _FRAME.match(heading)
    return tex_words(heading[opened.end() :] if opened else heading)


def tex_words(text: str) -> str:
    """A short text without commands and braces."""
    text = _ARGUMENT.sub("", text.replace("\\\\", " ").replace("~", " "))
    text = _COMMAND.sub("", _SIGNS.sub(lambda sign: chr(0xE000 + ord(sign[1])), text))
    text = re.sub(r"[{}$]", "", text)
    return " ".join(
        re.sub("[\ue021-\ue07e]", lambda kept: chr(ord(kept[0]) - 0xE000), text).split()
    )


class _TexReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = markup_lines(text)
        self.starts = [line.start for line in self.lines]
        self.found = LineBlocks()
        self.unclosed: set[str] = set()

    def read(self) -> Blocks:
        at = 0
        while at < len(self.lines):
            at = self._read(self.lines[at], at)
        return self.found.blocks()

    def _read(self, line: MarkupLine, at: int) -> int:
        words = line.words
        if not words:
            self.found.close()
            return at + 1
        if words[0] == "\\":
            if end := self._heading(line):
                return self._behind(end, at)
            if (begin := _BEGIN.match(words)) and (end := self._whole(line, begin)):
                return self._behind(end, at)
            if re.match(r"\\(?:bib)?item\b", words):
                self.found.item(line)
                return at + 1
            if _ENVIRONMENT_LINE.fullmatch(words):
                self.found.close()
                if words.startswith((r"\end{itemize}", r"\end{enumerate}", r"\end{description}")):
                    self.found.end_list()
                return at + 1
            if words.startswith(r"\["):
                self.found.close()
        self.found.text(line)
        return at + 1

    def _heading(self, line: MarkupLine) -> int:
        """Where the sectioning command that stands here ends; 0 where none does."""
        start = line.start + (self.text[line.start] == "\ufeff")
        command = _HEADING.match(self.text, start)
        opened = command or _FRAME.match(self.text, start)
        if opened is None:
            return 0
        end = closing_brace(self.text, opened.end())
        if end:
            label = _LABEL.match(self.text, end)
            end = label.end() if label else end
            level = _LEVELS[command[1]] if command else _FRAME_LEVEL
            self.found.heading(line.start, end, level)
        return end

    def _whole(self, line: MarkupLine, begin: re.Match[str]) -> int:
        name = begin[1] + begin[2]
        if begin[1] not in WHOLE or name in self.unclosed:
            return 0
        mark = f"\\end{{{name}}}"
        end = self.text.find(mark, line.start)
        if end < 0:
            self.unclosed.add(name)
            return 0
        self.found.code(line.start, end + len(mark))
        return end + len(mark)

    def _behind(self, end: int, at: int) -> int:
        """The first line behind this place; what else stands on its line is text."""
        behind = bisect_left(self.starts, end, at + 1)
        last = self.lines[behind - 1]
        rest = self.text[end : last.end]
        if rest.strip():
            start = end + len(rest) - len(rest.lstrip())
            self.found.text(MarkupLine(start, last.end, 0, rest.strip()))
        return behind


def closing_brace(text: str, start: int) -> int:
    """The place behind the brace that closes the one before `start`; 0 where none does, or far away."""
    depth = 1
    for match in _BRACE.finditer(text, start, start + _LONGEST):
        if match["stop"]:
            return 0
        if match["brace"]:
            depth += 1 if match["brace"] == "{" else -1
            if not depth:
                return match.end()
    return 0
