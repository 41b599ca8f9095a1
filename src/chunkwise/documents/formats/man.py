"""Manual pages (`ls.1` … `.8`, man and mdoc macros): sections, paragraphs, tagged items, examples."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chunkwise.core import Document
from chunkwise.documents.formats.block_text import Layout
from chunkwise.documents.loader import LoadOptions, OnUnreadable, text_in
from chunkwise.documents.source import Source
from chunkwise.records.json import without_half_characters

_SUFFIX = re.compile(r"\.[1-9][a-z]{0,4}\Z", re.IGNORECASE)
_SIGN = re.compile(rb"^[.'](?:TH|SH|Dd|Sh|\\\"|so)(?:\s|$)", re.MULTILINE)
_ESCAPE = re.compile(
    r"\\(?:f(?:\[[^\]\n]{0,40}\]|\(..|.)|[snmgFM]\[[^\]\n]{0,40}\]|s[-+]?\d{1,2}|\*?\[([^\]\n]{0,40})\]|\*?\((..)|[hvwlLDkob]'[^'\n]{0,80}'|[nm]\(..|[nmgF].|\".*|(.))"
)
_ESCAPES_AT_END = re.compile(r"(?<!\\)\\+\Z")
_GLUED = re.compile(r"(?<!\\)(?:\\\\)*\\c\Z")
"""What follows belongs to the same word."""
_COMMENTS = ('.\\"', "'\\\"")
_SIGNS = {
    "em": "—", "en": "–", "bu": "•", "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "aq": "'", "dq": '"', "co": "©",
    "hy": "-", "rs": "\\", "ti": "~", "ha": "^", "ga": "`", "mu": "×", "->": "→", "<-": "←", "+-": "±", "de": "°",
}  # fmt: skip
_WORD = re.compile(r'"((?:[^"]|"")*)"?|((?:\\.|\S)+)')
_PARAGRAPHS = frozenset("PP P LP Pp HP RE RS sp El Bl".split())
_SECTIONS = frozenset("SH SS Sh Ss".split())
_EXAMPLES = {"nf": "fi", "EX": "EE", "Bd": "Ed"}
_ENDS = frozenset(_EXAMPLES.values())
_FONTS = frozenset("B I BI BR IB IR RB RI SM SB R".split())
_BULLETS = ("•", "*", "-", "o", "·")
_CALLED = frozenset(
    "Ar Cm Dv Em Ev Fa Fl Fn Ft Ic Li Nm Ns Op Pa Ql Pq Dq Sq Sy Tn Va Vt Xr Nd Oo Oc Po Pc Qq Aq Bq Brq Ad An Lk Mt "
    "No Ox Nx Fx St Cd Er Ms Lb Sx Bx Dx Bsx Ap Ux In".split()
)
"""Macros of mdoc that stand in lines among their words."""
_BRACKETS = {
    "Op": "[]", "Pq": "()", "Dq": "“”", "Ql": "‘’", "Sq": "‘’", "Qq": '""', "Aq": "<>", "Bq": "[]", "Brq": "{}",
}  # fmt: skip
_SILENT = frozenset(
    "TH Dd Dt Os so ad na hy nh ie el if ds de am ig rm tr ft in ti ll ne br PD TE TS UR UE MT ME Bk Ek Rs Re".split()
)


class ManLoader:
    """By a suffix of one digit and the macros of a manual page."""

    suffixes: tuple[str, ...] = tuple(f".{section}" for section in range(1, 10))
    stream = False
    guarded = False

    def accepts(self, name: str, head: bytes) -> bool:
        return _SUFFIX.search(name) is not None and _SIGN.search(head) is not None

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        text = text_in(source, options)
        page = _ManPage()
        page.read(text.removeprefix("\ufeff"))
        yield Document(
            source.id,
            page.layout.text,
            title=page.title,
            source=source.origin,
            format="man",
            blocks=tuple(page.layout.blocks),
        )


class _ManPage:
    """`layout` and `title` are the result."""

    def __init__(self) -> None:
        self.layout = Layout()
        self.title = ""
        self._name = ""
        self._words: list[str] = []
        self._tag = ""
        self._group = 0
        self._heading = 0
        self._tag_next = False
        self._until = ""
        self._example: list[str] = []
        self._is_glued = False

    def read(self, text: str) -> None:
        ignoring = ""
        for line in _joined_lines(text):
            if ignoring:
                ignoring = "" if line.startswith(ignoring) else ignoring
            elif line[:1] in (".", "'") and not line.startswith((*_COMMENTS, ".\\}")):
                name, _, rest = line[1:].strip().partition(" ")
                if name in ("de", "de1", "ig", "am", "am1"):  # the body of a macro, or a remark
                    ignoring = ".."
                else:
                    self._macro(name, rest.strip())
            elif not line.startswith((".", "'")):
                self._line(line)
        self._end_example()
        self._flush()

    def _line(self, line: str) -> None:
        is_glued = bool(_GLUED.search(line))
        text = _plain(line)
        if self._until:
            self._example.append(text)
        elif not text.strip():
            self._flush()
        else:
            self._text(text.strip())
        self._is_glued = is_glued

    def _text(self, text: str) -> None:
        if self._heading:
            self._add_heading(text)
        elif self._tag_next:
            self._tag, self._tag_next = text, False
        elif text:
            if self._words and not self._is_glued:
                self._words.append(" ")
            self._words.append(text)
            self._is_glued = False

    def _macro(self, name: str, rest: str) -> None:
        if self._until and name in _SECTIONS:  # it was never closed
            self._end_example()
        if self._until:
            if name in _ENDS:
                self._end_example()
            elif name not in _SILENT and name not in _PARAGRAPHS:
                self._example.append(self._words_of(name, rest))
            return
        if name in _SECTIONS:
            self._flush()
            self._group = 0
            self._heading = 1 if name.lower() == "sh" else 2
            if rest:
                self._add_heading(" ".join(_arguments(rest)))
        elif name in ("TH", "Dt"):
            words = _arguments(rest)
            self.title = f"{words[0]}({words[1]})" if len(words) > 1 else " ".join(words)
        elif name in _EXAMPLES:
            self._flush()
            self._until = _EXAMPLES[name]
        elif name in ("TP", "TQ"):
            self._flush()
            self._tag_next = True
        elif name in ("IP", "It"):
            self._flush()
            arguments = _arguments(rest)
            tag = arguments[0] if name == "IP" and arguments else ""
            self._tag = tag if name == "IP" else self._inline(arguments)
            self._tag = self._tag or ("•" if name == "It" else "")
        elif name in _PARAGRAPHS:
            self._flush()
            if name in ("PP", "P", "LP", "Pp", "El"):
                self._group = 0
        elif name == "Nm" and not rest:
            self._text(self._name)
        elif name not in _SILENT:
            self._text(self._words_of(name, rest))
            if name == "Nm" and not self._name:
                self._name = rest.split(" ")[0]

    def _words_of(self, name: str, rest: str) -> str:
        arguments = _arguments(rest)
        if name in _FONTS:
            # Alternating fonts put their words together without spaces.
            return ("" if len(name) == 2 and name not in ("SM", "SB") else " ").join(arguments)
        if name in _CALLED:
            return self._inline([name, *arguments])
        return " ".join(arguments) if name in ("URL", "UN", "SY", "OP", "MR") else ""

    def _inline(self, words: list[str]) -> str:
        """The words of a line of mdoc, its macros left out or as the signs they stand for."""
        out: list[str] = []
        closing: list[str] = []
        flag = False
        for word in words:
            if word in _BRACKETS:
                out.append(_BRACKETS[word][0])
                closing.append(_BRACKETS[word][1])
            elif word in ("Fl", "Cm") or word in _CALLED:
                if word == "Nm" and len(words) == 1:
                    out.append(self._name)
                elif word == "Nd":
                    out.append("—")
                flag = word == "Fl"
            else:
                out.append(f"-{word}" if flag and not word.startswith("-") else word)
                flag = False
        text = " ".join(out) + "".join(reversed(closing))
        return re.sub(r"([\[(“‘<{]) ", r"\1", re.sub(r" ([,.;:)\]])(?=[\s\])]|$)", r"\1", text))

    def _add_heading(self, text: str) -> None:
        if text.strip():
            self.layout.add("heading", " ".join(text.split()), level=self._heading)
        self._heading = 0

    def _end_example(self) -> None:
        text = "\n".join(self._example).strip("\n").rstrip()
        if text.strip():
            self.layout.add("code", text)
        self._example, self._until = [], ""

    def _flush(self) -> None:
        """What was collected is a paragraph, or an item where it has a tag."""
        text, tag = "".join(self._words), self._tag.strip()
        self._words, self._tag, self._tag_next = [], "", False
        if tag:
            if words := "\n  ".join(filter(None, ("" if tag in _BULLETS else tag, text))):
                self._group = self._group or self.layout.new_group()
                self.layout.add("item", f"- {words}", group=self._group)
        elif text.strip():
            self._group = 0
            self.layout.add("paragraph", text)


def _joined_lines(text: str) -> Iterator[str]:
    """Lines without white space at their ends; one that ends in a backslash goes on with the next."""
    begun: list[str] = []
    for raw in text.splitlines():
        line = raw.rstrip()
        escapes = _ESCAPES_AT_END.search(line)
        is_open = escapes is not None and len(escapes[0]) % 2 == 1
        if is_open and not line.startswith(_COMMENTS):
            # In front of white space it is a space, which the end of a line is, too.
            begun.append(line[:-1])
            if line == raw:
                continue
        else:
            begun.append(line)
        yield "".join(begun)
        begun.clear()
    if begun:
        yield "".join(begun)


def _arguments(rest: str) -> list[str]:
    return [_plain(quoted.replace('""', '"') or bare) for quoted, bare in _WORD.findall(rest)]


def _plain(text: str) -> str:
    """Without changes of font; signs as what they stand for."""
    return _ESCAPE.sub(_sign, text) if "\\" in text else text


def _sign(escape: re.Match[str]) -> str:
    name = escape[1] or escape[2]
    if name is not None:
        if re.fullmatch(r"u[0-9A-Fa-f]{4,5}", name):
            return without_half_characters(chr(int(name[1:], 16)))
        return _SIGNS.get(name, "")
    sign = escape[3]
    if sign is None:
        return ""
    return {
        "-": "-",
        "e": "\\",
        " ": " ",
        "~": " ",
        "0": " ",
        "t": " ",
        "'": "'",
        "`": "`",
        ".": ".",
        "\\": "\\",
    }.get(sign, "")
