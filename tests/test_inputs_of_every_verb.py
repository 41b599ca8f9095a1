"""Every verb takes the same inputs, reads the same documents from them, and says the same of what cannot be read."""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnreadableDocument
from chunkwise.chunkers.chunk import Chunked
from chunkwise.cli.testset import named_documents
from chunkwise.core import Document, Query
from chunkwise.documents import Inputs, LoadOptions
from chunkwise.evaluation.lint import lint_subject
from chunkwise.profiling import profile
from tables import cases

Told = Callable[[UnreadableDocument], None]
Texts = dict[str, str]

ASKED = [Query("1", "How many days of leave?", answer="Thirty")]


def _texts(documents: Any) -> Texts:
    return {document.id: document.text for document in documents}


def _read(source: Inputs, told: Told) -> Texts:
    return _texts(chunkwise.read(source, options=LoadOptions(on_unreadable=told)))


def _chunk(source: Inputs, told: Told) -> Texts:
    return _texts(
        chunk.document for chunk in chunkwise.chunk(source, options=LoadOptions(on_unreadable=told))
    )


def _index(source: Inputs, told: Told) -> Texts:
    made = chunkwise.index(source, vectors="none", options=LoadOptions(on_unreadable=told))
    return _texts(map(made.source.document, made.source.document_numbers()))


def _update(source: Inputs, told: Told) -> Texts:
    made = chunkwise.index(Document("old", "Old text."), vectors="none")
    made.update(source, options=LoadOptions(on_unreadable=told))
    return _texts(map(made.source.document, made.source.document_numbers()))


def _evaluate(source: Inputs, told: Told) -> Texts:
    documents: list[Document] = []
    chunkwise.evaluate(
        source,
        ASKED,
        retriever="bm25",
        listeners=chunkwise.options.Listeners(on_documents=documents.extend),
        options=LoadOptions(on_unreadable=told),
    )
    return _texts(documents)


def _evaluate_hits(source: Inputs, told: Told) -> Texts:
    documents: list[Document] = []
    hits = Path("hits.trec")
    hits.write_text("1 Q0 a.md 1 1.0 run\n")
    chunkwise.evaluate(
        source,
        ASKED,
        hits=hits,
        listeners=chunkwise.options.Listeners(
            on_documents=documents.extend, on_bad=lambda line: None
        ),
        options=LoadOptions(on_unreadable=told),
    )
    return _texts(documents)


def _testset(source: Inputs, told: Told) -> Texts:
    return _texts(named_documents(source, LoadOptions(on_unreadable=told)))  # type: ignore[arg-type]


def _lint(source: Inputs, told: Told) -> Texts:
    given = lint_subject(source)
    found = []
    for outcome in given.outcomes:
        if isinstance(outcome, Chunked):
            found.append(outcome.document)
        else:
            told(outcome)
    return _texts(found)


VERBS = [_read, _chunk, _index, _update, _evaluate, _evaluate_hits, _testset, _lint]
COMMANDS = (_testset,)
"""Takes names alone, as a command line does."""


def _generate(source: Inputs, told: Told) -> None:
    chunkwise.generate_questions(source, 1, options=LoadOptions(on_unreadable=told))


def _tune(source: Inputs, told: Told) -> None:
    chunkwise.tune(source, embedder="", options=LoadOptions(on_unreadable=told))


