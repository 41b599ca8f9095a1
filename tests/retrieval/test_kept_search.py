"""An index keeps how it is searched; whoever searches it may say otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

import chunkwise
from chunkwise.base.errors import InvalidOption, NotAllowed, UnknownName
from chunkwise.base.own_files import INDEX_FILE
from chunkwise.core import Document
from chunkwise.mcp_server.search_tools import search as search_tool
from chunkwise.mcp_server.workspace import ToolCall, Workspace, WorkspaceSources
from chunkwise.options import IndexOptions, RankingOptions, SearchOptions

TEXT = "Leave is approved by the head.\n\n" * 4
DOCUMENTS = [Document(f"{name}.md", f"# {name}\n\n{TEXT}") for name in "abcdef"]
KEPT = RankingOptions(retriever="bm25(k1=0.5)", k=3, min_score=0.0)


def made(place: str | None, search: RankingOptions | None = KEPT) -> chunkwise.Index:
    settings = IndexOptions(strategy="sentences", vectors="none", search=search)
    return chunkwise.index(DOCUMENTS, into=place, settings=settings)


@pytest.fixture(params=["memory", "folder", "lancedb"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    return {
        "memory": None,
        "folder": str(tmp_path / "kb"),
        "lancedb": f"lancedb://{tmp_path}/kb",
    }[request.param]


def test_searches_take_what_is_kept_unless_it_is_given(place: str | None) -> None:
    index = made(place)
    if place is not None:
        index = chunkwise.open_index(place)
    assert index.settings.search == KEPT
    assert len(index.search("leave")) == 3
    assert len(index.search("leave", k=2)) == 2
    # A budget takes the place of k.
    assert sum(hit.token_count for hit in index.search("leave", budget=20)) <= 20
    assert index.search("leave", options=SearchOptions(min_score=99.0)) == []
    # With its own retriever nothing else of the ranking stays, only how much is wanted.
    assert len(index.search("leave", retriever="bm25")) == 3


def test_what_is_kept_changes_without_touching_a_document(place: str | None) -> None:
    if place is None:
        pytest.skip("an index in memory is made once")
    made(place)
    again = made(place, RankingOptions(budget=40))
    assert again.changes is not None
    assert again.changes.unchanged == len(DOCUMENTS)
    assert again.settings.search == RankingOptions(
        retriever="bm25(k1=0.5)", budget=40, min_score=0.0
    )
    assert chunkwise.open_index(place).settings.search == again.settings.search
    assert made(place, None).settings.search == again.settings.search


def test_evaluation_and_assistants_search_as_the_index_says(tmp_path: Path) -> None:
    made(str(tmp_path / "kb"))
    questions = [
        {"query": "who approves leave?", "references": [{"doc_id": "a.md", "start": 5, "end": 20}]}
    ]
    results = chunkwise.evaluate(str(tmp_path / "kb"), questions, metrics=["recall"])
    assert results.configuration["retriever"] == "bm25(k1=0.5)"
    assert len(results.questions[0].hits) == 3
    workspace = Workspace(WorkspaceSources(index=str(tmp_path / "kb")))
    found = search_tool(workspace, ToolCall(), "leave")
    assert len(found.values.passages) == 3


@pytest.mark.parametrize("name", ["retriever", "reranker"])
def test_parts_are_kept_by_name_alone(name: str) -> None:
    with pytest.raises(InvalidOption) as refused:
        made(None, RankingOptions(**{name: object()}))
    assert refused.value.field == name


def test_a_wrong_retriever_is_refused_before_any_work() -> None:
    with pytest.raises(UnknownName):
        made(None, RankingOptions(retriever="bm52"))


def test_code_that_only_an_index_names_is_not_run(tmp_path: Path) -> None:
    made(str(tmp_path / "kb"))
    manifest = tmp_path / "kb" / INDEX_FILE
    text = manifest.read_text("utf-8")
    manifest.write_text(text.replace("bm25(k1=0.5)", "./evil.py:run"), "utf-8")
    with pytest.raises(NotAllowed):
        chunkwise.open_index(tmp_path / "kb").search("leave")
