"""Files damaged at random are documents, or one line that says what is wrong with them in plain words."""

from __future__ import annotations

import io
import zipfile

import docx
import pytest

from chunkwise.documents import LoadOptions
from chunkwise.documents.loader import loaders
from chunkwise.documents.reading import loaded
from chunkwise.documents.source import Source
from documents.mutated_files import checked_outcomes, mutated, samples
from documents.office_files import zipped
from how_many import examples
from tables import cases


def test_there_is_a_file_of_every_format_that_has_text() -> None:
    assert set(loaders.builtin) - set(samples()) == {"picture"}


def test_the_same_number_is_the_same_damage() -> None:
    assert [mutated(case) for case in range(50)] == [mutated(case) for case in range(50)]
    assert len({mutated(case)[2] for case in range(500)}) > 400


@pytest.mark.unwatched
def test_a_damaged_file_is_told_in_plain_words_or_read() -> None:
    for case in range(examples(240)):
        list(checked_outcomes(case))


_DAMAGES = {
    "no 'word/document.xml' in it": ("word/document.xml", None),
    "no '[Content_Types].xml' in it": ("[Content_Types].xml", None),
    "'_rels/.rels' is not XML (": ("_rels/.rels", b"<a>"),
    "'word/document.xml' is not XML (": ("word/document.xml", b"\xff\xfe"),
    "'word/document.xml' holds <other>, not <document>": ("word/document.xml", b"<other/>"),
    "'docProps/core.xml' holds <other>, not <coreProperties>": ("docProps/core.xml", b"<other/>"),
    "'word/document.xml' is of another namespace than http": (
        "word/document.xml",
        b"<document/>",
    ),
    "'word/styles.xml' is not XML (": ("word/styles.xml", b""),
}


@cases("told", _DAMAGES)
def test_a_word_document_says_which_of_its_parts_is_damaged(told: str) -> None:
    out = io.BytesIO()
    docx.Document().save(out)
    with zipfile.ZipFile(out) as archive:
        parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    path, content = _DAMAGES[told]
    if content is None:
        del parts[path]
    else:
        parts[path] = content
    source = Source("a.docx", "a.docx", data=zipped(parts))
    (problem,) = loaded(source, LoadOptions(loader="docx", limits="none"))
    assert str(problem).startswith(f"a.docx: damaged, or no Word document: {told}")
