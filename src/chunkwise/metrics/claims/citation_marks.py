"""Citation marks in a text: [1], (1), 【1】, [^1], [guide.md, p. 3]. They claim nothing."""

from __future__ import annotations

import re

_NUMBER = r"\^?[1-9][0-9]{0,2}\??"
_PAGE = r"(?:pp?\.|pages?|S\.|Seiten?|fol\.)\s?[0-9]"
_LABEL = r"(?:sources?|quellen?|cit(?:ation|e)?|ref(?:erence)?|doc(?:ument)?|passage|chunk|context)"
_FILE = r"[^\[\]()\n]{0,120}?\w\.[A-Za-z][A-Za-z0-9]{1,4}(?:[,;:#@ ][^\[\]()\n]{0,80})?"
_CLAUSE_ENDS = r"(?=[ \t]{0,3}(?:[.,;:!?…。，；：！？\n]|\Z))"
"""Behind a mark that might be words of the sentence: amid one it is taken for words."""
_MARK = rf"""(?:
    \[(?:0|{_NUMBER}(?:\s?[,;–-]\s?{_NUMBER}){{0,30}}|unsupported)\]
        (?:\((?:https?://|\#)[^()\s]{{0,500}}\))?
  | \[\[{_NUMBER}\]\](?:\([^()\s]{{0,500}}\))?
  | \[\^[\w-]{{1,30}}\]
  | 【[0-9]{{1,3}}(?:[:†][^【】\n]{{0,120}})?】
  | \[{_LABEL}[\s:]{{1,3}}[^\[\]\n]{{1,120}}\]
  | \[{_FILE}\](?!\(){_CLAUSE_ENDS}
  | \[{_PAGE}[^\[\]\n]{{0,20}}\]
  | \({_LABEL}(?::\s?|\s(?=[0-9]))[^()\n]{{1,120}}\)
  | \({_FILE},\s?{_PAGE}[^()\n]{{0,20}}\)
  | (?<![0-9]\ )(?<![0-9])(?<=[\s\w.!?"'”’\)])\([1-9][0-9]?(?:,\s?[1-9][0-9]?){{0,9}}\){_CLAUSE_ENDS}
)"""
# A bracket behind one letter or another bracket is an index of code: f[1], m[1][2]. Most code goes on behind it.
_MARKS = re.compile(
    rf"(?<![\[\]_`])(?<!\b[^\W_])(?:(?<=^)|(?<=\W)|(?<=[^\W_][^\W_])){_MARK}(?:[ \t]{{0,3}}[,;]?[ \t]{{0,3}}{_MARK})*"
    r"(?![`\[]|[ \t]?=|\.[^\W\d_])",
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_DEFINITION = re.compile(r"^[ \t]{0,3}\[\^?[\w-]{1,30}\]:[^\n]*", re.MULTILINE)
"""A line below the text that says what a mark stands for."""
_OPENINGS = ("[", "(", "【")


def without_citation_marks(text: str) -> str:
    """The text as it reads without them, and without the blanks before them; one that has nothing else stays as it is.

    A year in brackets, an index of code and the number of an item are no marks: [1990], f[1], (1) First.
    """
    if not any(opening in text for opening in _OPENINGS):
        return text
    parts: list[str] = []
    last = 0
    plain = _DEFINITION.sub("", text)
    for mark in _MARKS.finditer(plain):
        parts.append(plain[last : mark.start()].rstrip(" \t"))
        last = mark.end()
        # Two words that only the mark kept apart.
        if plain[last : last + 1].isalnum() and plain[last].isascii():
            parts.append(" ")
    found = "".join([*parts, plain[last:]])
    return found if any(map(str.isalnum, found)) else text
