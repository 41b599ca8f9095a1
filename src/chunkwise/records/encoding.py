"""Bytes to text, to the character: nothing is guessed and nothing replaced."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from chunkwise.base.errors import UnreadableDocument

# UTF-32 before UTF-16: the little-endian marks begin alike.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_BINARY = (
    (b"\xd0\xcf\x11\xe0", "an old or password-protected Office file; save it as .docx"),
    (b"PK\x03\x04", "a zip container of an unknown format"),
    (b"\x89PNG", "an image; run OCR first"),
    (b"\xff\xd8\xff", "an image; run OCR first"),
    (b"GIF8", "an image; run OCR first"),
    (b"Rar!", "a rar archive; unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\x00", "a database; export it as CSV or JSONL"),
    (b"PAR1", "a Parquet file; export it as CSV or JSONL"),
)

# Encodings of seven bits are valid UTF-8 always; each leaves ASCII by a sign of its own.
_SHIFTS = {"iso2022": b"\x1b", "hz": b"~{", "utf-7": b"+"}

_OF_PYTHON = frozenset("idna mbcs oem punycode raw-unicode-escape undefined unicode-escape".split())
"""What Python alone calls an encoding of texts; some of them take quadratic time."""

_TEXT_CONTROLS = b"\t\n\v\f\r\x1b"
_CONTROLS = bytes(code for code in range(32) if code not in _TEXT_CONTROLS)


def marked_encoding(head: bytes) -> str | None:
    """The encoding a byte order mark declares; UTF-8 needs none."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    return None


def _foreign(head: bytes) -> str | None:
    """What a file is by its first bytes."""
    if b"\0" in head or not head.isascii():  # a note about GIF89a is no image
        for magic, what in _BINARY:
            if head.startswith(magic):
                return what
    return None


def _option(encoding: str) -> str:
    """As it is written on the command line, and in Python."""
    return f"--encoding {encoding} (LoadOptions(encoding={encoding!r}) in Python)"


def wide_encoding(head: bytes) -> str | None:
    """The encoding of a text whose every other byte is zero, and that has no byte order mark to say so."""
    zeros = head.count(0)
    if zeros <= len(head) * 0.3:
        return None
    if head[1::2].count(0) == zeros:
        return "UTF-16-LE"
    return "UTF-16-BE" if head[::2].count(0) == zeros else None


def _unlike_text(head: bytes) -> str | None:
    if encoding := wide_encoding(head):
        return f"maybe UTF-16 without a byte order mark: pass {_option(encoding.lower())}"
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return "a binary file" if controls > len(head) * 0.3 else None


def decode(data: bytes, origin: str, encoding: str | None = None) -> str:
    """Text by its byte order mark, else strict UTF-8, else the encoding the user named."""
    marked = marked_encoding(data)
    if marked is not None:
        return _by_mark(data, origin, marked)
    head = data[:8192]
    wide = encoding is not None and _is_wide(encoding)
    # UTF-16 and UTF-32 look binary, and are valid UTF-8 where they hold nothing but ASCII.
    reason = _foreign(head) or _unlike_text(head)
    if reason is not None and not (wide and _foreign(head) is None):
        raise UnreadableDocument(origin, reason)
    if encoding is not None and (reason is not None or _is_shifted(data, encoding)):
        return _by_name(data, origin, encoding)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"\0" in data and not wide:
            raise UnreadableDocument(origin, "a binary file") from error
        if encoding is not None and not _is_utf8(encoding):
            return _by_name(data, origin, encoding)
        why = (
            f"not valid UTF-8 at byte {error.start}; pass its encoding, such as {_option('cp1252')}"
        )
        raise UnreadableDocument(origin, why) from error


_PIECE = 1 << 20


class TextSize(NamedTuple):
    """How long a text is."""

    characters: int = 0
    bytes: int = 0
    """In UTF-8."""

    @classmethod
    def of(cls, text: str) -> TextSize:
        return cls(len(text), len(text.encode("utf-8", "surrogatepass")))

    def plus(self, other: TextSize) -> TextSize:
        return TextSize(self.characters + other.characters, self.bytes + other.bytes)

    def minus(self, other: TextSize) -> TextSize:
        return TextSize(self.characters - other.characters, self.bytes - other.bytes)


