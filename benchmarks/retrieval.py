"""Recall within a budget: several sizes at once against a usual default and against the best single size."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

import chunkwise  # noqa: E402
from benchmarks import naming  # noqa: E402
from benchmarks.page import write_page  # noqa: E402
from benchmarks.question_sets import SETS, Question, QuestionSet, recall  # noqa: E402
from benchmarks.resampling import Interval, bootstrap  # noqa: E402
from benchmarks.tables import table  # noqa: E402

BUDGETS = (250, 500, 1000, 2000)
DEFAULT = "recursive(max_tokens=1000, overlap=200, tokenizer='characters')"
SINGLE = {size: f"sentences(max_tokens={size}, overlap={size // 2})" for size in (100, 200, 400)}
SIGNALS = {
    "bm25": "multiscale(dense=0)",
    "dense": "multiscale(words=0, dense=1)",
    "hybrid": "multiscale",
}
"""The retriever of chunks, and several sizes with the same signals."""

OWN = "default, own vectors"

Scores = dict[tuple[str, str, int], NDArray[np.float64]]
"""One score a question, by chunking, signal and budget."""

NOTES = """### Method

- Recall: share of the characters of the gold passages in the returned spans, in %, within a token budget
  (o200k_base). A repeated passage counts as found at any of its occurrences.
- Everything is `chunkwise.index` and `index.search(..., budget=...)`. Chunks are returned by rank, repeated text
  counts once, and the last chunk is truncated at a sentence end to fit the budget, which favors overlapping chunks
  compared with returning them whole.
- `default`: recursive, 1,000 characters with an overlap of 200. `single`: whole sentences up to 100, 200 or 400
  tokens, with 50% overlap; **the best of the three on these same questions** is shown, which is optimistic.
  `multiscale`: default settings. 1,000 Chinese characters are about 750 tokens, so there the default doesn't fit
  small budgets.
- All three use the same terms, model (all-MiniLM-L6-v2) and late chunking. `hybrid`: normalized scores, vectors at
  half the weight of BM25. MiniLM is an English model, used here also for German and Chinese.
- Differences are paired, question by question, with the 95 % interval of 10,000 seeded resamples; **bold** where the
  interval leaves 0 out, for better or worse.
- There are no timings here, so a busy machine doesn't affect the results.
"""


def measure(test: QuestionSet, questions: list[Question], own: bool) -> Scores:
    """All searches of one set."""
    found: Scores = {}
    texts = [question.text for question in questions]

    def ask(index: chunkwise.Index, name: str, signal: str, retriever: str) -> None:
        for budget in BUDGETS:
            answers = index.search(texts, budget=budget, retriever=retriever)
            scores = [recall(*pair) for pair in zip(questions, answers, strict=True)]
            found[name, signal, budget] = np.array(scores)

    for name, strategy in {"default": DEFAULT, **{str(s): t for s, t in SINGLE.items()}}.items():
        began = perf_counter()
        index = chunkwise.index(test.paths, strategy)
        for signal, several in SIGNALS.items():
            ask(index, name, signal, signal)
            if name == "default":  # its atoms are those of every index of these documents
                ask(index, "multiscale", signal, several)
        print(f"{test.name}: {name}, {perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    if own:
        index = chunkwise.index(test.paths, DEFAULT, vectors="own")
        for signal in ("dense", "hybrid"):
            ask(index, OWN, signal, signal)
    return found


def _best_single(scores: Scores, signal: str, budget: int) -> tuple[str, NDArray[np.float64]]:
    size = max(SINGLE, key=lambda size: scores[str(size), signal, budget].mean())
    return str(size), scores[str(size), signal, budget]


def _difference(one: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[str, Interval]:
    found = bootstrap(100 * (one - other))
    shown = f"{found.mean:+.1f} ({found.low:+.1f} to {found.high:+.1f})"
    return (f"**{shown}**" if found.decided else shown), found


class Against(NamedTuple):
    """Differences, one a signal and budget."""

    default: list[Interval]
    single: list[Interval]


def report(scores: Scores) -> tuple[str, Against]:
    """A table of one set, and the differences in it."""
    rows, against = [], Against([], [])
    for signal in SIGNALS:
        for budget in BUDGETS:
            several = scores["multiscale", signal, budget]
            default = scores["default", signal, budget]
            size, single = _best_single(scores, signal, budget)
            to_default, interval = _difference(several, default)
            against.default.append(interval)
            to_single, interval = _difference(several, single)
            against.single.append(interval)
            own = scores.get((OWN, signal, budget))
            rows.append([
                f"{signal}, {budget:,}",
                f"{100 * default.mean():.1f}",
                *([f"{100 * own.mean():.1f}" if own is not None else "–"] if _has_own(scores) else []),
                f"{100 * single.mean():.1f} ({size})",
                f"{100 * several.mean():.1f}",
                to_default,
                to_single,
            ])  # fmt: skip
    head = ["signal, budget", "default", *([OWN] if _has_own(scores) else []), "single (size)", "multiscale",
            "− default", "− single"]  # fmt: skip
    return table(head, rows), against


def _has_own(scores: Scores) -> bool:
    return any(name == OWN for name, _, _ in scores)


def _counted(found: list[Interval], other: str) -> str:
    better = sum(each.low > 0 for each in found)
    worse = sum(each.high < 0 for each in found)
    return (
        f"- Of {len(found)} comparisons with {other} (sets × signals × budgets), multiscale is better in {better}, "
        f"worse in {worse}, and undecided in {len(found) - better - worse}."
    )


def datasets(names: Sequence[str], most: int | None, own: bool) -> str:
    """A table per dataset, after the number of comparisons won and lost."""
    parts: list[str] = []
    against = Against([], [])
    for test in SETS:
        if test.folder in names and test.available:
            questions = test.read(most)
            text, found = report(measure(test, questions, own))
            parts.append(f"### {test.name}, {len(questions):,} questions\n\n{text}\n")
            against.default.extend(found.default)
            against.single.extend(found.single)
            print(parts[-1], flush=True)
    return "\n".join([
        _counted(against.default, "the default"),
        _counted(against.single, "the best single size"),
        "",
        *parts,
        NOTES,
    ])  # fmt: skip


def main() -> None:
    names = [test.folder for test in SETS]
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--sets", nargs="+", choices=names, default=names)
    options.add_argument("--questions", type=int, help="a seeded sample of so many per set")
    options.add_argument(
        "--own", action="store_true", help="also the default with per-chunk embeddings"
    )
    given, _ = options.parse_known_args()
    parts: dict[str, tuple[str, Callable[[], str]]] = {
        "datasets": ("Datasets", lambda: datasets(given.sets, given.questions, given.own)),
        "naming": (
            "Questions that name their document", lambda: naming.run(given.questions or 300),
        ),
    }  # fmt: skip
    write_page("Retrieval: recall within a token budget", "retrieval.md", parts, __doc__, options)


if __name__ == "__main__":
    main()
