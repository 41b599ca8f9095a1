"""What a walk along names is worth where answers stand in several places, and what it costs where they do not.

python -m benchmarks.graph                          # all parts of docs/benchmarks/graph.md
python -m benchmarks.graph musique --save FOLDER    # one of them; a second run goes on with its indexes
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

import chunkwise  # noqa: E402
from benchmarks.comparisons import KINDS, comparison_questions  # noqa: E402
from benchmarks.corpora import SHARED, available  # noqa: E402
from benchmarks.multiscale import _documents, _questions  # noqa: E402
from benchmarks.page import write_page  # noqa: E402
from benchmarks.question_sets import Question, QuestionSet, _share, _union, recall  # noqa: E402
from benchmarks.resampling import bootstrap  # noqa: E402
from benchmarks.saved_results import SavedResults  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from chunkwise.core import Document  # noqa: E402
from chunkwise.retrieval.local.index import LocalIndex  # noqa: E402

MUSIQUE = QuestionSet("musique", ("musique",), "musique/queries.jsonl")
ONE_PLACE = {
    "xquad_en": 352, "xquad_de": 352, "xquad_zh": 352, "anthropic_code": 142, "chroma_eval": 472, "squad2": 500,
    "cuad": 200,
}  # fmt: skip
"""Sets whose answers stand in one place, and how many questions are asked at most."""
MOST_DOCUMENTS = {"cuad": 40}
"""Of sets whose reading would take too long here: those with answers first."""
CHOSEN = "multiscale(graph=0.5)"
RETRIEVERS = (
    "bm25",
    "hybrid",
    "multiscale",
    "multiscale(dense=0)",
    "graph",
    "graph(dense=0)",
    CHOSEN,
)
BUDGETS = (500, 1000)
BARS = (30.0, 20.0)
"""Seconds: 1,000,000 tokens indexed with names, and 1,000 questions over them, on two cores."""

Scores = NDArray[np.float64]


def halves() -> tuple[list[Question], list[Question]]:
    """The questions of musique that settings are chosen on, and those that judge."""
    places = {name: at for at, name in enumerate(types_of())}
    questions = sorted(MUSIQUE.read(), key=lambda each: places[each.id])
    order = np.random.default_rng(0).permutation(len(questions)).tolist()
    choose, judge = sorted(order[: len(order) // 2]), sorted(order[len(order) // 2 :])
    return [questions[at] for at in choose], [questions[at] for at in judge]


def documents_of(name: str) -> list[Document]:
    folders = ("squad2", "squad_distractors") if name == "squad2" else (name,)
    rows = [
        json.loads(line)
        for folder in folders
        for line in (SHARED / folder / "corpus.jsonl").open(encoding="utf-8")
    ]
    return [Document(row["doc_id"], row["text"], title=row.get("title") or "") for row in rows][
        : MOST_DOCUMENTS.get(name)
    ]


def index_of(name: str, saved: SavedResults, *, vectors: str = "late") -> chunkwise.Index:
    """With names; reading goes on where an earlier run stopped."""
    with saved.place() as folder:
        place = folder / (name if vectors == "late" else f"{name}-{vectors}")
        documents = documents_of(name)
        if saved.folder is None:
            return chunkwise.index(documents, vectors=vectors, graph=True)  # type: ignore[arg-type]
        return chunkwise.index(documents, into=place, vectors=vectors, graph=True)  # type: ignore[arg-type]


def types_of() -> dict[str, str]:
    """The number of hops of every question, as the set says it."""
    lines = (SHARED / "musique" / "queries.jsonl").open(encoding="utf-8")
    return {row["query_id"]: row["type"] for row in map(json.loads, lines)}


def found_references(question: Question, hits: Sequence[chunkwise.Hit]) -> list[bool]:
    """Of every reference whether half of its text or more was found."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for hit in hits:
        spans.setdefault(hit.doc_id, []).append((hit.start, hit.end))
    joined = {document: _union(own) for document, own in spans.items()}
    return [
        max(_share(place, joined.get(place.document, ())) for place in places) >= 0.5
        for places in question.references
    ]


