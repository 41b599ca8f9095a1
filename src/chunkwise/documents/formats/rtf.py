"""Rich text (.rtf): paragraphs, headings by style or outline level, items and tables; no pictures, heads and feet."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.block_builder import Layout
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.source import Source
from chunkwise.records.json import without_half_characters

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?[0-9]{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)",
    re.DOTALL,
)
_SKIPPED = frozenset(
    "fonttbl colortbl pict object objdata header headerl headerr headerf footer footerl footerr "
    "footerf themedata colorschememapping datastore latentstyles listtable listoverridetable "
    "rsidtbl generator xmlnstbl fldinst filetbl revtbl annotation atnid atnauthor atndate "
    "bkmkstart bkmkend shppict nonshppict private template pnseclvl operator author company "
    "keywords comment subject category manager doccomm hlinkbase creatim revtim printim buptim "
    "footnotesep ftnsep ftnsepc aftnsep aftnsepc tc xe shprslt".split()
)
"""Destinations that hold no text of the document."""
_SIGNS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ",
}  # fmt: skip
_ESCAPED = {b"~": "\xa0", b"_": "\u2011", b"-": "\xad", b"\\": "\\", b"{": "{", b"}": "}"}
_HEADING = re.compile(r"(?:heading|überschrift|titre|título|titolo)\s*(\d)", re.IGNORECASE)
_BODY_TEXT = 9


class RtfLoader:
    r"""By `{\rtf`, whatever the name."""

    suffixes: tuple[str, ...] = (".rtf",)
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        return suffix_of(name) in self.suffixes or head.startswith(b"{\\rtf")

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        data = source.read(options.max_bytes)
        if not data.lstrip().startswith(b"{\\rtf"):
            raise UnreadableDocument(source.origin, "not RTF: it doesn't start with {\\rtf")
        text = _RtfText()
        text.read(data)
        yield text.layout.document(source, "rtf", title=text.title)


@dataclass(frozen=True, slots=True)
class _Group:
    """What a brace opens and its partner takes back."""

    destination: str = ""
    """Empty: the text itself."""
    skips: bool = False
    hidden: bool = False
    after_unicode: int = 1
    """Characters behind `\\u` that are there for readers who do not know it."""


@dataclass(slots=True)
class _Paragraph:
    style: int = 0
    outline: int | None = None
    level: int = 0
    in_table: bool = False
    listed: bool = False


class _RtfText:
    """`layout` and `title` are the result."""

    def __init__(self) -> None:
        self.layout = Layout()
        self.title = ""
        self._group = _Group()
        self._groups: list[_Group] = []
        self._paragraph = _Paragraph()
        self._words: list[str] = []
        self._bytes = bytearray()
        self._collected: list[str] = []
        self._ignored = 0
        self._encoding = "cp1252"
        self._style = 0
        self._headings: dict[int, int] = {}
        self._marker = ""
        self._cells: list[str] = []
        self._cell: list[str] = []
        self._list = self._table = 0
        self._any_row = False
        self._words_do: dict[str, Callable[[int | None], None]] = {
            "par": lambda _: self._end_paragraph(), "sect": lambda _: self._end_paragraph(),
            "page": lambda _: self._end_paragraph(), "pard": self._plain_paragraph, "cell": self._end_cell,
            "nestcell": self._end_cell, "row": self._end_row, "nestrow": self._end_row, "s": self._set_style,
            "outlinelevel": self._set_outline, "ilvl": self._set_level, "intbl": self._set_in_table,
            "ls": self._set_listed, "uc": self._set_after_unicode, "u": self._unicode, "ansicpg": self._set_encoding,
            "v": lambda value: self._set_hidden(value != 0), "deleted": lambda value: self._set_hidden(value != 0),
            "plain": lambda _: self._set_hidden(False),
        }  # fmt: skip

    def read(self, data: bytes) -> None:
        position = 0
        while token := _TOKEN.search(data, position):
            position = token.end()
            word, number, code, sign, brace, text = token.groups()
            if word is not None:
                value = int(number) if number is not None else None
                if word == b"bin":  # so many bytes of anything
                    position += max(value or 0, 0)
                    continue
                self._control(word.decode("ascii").lower(), value)
            elif brace is not None:
                self._brace(brace == b"{")
            elif sign is not None:
                self._symbol(sign)
            elif code is not None:
                self._raw(bytes([int(code, 16)]))
            else:
                self._raw(text)
        self._end_paragraph()
        if self._cells:
            self._end_row(None)

    # Groups and control words.

    def _brace(self, opens: bool) -> None:
        self._flush()
        self._ignored = 0
        if opens:
            self._groups.append(self._group)
            return
        ended = self._group
        self._group = self._groups.pop() if self._groups else _Group()
        if ended.destination and ended.destination != self._group.destination:
            self._end_destination(ended.destination)

    def _control(self, word: str, value: int | None) -> None:
        if self._ignored and word not in ("u", "uc"):
            self._ignored -= 1
            return
        self._flush()
        if self._group.skips:
            return
        if word in _SKIPPED:
            self._group = replace(self._group, skips=True)
        elif word in ("stylesheet", "title", "listtext", "pntext", "info"):
            self._group = replace(self._group, destination=word)
            self._collected = []
        elif word in _SIGNS:
            self._add(_SIGNS[word])
        elif act := self._words_do.get(word):
            act(value)

    def _symbol(self, sign: bytes) -> None:
        if self._ignored:
            self._ignored -= 1
            return
        self._flush()
        if sign == b"*":
            self._group = replace(self._group, skips=True, destination="*")
        elif sign in (b"\r", b"\n"):
            self._end_paragraph()
        else:
            self._add(_ESCAPED.get(sign, ""))

    def _end_destination(self, destination: str) -> None:
        text = _whole_characters(self._collected)
        self._collected = []
        if destination == "title":
            self.title = " ".join(text.split())
        elif destination in ("listtext", "pntext") and not self._marker:
            self._marker = text.strip() or "•"

    def _set_style(self, value: int | None) -> None:
        if self._group.destination == "stylesheet":
            self._style = value or 0
        else:
            self._paragraph.style = value or 0

    def _set_outline(self, value: int | None) -> None:
        if self._group.destination != "stylesheet":
            self._paragraph.outline = value
        elif value is not None and value < _BODY_TEXT:
            self._headings.setdefault(self._style, value + 1)

    def _set_level(self, value: int | None) -> None:
        self._paragraph.level = max(value or 0, 0)

    def _set_in_table(self, value: int | None) -> None:
        self._paragraph.in_table = value != 0

    def _set_listed(self, value: int | None) -> None:
        self._paragraph.listed = bool(value)

    def _set_after_unicode(self, value: int | None) -> None:
        self._group = replace(self._group, after_unicode=min(max(value or 0, 0), 8))

    def _set_hidden(self, hidden: bool) -> None:
        if hidden != self._group.hidden:
            self._group = replace(self._group, hidden=hidden)

    def _set_encoding(self, value: int | None) -> None:
        with suppress(LookupError):
            self._encoding = codecs.lookup(f"cp{value}").name

    # Text.

    def _raw(self, data: bytes) -> None:
        if self._ignored:
            left = data[self._ignored :]
            self._ignored = max(self._ignored - len(data), 0)
            data = left
        if not self._group.skips and not self._group.hidden:
            self._bytes += data

    def _flush(self) -> None:
        """Bytes may be halves of characters: they are decoded when something else comes."""
        if self._bytes:
            text = self._bytes.decode(self._encoding, "replace")
            self._bytes.clear()
            self._add(text)

    def _unicode(self, value: int | None) -> None:
        if value is not None:
            self._add(chr(value % 0x10000))
        self._ignored = self._group.after_unicode

    def _add(self, text: str) -> None:
        group = self._group
        if group.skips or group.hidden or not text:
            return
        if group.destination == "stylesheet":
            name = _HEADING.match(text.strip().rstrip(";"))
            if name:
                self._headings.setdefault(self._style, int(name[1]) or 1)
            if ";" in text:
                self._style = 0
        elif group.destination in ("title", "listtext", "pntext"):
            self._collected.append(text)
        elif not group.destination:
            self._words.append(text)

    # Blocks.

    def _plain_paragraph(self, _: int | None) -> None:
        self._paragraph = _Paragraph()

    def _take(self) -> str:
        text = _whole_characters(self._words)
        self._words = []
        return text

    def _end_paragraph(self) -> None:
        self._flush()
        text = self._take().strip()
        marker, self._marker = self._marker, ""
        if not text:
            return
        about = self._paragraph
        if about.in_table:
            self._cell.append(text)
            return
        self._any_row = False
        level = about.outline + 1 if about.outline is not None else self._headings.get(about.style)
        if level is not None and 0 < level <= _BODY_TEXT:
            self._list = 0
            self.layout.add("heading", " ".join(text.split()), level=level)
        elif marker or about.listed:
            self._item(text, marker)
        else:
            self._list = 0
            self.layout.add("paragraph", text)

    def _item(self, text: str, marker: str) -> None:
        self._list = self._list or self.layout.new_group()
        sign = f"{marker} " if marker[:1].isalnum() else "- "
        self.layout.add_item(sign, text, level=self._paragraph.level, group=self._list)

    def _end_cell(self, _: int | None) -> None:
        self._cell.append(self._take().strip())
        self._marker = ""
        self._cells.append(" ".join(" ".join(self._cell).split()))
        self._cell = []

    def _end_row(self, _: int | None) -> None:
        self._list = 0
        if any(self._cells):
            if not self._any_row:
                self._table = self.layout.new_group()
            self.layout.add(
                "row" if self._any_row else "header", " | ".join(self._cells), group=self._table
            )
            self._any_row = True
        self._cells = []


def _whole_characters(parts: list[str]) -> str:
    """Halves of characters beyond the first plane come one by one."""
    return without_half_characters("".join(parts)).replace("\0", "")
