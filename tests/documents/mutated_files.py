"""Files of every format, damaged at random: the same damage for the same number."""

from __future__ import annotations

import io
import random
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from chunkwise.core import Document
from chunkwise.documents import LoadOptions
from chunkwise.documents.loader import loaders
from chunkwise.documents.reading import loaded
from chunkwise.documents.source import Source
from chunkwise.testkit.loaders import _check_document
from documents.office_files import zipped
from testkit.test_loader_contract import sample

_TAG = re.compile(rb"<[^<>]{1,400}>")
_NUMBER = re.compile(rb"\d+")
_NUMBERS = (
    b"0",
    b"-1",
    b"1",
    b"65536",
    b"4294967295",
    b"99999999999999999999",
    b"1e999",
    b"x",
    b"",
)
_MARKS = (*(bytes([each]) for each in b'<>&\0\xff"\\{}[]\n '), b"]]>", b"<!--")


@cache
def samples() -> dict[str, tuple[str, bytes]]:
    """By the loader's name a file's name and its bytes."""
    found: dict[str, tuple[str, bytes]] = {}
    with TemporaryDirectory() as folder:
        for name in loaders.builtin:
            with suppress(KeyError):
                file = sample(Path(folder), name)
                found[name] = (file.name, _timeless(file.read_bytes()))
    return found


def _timeless(data: bytes) -> bytes:
    """A zip without the times of its parts, which would make the same damage another."""
    if not data.startswith(b"PK"):
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return zipped({each: archive.read(each) for each in archive.namelist()})


def mutated(case: int, formats: tuple[str, ...] = ()) -> tuple[str, str, bytes]:
    """The loader's name, a file's name, and the file with one to four damages, of the case with this number."""
    draw = random.Random(case)
    names = formats or tuple(samples())
    loader = names[case % len(names)]
    name, data = samples()[loader]
    for _ in range(draw.randint(1, 4)):
        kinds = (*_OF_BYTES, *_OF_TEXT)
        if data.startswith(b"PK") and draw.random() < 0.8:
            data = _in_part(draw, data)  # a damage of the zip itself is seen by its sums
        else:
            data = draw.choice(kinds)(draw, data)
    return loader, name, data


def outcomes(case: int, formats: tuple[str, ...] = ()) -> Iterator[Document | str]:
    """What comes of reading it in this process: documents, and what is told."""
    _, name, data = mutated(case, formats)
    for each in loaded(Source(name, name, data=data), LoadOptions(limits="none")):
        yield each if isinstance(each, Document) else each.reason


_CLASS = re.compile(
    r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)*(?:Error|Exception)\b|object has no attribute|NoneType"
)


def checked_outcomes(case: int, formats: tuple[str, ...] = ()) -> Iterator[Document | str]:
    """The same, each held to what is promised: a document that can be cut, or one line in plain words."""
    for found in outcomes(case, formats):
        if isinstance(found, Document):
            _check_document(mutated(case, formats)[0], found)
        else:
            assert "loader failed" not in found, found
            assert not _CLASS.search(found), found
            assert "\n" not in found, found
        yield found


def _flip(draw: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 3, 20))):
        if changed:
            changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _cut_off(draw: random.Random, data: bytes) -> bytes:
    return data[: draw.randint(0, len(data))]


def _range(draw: random.Random, data: bytes) -> tuple[int, int]:
    start = draw.randint(0, len(data))
    return start, min(len(data), start + draw.choice((1, 4, 30, 300, 3000)))


def _leave_out(draw: random.Random, data: bytes) -> bytes:
    start, end = _range(draw, data)
    return data[:start] + data[end:]


def _repeat(draw: random.Random, data: bytes) -> bytes:
    start, end = _range(draw, data)
    return data[:end] + data[start:end] * draw.choice((1, 1, 10)) + data[end:]


def _insert(draw: random.Random, data: bytes) -> bytes:
    at = draw.randint(0, len(data))
    return data[:at] + draw.choice(_MARKS) * draw.choice((1, 1, 2, 100)) + data[at:]


def _other_number(draw: random.Random, data: bytes) -> bytes:
    return _replaced(draw, data, _NUMBER, lambda _: draw.choice(_NUMBERS))


def _other_tag(draw: random.Random, data: bytes) -> bytes:
    tags = _TAG.findall(data)
    return _replaced(draw, data, _TAG, lambda tag: draw.choice((b"", tag * 2, draw.choice(tags))))


def _replaced(
    draw: random.Random, data: bytes, what: re.Pattern[bytes], by: Callable[[bytes], bytes]
) -> bytes:
    found = list(what.finditer(data))
    if not found:
        return data
    place = draw.choice(found)
    return data[: place.start()] + by(place[0]) + data[place.end() :]


_OF_BYTES = (_flip, _cut_off, _leave_out, _repeat, _insert)
_OF_TEXT = (_other_number, _other_tag)


def _in_part(draw: random.Random, data: bytes) -> bytes:
    """A part of a zip damaged, lost, emptied or put in the place of another, all sums being right."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts: dict[str, str | bytes] = {
                each: archive.read(each) for each in archive.namelist()
            }
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, EOFError, OSError, KeyError):  # fmt: skip
        return draw.choice(_OF_BYTES)(draw, data)
    if not parts:
        return data
    name = draw.choice(list(parts))
    chance = draw.random()
    if chance < 0.1:
        del parts[name]
    elif chance < 0.15:
        parts[name] = b""
    elif chance < 0.2:
        parts[name] = parts[draw.choice(list(parts))]
    else:
        content = parts[name]
        assert isinstance(content, bytes)
        parts[name] = draw.choice((*_OF_BYTES, *_OF_TEXT, *_OF_TEXT))(draw, content)
    return zipped(parts)
