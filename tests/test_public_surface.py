"""The public surface: the same thing has the same name in every verb, and old names work for one release."""

import importlib.util
import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.core import Document, Query
from chunkwise.options import IndexOptions, LoadOptions
from tables import cases

ROOT = Path(__file__).parents[1]
VERBS: dict[str, Callable[..., Any]] = {
    name: getattr(chunkwise, name)
    for name in chunkwise.__all__
    if inspect.isfunction(getattr(chunkwise, name))
} | {f"Index.{name}": getattr(chunkwise.Index, name) for name in ("search", "update", "export")}
TAKE_SOURCE = ("ask", "chunk", "evaluate", "generate_questions", "index", "lint", "open_index", "profile", "read",
               "tune", "Index.update")  # fmt: skip
DOCUMENTS = [
    Document(
        "keeper.md", "# Lamps\n\nThe keeper lights the lamps at dusk. He trims them at dawn.\n"
    ),
    Document("bread.md", "# Bread\n\nBread is baked before dawn. The oven is cold by noon.\n"),
]


def parameters(name: str) -> list[str]:
    return [each for each in inspect.signature(VERBS[name]).parameters if each != "self"]


@cases("name", TAKE_SOURCE)
def test_what_is_read_comes_first_and_is_called_source(name: str) -> None:
    assert parameters(name)[0] == "source"


@cases("name", VERBS)
def test_what_cannot_be_read_is_a_warning_unless_somebody_says_otherwise(name: str) -> None:
    found = inspect.signature(VERBS[name]).parameters.get("on_unreadable")
    assert found is None or found.default == "warn"


