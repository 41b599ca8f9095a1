"""Who is run again with vectors of its own; and a sweep from its source to its files."""

import json
from pathlib import Path

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.evaluation.sources import Skipped
from chunkwise.tuning.plan.prepare import PreparedSweep, SweepSource, sweep_from_source
from chunkwise.tuning.run.race import best_planned
from chunkwise.tuning.run.sweep_folder import SweepFolder
from chunkwise.tuning.sweep import Configuration, VectorKind
from chunkwise.tuning.sweep_result import Outcome
from chunkwise.tuning.tune import CompletedSweep, RunOptions, run_sweep

SPLITS = ("validation", "test", "validation")


def outcome(name: str, *scores: float | None, **more: str) -> Outcome:
    retriever, baseline = more.get("retriever", "dense"), more.get("baseline", "")
    vectors: VectorKind = "none" if retriever == "bm25" else "late"
    configuration = Configuration(name, retriever, vectors=vectors, baseline=baseline)
    return Outcome(
        configuration, {"recall@5": scores, "failure@5": scores}, error=more.get("error", "")
    )


EVERY = [
    outcome("a", 0.5, 1.0, 0.5),
    outcome("b", 0.9, 0.0, 0.9),
    outcome("c", 0.9, 0.0, 0.9),
    outcome("words", 1.0, 1.0, 1.0, retriever="bm25"),
    outcome("", 1.0, 1.0, 1.0, retriever="multiscale"),
    outcome("failed", 1.0, 1.0, 1.0, error="why"),
    outcome("usual", 0.1, 0.1, 0.1, baseline="usual"),
    outcome("half", None, 1.0, 0.6),
    outcome("never", None, 1.0, None),
]  # fmt: skip


def names(objective: str = "recall@5") -> list[str]:
    return [each.strategy for each in best_planned(EVERY, SPLITS, objective)]


def test_the_best_on_validation_are_varied_and_what_searches_several_sizes() -> None:
    assert names() == ["words", "b", "c", "half", "a", ""]
    assert names("failure@5")[:2] == ["usual", "a"]


def test_without_scores_there_are_none() -> None:
    assert best_planned([], SPLITS, "recall@5") == []
    assert best_planned(EVERY, (), "recall@5") == []
    assert best_planned(EVERY, SPLITS, "ndcg@5") == []


@pytest.fixture
def source(tmp_path: Path) -> SweepSource:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "harbour.txt").write_text(
        "The lamp is lit at dusk. The gate is shut at ten."
    )
    plan = tmp_path / "sweep.toml"
    plan.write_text(
        '[sweep]\nsource = "docs"\nembedder = "none"\n'
        '[[sweep.chunkers]]\nstrategy = "sentences"\n[sweep.retrieval]\nretriever = "bm25"\n'
    )
    return sweep_from_source(plan)


def test_a_sweep_is_announced_run_and_written_in_this_order(
    source: SweepSource, tmp_path: Path
) -> None:
    steps: list[str] = []

    def prepared(sweep: PreparedSweep) -> RunOptions:
        steps.append(f"prepared {len(sweep.plan.configurations)}")
        return RunOptions(on_outcome=lambda outcome: steps.append("outcome"))

    def write(completed: CompletedSweep, folder: Path) -> None:
        assert completed.recommendation is not None  # public results decide
        steps.append(f"written to {folder.name}")

    out = tmp_path / "out"
    completed = run_sweep(source, out, prepared, write, left_out=Skipped(None))
    assert completed is not None
    assert steps == ["prepared 3", "outcome", "outcome", "outcome", "written to out"]
    assert (out / "sweep.toml").is_file()
    assert len(SweepFolder(out).record.known()) == 3
    steps.clear()
    assert run_sweep(source, None, prepared, write, left_out=Skipped(None)) == completed
    assert "written to out" not in steps


def test_what_is_not_to_be_run_writes_nothing(source: SweepSource, tmp_path: Path) -> None:
    def write(completed: CompletedSweep, folder: Path) -> None:
        raise AssertionError(folder)

    def refused(prepared: PreparedSweep) -> RunOptions:
        raise ChunkwiseError("too dear")

    out = tmp_path / "out"
    left_out = Skipped(None)
    assert run_sweep(source, out, lambda _: None, write, left_out=left_out) is None
    assert (
        run_sweep(source, out, lambda _: RunOptions(), write, left_out=left_out, dry_run=True)
        is None
    )
    with pytest.raises(ChunkwiseError, match="too dear"):
        run_sweep(source, out, refused, write, left_out=left_out)
    assert not out.exists()


@pytest.mark.usefixtures("large_inputs")
def test_nothing_is_run_twice(tmp_path: Path) -> None:
    documents = tmp_path / "docs"
    documents.mkdir()
    texts = [
        f"The lamp of harbour {name} is lit at dusk. Its gate is shut at ten."
        for name in "abcdefgh"
    ]
    (documents / "harbours.txt").write_text("\n\n".join(texts))
    queries = [
        {"query_id": name, "query": f"when is the lamp of harbour {name} lit?", "references": [
            {"doc_id": "harbours.txt", "text": f"The lamp of harbour {name} is lit at dusk."}
        ]}
        for name in "abcdefgh"
    ]  # fmt: skip
    (tmp_path / "queries.json").write_text(json.dumps(queries))
    source = sweep_from_source(
        [documents], tmp_path / "queries.json", embedder="", objective="recall@50t"
    )
    ran: list[str] = []

    def prepared(_: PreparedSweep) -> RunOptions:
        return RunOptions(on_outcome=lambda outcome: ran.append(outcome.configuration.key))

    def completed() -> CompletedSweep:
        found = run_sweep(source, tmp_path / "out", prepared, lambda *_: None, left_out=Skipped(None))  # fmt: skip
        assert found is not None
        return found

    first = completed()
    assert first.result.nested is not None
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("outcomes/*.json")}
    assert len(files) == len(set(ran)) == len(first.prepared.plan.configurations)
    again = completed()
    assert again.result == first.result
    assert files == {path: path.stat().st_mtime_ns for path in files}
