"""Models: embedders at several scales, the reranker and token vectors, and questions in another language."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

import chunkwise  # noqa: E402
from benchmarks.corpora import SHARED  # noqa: E402
from benchmarks.page import write_page  # noqa: E402
from benchmarks.question_sets import Question, QuestionSet, recall  # noqa: E402
from benchmarks.resampling import bootstrap  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from chunkwise.core import Document  # noqa: E402
from chunkwise.options import IndexOptions, SearchOptions  # noqa: E402

EMBEDDERS = ("minilm", "bge-small", "arctic-s", "e5-small", "use-multi")
BUDGETS = (250, 1000)
SEED = 11
MOST_RERANKED = 150
"""Questions of a sample: the reranker reads 32 passages for each."""
SIGNALS = {
    "reranker": SearchOptions(retriever="multiscale(maxsim=0)", reranker="local"),
    "token vectors": SearchOptions(retriever="multiscale"),
}
LANGUAGES = {"en": "English", "de": "German", "zh": "Chinese"}

Scores = NDArray[np.float64]


class Sample(NamedTuple):
    """A part of a dataset small enough for two cores."""

    name: str
    corpora: tuple[str, ...]
    questions: int
    """At most; questions about documents outside the sample are omitted."""
    characters: int
    """At most, documents with answers first."""

    def read(self) -> tuple[list[Document], list[Question]]:
        """Documents with answers first, then a random selection of the others."""
        folder = self.corpora[0]
        file = "queries_with_duplicates.jsonl" if folder == "chroma_eval" else "queries.jsonl"
        questions = QuestionSet(self.name, self.corpora, f"{folder}/{file}").read(seed=SEED)
        rows = [
            json.loads(line)
            for corpus in self.corpora
            for line in (SHARED / corpus / "corpus.jsonl").open(encoding="utf-8")
        ]
        random.Random(SEED).shuffle(rows)
        size_of = {row["doc_id"]: len(row["text"]) for row in rows}
        kept: dict[str, int] = {}
        asked: list[Question] = []
        for question in questions:
            needed = {places[0].document for places in question.references} - kept.keys()
            size = sum(size_of[name] for name in needed)
            if len(asked) < self.questions and sum(kept.values()) + size <= self.characters:
                asked.append(question)
                kept |= {name: size_of[name] for name in needed}
        for name, size in size_of.items():
            if name not in kept and sum(kept.values()) + size <= self.characters:
                kept[name] = size
        documents = [
            Document(row["doc_id"], row["text"], title=row.get("title") or "")
            for row in rows
            if row["doc_id"] in kept
        ]
        return documents, asked


SAMPLES = (
    Sample("anthropic_code", ("anthropic_code",), 142, 10_000_000),
    Sample("xquad_en", ("xquad_en",), 200, 10_000_000),
    Sample("xquad_de", ("xquad_de",), 200, 10_000_000),
    Sample("squad2 + distractors", ("squad2", "squad_distractors"), 300, 900_000),
    Sample("chroma_eval", ("chroma_eval",), 300, 1_000_000),
    Sample("musique", ("musique",), 300, 700_000),
    Sample("cuad", ("cuad",), 250, 900_000),
)


def embedders(samples: tuple[Sample, ...]) -> str:
    """Each embedder at several scales, compared with whole chunks embedded by the same model."""
    rows = []
    for sample in samples:
        documents, questions = sample.read()
        for name in EMBEDDERS:
            chunks = chunkwise.index(documents, embedder=name, vectors="own")
            multiscale = chunkwise.index(documents, embedder=name)
            row = [f"{sample.name}, {name}"]
            for budget in BUDGETS:
                # This is about vectors, so document names aren't looked for.
                options = SearchOptions(budget=budget, naming="off")
                row += _compared(
                    _recall(chunks, questions, replace(options, retriever="hybrid")),
                    _recall(multiscale, questions, replace(options, retriever="multiscale")),
                )
            rows.append(_logged(row))
    return "\n".join([
        "Recall of the gold characters within 250 and 1,000 tokens, in %: `hybrid` over chunks of the default strategy,"
        " each embedded by itself, and `multiscale`, both with BM25 and the same embedder; paired differences with 95%"
        " confidence intervals, **bold** if the interval excludes 0. `minilm` and `use-multi` use late chunking, the"
        " others embed windows of about 100 tokens. `naming=\"off\"`.\n",
        table(_heads("sample, embedder", "chunks", "multi-scale"), rows),
    ])  # fmt: skip


def signals(samples: tuple[Sample, ...]) -> str:
    """What the reranker and token vectors add to the default."""
    rows = []
    for sample in samples:
        documents, questions = sample.read()
        questions = questions[:MOST_RERANKED]
        index = chunkwise.index(documents, settings=IndexOptions(maxsim="colbert-small"))
        default = SearchOptions(retriever="multiscale(maxsim=0)")
        bases = [_recall(index, questions, replace(default, budget=budget)) for budget in BUDGETS]
        for name, options in SIGNALS.items():
            row = [f"{sample.name}, {name}"]
            for budget, base in zip(BUDGETS, bases, strict=True):
                scores = _recall(index, questions, replace(options, budget=budget))
                row += _compared(base, scores)
            rows.append(_logged(row))
    return "\n".join([
        "Multi-scale retrieval with default settings, and with one more signal: the cross-encoder `--reranker local`"
        " on 32 passages per question, or the token vectors of `--maxsim colbert-small`. Recall as above, at most"
        f" {MOST_RERANKED} questions per sample. The"
        " projection of `colbert-small` was trained on questions of squad2, which xquad_en resembles.\n",
        table(_heads("sample, signal", "default", "with it"), rows),
    ])  # fmt: skip


def languages() -> str:
    """Questions in one language about articles in another."""
    sets = {
        name: QuestionSet(name, (f"xquad_{name}",), f"xquad_{name}/queries.jsonl")
        for name in LANGUAGES
    }
    questions = {
        name: {question.id[3:]: question for question in asked.read()}
        for name, asked in sets.items()
    }
    ids = sorted(set.intersection(*(set(asked) for asked in questions.values())))
    rows = []
    for articles, title in LANGUAGES.items():
        indexes = [
            chunkwise.index(sets[articles].paths, embedder=name) for name in ("minilm", "use-multi")
        ]
        for asked in LANGUAGES:
            translated = [
                questions[articles][number]._replace(text=questions[asked][number].text)
                for number in ids
            ]
            row = [f"{title}, questions in {LANGUAGES[asked]}"]
            for budget in BUDGETS:
                row += _compared(
                    *(
                        _recall(
                            index, translated, SearchOptions(budget=budget, retriever="multiscale")
                        )
                        for index in indexes
                    )
                )
            rows.append(_logged(row))
    return "\n".join([
        f"XQuAD's articles and questions are parallel translations, so a question in one language is answered by the"
        f" articles in another. {len(ids)} questions per row, `multiscale`, recall as above. If the embedder knows the"
        f" question's language and the documents are in another, `multiscale` omits BM25.\n",
        table(_heads("articles", "minilm", "use-multi"), rows),
    ])  # fmt: skip


def _recall(index: chunkwise.Index, questions: list[Question], options: SearchOptions) -> Scores:
    answers = index.search([question.text for question in questions], options=options)
    return np.array([recall(*pair) for pair in zip(questions, answers, strict=True)])


def _compared(first: Scores, second: Scores) -> list[str]:
    change = bootstrap(100 * (second - first))
    text = f"{change.mean:+.1f} ({change.low:+.1f} to {change.high:+.1f})"
    return [
        f"{100 * first.mean():.1f}",
        f"{100 * second.mean():.1f}",
        f"**{text}**" if change.decided else text,
    ]


def _heads(first: str, before: str, after: str) -> list[str]:
    return [
        first,
        *(head for budget in BUDGETS for head in (f"{before}, {budget:,}", after, "difference")),
    ]


def _logged(row: list[str]) -> list[str]:
    print(" | ".join(row), file=sys.stderr, flush=True)
    return row


def main() -> None:
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--samples", nargs="*", default=[], help="of one part; default: all")
    given, _ = options.parse_known_args()
    samples = tuple(s for s in SAMPLES if not given.samples or s.corpora[0] in given.samples)
    parts: dict[str, tuple[str, Callable[[], str]]] = {
        "embedders": ("Multi-scale with any embedder", lambda: embedders(samples)),
        "signals": ("Reranker and token vectors", lambda: signals(samples)),
        "languages": ("Other languages", languages),
    }
    write_page("Models", "models.md", parts, __doc__, options)


if __name__ == "__main__":
    main()
