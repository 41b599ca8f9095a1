"""Evaluations of small corpora, held against figures that are computed here in the plainest way."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidOption, InvalidParameter, UnknownName
from chunkwise.core import Document, Fact, Hit, Label, Passage, Query, Reference
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.evaluation.results import Results, results_text
from chunkwise.evaluation.scoring import Listeners
from chunkwise.options import IndexOptions, ScoreOptions, SearchOptions
from chunkwise.retrieval.indexes import Index, index
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from tables import cases
from untimed import HANG

FIXTURES = Path(__file__).parents[1] / "chunkers" / "fixtures"
STRATEGY = "sentences(max_tokens=24, overlap=0)"
THINGS = ("lamp", "rope", "anchor", "tide table", "fog horn", "signal flag", "oil can")
KEEPERS = ("Orla", "Piet", "Maren", "Tove")


def corpus() -> list[Document]:
    """Four inventories that say much the same of many things: rankings have to choose."""
    found = []
    for number, keeper in enumerate(KEEPERS):
        lines = []
        for at, thing in enumerate(THINGS):
            lines.append(f"The {thing} of {keeper} hangs on hook {10 * number + at} by the door.")
            lines.append(f"Nobody but {keeper} may lend the {thing} to a visitor in winter.")
        lines.append("Every thing is counted on the first of the month.")
        found.append(Document(f"{keeper}.txt", " ".join(lines), source=f"{keeper}.txt"))
    return found


DOCUMENTS = sorted(corpus(), key=lambda document: document.id)
BY_ID = {document.id: document for document in DOCUMENTS}


def place(doc_id: str, text: str) -> Reference:
    start = BY_ID[doc_id].text.index(text)
    return Reference(doc_id, start, start + len(text))


def questions() -> list[Query]:
    found = []
    for number, keeper in enumerate(KEEPERS):
        for at, thing in enumerate(THINGS):
            references = (
                place(f"{keeper}.txt", f"The {thing} of {keeper} hangs on hook {10 * number + at}"),
            )
            if at % 3 == 0:
                references += (place(f"{keeper}.txt", f"may lend the {thing} to a visitor"),)
            found.append(
                Query(
                    f"{keeper}-{at}",
                    f"On which hook hangs the {thing} of {keeper}?" if at % 2 else f"Where is the {thing}?",
                    references,
                    answer=f"The {thing} hangs on hook {10 * number + at}.",
                    facts=(Fact(f"hook {10 * number + at}"),) if at % 2 else (),
                    types=("where",) if at % 2 else ("where", "vague"),
                    split="test" if at % 2 else "validation",
                )
            )  # fmt: skip
    return found


QUESTIONS = questions()


@pytest.fixture(scope="module")
def words() -> Index:
    return index(DOCUMENTS, STRATEGY, vectors="none")


def run(source: object = None, queries: Iterable[Query] = QUESTIONS, **more: object) -> Results:
    settings: dict[str, object] = {"metrics": "recall,precision,density,iou,hit,mrr,recall@60t"}
    if source is None:
        settings |= {"strategy": STRATEGY, "index": IndexOptions(vectors="none")}
    given = DOCUMENTS if source is None else source
    return evaluate(given, queries, **settings | more)  # type: ignore[arg-type]


def characters(places: Iterable[Passage | Hit]) -> set[tuple[str, int]]:
    return {(each.doc_id, at) for each in places for at in range(each.start, each.end)}


def gold_of(query: Query) -> set[tuple[str, int]]:
    return characters(each.places[0] for each in query.references)


def is_relevant(hit: Hit, query: Query) -> bool:
    for each in query.references:
        common = len(characters([hit]) & characters([each.places[0]]))
        inside = each.doc_id == hit.doc_id and each.start <= hit.start and hit.end <= each.end
        if inside or common >= 0.5 * (each.end - each.start):
            return True
    return False


def naive(query: Query, hits: Sequence[Hit]) -> dict[str, float]:
    """The definitions, by sets of characters."""
    gold, found = gold_of(query), characters(hits)
    both = len(gold & found)
    ranks = [rank for rank, hit in enumerate(hits, 1) if is_relevant(hit, query)]
    return {
        "recall": both / len(gold),
        "precision": both / len(found) if found else 0.0,
        "density": both / sum(hit.end - hit.start for hit in hits) if hits else 0.0,
        "iou": both / len(gold | found),
        "hit": float(bool(ranks)),
        "mrr": 1 / ranks[0] if ranks else 0.0,
    }


def check(results: Results, hits: Sequence[Sequence[Hit]], at: str) -> None:
    """Every question's scores, and the means."""
    totals: dict[str, float] = {}
    for query, own, told in zip(QUESTIONS, hits, results.questions, strict=True):
        assert told.id == query.id
        for name, value in naive(query, own).items():
            assert told.scores[f"{name}@{at}"] == pytest.approx(value), (query.id, name)
            totals[name] = totals.get(name, 0.0) + value
    for name, total in totals.items():
        figure = results.summary[f"{name}@{at}"]
        assert figure.mean == pytest.approx(total / len(QUESTIONS))
        assert figure.scored == len(QUESTIONS)
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low <= (figure.mean or 0.0) <= figure.high


