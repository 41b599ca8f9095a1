"""Recall within a budget: several sizes at once against a usual default and against the best single size."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

import chunkwise  # noqa: E402
from benchmarks import first_recipe, machine  # noqa: E402
from benchmarks.question_sets import SETS, Question, QuestionSet, recall  # noqa: E402
from benchmarks.resampling import Interval, bootstrap  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from chunkwise import documents  # noqa: E402

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

RECIPE = "## Comparison with a reference implementation"
RECIPE_SETS = ("chroma_eval", "anthropic_code", "squad2", "cuad")
RECIPES = {"recipe": False, "simple": True}
"""With the sentences and terms of the index, and with simple ones."""

RECIPE_NOTES = """BM25 only. The original definition of `multiscale` is implemented literally in
`benchmarks/first_recipe.py` and shares no code with the retriever: windows of 40 to 800 tokens and whole
documents, BM25 at each size, scores normalized by the best of each size, the best window of each size summed per
atom, atoms by score until one doesn't fit. `recipe` uses the sentences and terms of the index, so only the retriever
differs. `simple` also analyzes text in a minimal way: an atom ends at a line end or at a full stop with a space;
words are runs of letters and digits, stemmed, without English stop words. The recipe counts the tokens of an atom
within its document; `multiscale` counts every span separately, often one token more, and returns slightly less text
for the same budget.
"""

Scores = dict[tuple[str, str, int], NDArray[np.float64]]
"""One score a question, by chunking, signal and budget."""

NOTES = """## Method

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


def recipe_rows(test: QuestionSet, questions: list[Question]) -> list[list[str]]:
    """The recipe and several sizes at once with BM25 only, budget by budget."""
    began = perf_counter()
    texts = [question.text for question in questions]
    read = list(documents.read(test.paths))
    found: dict[str, NDArray[np.float64]] = {}
    for name, simple in RECIPES.items():
        spans = first_recipe.search(first_recipe.Atoms.of(read, simple), texts, BUDGETS)
        pairs = zip(questions, spans, strict=True)
        found[name] = np.array([[recall(asked, each) for each in own] for asked, own in pairs])
    index = chunkwise.index(test.paths, DEFAULT, vectors="none")
    rows = []
    for column, budget in enumerate(BUDGETS):
        answers = index.search(texts, budget=budget, retriever=SIGNALS["bm25"])
        ours = np.array([recall(*pair) for pair in zip(questions, answers, strict=True)])
        plain = [found[name][:, column] for name in RECIPES]
        rows.append([
            f"{test.name}, {budget:,}",
            *(f"{100 * each.mean():.1f}" for each in (*plain, ours)),
            *(_difference(ours, each)[0] for each in plain),
        ])  # fmt: skip
    print(f"{test.name}: recipe, {perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return rows


def recipe_section(rows: list[list[str]]) -> str:
    head = ["set, budget", *RECIPES, "multiscale", *(f"− {name}" for name in RECIPES)]
    return f"{RECIPE}\n\n{RECIPE_NOTES}\n{table(head, rows)}\n"


def run_recipe(names: list[str], most: int | None, output: Path) -> None:
    """That section alone, put in its place on the page where there is one."""
    rows: list[list[str]] = []
    for test in SETS:
        if test.folder in names and test.folder in RECIPE_SETS and test.available:
            rows += recipe_rows(test, test.read(most))
    section = recipe_section(rows)
    print(section, flush=True)
    if output.exists():
        output.write_text(with_section(output.read_text(encoding="utf-8"), section), "utf-8")


def with_section(text: str, section: str) -> str:
    """The page with this section instead of the one it had, right before the notes."""
    before, notes, behind = text.partition(NOTES.partition("\n")[0])
    return f"{before.partition(RECIPE)[0]}{section}\n{notes}{behind}"


def page(told: list[str], against: Against) -> str:
    """What was measured so far."""
    return "\n".join([
        "# Retrieval: recall within a token budget\n",
        "Written by `python -m benchmarks.retrieval`.\n",
        machine.describe(),
        _counted(against.default, "the default"),
        _counted(against.single, "the best single size"),
        "",
        *told,
        NOTES,
    ])  # fmt: skip


def run(names: list[str], most: int | None, own: bool, output: Path) -> None:
    """One set after the other; the page is on disk after each."""
    told: list[str] = []
    against = Against([], [])
    rows: list[list[str]] = []
    output.parent.mkdir(parents=True, exist_ok=True)
    for test in SETS:
        if test.folder not in names:
            continue
        if test.available:
            questions = test.read(most)
            text, found = report(measure(test, questions, own))
            told.append(f"## {test.name}, {len(questions):,} questions\n\n{text}\n")
            against.default.extend(found.default)
            against.single.extend(found.single)
            rows += recipe_rows(test, questions) if test.folder in RECIPE_SETS else []
        else:
            told.append(f"## {test.name}\n\nleft out: its data are not there.\n")
        print(told[-1], flush=True)
        written = page(told, against)
        written = with_section(written, recipe_section(rows)) if rows else written
        output.write_text(written, encoding="utf-8")


def main() -> None:
    names = [test.folder for test in SETS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(names)}; all where none is given")
    parser.add_argument("--questions", type=int, help="a seeded sample of so many a set")
    parser.add_argument(
        "--own", action="store_true", help="the default with each chunk embedded by itself, too"
    )
    parser.add_argument(
        "--output", type=Path, default=ROOT / "docs" / "benchmarks" / "retrieval.md"
    )
    parser.add_argument("--only", choices=["recipe"], help="this section alone; the rest stays")
    given = parser.parse_args()
    unknown = set(given.sets) - set(names)
    if unknown:
        parser.error(f"unknown set {', '.join(sorted(unknown))}; known: {', '.join(names)}")
    if given.only == "recipe":
        run_recipe(given.sets or names, given.questions, given.output)
    else:
        run(given.sets or names, given.questions, given.own, given.output)
    print(f"written to {given.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
