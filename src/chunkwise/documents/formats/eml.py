"""Mail (.eml): subject, sender, receivers and date, then what was written; attachments are only named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from email.policy import Compat32

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.block_builder import Layout
from chunkwise.documents.formats.html.loader import html_text
from chunkwise.documents.loader import LoadOptions, OnUnreadable, SuffixLoader
from chunkwise.documents.source import Source
from chunkwise.records.encoding import charset
from chunkwise.records.json import without_half_characters

_SHOWN = ("From", "To", "Cc", "Date")
_PARAGRAPHS = re.compile(r"\n(?:[ \t]*\n)+")
_TEXTS = ("text", "multipart")
"""What holds words: parts that name no boundary between them are one text."""
_LONGEST_HEADER = 10_000
"""Characters; the standard library takes time without bound for longer ones."""
_DEEPEST = 16
"""Mails inside a mail that are read; a hostile one may hold thousands."""


class _ShortHeaders(Compat32):
    """Reads headers as they are, each only so far."""

    def header_source_parse(self, sourcelines: Iterable[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(list(sourcelines))
        return name, value[:_LONGEST_HEADER]


class EmlLoader(SuffixLoader):
    """By suffix."""

    suffixes: tuple[str, ...] = (".eml",)

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        data = source.read(options.max_bytes)
        try:
            mail = BytesParser(policy=_ShortHeaders()).parsebytes(
                data.removeprefix(b"\xef\xbb\xbf")
            )
        except RecursionError as error:
            raise UnreadableDocument(source.origin, "its parts are nested too deeply") from error
        if not any(_header(mail, name) for name in (*_SHOWN, "Subject")):
            raise UnreadableDocument(source.origin, "not an email: no From or Subject header")
        layout = Layout()
        attachments: list[str] = []
        _add_mail(layout, mail, attachments, 1)
        if attachments:
            layout.add("paragraph", f"Attachments: {', '.join(attachments)}")
        metadata: dict[str, object] = {
            name.lower(): value for name in _SHOWN if (value := _header(mail, name))
        }
        if attachments:
            metadata["attachments"] = attachments
        yield layout.document(source, "eml", title=_header(mail, "Subject"), metadata=metadata)


def _header(mail: Message, name: str) -> str:
    """On one line; where its encoding is broken, as it stands there."""
    return _decoded(str(mail.get(name, "")))


def _decoded(value: str) -> str:
    with suppress(HeaderParseError, LookupError, ValueError):
        words = decode_header(value)
        value = str(
            make_header([(word, name and (charset(name) or "utf-8")) for word, name in words])
        )
    return without_half_characters(" ".join(value.split()))


def _add_mail(layout: Layout, mail: Message, attachments: list[str], level: int) -> None:
    layout.add("heading", _header(mail, "Subject") or "(no subject)", level=level)
    lines = [f"{name}: {value}" for name in _SHOWN if (value := _header(mail, name))]
    if lines:
        layout.add("paragraph", "\n".join(lines))
    _add_parts(layout, mail, attachments, level)


def _add_parts(layout: Layout, mail: Message, attachments: list[str], level: int) -> None:
    pending: list[Message] = [mail]
    while pending:
        part = pending.pop()
        kind = part.get_content_type()
        if kind == "message/rfc822":
            inner = _parts(part)
            if inner and level < _DEEPEST:
                _add_mail(layout, inner[0], attachments, level + 1)
        elif part.is_multipart():
            parts = _parts(part)
            shown = _best(parts) if kind == "multipart/alternative" else parts
            pending.extend(reversed(shown))
        elif (
            part.get_content_disposition() == "attachment"
            or part.get_content_maintype() not in _TEXTS
        ):
            if name := _file_name(part):
                attachments.append(name)
        else:
            _add_body(layout, part, kind)


def _parts(part: Message) -> list[Message]:
    inner = part.get_payload()
    result = inner if isinstance(inner, list) else []
    return [item for item in result if isinstance(item, Message)]


def _best(parts: list[Message]) -> list[Message]:
    """Of the forms of one text the plain one, else the last that may hold text."""
    plain = [part for part in parts if part.get_content_type() == "text/plain"]
    return plain[:1] or parts[-1:]


def _file_name(part: Message) -> str:
    try:
        return _decoded(part.get_filename() or "")
    except (LookupError, ValueError):  # an encoding nobody knows
        return ""


def _add_body(layout: Layout, part: Message, kind: str) -> None:
    text = without_half_characters(_text(part)).replace("\r\n", "\n").replace("\r", "\n")
    if kind == "text/html":
        layout.extend(html_text(text).layout)
        return
    for paragraph in _PARAGRAPHS.split(text):
        if paragraph.strip():
            layout.add("paragraph", paragraph.strip("\n").rstrip())


def _text(part: Message) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    try:
        return data.decode(charset(part.get_content_charset("utf-8")) or "utf-8", "replace")
    except (LookupError, ValueError):  # of a charset that is said in more than one part
        return data.decode("utf-8", "replace")
