"""Other languages than English: the same articles in three languages, asked in each of the three.

python -m benchmarks.languages           # a part of docs/benchmarks/models.md

The articles and questions of XQuAD are translations of one another, so that a question of one language has its answer
in the articles of another. Recall of the gold characters within 250 / 1,000 tokens, in %, by `multiscale`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

import chunkwise  # noqa: E402
from benchmarks import machine  # noqa: E402
from benchmarks.embedders import HEADING as NEXT  # noqa: E402
from benchmarks.question_sets import Question, QuestionSet, recall  # noqa: E402
from benchmarks.resampling import bootstrap  # noqa: E402
from benchmarks.signals import PAGE  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from chunkwise.retrieval.indexes import Index  # noqa: E402

HEADING = "## Other languages"
LANGUAGES = {"en": "English", "de": "German", "zh": "Chinese"}
MODELS = ("minilm", "use-multi")
BUDGETS = (250, 1000)
SIGNALS = {
    "BM25": "multiscale(dense=0)",
    "vectors": "multiscale(words=0, dense=1)",
    "BM25 + 0.5 vectors": "multiscale",
    "BM25 + vectors": "multiscale(dense=1)",
}
USUAL = "BM25 + 0.5 vectors"
NOTES = """
- **use-multi** is universal-sentence-encoder-multilingual v3: not a transformer; its throughput per core is 2.4 times
  that of `minilm`. It embeds sentences, and a window is the mean of its sentences.
- **In the documents' language**, BM25 finds nearly all of these answers, and models add at most two points, so
  `minilm` remains the default.
- **Asked in another language** than any document is in, words find names alone, and small words that mean something
  else there ("was" is German, too). Where the model knows the question's language, `multiscale` leaves them out; before
  it did, *words + 0.5 vectors of use-multi* found 57.3 / 86.1 % in English articles asked in German, 53.7 / 75.3
  in German and 43.2 / 85.2 in Chinese ones asked in English.
"""


class Asked(NamedTuple):
    """What was found for all questions of one language in the articles of another, questions × budgets."""

    model: str
    articles: str
    questions: str
    signals: str
    recall: NDArray[np.float64]


def measured() -> list[Asked]:
    """All models, languages and signals; BM25 only once."""
    sets = {
        name: QuestionSet(name, (f"xquad_{name}",), f"xquad_{name}/queries.jsonl")
        for name in LANGUAGES
    }
    questions = {name: {each.id[3:]: each for each in own.read()} for name, own in sets.items()}
    ids = sorted(set.intersection(*(set(own) for own in questions.values())))
    found = []
    for model in MODELS:
        for articles in LANGUAGES:
            index = chunkwise.index(sets[articles].paths, embedder=model)
            truth = [questions[articles][each] for each in ids]
            for asked in LANGUAGES:
                texts = [questions[asked][each].text for each in ids]
                for signals, retriever in SIGNALS.items():
                    if signals == "BM25" and model != MODELS[0]:
                        continue
                    columns = [
                        _column(index, texts, retriever, budget, truth) for budget in BUDGETS
                    ]
                    row = Asked(model, articles, asked, signals, np.column_stack(columns))
                    found.append(row)
                    print(*row[:4], row.recall.mean(axis=0).round(3), flush=True)
    return found


def _column(
    index: Index, texts: list[str], retriever: str, budget: int, truth: list[Question]
) -> list[float]:
    hits = index.search(texts, retriever=retriever, budget=budget)
    return [recall(question, own) for question, own in zip(truth, hits, strict=True)]


def page(found: list[Asked]) -> str:
    """The part of the page."""
    heads = [f"{LANGUAGES[a]}, asked in {LANGUAGES[q]}" for a in LANGUAGES for q in LANGUAGES]
    rows = []
    for signals in SIGNALS:
        for model in MODELS if signals != "BM25" else MODELS[:1]:
            name = signals if signals == "BM25" else f"{signals} of {model}"
            own = {
                (e.articles, e.questions): e
                for e in found
                if (e.model, e.signals) == (model, signals)
            }
            rows.append([name, *(_cell(own[a, q].recall) for a in LANGUAGES for q in LANGUAGES)])
    count = len(found[0].recall)
    return "\n".join([
        f"{HEADING}\n",
        "Written by `python -m benchmarks.languages`. The articles and questions of XQuAD are translations of one",
        "another, so that a question of one language has its answer in the articles of another. Recall of the gold",
        f"characters within 250 / 1,000 tokens, in %, by `multiscale`; {count} questions a cell.\n",
        machine.describe(),
        table(["signals", *heads], rows),
        "",
        f"{MODELS[1]} against {MODELS[0]}, paired over questions, within 250 tokens, with 95 % intervals:\n",
        table(["", "vectors alone", USUAL], _differences(found)),
        NOTES,
    ])  # fmt: skip


def _cell(values: NDArray[np.float64]) -> str:
    return " / ".join(f"{100 * each:.1f}" for each in values.mean(axis=0))


def _differences(found: list[Asked]) -> list[list[str]]:
    by_key = {each[:4]: each.recall[:, 0] for each in found}
    rows = []
    for articles in LANGUAGES:
        for asked in LANGUAGES:
            cells = []
            for signals in ("vectors", USUAL):
                old, new = (by_key[model, articles, asked, signals] for model in MODELS)
                mean, low, high = bootstrap(100 * (new - old))
                cells.append(f"{mean:+.1f} ({low:+.1f} to {high:+.1f})")
            rows.append([f"{LANGUAGES[articles]}, asked in {LANGUAGES[asked]}", *cells])
    return rows


def main() -> None:
    part = page(measured())
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(HEADING if HEADING in text else NEXT)
    rest = rest.partition(NEXT)[2] if HEADING in text else rest
    PAGE.write_text(f"{before.rstrip()}\n\n{part.strip()}\n\n{NEXT}{rest}", encoding="utf-8")


if __name__ == "__main__":
    main()