@pytest.mark.unwatched
@pytest.mark.parametrize("k", [1, 3, 7])
def test_figures_at_k_are_those_of_the_hits(words: Index, k: int) -> None:
    hits = words.search(QUESTIONS, k=k, retriever="bm25")
    results = run(k=k, retriever="bm25")
    check(results, hits, str(k))
    for told, own in zip(results.questions, hits, strict=True):
        shown = [(hit.doc_id, hit.start, hit.end, hit.rank) for hit in own]
        assert [(hit.doc_id, hit.start, hit.end, hit.rank) for hit in told.hits] == shown
        assert told.context_tokens == sum(hit.token_count for hit in own)
    assert 0 < (results.summary[f"recall@{k}"].mean or 0) < 1


def test_a_budget_takes_what_fits_and_not_the_usual_five(words: Index) -> None:
    hits = words.search(QUESTIONS, budget=200, retriever="bm25")
    results = run(budget=200, retriever="bm25", metrics="recall,precision,density,iou,hit,mrr")
    check(results, hits, "200t")
    assert max(len(told.hits) for told in results.questions) > 5
    assert all(told.context_tokens <= 200 for told in results.questions)
    assert results.configuration["budget"] == 200


def test_another_budget_than_that_of_the_run_is_another_search(words: Index) -> None:
    results = run(words, budget=60, retriever="bm25", metrics="recall@60t,recall@240t,recall@20t")
    for budget in (20, 60, 240):
        hits = words.search(QUESTIONS, budget=budget, retriever="bm25")
        for query, own, told in zip(QUESTIONS, hits, results.questions, strict=True):
            assert told.scores[f"recall@{budget}t"] == pytest.approx(naive(query, own)["recall"])


@pytest.mark.unwatched
def test_recall_within_tokens_is_searched_deep_enough(words: Index) -> None:
    deep = words.search(QUESTIONS, k=1000, retriever="bm25")
    results = run(k=1, retriever="bm25", metrics="recall@300t")
    assert max(len(told.hits) for told in results.questions) == 1
    further = 0
    for query, own, told in zip(QUESTIONS, deep, results.questions, strict=True):
        fits, crossing, spent = [], [], 0
        for hit in own:
            spent += hit.token_count
            (fits if spent <= 300 else crossing).append(hit)
        low = naive(query, fits)["recall"]
        high = naive(query, [*fits, *crossing[:1]])["recall"]
        value = told.scores["recall@300t"]
        assert value is not None
        assert low - 1e-9 <= value <= high + 1e-9
        further += len(fits) > 5
    assert further, "chunks of this corpus are smaller than a fifth of the budget"


@pytest.mark.unwatched
def test_neighbors_are_measured_with_exactly_the_k_asked_for(words: Index) -> None:
    for k in (2, 4):
        hits = words.search(QUESTIONS, k=k, retriever="bm25", options=SearchOptions(neighbors=1))
        results = run(words, k=k, retriever="bm25", search=SearchOptions(neighbors=1))
        check(results, hits, str(k))
    assert results.configuration["neighbors"] == 1