def _profile(source: Inputs, told: Told) -> None:
    profile(source, options=LoadOptions(on_unreadable=told))


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with every kind of thing that may lie in one."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    files: dict[str, bytes] = {
        "a.md": b"# Leave\n\nEvery employee has thirty days of leave.\n",
        "sub/a.md": b"# Hours\n\nThe house opens at ten.\n",
        "rows.jsonl": b'{"id": "r1", "text": "A record."}\n{broken\n{"id": "r1", "text": "Again."}\n',
        "rows.json": json.dumps([{"id": "r1", "text": "The same id elsewhere."}, 5]).encode(),
        "rows.csv": b"id,text\n1,A row.\n2,Too,many\n",
        "empty.txt": b"",
        "blank.txt": b" \n",
        "latin.txt": b"gr\xfc\xdfe",
        "broken.json": b'[{"text": ',
        "binary.xyz": bytes(range(32)) * 20,
        "broken.pdf": b"%PDF-1.4\nnothing",
        "queries.json": json.dumps([{"query": "When?", "relevant_text": "at ten"}]).encode(),
        "results.json": b'{"format": "chunkwise results", "version": 1}',
        "page.html": b'<!doctype html><meta name="generator" content="chunkwise"><p>Ours.</p>',
        ".hidden.md": b"Hidden.",
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    with zipfile.ZipFile(folder / "more.zip", "w") as archive:
        archive.writestr("inside.md", "Inside an archive.")
        archive.writestr("../outside.md", "Outside.")
        archive.writestr("inner.zip", b"PK\x03\x04")
    (folder / "bad.zip").write_bytes(b"PK\x03\x04 and no more")
    os.symlink("loop", folder / "loop")
    os.symlink(tmp_path, folder / "above")
    os.mkfifo(folder / "pipe")
    list(chunkwise.chunk(folder / "a.md"))
    with (folder / "chunks.jsonl").open("w") as out:
        row = dict.fromkeys("id doc_id index start end text token_count strategy".split(), 1)
        out.write(json.dumps(row) + "\n")
    chunkwise.index(folder / "a.md", into=folder / "kb", vectors="none")
    return folder


def _inputs(folder: Path) -> dict[str, Any]:
    given = Document("a.md", "A document that is there already.", source="memory")
    return {
        "a folder": folder,
        "a file": str(folder / "a.md"),
        "a pattern": str(folder / "**/*.md"),
        "an archive": folder / "more.zip",
        "several": [str(folder / "sub"), str(folder / "a.md"), str(folder / "rows.jsonl")],
        "twice": [str(folder), str(folder / "a.md")],
        "some that are not there": [str(folder / "a.md"), "nowhere", "no/*.md", "nul\0"],
        "a document": given,
        "documents": [given, Document("a.md", "Another of its name.")],
        "all sorts": [str(folder / "a.md"), given, folder / "rows.json", "nowhere"],
        "a generator": (each for each in [folder / "a.md", given]),
    }


NAMES = list(_inputs(Path()))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("verb", VERBS[1:])
def test_every_verb_reads_the_same_documents_and_misses_the_same(
    corpus: Path, verb: Callable[[Any, Told], Texts], name: str
) -> None:
    source = _inputs(corpus)[name]
    given = [source] if isinstance(source, str | os.PathLike | Document) else list(source)
    if verb in COMMANDS:
        given = [str(each) for each in given if not isinstance(each, Document)]
        if not given:
            return
        source = given
    expected: list[str] = []
    missed: list[str] = []
    # Evaluations read by name, so that it does not matter how files are listed.
    by_name = verb in (_evaluate, _evaluate_hits)
    in_order = sorted(given, key=lambda each: getattr(each, "id", None) or os.fspath(each))
    read = _read(in_order if by_name else given, lambda problem: expected.append(str(problem)))
    source = source if verb in COMMANDS else _inputs(corpus)[name]  # a generator is used up
    found = verb(source, lambda problem: missed.append(str(problem)))
    assert missed == expected
    assert found == read
    assert read


@cases("verb", [_generate, _tune, _profile])
def test_verbs_that_show_no_documents_miss_the_same(
    corpus: Path, verb: Callable[[Any, Told], None]
) -> None:
    expected: list[str] = []
    missed: list[str] = []
    source = [Document("d", "Leave is thirty days. " * 20), corpus.name, "nowhere"]
    _read(source, lambda problem: expected.append(str(problem)))
    verb(source, lambda problem: missed.append(str(problem)))
    assert sorted(missed) == sorted(expected)
    assert len(missed) > 10


@pytest.mark.usefixtures("processes")
def test_several_processes_read_the_same(corpus: Path) -> None:
    source = [corpus, Document("a.md", "There already."), "nowhere"]
    runs = []
    for jobs in (1, 2):
        missed: list[str] = []
        chunks = chunkwise.chunk(
            source,
            jobs=jobs,
            options=LoadOptions(on_unreadable=lambda problem, out=missed: out.append(str(problem))),
        )
        runs.append((list(chunks), missed))
    assert runs[0] == runs[1]


