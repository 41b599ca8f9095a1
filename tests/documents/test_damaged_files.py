"""Files damaged at random are documents, or one line that says what is wrong with them in plain words."""

from __future__ import annotations

import io
import zipfile

import docx
import pytest

from chunkwise.base.errors import UnreadableDocument
from chunkwise.documents import LoadOptions
from chunkwise.documents.loader import loaders
from chunkwise.documents.reading import loaded
from chunkwise.documents.source import Source
from documents.mutated_files import checked_outcomes, mutated, samples
from documents.office_files import zipped
from how_many import examples
from tables import cases


def test_there_is_a_file_of_every_format_that_has_text() -> None:
    assert set(loaders.builtin) - set(samples()) == {"man", "picture"}


def test_the_same_number_is_the_same_damage() -> None:
    assert [mutated(case) for case in range(50)] == [mutated(case) for case in range(50)]
    assert len({mutated(case)[2] for case in range(500)}) > 400


@pytest.mark.unwatched
def test_a_damaged_file_is_told_in_plain_words_or_read() -> None:
    for case in range(examples(240)):
        list(checked_outcomes(case))


@cases(
    "path, content",
    [
        ("word/document.xml", None),
        ("word/document.xml", b"\xff\xfe"),
        ("word/document.xml", b"<document/>"),
        ("_rels/.rels", b"<a>"),
        ("word/styles.xml", b""),
    ],
)
def test_a_word_document_without_a_part_it_needs_is_unreadable(
    path: str, content: bytes | None
) -> None:
    out = io.BytesIO()
    docx.Document().save(out)
    with zipfile.ZipFile(out) as archive:
        parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    if content is None:
        del parts[path]
    else:
        parts[path] = content
    source = Source("a.docx", "a.docx", data=zipped(parts))
    (problem,) = loaded(source, LoadOptions(loader="docx", limits="none"))
    assert isinstance(problem, UnreadableDocument)
    assert problem.reason.startswith("damaged")