@pytest.mark.unwatched
def test_other_metrics_do_not_change_a_figure_of_merged_hits(words: Index) -> None:
    alone = run(
        words, k=2, retriever="bm25", metrics="recall@150t", search=SearchOptions(neighbors=1)
    )
    among = run(
        words,
        k=2,
        retriever="bm25",
        metrics="recall@150t,failure@20,recall@9",
        search=SearchOptions(neighbors=1),
    )
    assert [own.scores["recall@150t"] for own in alone.questions] == [
        own.scores["recall@150t"] for own in among.questions
    ]
    # Merged, five chunks are fewer hits; there is more to be had for the tokens all the same.
    full = run(
        words, k=1, retriever="bm25", metrics="recall@1000t", search=SearchOptions(neighbors=1)
    )
    deep = words.search(QUESTIONS, k=200, retriever="bm25", options=SearchOptions(neighbors=1))
    for query, own, told in zip(QUESTIONS, deep, full.questions, strict=True):
        if sum(hit.token_count for hit in own) <= 1000:
            assert told.scores["recall@1000t"] == pytest.approx(naive(query, own)["recall"])


def test_diverse_hits_are_measured_with_exactly_the_k_asked_for() -> None:
    from retrieval.tiny_embedder import Tiny

    made = index(DOCUMENTS, STRATEGY, embedder=Tiny(), vectors="own")
    hits = made.search(QUESTIONS, k=3, retriever="dense", options=SearchOptions(mmr=0.3))
    results = run(made, k=3, retriever="dense", search=SearchOptions(mmr=0.3))
    check(results, hits, "3")
    for told in results.questions:
        assert all(piece.rank is None for piece in told.missed), (
            "of another search no rank is one of this"
        )


@pytest.mark.unwatched
def test_multiscale_without_a_budget_gets_the_usual_one(words: Index) -> None:
    results = run(words, retriever="multiscale", metrics="recall,ndcg")
    assert results.configuration["budget"] == 1000
    assert list(results.summary) == ["recall@1000t", "ndcg@5"]
    hits = words.search(QUESTIONS, budget=1000, retriever="multiscale")
    for query, own, told in zip(QUESTIONS, hits, results.questions, strict=True):
        assert told.scores["recall@1000t"] == pytest.approx(naive(query, own)["recall"])
    assert results.summary["ndcg@5"].mean is None, "spans of any size are no chunks"


@pytest.mark.unwatched
def test_questions_without_references_are_counted_and_not_scored() -> None:
    bare = [replace(query, references=()) for query in QUESTIONS[:5]]
    results = run(queries=[*bare, *QUESTIONS[5:]], retriever="bm25")
    figure = results.summary["recall@5"]
    assert figure.scored == len(QUESTIONS) - 5
    assert dict(figure.unscored) == {"the question has no references": 5}
    for told in results.questions[:5]:
        assert told.scores["recall@5"] is None
        assert told.unscored["recall@5"] == "the question has no references"
    expected = [own.scores["recall@5"] for own in results.questions[5:]]
    assert figure.mean == pytest.approx(sum(filter(None, expected)) / len(expected))
    nothing = run(queries=bare, retriever="bm25", metrics="recall")
    assert nothing.summary["recall@5"].mean is None
    assert nothing.worst == ()


def test_figures_by_type_and_by_document() -> None:
    results = run(retriever="bm25")
    assert set(results.by_type) == {"where", "vague"}
    for type, figures in results.by_type.items():
        own = [
            told.scores["mrr@5"]
            for told, query in zip(results.questions, QUESTIONS, strict=True)
            if type in query.types
        ]
        assert figures["mrr@5"].scored == len(own)
        assert figures["mrr@5"].mean == pytest.approx(sum(filter(None, own)) / len(own))
    assert list(results.by_document) == sorted(BY_ID)
    for doc_id, figures in results.by_document.items():
        own = [told.scores["iou@5"] for told in results.questions if doc_id in told.documents]
        assert figures["iou@5"].scored == len(own) == len(THINGS)
        assert figures["iou@5"].mean == pytest.approx(sum(filter(None, own)) / len(own))


