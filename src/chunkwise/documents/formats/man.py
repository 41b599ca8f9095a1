"""Manual pages (`ls.1` … `.8`, man and mdoc macros): sections, paragraphs, tagged items, examples, tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

from chunkwise.core import Document
from chunkwise.documents.formats.block_builder import Layout, SheetRows
from chunkwise.documents.formats.roff import CONTROL, Roff
from chunkwise.documents.loader import LoadOptions, OnUnreadable, text_in
from chunkwise.documents.source import Source
from chunkwise.records.json import without_half_characters

_SUFFIX = re.compile(r"\.[1-9][a-z]{0,4}\Z", re.IGNORECASE)
_SIGN = re.compile(rb"^[.'](?:TH|SH|Dd|Sh|\\\"|so)(?:\s|$)", re.MULTILINE)
_ESCAPE = re.compile(
    r"\\(?:f(?:\[[^\]\n]{0,40}\]|\(..|.)|[snmgFM]\[[^\]\n]{0,40}\]|s[-+]?\d{1,2}|\*?\[([^\]\n]{0,40})\]|\*?\((..)|[hvwlLDkob]'[^'\n]{0,80}'|[nm]\(..|[nmgF].|\".*|(.))"
)
_GLUED = re.compile(r"(?<!\\)(?:\\\\)*\\c\Z")
"""What follows belongs to the same word."""
_SIGNS = {
    "em": "—", "en": "–", "bu": "•", "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "aq": "'", "dq": '"', "co": "©",
    "hy": "-", "rs": "\\", "ti": "~", "ha": "^", "ga": "`", "mu": "×", "->": "→", "<-": "←", "+-": "±", "de": "°",
    "at": "@", "sh": "#", "Do": "$", "bv": "|", "sl": "/", "ss": "ß", "ae": "æ", "AE": "Æ", "/o": "ø", "/O": "Ø",
    "mc": "µ", "12": "½", "Fo": "«", "Fc": "»", "lB": "[", "rB": "]", "lC": "{", "rC": "}", "rg": "®", "tm": "™",
    "sc": "§", "Eu": "€", "Po": "£", "<=": "≤", ">=": "≥", "!=": "≠", "la": "⟨", "ra": "⟩", "hA": "⇔",
}  # fmt: skip
_ACCENTS = {
    ":": "\u0308",
    "'": "\u0301",
    "`": "\u0300",
    "^": "\u0302",
    "~": "\u0303",
    ",": "\u0327",
    "o": "\u030a",
    "v": "\u030c",
}
_GREEK = dict(zip("abgdezyhiklmncoprstufxqw", "αβγδεζηθικλμνξοπρστυφχψω", strict=True))
_WORD = re.compile(r'"((?:[^"]|"")*)"?|((?:\\.|\S)+)')
_PARAGRAPHS = frozenset("PP P LP Pp HP RE RS sp El Bl".split())
_SECTIONS = frozenset("SH SS Sh Ss".split())
_EXAMPLES = {"nf": "fi", "EX": "EE", "Bd": "Ed"}
_ENDS = frozenset(_EXAMPLES.values())
_FONTS = frozenset("B I BI BR IB IR RB RI SM SB R".split())
_BULLETS = ("•", "*", "-", "o", "·")
_CALLED = frozenset(
    "Ar Cm Dv Em Ev Fa Fl Fn Ft Ic Li Nm Ns Op Pa Ql Pq Dq Sq Sy Tn Va Vt Xr Nd Oo Oc Po Pc Qq Aq Bq Brq Ad An Lk Mt "
    "No Ox Nx Fx St Cd Er Ms Lb Sx Bx Dx Bsx Ap Ux In Fo Fc Xo Xc".split()
)
"""Macros of mdoc that stand in lines among their words."""
_BRACKETS = {
    "Op": "[]", "Pq": "()", "Dq": "“”", "Ql": "‘’", "Sq": "‘’", "Qq": '""', "Aq": "<>", "Bq": "[]", "Brq": "{}",
}  # fmt: skip
_SILENT = frozenset(
    "TH Dd Dt Os so ad na hy nh ie el if ds de am ig rm tr ft in ti ll ne br PD TE Bk Ek Rs Re".split()
)


_MACROS = frozenset(
    (
        *_PARAGRAPHS,
        *_SECTIONS,
        *_EXAMPLES,
        *_ENDS,
        *_FONTS,
        *_CALLED,
        *_SILENT,
        "TP",
        "TQ",
        "IP",
        "It",
    )
)
"""Which no page makes anew: they are known by what they mean."""
_TAB = re.compile(r"tab ?\((.)\)")
_CELL_BEGINS, _CELL_ENDS = "T{", "T}"
_RULES = ("_", "=", "", "^")


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
        self._address = ""
        self._table: ManTable | None = None

    def read(self, text: str) -> None:
        for line in Roff(_MACROS).lines(text):
            control = CONTROL.match(line)
            if self._table is not None:
                self._table_line(line, control)
            elif control is None:
                self._line(line)
            else:
                self._macro(control[1], control[2].strip())
        self._end_table()
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
        elif name == "TS":
            self._flush()
            self._table = ManTable()
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
        elif name in ("UR", "MT"):
            self._address = _plain(rest.partition(" ")[0])
        elif name in ("UE", "ME"):
            # Without a text of its own an address is its own text.
            self._text(f"<{self._address}>{_plain(rest)}")
            self._address = ""
        elif name == "Nm" and not rest:
            self._text(self._name)
        elif name not in _SILENT:
            self._text(self._words_of(name, rest))
            if name == "Nm" and not self._name:
                self._name = rest.split(" ")[0]

    def _table_line(self, line: str, control: re.Match[str] | None) -> None:
        assert self._table is not None
        if control is None:
            self._table.line(_plain(line))
        elif control[1] == "TE":
            self._end_table()
        elif control[1] in _SECTIONS:  # it was never closed
            self._end_table()
            self._macro(control[1], control[2].strip())
        elif control[1] == "T&":
            self._table.is_format = True
        else:
            self._table.inside(self._words_of(control[1], control[2].strip()))

    def _end_table(self) -> None:
        if self._table is not None:
            self._table.write(self.layout)
            self._group, self._table = 0, None

    def _words_of(self, name: str, rest: str) -> str:
        arguments = _arguments(rest)
        if name in _FONTS:
            # Alternating fonts put their words together without spaces.
            return ("" if len(name) == 2 and name not in ("SM", "SB") else " ").join(arguments)
        if name in _CALLED:
            return self._inline([name, *arguments])
        is_reference = name.startswith("%")  # authors, titles and dates of mdoc
        return (
            " ".join(arguments)
            if is_reference or name in ("URL", "MTO", "UN", "SY", "OP", "MR")
            else ""
        )

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


class ManTable:
    """What stands between .TS and .TE: options, the format of rows, then rows with tabs between their cells."""

    def __init__(self) -> None:
        self.is_format = True
        self._tab = "\t"
        self._rows: list[list[str]] = [[]]
        self._cell: list[str] | None = None
        """The lines of a cell that takes several."""

    def line(self, line: str) -> None:
        if self._cell is not None:
            closed, _, rest = line.partition(_CELL_ENDS)
            if closed or not line.startswith(_CELL_ENDS):
                self._cell.append(line)
                return
            self._rows[-1].append(" ".join(" ".join(self._cell).split()))
            self._cell = None
            if rest.startswith(self._tab):
                self._cells(rest[len(self._tab) :])
            else:
                self._rows.append([])
        elif self.is_format:
            if line.endswith(";"):
                tab = _TAB.search(line)
                self._tab = tab[1] if tab else self._tab
            self.is_format = not line.endswith(".")
        elif line.strip() not in _RULES:
            self._cells(line)

    def inside(self, text: str) -> None:
        """Takes what a macro says, in a cell of several lines."""
        if self._cell is not None:
            self._cell.append(text)

    def _cells(self, line: str) -> None:
        *cells, last = line.split(self._tab)
        self._rows[-1] += (cell.strip() for cell in cells)
        if last.strip() == _CELL_BEGINS:
            self._cell = []
        else:
            self._rows[-1].append(last.strip())
            self._rows.append([])

    def write(self, layout: Layout) -> None:
        if self._cell is not None:  # it was never closed
            self._rows[-1].append(" ".join(" ".join(self._cell).split()))
        rows = SheetRows(layout, "")
        for number, row in enumerate(filter(any, self._rows), 1):
            rows.add(number, {at: cell for at, cell in enumerate(row) if cell not in _RULES})
        rows.end()


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
        return _SIGNS.get(name) or _letter(name)
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


def _letter(name: str) -> str:
    """An accent and its letter, or a Greek one behind a star: `:o`, `*a`; nothing of any other name."""
    if len(name) != 2 or not name[1].isalpha():
        return ""
    if name[0] == "*":
        greek = _GREEK.get(name[1].lower(), "")
        return greek.upper() if name[1].isupper() else greek
    accent = _ACCENTS.get(name[0], "")
    return normalize("NFC", name[1] + accent) if accent else ""
