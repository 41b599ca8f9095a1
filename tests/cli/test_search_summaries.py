"""`chunkwise search` and `chunkwise evaluate` on an index with summaries."""

import json
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise import Document
from chunkwise.base.wording import counted
from chunkwise.chunkers.write_chunks import row_of
from chunkwise.core import Query, Reference
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.evaluation.scoring import Listeners
from chunkwise.ext import get_strategy
from chunkwise.options import IndexOptions
from cli.in_process import Run, here
from hash_embedder import HashEmbedder
from rule_summarizer import FirstSentences

__all__ = ["here"]  # a fixture

TEXT = "\n\n".join(
    f"The {place} opens at {hour}. Its keeper is a {person} from the north."
    for hour, (place, person) in enumerate(
        [(p, q) for p in ("ferry", "school", "bakery") for q in ("baker", "sailor", "painter")], 5
    )
)
DOCUMENT = Document("island.txt", TEXT, source="island.txt")
METRICS = (
    "recall@3",
    "precision@3",
    "context_precision@3",
    "mrr@3",
    "recall@60t",
    "hit@3",
    "ndcg@3",
)


def strategy() -> chunkwise.chunkers.Strategy:
    spec = "raptor(max_tokens=20, branching=3, summary_tokens=40)"
    return get_strategy(spec, llm=FirstSentences(), model=HashEmbedder())


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    chunkwise.index([DOCUMENT], strategy=strategy(), into=tmp_path / "kb", vectors="none")
    return tmp_path / "kb"


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_summary_is_shown_as_one(here: Run, kb: Path) -> None:
    done = here("search", kb, "school opens", "--level", "1", "-k", "2")
    assert done.returncode == 0
    assert "summary of 3 passages, level 1" in done.stdout
    (row,) = rows(here("search", kb, "school opens", "--level", "1", "-k", "1", "--json").stdout)
    assert row["level"] == 1
    assert len(row["spans"]) == 3
    assert (row["start"], row["end"]) == (row["spans"][0][0], row["spans"][-1][1])
    assert row["text"] not in TEXT
    (plain,) = rows(here("search", kb, "school", "--level", "0", "-k", "1", "--json").stdout)
    assert plain["spans"] == [[plain["start"], plain["end"]]]
    assert plain["text"] == TEXT[plain["start"] : plain["end"]]


def test_a_wrong_level_says_what_there_is(here: Run, kb: Path) -> None:
    done = here("search", kb, "school", "--level", "-1")
    assert done.returncode == 2
    assert "level is -1" in done.stderr
    assert "Nothing found" in here("search", kb, "school", "--level", "7").stdout


def test_hits_in_a_file_score_as_the_index_does(here: Run, kb: Path, tmp_path: Path) -> None:
    """A summary is the same thing to a metric however it came."""
    place = TEXT.index("The school opens at 9")
    queries = [
        Query("1", "school opens sailor", (Reference("island.txt", place, place + 60),)),
        Query("2", "ferry keeper", (Reference("island.txt", 0, 40),)),
    ]
    asked = tmp_path / "queries.jsonl"
    asked.write_text(
        "".join(json.dumps({"query_id": q.id, "query": q.text}) + "\n" for q in queries)
    )
    hits = tmp_path / "hits.jsonl"
    hits.write_text(here("search", kb, "--test-queries", asked, "-k", "20", "--json").stdout)
    assert {row["level"] for row in rows(hits.read_text())} >= {0, 1, 2}
    index = chunkwise.open_index(kb)
    own = evaluate(index, queries, metrics=METRICS, k=3)
    theirs = evaluate([DOCUMENT], queries, hits=hits, metrics=METRICS, k=3)
    for name in METRICS[:-1]:
        assert theirs.summary[name].mean == pytest.approx(own.summary[name].mean), name
    assert own.summary["ndcg@3"].mean is not None


def test_chunk_files_say_what_a_summary_stands_for(tmp_path: Path) -> None:
    chunks = list(strategy().chunks(DOCUMENT))
    for chunk in chunks:
        row = row_of(chunk)
        assert row["level"] == chunk.level
        assert [tuple(span) for span in json.loads(row["spans"])] == list(chunk.spans)
    file = tmp_path / "chunks.jsonl"
    file.write_text("".join(json.dumps(row_of(chunk)) + "\n" for chunk in chunks))
    told: list[str] = []
    place = Reference("island.txt", 0, 20)
    found = evaluate(
        [DOCUMENT],
        [Query("1", "ferry", (place,))],
        chunks=file,
        metrics=("boundary_issues", "recall@3"),
        index=IndexOptions(vectors="none"),
        listeners=Listeners(on_bad=told.append),
    )
    summaries = counted(sum(chunk.level > 0 for chunk in chunks), "summary")
    assert told == [f"{file}: skipped {summaries}, which have no span"]
    assert found.summary["boundary_issues"].scored == sum(not chunk.level for chunk in chunks)