@cases("name", [*chunkwise.__all__, *(f"ext.{name}" for name in chunkwise.ext.__all__)])
def test_every_public_name_is_there_and_says_what_it_is(name: str) -> None:
    found = attrgetter(name)(chunkwise)
    assert inspect.getdoc(found)
    assert f"### chunkwise.{name}\n" in (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def test_the_page_of_the_api_is_what_the_code_says() -> None:
    spec = importlib.util.spec_from_file_location("api_page", ROOT / "scripts" / "api_page.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert module.api_page() == page, "docs/api.md is stale; run: make docs"


def made(**given: Any) -> chunkwise.Index:
    return chunkwise.index(DOCUMENTS, "sentences(max_tokens=20)", **given)


QUERIES = [Query("1", "who lights the lamps?", answer="the warden")]


@cases("queries", [["leave"], 3, [None]])
def test_what_is_no_question_is_told_with_what_would_be_one(queries: Any) -> None:
    documents = [chunkwise.Document("a", "Leave is asked for in writing.")]
    for verb in (chunkwise.evaluate, chunkwise.tune):
        with pytest.raises(chunkwise.ChunkwiseError, match=r"Query"):
            verb(documents, queries)  # type: ignore[operator]


def test_results_as_a_dict_are_what_the_file_holds(tmp_path: Path) -> None:
    documents = [chunkwise.Document("a", "Leave is asked for in writing.")]
    query = chunkwise.Query("1", "leave", (chunkwise.Reference("a", 0, 5),))
    results = chunkwise.evaluate(
        documents, [query], retriever="bm25", index=IndexOptions(vectors="none")
    )
    kept, dumped = tmp_path / "kept.json", tmp_path / "dumped.json"
    results.save(kept)
    dumped.write_text(json.dumps(results.to_dict()), "utf-8")
    assert chunkwise.read_results(dumped) == chunkwise.read_results(kept) == results


def test_dir_has_public_names_alone() -> None:
    assert dir(chunkwise) == sorted([*chunkwise.__all__, "__version__", "ext", "options"])


def test_lists_of_files_are_lists() -> None:
    with pytest.raises(
        chunkwise.ChunkwiseError, match=r"leave_out is 'out\.jsonl'; expected a list of paths"
    ):
        chunkwise.options.LoadOptions(leave_out="out.jsonl")


def test_files_that_are_left_out_are_no_documents_of_any_verb(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Leave is asked for in writing.", encoding="utf-8")
    written = tmp_path / "out.md"
    written.write_text("Written by the caller.", encoding="utf-8")
    options = chunkwise.options.LoadOptions(leave_out=[str(written)])
    assert {each.doc_id for each in chunkwise.chunk(tmp_path, options=options)} == {"a.md"}
    assert {each.doc_id for each in chunkwise.chunk(tmp_path, options=options, jobs=2)} == {"a.md"}
    assert [each.id for each in chunkwise.read(tmp_path, options)] == ["a.md"]
    assert len(chunkwise.index(tmp_path, options=options, vectors="none")) == 1
    assert chunkwise.lint(tmp_path, options=options).documents == 1
    assert chunkwise.profile(tmp_path, options=options).total.documents == 1


def test_tune_tells_its_listeners() -> None:
    stages: list[str] = []
    documents: list[Document] = []

    @contextmanager
    def stage(name: str, steps: int) -> Iterator[Callable[[int, str], None]]:
        stages.append(name)
        yield lambda amount, note: None

    listeners = chunkwise.options.Listeners(on_documents=documents.extend, stages=stage)
    chunkwise.tune(DOCUMENTS, embedder="", listeners=listeners)
    assert stages
    assert [each.id for each in documents] == ["bread.md", "keeper.md"]


def no_file() -> list[Callable[[], object]]:
    text = "some text that is no file"
    return [
        lambda: chunkwise.evaluate(DOCUMENTS, text),
        lambda: chunkwise.evaluate(made(vectors="none"), text),
        lambda: chunkwise.tune(DOCUMENTS, text),
    ]


@cases("call", no_file())
def test_a_text_where_questions_are_needed_is_told_with_what_is_needed(
    call: Callable[[], object],
) -> None:
    with pytest.raises(chunkwise.ChunkwiseError) as told:
        call()
    line = str(told.value)
    assert "\n" not in line
    assert line.startswith("'some text that is no file' doesn't exist; ")
    assert "Query" in line


@cases("queries", [None, 3, b"lamps", {"a": "lamps"}, Query("1", "lamps")])
def test_what_cannot_be_searched_is_told_in_a_line(queries: Any) -> None:
    with pytest.raises(
        chunkwise.ChunkwiseError,
        match=r"^queries is .*; expected a str, or a list of str and Query values",
    ):
        made(vectors="none").search(queries)


def test_a_dict_is_no_source() -> None:
    with pytest.raises(chunkwise.ChunkwiseError, match=r"source is dict; expected the path"):
        list(chunkwise.chunk({"a.md": "A text."}))


@cases("text", [None, b"bytes", 3])
def test_a_document_without_a_text_is_refused(text: Any) -> None:
    with pytest.raises(
        chunkwise.ChunkwiseError, match=r"the text of the document 'a' is .*; expected a str"
    ):
        chunkwise.Document("a", text)


@cases("id", [None, 3, b"a"])
def test_a_document_without_an_id_is_refused(id: Any) -> None:
    with pytest.raises(
        chunkwise.ChunkwiseError, match=r"the id of a document is .*; expected a str"
    ):
        chunkwise.Document(id, "A text.")


def test_all_that_cannot_be_read_is_an_error_unless_somebody_takes_it() -> None:
    class Whole:
        def split(self, document: chunkwise.ext.Analyzed) -> list[chunkwise.Span]:
            return [chunkwise.Span(0, len(document.text))]

    for strategy in ("structure", Whole()):
        told: list[chunkwise.ext.UnreadableDocument] = []
        for how in ("warn", "raise"):
            with pytest.raises(chunkwise.ext.UnreadableDocument, match=r"missing\.md"):
                list(
                    chunkwise.chunk("missing.md", strategy, options=LoadOptions(on_unreadable=how))
                )  # type: ignore[arg-type]
        assert (
            list(
                chunkwise.chunk(
                    "missing.md", strategy, options=LoadOptions(on_unreadable=told.append)
                )
            )
            == []
        )
        assert [str(each) for each in told] == ["missing.md: no such file or folder"]


def test_every_value_a_verb_gives_is_on_the_page() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for name in (
        "Changes", "ChunkVectors", "CutCounts", "Figure", "GeneratedQuestions", "IndexStats", "QuestionResult",
        "Recommendation", "Settings", "SweepResult",
    ):  # fmt: skip
        assert f"\n### {name}\n" in page
