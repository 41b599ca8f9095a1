"""Bytes to text, to the character: nothing is guessed and nothing replaced."""

from __future__ import annotations

import codecs

from chunkwise.errors import UnreadableDocument

# UTF-32 before UTF-16: the little-endian marks begin alike.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_BINARY = (
    (b"\xd0\xcf\x11\xe0", "an old or password-protected Office file; save it as .docx"),
    (b"PK\x03\x04", "a zip container of no known document format"),
    (b"\x89PNG", "an image; run OCR first"),
    (b"\xff\xd8\xff", "an image; run OCR first"),
    (b"GIF8", "an image; run OCR first"),
    (b"Rar!", "a rar archive; unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\x00", "a database; export it as CSV or JSONL"),
    (b"PAR1", "a Parquet file; export it as CSV or JSONL"),
)

_TEXT_CONTROLS = b"\t\n\v\f\r\x1b"
_CONTROLS = bytes(code for code in range(32) if code not in _TEXT_CONTROLS)


def marked_encoding(head: bytes) -> str | None:
    """The encoding a byte order mark declares; UTF-8 needs none."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    return None


def binary_reason(head: bytes) -> str | None:
    """Why these bytes are no text, or None when they may be."""
    if marked_encoding(head) is not None:
        return None
    if b"\0" in head or not head.isascii():  # a note about GIF89a is no image
        for magic, what in _BINARY:
            if head.startswith(magic):
                return what
    zeros = head.count(0)
    if zeros > len(head) * 0.3 and max(head[::2].count(0), head[1::2].count(0)) == zeros:
        order = "le" if head[1::2].count(0) == zeros else "be"
        return f"UTF-16 without a byte order mark? pass --encoding utf-16-{order}"
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return "a binary file" if controls > len(head) * 0.3 else None


def decode(data: bytes, origin: str, encoding: str | None = None) -> str:
    """`data.decode(...)` by the user's encoding, its byte order mark, or strict UTF-8."""
    if encoding is not None:
        return _by_name(data, origin, encoding)
    reason = binary_reason(data[:8192])
    if reason is not None:
        raise UnreadableDocument(origin, reason)
    marked = marked_encoding(data)
    if marked is not None:
        # A UTF-16 text may begin with U+0000, which looks like the mark of UTF-32.
        if marked == "utf-32-le" and len(data) % 4:
            marked = "utf-16-le"
        try:
            return data.decode(marked)
        except UnicodeDecodeError as error:
            what = f"not valid {marked.upper()} at byte {error.start}, as its byte order mark says"
            raise UnreadableDocument(origin, what) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"\0" in data:
            raise UnreadableDocument(origin, "a binary file") from error
        raise UnreadableDocument(
            origin,
            f"not valid UTF-8 at byte {error.start}; "
            "pass --encoding latin-1 if that is its encoding",
        ) from error


def _by_name(data: bytes, origin: str, encoding: str) -> str:
    try:
        text = data.decode(encoding)
        text.encode("utf-8")  # codecs such as UTF-7 can make lone surrogates, which are no text
    except UnicodeDecodeError as error:
        what = f"not valid {encoding} at byte {error.start}; pass another --encoding"
        raise UnreadableDocument(origin, what) from error
    except UnicodeError as error:
        what = f"not valid {encoding}; pass another --encoding"
        raise UnreadableDocument(origin, what) from error
    return text