@pytest.mark.unwatched
def test_the_worst_come_first_with_what_was_missed_and_where_it_stands(words: Index) -> None:
    results = run(words, k=1, retriever="bm25", metrics="recall")
    scores = {told.id: told.scores["recall@1"] or 0.0 for told in results.questions}
    bad = sorted((id for id, score in scores.items() if score < 1), key=scores.__getitem__)
    assert [scores[id] for id in results.worst] == [scores[id] for id in bad][: len(results.worst)]
    assert results.objective == "recall@1"
    deep = dict(zip(scores, words.search(QUESTIONS, k=1000, retriever="bm25"), strict=True))
    ranks = 0
    for told, query in zip(results.questions, QUESTIONS, strict=True):
        gone = characters(piece.passage for piece in told.missed)
        left = gold_of(query) - characters(deep[told.id][:1])
        assert gone <= left
        assert all(BY_ID[id].text[at].isspace() for id, at in left - gone)
        for piece in told.missed:
            passage = piece.passage
            assert piece.text == BY_ID[passage.doc_id].text[passage.start : passage.end]
            if told.id in results.worst:
                half = (passage.end - passage.start) / 2
                common = [len(characters([hit]) & characters([passage])) for hit in deep[told.id]]
                assert piece.rank == next(
                    (at for at, size in enumerate(common, 1) if size >= half), None
                )
                ranks += piece.rank is not None
    assert ranks


def test_a_split_and_one_that_is_not_there() -> None:
    results = run(retriever="bm25", score=ScoreOptions(split="test"))
    assert [told.id for told in results.questions] == [q.id for q in QUESTIONS if q.split == "test"]
    with pytest.raises(ChunkwiseError, match="the split 'dev'; it has test, validation"):
        run(retriever="bm25", score=ScoreOptions(split="dev"))


def test_lengths_in_tokens(words: Index) -> None:
    tokenizer = get_tokenizer(DEFAULT_TOKENIZER)
    starts = {doc.id: tokenizer.offsets(doc.text).tolist() for doc in DOCUMENTS}

    def tokens(places: Iterable[Passage | Hit]) -> set[tuple[str, int]]:
        found = set()
        for each in places:
            own = starts[each.doc_id]
            first = max(at for at, start in enumerate(own) if start <= each.start)
            found |= {(each.doc_id, at) for at in range(first, len(own)) if own[at] < each.end}
        return found

    hits = words.search(QUESTIONS, k=3, retriever="bm25")
    results = run(
        words,
        k=3,
        retriever="bm25",
        score=ScoreOptions(unit="tokens"),
        metrics="recall,precision",
    )
    for query, own, told in zip(QUESTIONS, hits, results.questions, strict=True):
        gold, found = tokens(each.places[0] for each in query.references), tokens(own)
        assert told.scores["recall@3"] == pytest.approx(len(gold & found) / len(gold))
        assert told.scores["precision@3"] == pytest.approx(len(gold & found) / len(found))


@pytest.mark.unwatched
def test_all_sources_of_the_same_chunks_give_the_same_figures(words: Index, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for document in DOCUMENTS:
        (folder / document.id).write_text(document.text)
    paths = [folder / document.id for document in DOCUMENTS]
    made = index(paths, STRATEGY, into=tmp_path / "kb", vectors="none")
    expected = run(words, retriever="bm25")
    for source, more in (
        (made, {}),
        (tmp_path / "kb", {}),
        ([str(tmp_path / "kb")], {}),
        (folder, {"strategy": STRATEGY, "embedder": "none"}),
        (paths[::-1], {"strategy": STRATEGY, "embedder": "none"}),
        (iter(DOCUMENTS[::-1]), {"strategy": STRATEGY, "embedder": "none"}),
    ):
        found = run(source, retriever="bm25", **more)  # type: ignore[arg-type]
        assert found.summary == expected.summary
        assert found.questions == expected.questions
        assert found.data == expected.data


@pytest.mark.usefixtures("postgres")
def test_a_knowledge_base_on_a_server(words: Index) -> None:
    from retrieval.postgres_server import new_url

    url = new_url()
    index(DOCUMENTS, STRATEGY, into=url, vectors="none")
    found, expected = run(url, retriever="bm25"), run(words, retriever="bm25")
    assert found.summary == expected.summary
    assert found.data == expected.data


def test_settings_of_an_index_that_is_there_are_not_given_again(words: Index) -> None:
    for name, value in {"strategy": "tokens", "vectors": "own", "language": "de"}.items():
        with pytest.raises(InvalidOption) as refused:
            run(words, index=IndexOptions(**{name: value}))
        assert refused.value.field == name


def test_chunks_and_hits_are_not_given_beside_what_makes_them(words: Index, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="conflict with an index"):
        run(words, chunks=str(FIXTURES / "langchain.jsonl"))
    with pytest.raises(InvalidParameter, match="conflict; leave one out"):
        run(chunks=str(FIXTURES / "langchain.jsonl"))
    (tmp_path / "hits.jsonl").write_text(
        '{"query_id": "Orla-0", "doc_id": "Orla.txt", "start": 0, "end": 9}\n'
    )
    for setting in (
        {"strategy": STRATEGY},
        {"retriever": "bm25"},
        {"search": SearchOptions(mmr=0.5)},
    ):
        with pytest.raises(InvalidParameter, match="hits from a file"):
            run(DOCUMENTS, hits=tmp_path / "hits.jsonl", **setting)


def written(path: Path, hits: Sequence[Sequence[Hit]]) -> Path:
    rows = [
        {
            "query_id": query.id,
            "doc_id": hit.doc_id,
            "start": hit.start,
            "end": hit.end,
            "rank": hit.rank,
        }
        for query, own in zip(QUESTIONS, hits, strict=True)
        for hit in own
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)))
    return path