def percent(values: Scores) -> str:
    return f"{100 * values.mean():.1f}"


def difference(values: Scores, base: Scores) -> str:
    found = bootstrap(100 * (values - base))
    return f"{found.mean:+.1f} [{found.low:+.1f}, {found.high:+.1f}]"


class Asked(NamedTuple):
    """One retriever on some questions: a figure a question each."""

    recall_5: Scores
    recall: dict[int, Scores]
    all_found: dict[int, Scores]
    held: list[list[bool]]
    """Which references were found within 1,000 tokens."""
    milliseconds: float


def ask(index: chunkwise.Index, questions: Sequence[Question], retriever: str) -> Asked:
    texts = [each.text for each in questions]
    index.search(texts[:2], retriever=retriever, budget=500)  # what is made once an index
    five = index.search(texts, retriever=retriever, k=5)
    hits, took = {}, 0.0
    for budget in BUDGETS:
        began = process_time()
        hits[budget] = index.search(texts, retriever=retriever, budget=budget)
        took = process_time() - began
    held = {b: [found_references(q, h) for q, h in zip(questions, hits[b], strict=True)] for b in BUDGETS}  # fmt: skip
    return Asked(
        np.array([recall(q, h) for q, h in zip(questions, five, strict=True)]),
        {b: np.array([recall(q, h) for q, h in zip(questions, hits[b], strict=True)]) for b in BUDGETS},
        {b: np.array([float(all(each)) for each in held[b]]) for b in BUDGETS},
        held[1000],
        1000 * took / len(texts),
    )  # fmt: skip


def several_places(saved: SavedResults) -> str:
    index, (chosen, judged) = index_of("musique", saved), halves()
    answers = {name: ask(index, judged, name) for name in RETRIEVERS}
    base = answers["multiscale"]
    rows = [
        [f"`{name}`", percent(own.recall_5), *(percent(own.recall[b]) for b in BUDGETS),
         *(percent(own.all_found[b]) for b in BUDGETS),
         "" if name == "multiscale" else difference(own.all_found[1000], base.all_found[1000]),
         f"{own.milliseconds:.0f}"]
        for name, own in answers.items()
    ]  # fmt: skip
    heads = ["", "recall@5", *(f"recall@{b}t" for b in BUDGETS), *(f"all_found@{b}t" for b in BUDGETS),
             "all_found@1000t against `multiscale`", "processor ms a question"]  # fmt: skip
    types = types_of()
    hops = sorted(set(types.values()))
    names = ("bm25", "hybrid", "multiscale", "graph")
    by_hops = []
    for hop in hops:
        of_type = [at for at, each in enumerate(judged) if types[each.id] == hop]
        figures = [percent(answers[name].all_found[1000][of_type]) for name in names]
        missed = [
            " / ".join(
                f"{100 * np.mean([not answers[name].held[at][step] for at in of_type]):.0f}"
                for step in range(int(hop[0]))
            )
            for name in ("multiscale", "graph")
        ]
        by_hops.append([hop, len(of_type), *figures, *missed])
    return "\n".join([
        f"MuSiQue, {len(index):,} paragraphs of Wikipedia; the {len(judged)} held-out questions of "
        f"{len(chosen) + len(judged)}; the settings were chosen on the others. BM25 and late chunking with `minilm`, "
        "chunks by `structure`; in percent. `recall`: share of the characters of all references; `all_found`: share of "
        "questions with at least half of *every* reference found. Differences are paired, with 95% confidence "
        "intervals.", "",
        table(heads, rows), "",
        "`all_found@1000t` by the number of hops, and how often each hop was missed, from the first to the last:", "",
        table(["", "questions", *names, "missed by `multiscale`, %", "missed by `graph`, %"], by_hops),
    ])  # fmt: skip


