"""The title a Markdown file gives itself: in its front matter, or by its first H1."""

from __future__ import annotations

import re

_LINES = 100
"""How far down a heading may stand and still be the title of the whole."""
_CHARACTERS = 20_000
_LONGEST = 300

_FIELD = re.compile(r"title[ \t]*[:=][ \t]*(.*)", re.IGNORECASE)
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^']|'')*)'")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_ATX = re.compile(r" {0,3}#(?:[ \t]+(.*))?")
_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_SETEXT = re.compile(r" {0,3}=+[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# What is no line of a paragraph, and so no text of a Setext heading.
_OTHER_BLOCK = re.compile(r" {0,3}(?:[>#|<]|[-*+][ \t]|\d{1,9}[.)][ \t])| {4}|\t")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(r"\*\*|`")


def markdown_title(text: str) -> str:
    """Empty when there is none."""
    # The last line may be cut, and is left out then.
    cut = len(text) > _CHARACTERS
    lines = [line.rstrip() for line in text[:_CHARACTERS].removeprefix("\ufeff").splitlines()]
    lines = lines[:-1] if cut and len(lines) > 1 else lines
    body = 0
    if lines and lines[0] in ("---", "+++"):
        ends = (lines[0], "...")
        body = next((n for n, line in enumerate(lines[1:], 1) if line in ends), -1) + 1
        for line in lines[1 : max(body - 1, 1)]:
            if (found := _FIELD.fullmatch(line)) and (title := _scalar(found[1])):
                return title[:_LONGEST]
    return _first_heading(lines[body : body + _LINES])[:_LONGEST]


def _scalar(value: str) -> str:
    """A plain or quoted YAML value; other kinds are no title."""
    value = value.strip()
    if quoted := _QUOTED.match(value):
        if quoted[1] is not None:
            return re.sub(r"\\(.)", r"\1", quoted[1]).strip()
        return quoted[2].replace("''", "'").strip()
    if value[:1] in tuple("|>[{&*!\"'"):
        return ""
    return _COMMENT.sub("", value).strip()


def _first_heading(lines: list[str]) -> str:
    fence = ""
    paragraph: list[str] = []
    for line in lines:
        opening = _FENCE.match(line)
        if fence:
            if opening and opening[1].startswith(fence) and not line.strip(f" {fence[0]}"):
                fence = ""
        elif opening:
            fence = opening[1]
            paragraph = []
        elif heading := _ATX.fullmatch(line):
            if title := _plain(_CLOSING.sub("", heading[1] or "")):
                return title
            paragraph = []
        elif paragraph and _SETEXT.fullmatch(line):
            return _plain(" ".join(paragraph))
        elif not line.strip() or (_OTHER_BLOCK.match(line) and not paragraph):
            paragraph = []
        else:
            paragraph.append(line.strip())
    return ""


def _plain(text: str) -> str:
    """Without the markup that is common in headings."""
    text = text[: 4 * _LONGEST]  # the patterns are not linear on hostile lines
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", text)).split())