@pytest.mark.unwatched
def test_hits_of_a_file_with_and_without_their_chunks(words: Index, tmp_path: Path) -> None:
    file = written(tmp_path / "hits.jsonl", words.search(QUESTIONS, k=8, retriever="bm25"))
    metrics = "recall,precision,density,iou,hit,mrr,ndcg,map,split_references,boundary_issues"
    expected = run(words, k=5, retriever="bm25", metrics=metrics)
    bare = run(DOCUMENTS, k=5, hits=file, metrics=metrics)
    for name in ("recall@5", "precision@5", "density@5", "iou@5", "hit@5", "mrr@5"):
        assert bare.summary[name] == expected.summary[name]
    assert bare.summary["ndcg@5"].mean is None
    assert bare.summary["split_references"].mean is None
    chunks = tmp_path / "chunks.jsonl"
    rows = [
        {"doc_id": chunk.doc_id, "start": chunk.start, "end": chunk.end, "text": chunk.text}
        for document in DOCUMENTS
        for chunk in chunkwise.ext.chunk_document(document, STRATEGY)
    ]
    chunks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    held = run(DOCUMENTS, k=5, hits=file, chunks=chunks, metrics=f"{metrics},citation_accuracy")
    for name in expected.summary:
        if (
            expected.summary[name].mean is not None
        ):  # not so the coherence of an index without vectors
            assert held.summary[name] == expected.summary[name], name
    assert held.summary["citation_accuracy.position"].mean == 1.0
    cut = run(DOCUMENTS, hits=file, budget=50, metrics="recall")
    assert max(told.context_tokens for told in cut.questions) == 50
    exact = run(words, k=8, retriever="bm25", metrics="recall@50t")
    assert [own.scores for own in cut.questions] == [own.scores for own in exact.questions]


def test_a_run_of_whole_documents(tmp_path: Path) -> None:
    lines = [f"{query.id} Q0 {query.references[0].doc_id} 1 3.5 x\n" for query in QUESTIONS[1:]]
    (tmp_path / "them.run").write_text("".join(lines) + "nobody Q0 Orla.txt 1 1 x\n")
    problems: list[str] = []
    results = run(
        DOCUMENTS,
        hits=tmp_path / "them.run",
        metrics="recall,hit,precision",
        listeners=Listeners(on_bad=problems.append),
    )
    assert [told.scores["recall@5"] for told in results.questions] == [0.0] + [1.0] * (
        len(QUESTIONS) - 1
    )
    told = results.questions[1]
    assert [(hit.start, hit.end) for hit in told.hits] == [(0, len(BY_ID[told.documents[0]].text))]
    assert len(problems) == 1
    assert "nobody" in problems[0]
    assert results.data["left_out_rows"] == problems