def comparisons(saved: SavedResults) -> str:
    made = comparison_questions(documents_of("musique"))
    kinds = np.array([kind for kind, _ in made])
    questions = [question for _, question in made]
    index = index_of("musique", saved)
    rows = []
    found = {}
    for name in ("multiscale", "graph", "multiscale(dense=0)", "graph(dense=0)"):
        hits = index.search([each.text for each in questions], retriever=name, budget=1000)
        held = [found_references(q, h) for q, h in zip(questions, hits, strict=True)]
        own = found[name] = np.array([float(all(each)) for each in held])
        base = found.get(name.replace("graph", "multiscale"), own)
        rows.append([
            f"`{name}`", percent(own), "" if own is base else difference(own, base),
            *(percent(own[kinds == kind]) for kind in KINDS),
        ])  # fmt: skip
    numbers = [f"{kind} ({(kinds == kind).sum()})" for kind in KINDS]
    return "\n".join([
        f"`all_found@1000t` of {len(questions)} questions such as *Who was born first, A or B?*, made by a script of "
        "MuSiQue's paragraphs: two titles of a kind, and as references the sentences that say it. Differences are "
        "paired, with 95% (bootstrap). HotpotQA and 2WikiMultihopQA were not available.", "",
        table(["", "all", "against `multiscale`", *numbers], rows),
    ])  # fmt: skip


def one_place(saved: SavedResults) -> str:
    rows = []
    for name, most in ONE_PLACE.items():
        if not available(name):
            continue
        file = "queries_with_duplicates.jsonl" if name == "chroma_eval" else "queries.jsonl"
        index = index_of(name, saved, vectors="none")
        ids = set(index.source.ids())
        every = QuestionSet(name, (name,), f"{name}/{file}").read()
        questions = [q for q in every if all(places[0].document in ids for places in q.references)][
            :most
        ]
        texts = [each.text for each in questions]
        found = {
            retriever: np.array(
                [
                    recall(question, hits)
                    for question, hits in zip(
                        questions,
                        index.search(texts, retriever=retriever, budget=1000),
                        strict=True,
                    )
                ]
            )
            for retriever in ("multiscale", "multiscale(graph=0.1)", CHOSEN)
        }
        base, light, ours = found.values()
        rows.append([
            name, len(index), len(questions), percent(base), difference(light, base), difference(ours, base)
        ])  # fmt: skip
    return "\n".join([
        "Recall within 1,000 tokens, in percent, with BM25 only (without vectors an index is quick to make); "
        "differences "
        "paired, with 95 %. squad2 has its distractors beside it, and a sample of its questions; of cuad the first "
        f"{MOST_DOCUMENTS['cuad']} contracts.", "",
        table(["", "documents", "questions", *(f"`{each}`" for each in found)], rows), "",
        "For answers in one passage, the walk gains nothing or loses a little, so it is off by "
        "default. It helps with questions that need two passages if the first names the second. "
        "`tune` tests `graph` on your questions.",
    ])  # fmt: skip