class StreamedEncoding(NamedTuple):
    """The encoding of a file that was read once for it, and what was seen on the way."""

    name: str
    size: TextSize


def streamed_encoding(
    open: Callable[[], BinaryIO], named: str | None = None
) -> StreamedEncoding | None:
    """What `decode` would choose for a file, read piece by piece; None: that takes the whole, or it is no text."""
    with open() as file:
        marked = marked_encoding(file.read(4))
    if marked is not None:
        return _in(open, marked) if marked != "utf-32-le" else None
    # ASCII in 16 or 32 bits is valid UTF-8, too.
    if named is not None and (_is_wide(named) or _codec(named) in _SHIFTS):
        return None
    if (encoding := _in(open, "utf-8")) is not None:
        return encoding
    other = named is not None and not _is_utf8(named)
    return _in(open, named, without="\0") if named is not None and other else None


def _in(open: Callable[[], BinaryIO], encoding: str, without: str = "") -> StreamedEncoding | None:
    """The encoding, where a file is valid in it and holds nothing of `without`."""
    size = TextSize()
    try:
        with open() as file:
            for text in decoded(file, encoding):
                if without and without in text:
                    return None
                size = size.plus(TextSize.of(text))
    except UnicodeError:
        return None
    return StreamedEncoding(encoding, size)


def decoded(file: BinaryIO, encoding: str) -> Iterator[str]:
    """The text of a file piece by piece; what is not valid is a `UnicodeError`."""
    decoder = codecs.getincrementaldecoder(encoding)()
    while piece := file.read(_PIECE):
        yield decoder.decode(piece)
    yield decoder.decode(b"", True)


def charset(name: str) -> str | None:
    """The encoding that a file names as its own; None where texts are in no such encoding."""
    try:
        "".encode(name)  # a lookup alone knows base64, too
        text = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    return None if text.replace("_", "-") in _OF_PYTHON else text


def extends_ascii(encoding: str) -> bool:
    """Whether ASCII bytes always mean themselves, so that lines can be told before decoding."""
    if _codec(encoding) in _SHIFTS:
        return False
    ascii = bytes(range(1, 128))
    return ascii.decode(encoding, "replace") == ascii.decode("ascii")


def _codec(encoding: str) -> str:
    """`iso2022` of all its kinds, else the name Python knows an encoding by."""
    name = codecs.lookup(encoding).name
    return "iso2022" if name.startswith("iso2022") else name


def _is_utf8(encoding: str) -> bool:
    return _codec(encoding) == "utf-8"


def _is_wide(encoding: str) -> bool:
    return _codec(encoding).startswith(("utf-16", "utf-32"))


def _is_shifted(data: bytes, encoding: str) -> bool:
    """Whether ASCII bytes hold the sign by which such an encoding leaves ASCII."""
    shift = _SHIFTS.get(_codec(encoding))
    return shift is not None and shift in data and data.isascii()


def _by_mark(data: bytes, origin: str, marked: str) -> str:
    # A UTF-16 text may begin with U+0000, which looks like the mark of UTF-32.
    if marked == "utf-32-le" and len(data) % 4:
        marked = "utf-16-le"
    try:
        return data.decode(marked)
    except UnicodeDecodeError as error:
        what = f"not valid {marked.upper()} at byte {error.start}, despite its byte order mark"
        raise UnreadableDocument(origin, what) from error


def _by_name(data: bytes, origin: str, encoding: str) -> str:
    try:
        text = data.decode(encoding)
        text.encode("utf-8")  # codecs such as UTF-7 can make lone surrogates, which are no text
    except UnicodeDecodeError as error:
        what = f"not valid {encoding} at byte {error.start}; pass another encoding"
        raise UnreadableDocument(origin, what) from error
    except UnicodeError as error:
        what = f"not valid {encoding}; pass another encoding"
        raise UnreadableDocument(origin, what) from error
    return text