def test_the_best_precision_that_so_many_hits_can_have() -> None:
    """Against the answers of somebody who knows the references, and hands out as many chunks."""
    results = run(retriever="bm25", k=4, metrics="retrieval_precision.spans")
    (most,) = results.data["reachable"].values()  # type: ignore[union-attr]
    assert isinstance(most, float)
    chunks = [chunk for each in DOCUMENTS for chunk in chunkwise.ext.chunk_document(each, STRATEGY)]
    shares = []
    for query, told in zip(QUESTIONS, results.questions, strict=True):
        relevant = sum(any(_answers(chunk, each) for each in query.references) for chunk in chunks)
        shares.append(min(relevant, len(told.hits)) / len(told.hits))
    assert most == pytest.approx(sum(shares) / len(shares))
    figure = results.summary["retrieval_precision.spans"]
    assert figure.mean is not None
    assert figure.mean <= most < 0.7
    assert f"can't exceed {100 * most:.0f}%" in results.advice[0].text
    alone = run(retriever="bm25", k=1, metrics="retrieval_precision.spans")
    assert alone.data["reachable"] == {"retrieval_precision.spans": 1.0}
    assert "can't exceed" not in "".join(each.text for each in alone.advice)
    # What is handed out besides are no chunks that could be ranked otherwise.
    assert "reachable" not in run(retriever="bm25", k=4, search=SearchOptions(neighbors=1)).data


def _answers(chunk: chunkwise.Chunk, place: Reference) -> bool:
    """Half of a place, or wholly inside it."""
    shared = min(chunk.end, place.end) - max(chunk.start, place.start)
    if chunk.doc_id != place.doc_id or shared <= 0:
        return False
    return shared >= (place.end - place.start) / 2 or shared == chunk.end - chunk.start


def test_chunks_of_another_tool_are_indexed_and_their_offsets_judged() -> None:
    query = Query("q", "Who approves requests?", (Reference("leave.md", 9, 45),))
    documents = [
        Document(name, (FIXTURES / name).read_text(), format="markdown") for name in ("leave.md", "lamps.txt")
    ]  # fmt: skip
    problems: list[str] = []
    results = evaluate(
        documents,
        [query],
        chunks=FIXTURES / "langchain.jsonl",
        retriever="bm25",
        metrics="recall,citation_accuracy.position,boundary_issues",
        listeners=Listeners(on_bad=problems.append),
    )
    assert results.summary["recall@5"].mean == 1.0
    position = results.summary["citation_accuracy.position"]
    assert position.mean is not None
    assert 0 < position.mean < 1, "LangChain finds repeated text at the wrong place"
    kinds = results.data["positions"]
    assert isinstance(kinds, dict)
    assert kinds["exact"] == position.mean * position.scored
    assert sum(kinds.values()) == position.scored  # type: ignore[arg-type]
    assert results.cuts is not None
    assert results.cuts.chunks > 3


def test_answers_of_a_system(tmp_path: Path) -> None:
    query = QUESTIONS[1]
    reference = query.references[0]
    rows = [
        {"query_id": query.id, "answer": query.answer, "citations": [
            {"doc_id": reference.doc_id, "start": reference.start, "end": reference.end}]},
        {"query_id": QUESTIONS[3].id, "answer": "Nobody knows."},
    ]  # fmt: skip
    (tmp_path / "answers.json").write_text(json.dumps(rows))
    results = run(
        retriever="bm25",
        score=ScoreOptions(answers=tmp_path / "answers.json"),
        metrics="answers,citation_accuracy",
    )
    assert results.questions[1].scores["answer_completeness"] == 1.0
    assert results.questions[3].scores["answer_completeness"] == 0.0
    assert results.questions[5].scores["answer_completeness"] is None
    assert results.summary["answer_completeness"].scored == 2
    assert results.questions[1].scores["citation_accuracy.support"] == 1.0


@pytest.mark.unwatched
def test_labels_of_people_are_a_judge() -> None:
    queries = [
        replace(query, labels=(Label(query.references[0].doc_id, 0, 10_000, at % 2 == 0),))
        for at, query in enumerate(QUESTIONS)
    ]
    results = run(
        queries=queries,
        retriever="bm25",
        metrics="retrieval_precision.labels,retrieval_precision.spans",
    )
    told = results.questions[0]
    known = [hit.relevant["labels"] for hit in told.hits if hit.relevant["labels"] is not None]
    assert told.scores["retrieval_precision.labels"] == (sum(known) / len(known) if known else None)
    assert [(pair.first, pair.second) for pair in results.agreement] == [("labels", "spans")]


