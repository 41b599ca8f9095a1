"""What a user names, as the sweep it is."""

from pathlib import Path

import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document, Query
from chunkwise.tuning.plan.grid import default_retrieval, default_sweep
from chunkwise.tuning.plan.prepare import sweep_from_source
from chunkwise.tuning.plan.sweep_file import read_sweep
from chunkwise.tuning.sweep import Grid
from hash_embedder import HashEmbedder

_PLAN = '[sweep]\nsource = "docs"\nembedder = "none"\nseed = 7\n'


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "sweep.toml"
    path.write_text(_PLAN)
    return path


def test_documents_get_the_usual_sweep() -> None:
    named = sweep_from_source(["handbook/", "notes.md"], "queries.json", k=3, time="10 min")
    assert named.sweep == default_sweep(
        ["handbook/", "notes.md"], "queries.json", has_headings=True, k=3, time=600.0
    )
    assert named.plan is None
    assert named.is_resumable


def test_a_plan_is_read_and_what_is_given_beside_it_wins(plan: Path) -> None:
    for source in (plan, str(plan), [plan]):
        named = sweep_from_source(source, objective="ndcg@5", exact=True)
        assert (named.sweep.seed, named.sweep.objective, named.sweep.exact) == (7, "ndcg@5", True)
        assert named.plan == plan


def test_a_model_beside_a_plan_changes_the_usual_searches_alone(plan: Path) -> None:
    assert sweep_from_source(plan, embedder="minilm").sweep.retrieval == default_retrieval("minilm")
    plan.write_text(f'{_PLAN}[sweep.retrieval]\nretriever = "bm25"\n')
    assert sweep_from_source(plan, embedder="minilm").sweep.retrieval == (Grid(("bm25",)),)


def test_no_model_is_called_none_in_python_as_in_a_plan_and_on_the_command_line() -> None:
    named = sweep_from_source("docs", "queries.json", embedder="none")
    assert named == sweep_from_source("docs", "queries.json", embedder="")
    assert named.sweep.embedder == ""


def test_a_folder_is_resumed_with_its_own_plan(plan: Path) -> None:
    named = sweep_from_source(resume=plan.parent, seed=8)
    assert named.sweep.documents == read_sweep(plan).documents
    assert named.sweep.seed == 8
    with pytest.raises(
        InvalidParameter,
        match="documents conflict with resume, which uses those of the sweep; leave them out",
    ):
        sweep_from_source("docs", resume=plan.parent)
    with pytest.raises(InvalidParameter, match="has no sweep to resume"):
        sweep_from_source(resume=plan.parent / "empty")


def test_what_is_in_memory_only_cannot_be_resumed() -> None:
    document, query = Document("a", "A text."), Query("1", "Which text?", ())
    model = HashEmbedder()
    named = sweep_from_source([document, "docs"], [query], embedder=model)
    assert (named.documents, named.sweep.documents) == ((document,), ("docs",))
    assert named.queries is not None
    assert named.queries.queries == (query,)
    assert (named.embedder, named.sweep.embedder) == (model, model.identity)
    assert not named.is_resumable
    assert not sweep_from_source(document).is_resumable
    assert not sweep_from_source("docs", [query]).is_resumable
    assert not sweep_from_source("docs", embedder=model).is_resumable


def test_a_plan_stands_alone(plan: Path) -> None:
    with pytest.raises(
        InvalidParameter,
        match="is a plan, which names its documents; give only the plan, or only documents",
    ):
        sweep_from_source(["docs", str(plan)])
    with pytest.raises(
        InvalidParameter,
        match="is a plan, which names its documents; give only the plan, or only documents",
    ):
        sweep_from_source([plan, Document("a", "A text.")])
    with pytest.raises(InvalidParameter, match="no documents given"):
        sweep_from_source([])
