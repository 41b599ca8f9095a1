"""Snapshots of every verb: the substance of its results as rows, by the Python interface."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from normalize import COSINE_DIGITS, DENSE_DIGITS, DIGITS, Layout, brief

import chunkwise
from chunkwise import Chunk, Document, Hit, Index, Results
from chunkwise.chunkers.cluster import ClusterChunker
from chunkwise.chunkers.raptor import RaptorChunker
from chunkwise.chunkers.semantic import SemanticChunker
from chunkwise.models.weights.catalog import weights_of
from chunkwise.models.weights.installed import model_status
from chunkwise.options import SearchOptions
from chunkwise.report.comparison_report import comparison_report
from chunkwise.report.evaluation_report import evaluation_report
from chunkwise.report.lint_report import lint_report
from chunkwise.report.profile_report import profile_report
from chunkwise.report.to_terminal import terminal_text
from chunkwise.report.tuning_report import tuning_report
from chunkwise.tuning.sweep_result import SweepResult
from hash_embedder import HashEmbedder
from rule_summarizer import FirstSentences

HERE = Path(__file__).parent
PACKAGE = Path(chunkwise.__file__).parent
FOLDERS = {"files": HERE / "files", "corpus": PACKAGE / "corpus"}
QUESTIONS = {"files": HERE / "questions.json", "corpus": PACKAGE / "corpus_questions.json"}
CASES = tomllib.loads((HERE / "cases.toml").read_text("utf-8"))
BY_RULES = {  # vectors and summaries are made by rules, the same on every machine
    "semantic": SemanticChunker(max_tokens=120, model=HashEmbedder()),
    "cluster": ClusterChunker(max_tokens=100, model=HashEmbedder()),
    "raptor": RaptorChunker(max_tokens=80, llm=FirstSentences(), model=HashEmbedder()),
}
STRATEGIES: dict[str, Any] = {each: each for each in CASES["strategies"]} | BY_RULES
CHUNK = ("start", "end", "tokens", "context", "section", "parent", "summary")
HIT = ("document", "start", "end", "tokens", "score", "section", "matched", "summary")
PLACE = HIT[:3]
"""What a model with 8-bit weights decides alike on every processor: the first hit, not the digits of its score."""
Rows = Iterator[Iterable[Any]]


class Snapshot(NamedTuple):
    layout: Layout
    rows: Callable[[], Rows]
    weights: str
    """Model whose weights it needs; empty: none."""

    def is_missing_weights(self) -> bool:
        return bool(self.weights) and model_status(weights_of(self.weights)).state != "here"


SNAPSHOTS: dict[str, Snapshot] = {}


def snapshot(
    name: str, keys: str, values: Sequence[str] = (), *given: Any, digits: int = DIGITS, weights: str = ""
) -> Callable[[Callable[..., Rows]], Callable[..., Rows]]:  # fmt: skip
    """Registers a function that makes the rows of a snapshot from what is `given`."""

    def register(rows: Callable[..., Rows]) -> Callable[..., Rows]:
        layout = Layout(tuple(keys.split()), tuple(values), digits)
        SNAPSHOTS[name] = Snapshot(layout, partial(rows, *given), weights)
        return rows

    return register


@cache
def documents(group: str) -> list[Document]:
    return list(chunkwise.read(FOLDERS[group]))


@cache
def index(group: str, strategy: str = "structure(max_tokens=120)") -> Index:
    context: Any = "headings" if group == "files" else "none"
    given, embedder = STRATEGIES.get(strategy, strategy), HashEmbedder()
    return chunkwise.index(documents(group), given, embedder=embedder, context=context, graph=True)


@cache
def questions(group: str) -> dict[str, str]:
    """All about the files, and every eleventh about the corpus, by id."""
    found = json.loads(QUESTIONS[group].read_text("utf-8"))
    return {each["query_id"]: each["query"] for each in found[:: 1 if group == "files" else 11]}


def summary(found: Chunk | Hit) -> list[Any]:
    return [found.level, brief(found.summary), *found.spans] if found.level else []


@snapshot("read", "document")
def read() -> Rows:
    for each in documents("files"):
        blocks: Any = Counter(block.kind for block in each.blocks or ())
        about = {"characters": brief(each.text), "block": blocks, "links": len(each.links)}
        yield each.id, about | {"title": each.title, "format": each.format, "pages": each.pages}


@snapshot("chunk-files", "strategy document", CHUNK, "files")
@snapshot("chunk-corpus", "strategy document", CHUNK, "corpus")
def chunk(group: str) -> Rows:
    for name, strategy in STRATEGIES.items():
        for document in documents(group):
            for each in chunkwise.ext.chunk_document(document, strategy):
                about = brief(each.context), brief(each.section_path), each.parent, summary(each)
                yield name, document.id, each.start, each.end, each.token_count, *about


@snapshot("profile", "group name")
def profile() -> Rows:
    for group, folder in FOLDERS.items():
        found = chunkwise.profile(folder)
        for each in (found.total, *found.folders, *found.formats):
            yield group, each.name, each
        yield group, "notes", found.notes


@snapshot("lint", "strategy document", ("kind", "chunk", "offset", "line", "column", "page"))
def lint() -> Rows:
    for strategy in CASES["linted"]:
        for folder in FOLDERS.values():
            for each in chunkwise.lint(folder, strategy).issues:
                place = each.chunk, each.offset, each.line, each.column, each.page
                yield strategy, each.doc_id, each.kind, *place


@snapshot("index", "step name")
def index_steps() -> Rows:
    """An index in memory, and one in a folder, which is updated and opened again."""
    yield "memory", "stats", index("files").stats()
    for each in index("files").chunks():
        yield "memory", each.id, {"context": brief(each.context), "at": [each.start, each.end]}
    with TemporaryDirectory() as name:
        for step, used in (("new", documents("files")), ("fewer", documents("files")[9:])):
            made = chunkwise.index(used, "sentences(max_tokens=100)", into=name, embedder="none")
            yield step, "changes", made.changes
            yield step, "stats", made.stats()
            asked = questions("files")
            found = chunkwise.open_index(name).search([*asked.values()], retriever="bm25", k=3)
            for query, hits in zip(asked, found, strict=True):
                yield step, query, {hit.chunk_id: hit.score for hit in hits}


def hits(index: Index, group: str, searches: dict[str, Any], kind: str = "") -> Rows:
    asked = questions(group)
    for name, options in searches.items():
        if group == "corpus" and "where" in options:
            continue  # its documents have no metadata
        found = index.search([*asked.values()], options=SearchOptions(**options))
        for query, ranked in zip(asked, found, strict=True):
            for hit in ranked:
                place = hit.doc_id, hit.start, hit.end, hit.token_count, hit.score
                about = brief(hit.section_path), hit.matched, summary(hit)
                yield f"{group}: {kind}{name}", query, *place, *about


@snapshot("search-keywords", "search query", HIT, "keywords", "bm25")
@snapshot("search-dense", "search query", HIT, "dense", "hybrid", digits=DENSE_DIGITS)
def search(searches: str, other: str) -> Rows:
    for group in FOLDERS:
        yield from hits(index(group), group, CASES[searches])
    for strategy in ("parent_child(max_tokens=40)", "raptor"):
        one = {other: CASES[searches][other]}
        yield from hits(index("files", strategy), "files", one, f"{strategy}, ")


@snapshot("search-minilm", "search query", PLACE, weights="minilm")
def search_minilm() -> Rows:
    few = [each for each in documents("files") if each.format in ("markdown", "pdf", "docx", "rst")]
    first: dict[Any, Any] = {}
    for search, query, *hit in hits(
        chunkwise.index(few, embedder="minilm"), "files", CASES["model"]
    ):
        first.setdefault((search, query), hit[: len(PLACE)])
    yield from ((*asked, *place) for asked, place in first.items())


@snapshot("search-reranker", "search query", PLACE, weights="ms-marco-minilm")
def search_reranker() -> Rows:
    asked = [*questions("files").items()][:2]
    found = index("files").search(
        [text for _, text in asked], retriever="bm25", k=3, reranker="local"
    )
    for (query, _), ranked in zip(asked, found, strict=True):
        yield "files: bm25", query, ranked[0].doc_id, ranked[0].start, ranked[0].end


@snapshot("ask", "query", ("document", "start", "end", "state"), weights="ms-marco-minilm")
def ask() -> Rows:
    for query, text in [*questions("files").items()][:2]:
        answer = chunkwise.ask(index("files"), text, budget=200, retriever="multiscale(dense=0)")
        for claim in answer.claims:
            if at := claim.citation:
                yield query, at.doc_id, at.start, at.end, claim.state
        for passage in answer.passages:
            yield query, passage.doc_id, passage.start, passage.end, "passage"


@cache
def runs() -> dict[str, Results]:
    evaluate: Any = {
        group: partial(chunkwise.evaluate, queries=QUESTIONS[group]) for group in FOLDERS
    }
    cut, few = "structure(max_tokens=200, overlap=20)", "recall,ndcg,mrr,iou,boundary_issues"
    return {
        "corpus, bm25": evaluate["corpus"](index("corpus"), retriever="bm25", k=5),
        "corpus, hybrid": evaluate["corpus"](index("corpus"), retriever="hybrid", budget=500),
        "corpus, multiscale": evaluate["corpus"](index("corpus"), retriever="multiscale(dense=0)", budget=500),
        "files, hybrid": evaluate["files"](index("files"), retriever="hybrid", k=5),
        "files, bm25": evaluate["files"](
            FOLDERS["files"], strategy=cut, embedder="none", retriever="bm25", k=5, metrics=few
        ),
    }  # fmt: skip


@snapshot("evaluate", "run part name", digits=COSINE_DIGITS)
def evaluate() -> Rows:
    for run, found in runs().items():
        for metric, figure in found.summary.items():
            yield run, "metric", metric, figure
        yield run, "detectable", "", found.detectable
        for part, groups in (("type", found.by_type), ("document", found.by_document)):
            for name, figures in groups.items():
                scored = {m: each for m, each in figures.items() if each.mean is not None}
                yield run, part, name, {m: [e.mean, e.low, e.high] for m, e in scored.items()}
        yield run, "cost", "", found.cost
        yield run, "cuts", "", found.cuts
        for each in found.questions:
            places = [[hit.doc_id, hit.start, hit.end] for hit in each.hits]
            missed = [[*missed.passage, missed.rank] for missed in each.missed]
            yield run, "question", each.id, {**each.scores, "hits": places, "missed": missed}


@snapshot("compare", "run part name")
def compare() -> Rows:
    found = chunkwise.compare(*[*runs().values()][:3])
    for each in found.contrasts:
        for metric, tested in each.metrics.items():
            yield each.second, "metric", metric, tested
        for name, metrics in each.by_type.items():
            yield each.second, "type", name, metrics
        for part in ("first_better", "second_better"):
            changed = {change.id: change.second - change.first for change in getattr(each, part)}
            yield each.second, part, each.objective, changed
    for metric, best in found.best.items():
        yield "all", "best", metric, best


@cache
def sweep() -> SweepResult:
    return chunkwise.tune(HERE / "sweep.toml", embedder=HashEmbedder()).sweep


@snapshot("tune", "part name")
def tune() -> Rows:
    found = sweep()
    names = {}
    for each in found.outcomes:
        own = each.configuration
        names[own.key] = (
            f"{own.strategy} {own.retriever} {own.context} {own.neighbors} {own.vectors}"
        )
        scored = {m: [one for one in s if one is not None] for m, s in each.scores.items()}
        means = {metric: fmean(scores) for metric, scores in scored.items() if scores}
        yield "outcome", names[own.key], {**each.cost, **each.boundary_issues, **means}
    yield "choice", found.objective, {"configuration": names[found.chosen]}
    for standing in found.standings:
        yield "standing", names[standing.key], standing
    for versus in found.against:
        yield "against", versus.baseline, versus
    for lever in found.levers:
        yield "lever", lever.name, lever
    for part in found.parts:
        yield "part", part.name, replace(part, best=names[part.best])


@snapshot("testset", "group name")
def testset() -> Rows:
    for group in FOLDERS:
        made = chunkwise.generate_questions(documents(group), 15, seed=3)
        for each in made.queries:
            yield group, each.text, each
        yield group, "dropped", {"questions": sum(made.dropped.values())}


@snapshot("history", "run name", digits=COSINE_DIGITS)
def history() -> Rows:
    kept = [*runs().values()]
    lint, profile = (verb(FOLDERS["files"]) for verb in (chunkwise.lint, chunkwise.profile))
    with TemporaryDirectory() as name:
        store = chunkwise.history(Path(name) / "runs.db")
        for each in (*kept, chunkwise.compare(*kept[:2]), lint, profile):
            store.keep(each)
        for run in store.runs():
            for metric, figure in run.figures.items():
                yield f"{run.number} {run.kind}", metric, figure
        for metric, divided in store.difference(1, 2).metrics.items():
            yield "1 to 2", metric, divided


@snapshot("report", "verb", ("text",))
def report() -> Rows:
    """What a terminal shows at first: the same values as on the page and in its JSON."""
    first, second = [*runs().values()][:2]
    folder = FOLDERS["corpus"]
    linted = chunkwise.lint(folder)
    for verb, built in {
        "evaluate": evaluation_report(first),
        "compare": comparison_report(chunkwise.compare([first, second])),
        "lint": lint_report(linted.cuts, linted.label),
        "profile": profile_report(chunkwise.profile(folder)),
        "tune": tuning_report(sweep()),
    }.items():
        for line in terminal_text(built, 80).splitlines():
            yield verb, line
