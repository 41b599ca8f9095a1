"""Text in pictures, by a command or a function of the user's own: the one place where another program is started."""

from __future__ import annotations

import shlex
import struct
import subprocess
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from chunkwise.base.atomic_files import scratch_folder
from chunkwise.base.errors import InvalidParameter, UnreadableDocument

if TYPE_CHECKING:
    import pypdfium2

Ocr = str | Callable[[bytes], str]
"""A command, `{}` in it the path of the picture (without one it comes on standard input) and its text on standard
output; or a function that takes the bytes of a picture and returns its text."""

EXAMPLE = "--ocr 'tesseract {} -'"
_SECONDS = 600
_DOTS_PER_INCH = 300
_POINTS_PER_INCH = 72
_MOST_DOTS = 40_000_000
"""Of one page; a larger one is drawn coarser."""


def check_ocr(ocr: Ocr) -> None:
    """Refuse what can be neither a command nor a function."""
    if callable(ocr):
        return
    try:
        words = shlex.split(ocr)
    except ValueError as error:
        raise InvalidParameter(f"ocr is {ocr!r}, which isn't a command: {error}") from error
    if not words:
        raise InvalidParameter(f"ocr is empty; expected a command such as {EXAMPLE}, or a function")


def recognized(picture: bytes, suffix: str, ocr: Ocr, origin: str) -> str:
    """The text of a picture; `suffix` tells a command what kind of file it gets."""
    if callable(ocr):
        text = ocr(picture)
        if not isinstance(text, str):
            raise InvalidParameter(
                f"ocr returned {type(text).__name__}; expected the text of the image"
            )
        return text
    words = shlex.split(ocr)
    if not any("{}" in word for word in words):
        return _output(words, origin, picture)
    with scratch_folder() as folder:
        path = folder / f"picture{suffix}"
        path.write_bytes(picture)
        return _output([word.replace("{}", str(path)) for word in words], origin)


def _output(words: Sequence[str], origin: str, data: bytes = b"") -> str:
    """What a program writes; no shell reads its words."""
    try:
        done = subprocess.run(words, input=data, capture_output=True, timeout=_SECONDS, check=False)
    except FileNotFoundError as error:
        raise UnreadableDocument(origin, f"the OCR command {words[0]!r} isn't installed") from error
    except OSError as error:
        raise UnreadableDocument(
            origin, f"cannot run the OCR command {words[0]!r}: {error.strerror}"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise UnreadableDocument(
            origin, f"the OCR command took more than {_SECONDS} seconds"
        ) from error
    if done.returncode:
        texts = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = f": {texts[-1].strip()[:200]}" if texts else ""
        raise UnreadableDocument(
            origin, f"the OCR command exited with status {done.returncode}{why}"
        )
    return done.stdout.decode("utf-8", "replace").replace("\f", "\n").strip()


def recognized_pages(
    pdf: pypdfium2.PdfDocument, texts: Sequence[str], ocr: Ocr, origin: str
) -> list[str]:
    """The texts of pages, those without one read from their pictures."""
    pages = list(texts)
    for number, text in enumerate(texts):
        if text.strip():
            continue
        try:
            pages[number] = recognized(_drawn(pdf, number), ".png", ocr, origin)
        except UnreadableDocument as error:
            raise UnreadableDocument(origin, f"page {number + 1}: {error.reason}") from error
    return pages


def _drawn(pdf: pypdfium2.PdfDocument, number: int) -> bytes:
    page = pdf[number]
    try:
        width, height = page.get_size()
        scale = _DOTS_PER_INCH / _POINTS_PER_INCH
        scale = min(scale, (_MOST_DOTS / max(width * height, 1)) ** 0.5)
        bitmap = page.render(scale=scale, grayscale=True)
        try:
            return png(bytes(bitmap.buffer), bitmap.width, bitmap.height, bitmap.stride)
        finally:
            bitmap.close()
    finally:
        page.close()


def page_picture(
    data: bytes, number: int, ask: object
) -> Iterator[tuple[bytes, float, float] | None]:
    """A page of a PDF as a PNG with its size in points; None: there is no such page, or it cannot be drawn."""
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(data)
        try:
            width, height = pdf[number].get_size()
            yield _drawn(pdf, number), width, height
        finally:
            pdf.close()
    except (pypdfium2.PdfiumError, IndexError, KeyError):
        yield None


def png(dots: bytes, width: int, height: int, stride: int) -> bytes:
    """A picture in grey, a byte a dot, `stride` bytes a line."""
    lines = b"".join(b"\0" + dots[at * stride : at * stride + width] for at in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
