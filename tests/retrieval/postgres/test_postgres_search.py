"""The server answers as the index in memory does: BM25, vectors, both, several sizes, filters."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.cli.main import group
from chunkwise.core import Document, Hit
from chunkwise.options import SearchOptions
from chunkwise.retrieval import index, open_index
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.postgres.index import PostgresIndex
from chunkwise.retrieval.postgres.search_sql import (
    EVERY_CHUNK,
    query_values,
    words_statement,
)
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.search.search import search
from chunkwise.text.terms import query_terms
from retrieval.postgres_server import embedded, new_url, put
from retrieval.tiny_embedder import Tiny
from tables import cases

pytestmark = pytest.mark.usefixtures("postgres")

_SUBJECTS = "leave pay travel laptop parking training visitors badge kitchen printer".split()
_ACTIONS = "is approved by|must be asked for at|is paid out after|is counted by".split("|")
_PLACES = "the manager|the front desk|two weeks|the finance team|the 3rd of May".split("|")
QUESTIONS = [
    "who approves leave",
    "parking parking badge",
    "after how many weeks is travel paid",
    "Wo ist der Drucker?",
    "zebra",
    "the of and",
]
FILTERS = [
    Filter(documents=("guide/1?.md",)),
    Filter(documents=("guide/[!1]*", "notes/2.md")),
    Filter(sections=("PAY",)),
    Filter(sections=("0 > leave",)),
    Filter(sections=("leave", "badge"), documents=("guide/*",)),
    Filter(pages=(2, 3)),
    Filter(where="number>=30", documents=("guide/*",)),  # type: ignore[arg-type]
    Filter(documents=("nothing*",)),
]


def _document(number: int) -> Document:
    lines, pages = [f"# Guide {number}\n"], [0]
    for part in range(6):
        subject = _SUBJECTS[(number + part) % len(_SUBJECTS)]
        action, place = _ACTIONS[(number * part) % 4], _PLACES[(number + 3 * part) % 5]
        if part % 2 == 0:
            pages.append(sum(map(len, lines)))
        lines.append(f"## {subject.title()}\n\nThe {subject} {action} {place}. ")
        lines.append(f"Whoever wants {subject} number {number * part} writes to {place} first.\n\n")
    folder = "guide" if number % 3 else "notes"
    return Document(
        f"{folder}/{number}.md", "".join(lines), f"Guide {number}", format="markdown",
        metadata={"number": number}, pages=tuple(pages[1:]) if number % 2 else (),
    )  # fmt: skip


DOCUMENTS = [_document(number) for number in range(40)]


@cache
def both() -> tuple[PostgresIndex, LocalIndex]:
    return put(DOCUMENTS, new_url())[0], embedded(DOCUMENTS).source


def _vectors() -> NDArray[np.float32]:
    return Tiny().embed(QUESTIONS, "query")


def _same(pg: PostgresIndex, there: Sequence[Ranking], here: Sequence[Ranking]) -> None:
    _, memory = both()
    place = {number: at for at, number in enumerate(pg.document_numbers())}
    for one, other in zip(there, here, strict=True):
        found = [
            (place[chunk.document], chunk.position) for chunk in pg.chunks(one.numbers.tolist())
        ]
        wanted = [
            (chunk.document, chunk.position) for chunk in memory.chunks(other.numbers.tolist())
        ]
        assert found == wanted
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)


@cases("only", [EVERYTHING, *FILTERS])
@cases("depth", [3, 500])
def test_bm25_scores_and_order_are_those_of_the_memory_engine(only: Filter, depth: int) -> None:
    pg, memory = both()
    _same(pg, pg.words(QUESTIONS, depth, only), memory.words(QUESTIONS, depth, only))


def test_bm25_takes_its_parameters_on_the_server() -> None:
    pg, memory = both()
    there = pg.words(QUESTIONS, 20, EVERYTHING, k1=0.4, b=0.1)
    _same(pg, there, memory.words(QUESTIONS, 20, EVERYTHING, k1=0.4, b=0.1))
    usual = pg.words(QUESTIONS, 20, EVERYTHING)
    assert any(
        one.scores.tolist() != other.scores.tolist()
        for one, other in zip(there, usual, strict=True)
    )


@cases("only", [EVERYTHING, *FILTERS])
def test_exact_neighbors_are_those_of_the_memory_engine(only: Filter) -> None:
    pg, memory = both()
    there = pg.nearest(_vectors(), 20, only, exact=True)
    _same(pg, there, memory.nearest(_vectors(), 20, only))


def test_filters_take_something_and_not_everything() -> None:
    pg, _ = both()
    sizes = [len(pg.words(["leave pay badge"], 1000, only)[0].numbers) for only in FILTERS]
    everything = len(pg.words(["leave pay badge"], 1000)[0].numbers)
    assert all(0 < size < everything for size in sizes[:-1])
    assert sizes[-1] == 0


@cases("only", FILTERS)
def test_filters_also_hold_for_the_index_of_vectors(only: Filter) -> None:
    pg, _ = both()
    found = pg.nearest(_vectors()[:2], 10, only, exact=False)
    truth = pg.nearest(_vectors()[:2], 10, only, exact=True)
    for one, other in zip(found, truth, strict=True):
        # So few chunks that a scan that goes on finds all of them.
        assert set(one.numbers.tolist()) == set(other.numbers.tolist())


@cases("retriever", ["bm25", "dense", "hybrid", "multiscale"])
@cases("only", [EVERYTHING, FILTERS[3], FILTERS[4]])
def test_hits_are_the_same_wherever_the_index_lives(retriever: str, only: Filter) -> None:
    pg, memory = both()
    wanted: dict[str, Any] = {"budget": 200} if retriever == "multiscale" else {"k": 5}

    def told(hits: list[Hit]) -> list[tuple[object, ...]]:
        return [
            (hit.document, hit.start, hit.end, hit.section, hit.chunk, round(hit.score, 4))
            for hit in hits
        ]

    options = SearchOptions(retriever=retriever, **wanted, **only.changed())
    there, here = (search(source, QUESTIONS, options, embedder=Tiny) for source in (pg, memory))
    assert [told(hits) for hits in there] == [told(hits) for hits in here]
    assert any(there)


@cases("only", FILTERS)
def test_atoms_are_filtered_alike(only: Filter) -> None:
    pg, memory = both()
    np.testing.assert_array_equal(pg.allowed("atom", only), memory.allowed("atom", only))


def test_everything_known_of_chunks_and_documents_comes_back() -> None:
    pg, memory = both()
    assert pg.ids() == memory.ids()
    for number in (0, 7, 39):
        there = pg.document_numbers()[number]
        assert pg.document(there) == memory.document(number)
        low, high = pg.chunk_range(there)
        first, behind = memory.chunk_range(number)
        assert high - low == behind - first
        chunks = pg.chunks(range(low, high))
        same = memory.chunks(range(first, behind))
        assert [chunk[2:] for chunk in chunks] == [chunk[2:] for chunk in same]
        np.testing.assert_array_equal(
            pg.chunk_vectors(range(low, high)), memory.chunk_vectors(range(first, behind))
        )
        for one, other in zip(pg.atoms(there), memory.atoms(number), strict=True):
            np.testing.assert_array_equal(one, other)


def test_recall_of_the_index_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    pg, _ = both()
    measured = pg.recall(sample=40, depth=10)
    with capsys.disabled():
        print(f"HNSW: {measured}")
    assert measured.questions >= 40
    assert measured.share > 0.9


def test_vectors_of_another_size_are_refused() -> None:
    pg, _ = both()
    with pytest.raises(InvalidParameter, match="16 dimensions"):
        pg.nearest(np.ones((1, 3), np.float32), 5)


def test_an_index_of_words_alone_needs_no_vectors() -> None:
    pg, _ = put(DOCUMENTS[:5], new_url(), vectors="none")
    memory = embedded(DOCUMENTS[:5], vectors="none").source
    there, here = pg.words(["travel"], 5)[0], memory.words(["travel"], 5, EVERYTHING)[0]
    np.testing.assert_allclose(there.scores, here.scores, atol=1e-5)
    with pytest.raises(InvalidParameter, match="without vectors"):
        pg.nearest(np.ones((1, 16), np.float32), 5)
    assert search(pg, "travel", SearchOptions(budget=100))[0]


def test_stats_count_what_the_memory_engine_counts() -> None:
    pg, _ = both()
    there, here = pg.stats(), embedded(DOCUMENTS).stats()
    assert there.bytes > 0
    for name in (
        "documents",
        "chunks",
        "atoms",
        "tokens",
        "indexed_tokens",
        "context_tokens",
        "vectors",
    ):
        assert getattr(there, name) == getattr(here, name)


@cases("dimensions", [2001, 4001])
def test_long_vectors_are_found_too(dimensions: int) -> None:
    pg, _ = put(DOCUMENTS[:2], new_url(), dimensions=dimensions)
    query = Tiny(dimensions).embed(["leave is approved by the manager"], "query")
    truth = pg.nearest(query, 5, exact=True)[0]
    assert truth.numbers.size == 5
    found = pg.nearest(query, 5, exact=False)[0]
    assert set(found.numbers.tolist()) == set(truth.numbers.tolist())


def test_the_public_way_in_leads_to_the_server() -> None:
    url = new_url()
    made = index(DOCUMENTS[:6], "sentences", into=url, embedder=Tiny())
    assert len(made) == 6
    assert made.update(DOCUMENTS[:7]).added == 1
    opened = open_index(url, embedder=Tiny())
    assert opened.search("who approves leave", k=3) == made.search("who approves leave", k=3)
    assert opened.search("who approves leave", budget=100)
    assert "***" in repr(opened)
    assert opened.stats().documents == 7


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    (tmp_path / "leave.md").write_text("# Leave\n\nAsk in writing. It is paid.\n")
    return tmp_path


def _run(*words: object) -> Result:
    return CliRunner().invoke(group, list(map(str, words)))


def test_the_next_command_has_no_password_and_works_without(handbook: Path) -> None:
    url = new_url()
    done = _run("index", handbook, "--into", f"{url}&pass%77ord=s3cret", "--vectors", "none")
    assert done.exit_code == 0
    assert "s3cret" not in done.output
    last = done.stderr.splitlines()[-1]
    plain = url.replace(":@", "@")  # its password is empty
    assert last == f'try: chunkwise search {shlex.quote(plain)} "your question"'
    assert "Ask in writing." in _run("search", url, "writing").output


def test_words_that_every_chunk_has_are_summed_by_sorting() -> None:
    """A table of sums that no longer fits into the server's memory is written out and read again for minutes."""
    source, _ = put([_document(number) for number in range(3)], new_url(), vectors="none")
    values = {
        "flat": 1.0, "slope": 0.1, "rows": 10, "terms": [1, 2], "times": [1.0, 1.0], "depth": 5,
    }  # fmt: skip
    told = source.store.ask(f"explain {words_statement(EVERY_CHUNK)}", values)
    plan = "\n".join(row[0].decode() if isinstance(row[0], bytes) else row[0] for row in told)
    assert "GroupAggregate" in plan
    assert "HashAggregate" not in plan


@cases("only", [Filter(documents=("*0.txt",)), Filter(sections=("lamp",))])
def test_what_a_filter_takes_is_found_out_once_and_not_for_each_posting(only: Filter) -> None:
    """Of words that every chunk has: looking the chunk of each posting up took seconds at 100,000 of them."""
    given = [Document(f"{number}.txt", "The lamp is red.") for number in range(600)]
    source, _ = put(given, new_url(), vectors="none")
    chosen = source._among(only)
    assert chosen
    with source.snapshot():
        terms = query_terms("the lamp is red", source.languages)
        values = {**chosen.values, **query_values(terms, 600, 4.0, 1.5, 0.75), "depth": 5}
        # As it joins what it takes for a few rows, however many there are.
        source.store._run("set local enable_hashjoin = off; set local enable_mergejoin = off")
        asked = f"explain (analyze, format json) {words_statement(chosen)}"
        plan: Any = source.store.ask(asked, values)[0][0]
    looked_at = [
        each["Actual Loops"] for each in _nodes(plan[0]["Plan"]) if each.get("Alias") == "c"
    ]
    assert looked_at == [1]


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for each in plan.get("Plans", ()) for node in _nodes(each))]