HOSTILE: dict[str, Callable[[int], list[Document]]] = {
    "a name a line": lambda n: [Document("lines", "\n".join(f"Name{at}" for at in range(n)))],
    "one name in every sentence": lambda n: [
        Document(f"d{at}", " ".join(["Then Orme came back again."] * 100)) for at in range(n // 100)
    ],
    "only names, each once": lambda n: [
        Document(f"d{at}", " ".join(f"Vale{at}x{own} saw it." for own in range(100))) for at in range(n // 100)
    ],
    "a thousand names in every document": lambda n: [
        Document(f"d{at}", " ".join(f"Vale{own} saw it." for own in range(1000))) for at in range(n // 1000)
    ],
}  # fmt: skip


def _processor() -> float:
    """Seconds of CPU time so far, with those of processes that have ended."""
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system


def _verdict(seconds: float, bar: float) -> str:
    return "met" if seconds < bar else "**missed**"


def costs(saved: SavedResults) -> str:
    documents = _documents(1_000_000)
    size = sum(len(each.text.encode()) for each in documents)
    seconds: list[tuple[float, float]] = []
    for graph in (False, True):
        began = perf_counter(), _processor()
        index = chunkwise.index(documents, vectors="none", graph=graph, jobs=2)
        seconds.append((perf_counter() - began[0], _processor() - began[1]))
    source = index.source
    assert isinstance(source, LocalIndex)
    held = sum(each.nbytes for name, each in source.arrays.items() if name.startswith("mention."))
    texts = _questions(documents, 1000, 7)
    asking: list[tuple[float, float]] = []
    for retriever in ("multiscale", "graph"):
        index.search(texts[:20], retriever=retriever, budget=1000)
        began = perf_counter(), _processor()
        index.search(texts, retriever=retriever, budget=1000)
        asking.append((perf_counter() - began[0], _processor() - began[1]))
    bytes_rows = []
    for name in (
        "musique",
        "xquad_en",
        "xquad_de",
        "xquad_zh",
        "docs_fastapi_en",
        "docs_fastapi_de",
        "anthropic_code",
    ):
        if available(name):
            own = chunkwise.index(documents_of(name), vectors="none", graph=True).source
            assert isinstance(own, LocalIndex)
            text = sum(len(own.document(at).text.encode()) for at in own.document_numbers())
            names = sum(
                each.nbytes for key, each in own.arrays.items() if key.startswith("mention.")
            )
            count = len(own.arrays["mention.name"])
            bytes_rows.append([name, f"{text:,}", f"{count:,}", f"{names / text:.2f}×"])
    hostile = []
    for name, make in HOSTILE.items():
        took = []
        for count in (50_000, 100_000, 200_000):
            made = make(count)
            start = process_time()
            own_index = chunkwise.index(made, vectors="none", graph=True)
            own_index.search("When did Orme see Vale1x1?", retriever="graph", budget=500)
            took.append(process_time() - start)
        hostile.append([name, *(f"{each:.1f}" for each in took), f"{took[2] / took[0]:.1f}×"])
    made, asked = (
        f"{_verdict(clock, bar)} in wall time, {_verdict(processor, bar)} in CPU time"
        for (clock, processor), bar in zip((seconds[1], asking[1]), BARS, strict=True)
    )
    return "\n".join([
        f"1,000,000 tokens ({len(documents)} contracts, {size:,} bytes), BM25 only, two processes:", "",
        table(["", "without names", "with names"], [
            ["indexing, seconds", *(f"{own:.1f}" for own, _ in seconds)],
            ["indexing, CPU seconds", *(f"{own:.1f}" for _, own in seconds)],
            ["1,000 questions within 1,000 tokens, seconds", *(f"{own:.1f}" for own, _ in asking)],
            ["1,000 questions within 1,000 tokens, CPU seconds", *(f"{own:.1f}" for _, own in asking)],
            ["bytes beside the text", "", f"{held / size:.2f}×"],
        ]), "",
        f"- indexed with names, bar {BARS[0]:.0f} s: {made}",
        f"- 1,000 questions along names, bar {BARS[1]:.0f} s: {asked}", "",
        "On a busy machine (load above), CPU time of both processes is more meaningful than "
        "wall-clock time.", "",
        "Size of the names compared with the text:", "",
        table(["", "bytes of the text", "mentions", "names"], bytes_rows), "",
        "Hostile text: CPU seconds to index it and search once, by number of names or sentences; "
        "linear is 4×:",
        "",
        table(["", "50,000", "100,000", "200,000", "200,000 / 50,000"], hostile),
    ])  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--save", type=Path, help="folder in which indexes are kept")
    given, _ = options.parse_known_args()
    saved = SavedResults(given.save)
    write_page(
        "Multi-hop questions",
        "graph.md",
        {
            "musique": ("Answers in several passages", lambda: several_places(saved)),
            "comparisons": ("Comparisons of two names", lambda: comparisons(saved)),
            "one_place": ("Answers in one passage", lambda: one_place(saved)),
            "costs": ("Time and bytes", lambda: costs(saved)),
        },
        __doc__,
        options,
    )


if __name__ == "__main__":
    main()
