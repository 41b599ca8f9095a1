"""An evaluation's results on the sample corpus: real chunks and real cuts, hits by a seeded guess."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files

import numpy as np

from chunkwise.chunkers import get_strategy
from chunkwise.core import Chunk, Document, Passage
from chunkwise.evaluation.results import (
    Agreement,
    Figure,
    FoundSpan,
    Missed,
    QuestionResult,
    Results,
)
from chunkwise.evaluation.verdicts_and_advice import advice, verdict
from chunkwise.metrics.cuts.boundary_issue_counts import cuts_of
from chunkwise.stats.intervals import interval
from chunkwise.text.analyzed import Analyzed

STRATEGY = "recursive(max_tokens=120)"
OBJECTIVE = "recall@5"
TYPES = ("single-concept", "numeric", "table lookup", "negation", "cross-document")
_ASKED = ("What is said of", "Who wrote", "Where does one find", "When is it not true that")
_UNLABELLED = "nobody rated a hit of this question"
_NAMES = (
    "ferry-safety-manual.md", "glossary.md", "handbook-leave-and-hours.md", "research-paper-fog-drip.md",
    "salt-works-supply-contract.txt", "tide-clock-api.md", "recipes-of-the-salt-kitchen.md",
)  # fmt: skip


def corpus() -> dict[str, Document]:
    """Documents by id."""
    found = {}
    for name in _NAMES:
        text = (files("chunkwise") / "corpus" / name).read_text("utf-8")
        form = "markdown" if name.endswith(".md") else "text"
        found[name] = Document(name, text, format=form)
    return found


def evaluated(count: int = 80, seed: int = 0, most: int = 12) -> Results:
    """`count` questions, the worst `most` of them listed."""
    rng = np.random.default_rng(seed)
    analyzed = [Analyzed(document) for document in corpus().values()]
    chunked = [(each, list(get_strategy(STRATEGY).chunks(each))) for each in analyzed]
    chunks = [chunk for _, own in chunked for chunk in own]
    questions = tuple(_question(number, rng, chunks) for number in range(count))
    names = list(questions[0].scores) if questions else []
    summary = {name: _figure(name, questions) for name in names}
    cuts = cuts_of(chunked)
    for name, mean in (
        ("boundary_issues", cuts.with_issues / cuts.chunks), ("split_references", 0.213),
        ("coherence", 0.487), ("contrast", -0.031), ("citation_accuracy.position", 1.0),
    ):  # fmt: skip
        summary[name] = Figure(mean, verdict=verdict(name, mean))
    worst = sorted(questions, key=lambda own: own.scores[OBJECTIVE] or 0.0)[:most]
    sizes = np.array([chunk.token_count for chunk in chunks])
    return Results(
        configuration={
            "strategy": STRATEGY, "retriever": "hybrid(rrf=60)", "embedder": "minilm", "k": 5, "budget": None,
            "tokenizer": "cl100k", "seed": 0, "metrics": names, "mmr": None,
        },
        versions={"chunkwise": "0.1.0", "python": "3.11.9", "numpy": "2.3.1"},
        data={
            "documents": {"count": len(analyzed), "hash": "9f2c" * 16},
            "questions": {"count": count, "hash": "51ab" * 16, "left out": {"no reference": 2}},
            "tokens": int(sizes.sum()),
        },
        summary=summary,
        by_type=_groups(names, questions, lambda own: own.types),
        by_document=_groups(names, questions, lambda own: own.documents),
        cuts=cuts,
        cost={
            "chunks": len(chunks), "mean_tokens": float(sizes.mean()), "median_tokens": 120.0, "p95_tokens": 120,
            "max_tokens": 120, "document_tokens": 15_200, "indexed_tokens": int(sizes.sum()), "storage": 1.19,
            "tokens_embedded": int(sizes.sum()), "index_bytes": 1_482_112, "context_tokens": 571.4,
        },
        agreement=(
            Agreement("labels", "spans", 0.71, 0.88, 5 * count // 2),
            Agreement("labels", "similarity", 0.34, 0.69, 5 * count // 2),
            Agreement("spans", "similarity", None, 0.66, 5 * count),
        ),
        advice=advice(summary),
        worst=tuple(own.id for own in worst),
        objective=OBJECTIVE if questions else "",
        detectable={name: 0.062 + 0.01 * at for at, name in enumerate(names[:6])},
        questions=questions,
        timing={"chunk": 0.41, "embed": 12.8, "search": 0.92},
    )  # fmt: skip


def _question(number: int, rng: np.random.Generator, chunks: Sequence[Chunk]) -> QuestionResult:
    type = TYPES[number % len(TYPES)]
    gold = chunks[int(rng.integers(len(chunks)))]
    text = gold.document.text
    start = gold.start + int(rng.integers(0, max(gold.end - gold.start - 60, 1)))
    end = min(start + int(rng.integers(60, 400)), len(text))
    right = rng.random() < 0.95 - 0.17 * TYPES.index(type)
    others = [chunks[int(at)] for at in rng.integers(len(chunks), size=5)]
    if right:
        others[int(rng.integers(0, 3))] = gold
    covered = [
        chunk.doc_id == gold.doc_id and chunk.start < end and start < chunk.end for chunk in others
    ]
    recall = _covered(
        start, end, [chunk for chunk, own in zip(others, covered, strict=True) if own]
    )
    first = covered.index(True) + 1 if any(covered) else 0
    labeled = number % 2 == 0
    hits = tuple(
        FoundSpan(
            chunk.doc_id, chunk.start, chunk.end, rank, round(0.9 / rank, 6), chunk.token_count,
            {"labels": covered[rank - 1] if labeled else None, "spans": covered[rank - 1],
             "similarity": bool(rng.random() < 0.45)},
        )
        for rank, chunk in enumerate(others, 1)
    )  # fmt: skip
    words = " ".join(text[start:end].split()[1:8]).strip(" .,|*#")
    rest = Passage(gold.doc_id, gold.end if right else start, end)
    missed = Missed(
        *rest, text[rest.start : rest.end][:400], int(rng.integers(6, 60)) if number % 3 else None
    )
    precise = sum(covered) / 5
    return QuestionResult(
        id=f"q{number:03}",
        text=f"{_ASKED[number % 4]} “{words}”?",
        types=(type,) if number % 7 else (type, "german"),
        documents=(gold.doc_id,),
        scores={
            OBJECTIVE: recall, "precision@5": precise * 0.6, "iou@5": precise * 0.5 * recall,
            "mrr@5": 1 / first if first else 0.0, "ndcg@5": min(1.0, recall * 0.9 + 0.05 * first),
            "recall@1000t": min(1.0, recall + 0.1), "failure@20": float(recall < 0.3),
            "retrieval_precision.labels": min(1.0, precise + 0.6) if labeled else None,
            "retrieval_precision.spans": precise,
            "retrieval_precision.similarity": float(np.mean([hit.relevant["similarity"] or 0 for hit in hits])),
            "completeness.facts": None, "completeness.spans": float(recall > 0.2),
            "chroma.recall@5": recall, "chroma.precision@5": precise * 0.4, "chroma.precision_omega": 0.31,
        },
        unscored={"completeness.facts": "the question has no facts"}
        | ({} if labeled else {"retrieval_precision.labels": _UNLABELLED}),
        hits=hits,
        missed=(missed,) if rest.end > rest.start else (),
        context_tokens=sum(hit.token_count for hit in hits),
    )  # fmt: skip


def _covered(start: int, end: int, hits: Sequence[Chunk]) -> float:
    places = {at for hit in hits for at in range(max(start, hit.start), min(end, hit.end))}
    return len(places) / max(end - start, 1)


def _groups(
    names: Sequence[str],
    questions: Sequence[QuestionResult],
    of: Callable[[QuestionResult], tuple[str, ...]],
) -> Mapping[str, Mapping[str, Figure]]:
    found: dict[str, list[QuestionResult]] = {}
    for question in questions:
        for name in of(question):
            found.setdefault(name, []).append(question)
    return {group: {name: _figure(name, found[group]) for name in names} for group in sorted(found)}


def _figure(name: str, questions: Sequence[QuestionResult]) -> Figure:
    known = [score for own in questions if (score := own.scores[name]) is not None]
    why: dict[str, int] = {}
    for own in questions:
        if name in own.unscored:
            why[own.unscored[name]] = why.get(own.unscored[name], 0) + 1
    found = interval(known)
    if found is None:
        return Figure(None, unscored=why)
    return Figure(*found, len(known), why, verdict(name, found.mean))
