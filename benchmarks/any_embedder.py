"""Multi-scale retrieval with every local embedder, against whole chunks with the same embedder.

python -m benchmarks.any_embedder            # all samples, a part of docs/benchmarks/models.md
python -m benchmarks.any_embedder cuad       # one sample
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

import chunkwise  # noqa: E402
from benchmarks.question_sets import Question, recall  # noqa: E402
from benchmarks.resampling import bootstrap  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from benchmarks.voices import Sample  # noqa: E402
from chunkwise.options import SearchOptions  # noqa: E402

SAMPLES = (
    Sample("anthropic_code", ("anthropic_code",), 142, 10_000_000),
    Sample("xquad_en", ("xquad_en",), 200, 10_000_000),
    Sample("xquad_de", ("xquad_de",), 200, 10_000_000),
    Sample("squad2 + distractors", ("squad2", "squad_distractors"), 300, 900_000),
    Sample("chroma_eval", ("chroma_eval",), 300, 1_000_000),
    Sample("musique", ("musique",), 300, 700_000),
    Sample("cuad", ("cuad",), 250, 900_000),
)
EMBEDDERS = ("minilm", "bge-small", "arctic-s", "e5-small", "use-multi")
BUDGETS = (250, 1000)


def scores(
    index: chunkwise.Index, questions: list[Question], retriever: str, budget: int
) -> NDArray[np.float64]:
    """Recall, question by question; names of documents are not looked for: this is about vectors."""
    options = SearchOptions(budget=budget, retriever=retriever, naming="off")
    answers = index.search([question.text for question in questions], options=options)
    return np.array([recall(*pair) for pair in zip(questions, answers, strict=True)])


def rows(sample: Sample) -> list[list[str]]:
    """A row an embedder: chunks, multi-scale and the difference, by budget."""
    documents, questions = sample.read()
    found = []
    for name in EMBEDDERS:
        chunks = chunkwise.index(documents, embedder=name, vectors="own")
        shared = chunkwise.index(documents, embedder=name)
        row = [f"{sample.name}, {name}"]
        for budget in BUDGETS:
            of_chunks = scores(chunks, questions, "hybrid", budget)
            of_sizes = scores(shared, questions, "multiscale", budget)
            gain = bootstrap(100 * (of_sizes - of_chunks))
            told = f"{gain.mean:+.1f} ({gain.low:+.1f} to {gain.high:+.1f})"
            row += [
                f"{100 * of_chunks.mean():.1f}",
                f"{100 * of_sizes.mean():.1f}",
                f"**{told}**" if gain.decided else told,
            ]
        found.append(row)
        print(" | ".join(row), flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="*", help="names; all if none is given")
    given = parser.parse_args()
    head = ["sample, embedder"]
    for budget in BUDGETS:
        head += [f"chunks, {budget:,}", "multi-scale", "difference"]
    wanted = [each for each in SAMPLES if not given.samples or each.corpora[0] in given.samples]
    print(table(head, [row for sample in wanted for row in rows(sample)]))


if __name__ == "__main__":
    main()