@pytest.mark.unwatched
def test_hashes_tell_what_was_asked_about_what(words: Index) -> None:
    known = run(words, retriever="bm25", metrics="recall").data

    def hashes(data: object) -> tuple[str, str]:
        return data["documents"]["hash"], data["questions"]["hash"]  # type: ignore[index]

    other = [replace(DOCUMENTS[0], text=DOCUMENTS[0].text + "!"), *DOCUMENTS[1:]]
    changed = run(
        other, strategy=STRATEGY, embedder="none", retriever="bm25", metrics="recall"
    ).data
    assert hashes(changed)[0] != hashes(known)[0]
    assert hashes(changed)[1] == hashes(known)[1]
    moved = replace(QUESTIONS[0], references=(Reference("Orla.txt", 1, 9),))
    asked = run(words, [moved, *QUESTIONS[1:]], retriever="bm25", metrics="recall").data
    assert hashes(asked)[0] == hashes(known)[0]
    assert hashes(asked)[1] != hashes(known)[1]


def without_timing(text: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(text)
    found.pop("timing")
    return found


@pytest.mark.usefixtures("processes")
def test_the_file_is_the_same_to_the_byte_whatever_the_process_and_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for document in DOCUMENTS:
        (tmp_path / document.id).write_text(document.text)
    rows = [
        {"id": q.id, "question": q.text, "answer": q.answer, "types": list(q.types), "references": [
            {"doc_id": each.doc_id, "start": each.start, "end": each.end} for each in q.references]}
        for q in QUESTIONS
    ]  # fmt: skip
    (tmp_path / "questions.json").write_text(json.dumps(rows))
    script = (
        "import sys, json\nfrom chunkwise.evaluation.evaluate import evaluate\n"
        "from chunkwise.evaluation.results import results_text\n"
        "from dataclasses import replace\n"
        f"found = evaluate(sys.argv[1:], 'questions.json', strategy={STRATEGY!r}, retriever='bm25', metrics="
        "'retrieval,completeness,boundary_issues,retrieval_precision.spans')\n"
        "print(results_text(replace(found, timing={})))\n"
    )  # fmt: skip
    names = [document.id for document in DOCUMENTS]
    done = subprocess.run(
        [sys.executable, "-c", script, *names[::-1]], cwd=tmp_path, capture_output=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "1"}, timeout=HANG,
    )  # fmt: skip
    # Strings have other hashes here, unless one in four billion is as lucky.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["", *names])
    here = io.StringIO()
    with redirect_stdout(here):
        exec(script, {})
    assert here.getvalue() == done.stdout.decode()
    assert json.loads(here.getvalue())["summary"]["recall@5"]["mean"] is not None


@pytest.mark.unwatched
def test_two_runs_in_one_process_are_the_same(words: Index) -> None:
    texts = [results_text(run(words, retriever="bm25")) for _ in range(2)]
    assert without_timing(texts[0]) == without_timing(texts[1])


def test_everything_with_the_real_model() -> None:
    known = {document.id for document in DOCUMENTS[:2]}
    asked = [each for each in QUESTIONS if {r.doc_id for r in each.references} <= known][:12]
    results = evaluate(DOCUMENTS[:2], asked, strategy=STRATEGY, k=3)
    assert results.configuration["embedder"] == "minilm"
    assert results.configuration["retriever"] == "hybrid"
    scored = [name for name, figure in results.summary.items() if figure.mean is not None]
    assert {"recall@3", "ndcg@3", "failure@20", "retrieval_precision.similarity", "coherence",
            "completeness.facts", "completeness.coverage", "citation_accuracy.position"} <= set(scored)  # fmt: skip
    for told in results.questions:
        assert set(told.scores) | {"x"} >= {"recall@3", "map@3"}
        assert all(
            (value is None) == (name in told.unscored) for name, value in told.scores.items()
        )
    similarity = [hit.relevant["similarity"] for told in results.questions for hit in told.hits]
    assert None not in similarity


