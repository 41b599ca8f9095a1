"""Whether a text without a file name is source code, told by its lines; in doubt it is text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from chunkwise.documents.code_lines import (
    COMMON,
    DIRECTIVE,
    MARK,
    NOT_CODE,
    QUOTED,
    SENTENCE,
    SIGN,
    SURE,
    TRAILING_REMARK,
    UNSPACED,
)

_LOOKED_AT = 20_000
_LINES = 100
"""Outside remarks; what comes after so many is no longer looked at."""
_LONGEST = 300
"""Characters of a line the patterns see, so that no line can make them slow."""
_PROSE_WIDTH = 80
"""Characters of prose that weigh as much as one line of code."""

# Shares of the lines outside remarks; a text must pass all of them.
_LEAST_LINES = 8
_LEAST_SIGNS = 4
_LEAST_SPACES = 4
_SIGNS = 0.2
_MARKED = 0.2
_EXPLAINED = 0.6
_PROSE = 0.15
_OPENING = 3
"""First lines of which none may be a sentence: a text about a program ends with the program."""

_DATA = ("<", "{", "[")
_REMARKS = ("//", "#", "--", "<!--", ";;")
_HEADING = re.compile(r"\n\n#{2,6} \S[^\n]*\n\n")
"""Of Markdown: program texts have their remarks right above what they explain."""
_POD = re.compile(r"=(?:head\d|pod|over|encoding)\b")


def looks_like_code(text: str) -> bool:
    """Most lines are statements and next to none is a sentence; remarks and long strings do not count."""
    head = text[:_LOOKED_AT]
    # Most records of most corpora; markup, data and patches.
    if head.count("\n") < _LEAST_LINES - 1 or head.lstrip()[:1] in _DATA or "\n@@ -" in head:
        return False
    if _HEADING.search(head):
        return False
    lines: list[str] = []
    for line in islice(_outside_remarks(head), _LINES):
        if len(lines) < _OPENING and _is_sentence(line):
            return False
        lines.append(line)
    signs = common = 0
    prose = 0.0
    for line in lines:
        if _is_sentence(line) or NOT_CODE.match(line):
            prose += max(1.0, len(line) / _PROSE_WIDTH)
            if prose > _PROSE * len(lines):
                return False
        elif SIGN.match(line) or SURE.match(line) or DIRECTIVE.match(line):
            signs += 1
        elif COMMON.match(line):
            common += 1
    marked = sum(MARK.search(line) is not None for line in lines)
    return (
        len(lines) >= _LEAST_LINES
        and marked >= _MARKED * len(lines)
        and signs >= max(_LEAST_SIGNS, _SIGNS * len(lines))
        and signs + common >= _EXPLAINED * len(lines)
    )


def _is_sentence(line: str) -> bool:
    return _has_words(line) and not SURE.match(line) and _has_words(QUOTED.sub("", line))


def _has_words(line: str) -> bool:
    if line.count(" ") >= _LEAST_SPACES and SENTENCE.search(line):
        return True
    return not line.isascii() and UNSPACED.search(line) is not None


def _outside_remarks(text: str) -> Iterator[str]:
    """The lines that are not blank, nor in a remark, a long string or a fence, with single spaces."""
    closing = ""
    for raw in text.split("\n"):
        if closing:
            # The end of Perl's documentation is a line of its own; documentation may speak of it.
            if raw.startswith(closing) if closing[0] == "=" else closing in raw:
                closing = ""
            continue
        line = " ".join(raw[:_LONGEST].split())
        closing = _opened(line)
        if line.startswith("/*") or (closing and line.lstrip("bfru").startswith((closing, "="))):
            continue
        if line and (not line.startswith(_REMARKS) or DIRECTIVE.match(line)):
            yield TRAILING_REMARK.sub("", line)


def _opened(line: str) -> str:
    """What closes the remark, long string or fence that this line leaves open."""
    if line.startswith(("```", "~~~")):
        return line[:3]
    if _POD.match(line):
        return "=cut"
    if line.startswith("=begin"):
        return "=end"
    if line.rfind("/*") > line.rfind("*/"):
        # Elsewhere in a line it is a pattern of file names as often as not.
        return "*/" if line.startswith("/*") or " /*" in line else ""
    for quotes in ('"""', "'''"):
        if line.count(quotes) % 2:
            return quotes
    return ""
