"""What a context beside the chunks changes: references that are not found among the hits, before and after."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

import chunkwise  # noqa: E402
from benchmarks.page import write_page  # noqa: E402
from benchmarks.question_sets import SETS, QuestionSet  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from chunkwise.core import Document, Query  # noqa: E402
from chunkwise.documents import read  # noqa: E402
from chunkwise.evaluation.results import Results  # noqa: E402
from chunkwise.models import get_reranker  # noqa: E402
from chunkwise.models.llm.client import LlmClient  # noqa: E402
from chunkwise.models.rerank.reranker import Reranker  # noqa: E402
from chunkwise.retrieval.indexes import Index  # noqa: E402
from chunkwise.retrieval.settings import Vectors  # noqa: E402
from chunkwise.testsets.reading import read_testset  # noqa: E402

STRATEGY = "sentences(max_tokens=200)"
RETRIEVERS = ("bm25", "dense", "hybrid")
METRICS = ("failure@5", "failure@20")
RANKED = ("failure@5", "failure@20", "ndcg@5")
TOO_LARGE = 3_000_000
"""Characters beyond which chunks are searched with BM25 only: each is embedded by itself, twice."""
CHOSEN_ON = 200
"""Questions of a set, at most, of which half were used to choose how maxsim weighs tokens."""


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--rerank", metavar="NAME", default="maxsim", help="reranker of hybrid's hits"
    )
    return parser


def _material(test: QuestionSet) -> tuple[list[Document], list[Query]]:
    documents = list(read(test.paths))
    path = str(test.paths[0].parents[1] / test.questions)
    return documents, list(read_testset(path, documents, lambda problem: None).queries)


def _searches(documents: Sequence[Document]) -> Sequence[str]:
    large = sum(len(document.text) for document in documents) > TOO_LARGE
    return RETRIEVERS[:1] if large else RETRIEVERS


def _rows(
    name: str,
    documents: list[Document],
    queries: list[Query],
    contexts: Sequence[str],
    client: LlmClient | None = None,
    rerank: Reranker | None = None,
) -> list[list[str]]:
    """A row for each search and measure: without, with each context, and the paired difference."""
    searches = _searches(documents)
    indexes = {
        context: _index(documents, context, "own" if "dense" in searches else "none", client)
        for context in ("none", *contexts)
    }
    rows = []
    tried: list[tuple[str, Reranker | None]] = [(retriever, None) for retriever in searches]
    for retriever, model in [*tried, *([("hybrid", rerank)] if rerank else [])]:
        results = {
            context: _asked(name, index, queries, retriever, METRICS, model)
            for context, index in indexes.items()
        }
        shown = f"{retriever} + rerank" if model else retriever
        for context, metric in product(contexts, METRICS):
            told = _difference(results["none"], results[context], metric)
            rows.append([name, shown, context, metric, *told])
    return rows


def _index(
    documents: list[Document], context: str, vectors: Vectors, client: LlmClient | None = None
) -> Index:
    return chunkwise.index(
        documents, STRATEGY, vectors=vectors, context=context,  # type: ignore[arg-type]
        llm=client if context not in ("none", "headings") else None,
    )  # fmt: skip


def _asked(
    name: str,
    index: Index,
    queries: list[Query],
    retriever: str,
    metrics: Sequence[str],
    rerank: Reranker | None = None,
) -> Results:
    shown = f"{name}, {index.settings.context}, {retriever}{' reranked' if rerank else ''}"
    print(shown, file=sys.stderr, flush=True)
    return chunkwise.evaluate(
        index, queries, retriever=retriever, reranker=rerank, k=20, metrics=",".join(metrics)
    )


def _difference(first: Results, second: Results, metric: str) -> list[str]:
    """Both figures and how far the second is from the first, question by question."""
    change = chunkwise.compare([first, second]).contrasts[0].metrics[metric]
    low, high = 100 * change.difference.low, 100 * change.difference.high
    told = f"{100 * change.difference.mean:+.1f} ({low:+.1f} to {high:+.1f})"
    decided = low > 0 or high < 0
    return [
        f"{100 * change.first:.1f}", f"{100 * change.second:.1f}", f"**{told}**" if decided else told,
    ]  # fmt: skip


_HEAD = ("set", "search", "context", "measure", "without", "with", "with − without, points")
_RERANKED_HEAD = ("set", "questions", "context", "measure", "hybrid", "reranked", "change, points")
SAMPLE = "sample corpus"
CHOSEN_FROM = ("chroma_eval", "anthropic_code", "xquad_de", SAMPLE)


def headings() -> str:
    """Title and section path beside each chunk, on the sets whose documents have titles or headings."""
    rows = []
    for name, (documents, queries) in _every_set():
        rows += _rows(name, documents, queries, ["headings"])
    return f"{_ABOUT}\n{table(_HEAD, rows)}\n"


def reranking(rerank: str) -> str:
    """The best hundred of hybrid in the order of a reranker, by questions that had no part in making it."""
    model = get_reranker(rerank)
    reranked, helped = [], []
    for name, (documents, queries) in _every_set():
        if "dense" not in _searches(documents):
            continue
        used = _used_to_choose(name, queries)
        asked = [query for query in queries if query.references and query.id not in used]
        results = {}
        for context in ("none", "headings"):
            index = _index(documents, context, "own")
            alone = _asked(name, index, asked, "hybrid", RANKED)
            results[context] = _asked(name, index, asked, "hybrid", RANKED, model)
            for metric in RANKED:
                told = _difference(alone, results[context], metric)
                reranked.append([name, len(asked), context, metric, *told])
        for metric in METRICS:
            told = _difference(results["none"], results["headings"], metric)
            helped.append([name, "hybrid + rerank", "headings", metric, *told])
    return (
        f"{_ABOUT_RERANKING.format(rerank)}\n{table(_RERANKED_HEAD, reranked)}\n\n"
        f"{_ABOUT_BOTH}\n{table(_HEAD, helped)}\n"
    )


def _every_set() -> Iterator[tuple[str, tuple[list[Document], list[Query]]]]:
    for test in SETS:
        if test.available:
            yield test.name, _material(test)
    yield SAMPLE, _sample(None)


def _used_to_choose(name: str, queries: Sequence[Query]) -> set[str]:
    """Ids of the questions by which the weights of maxsim were chosen: drawn as they were then."""
    if name not in CHOSEN_FROM:
        return set()
    texts = list(dict.fromkeys(query.text for query in queries))
    random.Random(5).shuffle(texts)
    drawn = [query for query in queries if query.references and query.text in texts[:CHOSEN_ON]]
    order = list(range(len(drawn)))
    random.Random(7).shuffle(order)
    return {drawn[at].id for at in order[: len(order) // 2]}


def _sample(count: int | None) -> tuple[list[Document], list[Query]]:
    folder = ROOT / "src" / "chunkwise"
    every = list(read([folder / "corpus"]))
    queries = read_testset(
        str(folder / "corpus_questions.json"), every, lambda problem: None
    ).queries
    chosen = sorted(every, key=lambda document: len(document.text))[:count]
    ids = {document.id for document in chosen}
    asked = [q for q in queries if q.references and {r.doc_id for r in q.references} <= ids]
    return chosen, asked


_ABOUT = f"""`{STRATEGY}`, each chunk embedded with its context by all-MiniLM-L6-v2 in 8 bits. failure@k: the share of
references that the first k hits do not cover, in %; less is better. Differences are paired, with 95 % intervals;
**bold** where the interval leaves 0 out. A corpus of more than {TOO_LARGE:,} characters is searched with BM25 only:
to embed the chunks of both such corpora, with and without headings, takes about half an hour of CPU time.
"""
_ABOUT_RERANKING = """The best hundred chunks of `hybrid`, reranked by `{}`. `maxsim` needs no key, no server and no
weights but those of the embedder, which knows English; its scores and those of `hybrid` are added up, each as a share
of its range. ndcg@5, in %: more is better. How it weighs the tokens of a question was chosen among some 180 ways by
other questions than these (half of at most 200 of chroma_eval, anthropic_code, xquad_de and the sample corpus each;
none of xquad_zh).
"""
_ABOUT_BOTH = "Effect of headings with reranking, on the same questions:\n"


if __name__ == "__main__":
    options = _options()
    given = options.parse_known_args()[0]
    PARTS: dict[str, tuple[str, Callable[[], str]]] = {
        "headings": ("Headings", headings),
        "reranking": ("Reranking", lambda: reranking(given.rerank)),
    }
    write_page("Contextual chunks", "contextual.md", PARTS, __doc__, options)