@pytest.mark.parametrize("verb", VERBS)
def test_standard_input_is_read_by_every_verb(
    corpus: Path, verb: Callable[[Any, Told], Texts], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Piped text.")))
    missed: list[UnreadableDocument] = []
    found = verb(["-", str(corpus / "a.md")], missed.append)
    assert found["stdin"] == "Piped text."
    assert missed == []


@cases("verb", VERBS)
def test_an_index_that_is_named_alone(corpus: Path, verb: Callable[[Any, Told], Texts]) -> None:
    takes_one = verb in (_evaluate, _evaluate_hits, _testset, _lint)
    missed: list[str] = []

    def told(problem: UnreadableDocument) -> None:
        missed.append(problem.reason)

    if takes_one:
        assert list(verb([str(corpus / "kb")], told)) == ["a.md"]
        assert missed == []
    else:
        found = verb([str(corpus / "kb"), str(corpus / "sub")], told)
        assert list(found) == ["a.md"]
        assert missed == ["a chunkwise index, not documents; give the documents instead"]


PYTHON: list[Callable[..., Any]] = [
    lambda source, options=LoadOptions(): list(chunkwise.read(source, options=options)),
    lambda source, options=LoadOptions(): list(chunkwise.chunk(source, options=options)),
    lambda source, options=LoadOptions(): chunkwise.index(source, vectors="none", options=options),
    lambda source, options=LoadOptions(): chunkwise.evaluate(
        source, ASKED, retriever="bm25", options=options
    ),
    lambda source, options=LoadOptions(): chunkwise.generate_questions(source, 1, options=options),
    lambda source, options=LoadOptions(): chunkwise.tune(source, embedder="", options=options),
    lambda source, options=LoadOptions(): profile(source, options=options),
]


@pytest.mark.parametrize("verb", [chunkwise.read, chunkwise.chunk])
def test_a_text_that_is_no_path_is_told_at_once(tmp_path: Path, verb: Callable[..., Any]) -> None:
    """Both give an iterator, which nobody may go through."""
    with pytest.raises(UnreadableDocument, match="for a string, use chunkwise"):
        verb("some text that is no path")
    (tmp_path / "my notes.md").write_text("# Notes\n\nA note.\n", encoding="utf-8")
    assert next(iter(verb(str(tmp_path / "my notes.md"))))
    assert next(iter(verb(str(tmp_path / "my *.md"))))
    told: list[object] = []
    assert (
        list(verb("some text that is no path", options=LoadOptions(on_unreadable=told.append)))
        == []
    )
    assert len(told) == 1


@cases("verb", PYTHON)
def test_the_default_is_a_warning_and_the_rest_goes_on(
    tmp_path: Path, verb: Callable[..., Any]
) -> None:
    (tmp_path / "a.md").write_text("# Leave\n\nLeave is a right. Leave is 30 days long.\n")
    (tmp_path / "z.txt").write_bytes(b"")
    with pytest.warns(UserWarning, match=r"z\.txt: empty"):
        verb(tmp_path)
    with pytest.raises(ChunkwiseError, match=r"z\.txt: empty"):
        verb(tmp_path, options=LoadOptions(on_unreadable="raise"))
    verb(tmp_path, options=LoadOptions(on_unreadable="ignore"))
    with pytest.raises(InvalidParameter, match="on_unreadable is 'skip'; allowed: 'warn'"):
        verb(tmp_path, options=LoadOptions(on_unreadable="skip"))


@pytest.mark.filterwarnings("ignore:nowhere")
@pytest.mark.parametrize("verb", PYTHON)
def test_where_nothing_can_be_read_it_is_an_error(verb: Callable[..., Any]) -> None:
    with pytest.raises(ChunkwiseError):
        verb("nowhere")


@cases("verb", PYTHON[:3])
@cases("text", ["Every employee has thirty days.", "One line.\nAnother line.", "long " * 2000])
def test_a_text_that_is_no_path_is_told_who_takes_texts(
    verb: Callable[..., Any], text: str
) -> None:
    with pytest.raises(UnreadableDocument) as raised:
        verb(text)
    said = str(raised.value)
    assert "no such file or folder; for a string, use chunkwise.chunk_text" in said
    assert "chunkwise.Document" in said
    assert "\n" not in said
    assert len(said) < 250


@cases("verb", PYTHON)
@cases("given", [5, b"a.md", None, [b"a.md"], ["README.md", 5]])
def test_what_can_be_no_input_is_told_what_is_one(verb: Callable[..., Any], given: object) -> None:
    with pytest.raises(
        InvalidParameter, match="expected the path of a file, folder or archive, a glob, a URL"
    ):
        verb(given)