@pytest.mark.unwatched
def test_a_model_of_ones_own_with_every_metric() -> None:
    from retrieval.tiny_embedder import Tiny

    results = evaluate(DOCUMENTS, QUESTIONS[:8], strategy=STRATEGY, embedder=Tiny(), k=3)
    assert results.summary["recall@3"].mean is not None
    assert results.summary["retrieval_precision.similarity"].scored > 0


def test_wrong_values_are_refused_before_anything_is_read() -> None:
    def never() -> Iterable[Document]:
        raise AssertionError("the documents were read")
        yield

    for wrong, error in (
        ({"metrics": "recal"}, UnknownName),
        ({"metrics": ""}, InvalidParameter),
        ({"k": 0}, InvalidParameter),
    ):
        with pytest.raises(error):
            evaluate(never(), QUESTIONS, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ChunkwiseError, match=r"nowhere\.json does not exist"):
        evaluate(never(), "nowhere.json")


def test_nothing_to_evaluate_is_an_error() -> None:
    with pytest.raises(ChunkwiseError, match="no usable questions"):
        run(queries=[], retriever="bm25")
    with pytest.raises(
        ChunkwiseError, match="no documents to evaluate; give files, folders or an index"
    ):
        evaluate([], QUESTIONS, index=IndexOptions(vectors="none"))
    with pytest.raises(InvalidParameter, match="duplicate question ids: 'Orla-0'"):
        run(queries=[QUESTIONS[0], QUESTIONS[0]], retriever="bm25")


def test_k_and_a_budget_are_two_ways_to_say_one_thing() -> None:
    with pytest.raises(InvalidParameter, match="k is 3"):
        evaluate(DOCUMENTS, questions(), k=3, budget=100)
    usual = evaluate(
        DOCUMENTS, questions()[:3], metrics="recall", index=IndexOptions(vectors="none")
    )
    assert usual.configuration["k"] == 5
    filled = evaluate(
        DOCUMENTS, questions()[:3], metrics="recall", budget=100, index=IndexOptions(vectors="none")
    )
    assert filled.configuration["budget"] == 100


def test_questions_may_be_records_as_a_file_has_them(tmp_path: Path) -> None:
    records = [
        {"query": "Who lends the lamp?", "relevant_text": "Nobody but Orla may lend the lamp"},
        {
            "query_id": "b",
            "query": "Where is the rope?",
            "references": [{"doc_id": "Piet.txt", "text": "The rope of Piet hangs on hook 11"}],
        },
        {"query": "Nowhere?", "relevant_text": "This stands in no document at all."},
    ]
    file = tmp_path / "queries.json"
    file.write_text(json.dumps(records))
    told: dict[str, list[str]] = {"file": [], "memory": []}
    of_file = evaluate(
        DOCUMENTS,
        file,
        index=IndexOptions(vectors="none"),
        listeners=Listeners(on_bad=told["file"].append),
    )
    in_memory = evaluate(
        DOCUMENTS,
        records,
        index=IndexOptions(vectors="none"),
        listeners=Listeners(on_bad=told["memory"].append),
    )
    assert len(in_memory.questions) == 2
    assert in_memory.questions == of_file.questions
    assert in_memory.data["questions"]["hash"] == of_file.data["questions"]["hash"]  # type: ignore[index,call-overload]
    assert [line.partition(": ")[2] for line in told["memory"]] == [
        line.partition(": ")[2] for line in told["file"]
    ]
    mixed = evaluate(
        DOCUMENTS, [*records[:2], *questions()[:1]], index=IndexOptions(vectors="none")
    )
    assert len(mixed.questions) == 3


@cases(
    "given, said",
    [
        ([{"relevant_text": "x"}], "question 1: no question text among 'relevant_text'"),
        (["Who?"], "question 1 is str; expected a chunkwise.Query, or a record such as"),
        (
            [{"query": "Who?", "id": "a"}, {"query": "Where?", "id": "a"}],
            "duplicate question ids: 'a'",
        ),
    ],
)
def test_what_is_no_record_of_a_question(given: list[object], said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        evaluate(DOCUMENTS, given, index=IndexOptions(vectors="none"))  # type: ignore[arg-type]
