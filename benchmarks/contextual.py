"""What a context beside the chunks changes: references that are not found among the hits, before and after."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
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
from chunkwise.models import get_language_model  # noqa: E402
from chunkwise.models.llm.client import LlmClient  # noqa: E402
from chunkwise.testsets.reading import read_testset  # noqa: E402

STRATEGY = "sentences(max_tokens=200)"
RETRIEVERS = ("bm25", "dense", "hybrid")
METRICS = ("failure@5", "failure@20")
TOO_LARGE = 3_000_000
"""Characters beyond which chunks are searched by words alone: each is embedded by itself, twice."""
PART = 4
"""Documents of the sample corpus that the local model reads."""

Contexts = Sequence[str | None]


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--rerank", metavar="NAME", help="also after this reranker, of hybrid's hits"
    )
    parser.add_argument("--llm", metavar="NAME", default="local", help="who writes contexts")
    parser.add_argument("--documents", type=int, default=PART, help="of the sample corpus")
    return parser


def _material(test: QuestionSet) -> tuple[list[Document], list[Query]]:
    documents = list(read(test.paths))
    path = str(test.paths[0].parents[1] / test.questions)
    return documents, list(read_testset(path, documents, lambda problem: None).queries)


def _searches(documents: Sequence[Document], rerank: str | None) -> list[tuple[str, str | None]]:
    """Retrievers, and the last of them with a reranker where there is one."""
    large = sum(len(document.text) for document in documents) > TOO_LARGE
    found: list[tuple[str, str | None]] = [(each, None) for each in RETRIEVERS[: 1 if large else 3]]
    return [*found, ("hybrid", rerank)] if rerank and not large else found


def _rows(
    name: str,
    documents: list[Document],
    queries: list[Query],
    contexts: Sequence[str],
    rerank: str | None,
    client: LlmClient | None = None,
) -> list[list[str]]:
    """A row for each search and measure: without, with each context, and the paired difference."""
    searches = _searches(documents, rerank)
    vectors = "none" if searches == [("bm25", None)] else "own"
    indexes = {
        context: chunkwise.index(
            documents, STRATEGY, vectors=vectors, context=context,  # type: ignore[arg-type]
            llm=client if context not in ("none", "headings") else None,
        )
        for context in ("none", *contexts)
    }  # fmt: skip
    rows = []
    for retriever, reranker in searches:
        print(f"{name} {retriever}", file=sys.stderr, flush=True)
        results = {
            context: chunkwise.evaluate(
                index,
                queries,
                retriever=retriever,
                rerank=reranker,
                k=20,
                metrics=",".join(METRICS),
            )
            for context, index in indexes.items()
        }
        shown = f"{retriever} + rerank" if reranker else retriever
        for context, metric in product(contexts, METRICS):
            change = (
                chunkwise.compare([results["none"], results[context]]).contrasts[0].metrics[metric]
            )
            low, high = 100 * change.difference.low, 100 * change.difference.high
            told = f"{100 * change.difference.mean:+.1f} ({low:+.1f} to {high:+.1f})"
            decided = low > 0 or high < 0
            rows.append([
                name, shown, context, metric, f"{100 * change.first:.1f}", f"{100 * change.second:.1f}",
                f"**{told}**" if decided else told,
            ])  # fmt: skip
    return rows


_HEAD = ("set", "search", "context", "measure", "without", "with", "with − without, points")


def headings(rerank: str | None) -> str:
    """Title and section path beside each chunk, on the sets whose documents have titles or headings."""
    rows = []
    for test in SETS:
        if test.available:
            documents, queries = _material(test)
            rows += _rows(test.name, documents, queries, ["headings"], rerank)
    documents, queries = _sample(None)
    rows += _rows("sample corpus", documents, queries, ["headings"], rerank)
    lacking = "" if rerank else _NO_RERANKER
    return f"{_ABOUT}{lacking}\n{table(_HEAD, rows)}\n"


def written(rerank: str | None, llm: str, count: int) -> str:
    """What a language model wrote about each chunk."""
    documents, queries = _sample(count)
    client = LlmClient(get_language_model(llm))
    rows = _rows(
        "part of the sample corpus", documents, queries, ["headings", "document"], rerank, client
    )
    spent = client.spent
    told = (
        f"{len(documents)} documents of the sample corpus, {len(queries)} questions about them; contexts by "
        f"`{client.identity}` in the document way: {spent.calls:,} calls, {spent.prompt_tokens:,} tokens read, "
        f"{spent.output_tokens:,} written, {spent.kept:,} answers kept from before.\n"
    )
    return f"{told}\n{table(_HEAD, rows)}\n"


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
**bold** where the interval leaves 0 out. A corpus of more than {TOO_LARGE:,} characters is searched by words alone.
"""
_NO_RERANKER = """
Hybrid with a reranker is left out: none can be had from a package index that we would trust, and none was named
(`--rerank`).
"""


if __name__ == "__main__":
    options = _options()
    given = options.parse_known_args()[0]
    PARTS: dict[str, tuple[str, Callable[[], str]]] = {
        "headings": ("Headings", lambda: headings(given.rerank)),
        "written": (
            "Contexts by a language model",
            lambda: written(given.rerank, given.llm, given.documents),
        ),
    }
    write_page("Contextual chunks", "contextual.md", PARTS, __doc__, options)
