"""What each signal of multi-scale retrieval is worth: words, vectors, and those of tokens; and what they cost.

python -m benchmarks.signals              # all samples, and the second part of docs/benchmarks/models.md
python -m benchmarks.signals xquad_en     # one sample, printed alone
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from time import perf_counter, process_time
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

import chunkwise  # noqa: E402
from benchmarks import machine, multiscale  # noqa: E402
from benchmarks.corpora import SHARED  # noqa: E402
from benchmarks.question_sets import Question, QuestionSet, recall  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from chunkwise.core import Document  # noqa: E402
from chunkwise.models import get_token_encoder  # noqa: E402
from chunkwise.options import IndexOptions  # noqa: E402
from chunkwise.retrieval.local.index import LocalIndex  # noqa: E402
from chunkwise.retrieval.multiscale import (  # noqa: E402
    AtomCandidates,
    BestWindows,
    Multiscale,
    assemble,
    atom_votes,
    late_interaction,
)
from chunkwise.retrieval.retrievers import MultiscaleRetriever, _Texts  # noqa: E402
from chunkwise.retrieval.searchable import QueryBatch, TokenTable  # noqa: E402
from chunkwise.stats.paired import paired_difference  # noqa: E402
from chunkwise.text.terms import query_terms  # noqa: E402

PAGE = ROOT / "docs" / "benchmarks" / "models.md"
HEADING = "## Signals of multi-scale retrieval"
BUDGETS = (250, 500, 1000, 2000)
SEED = 11
ENCODER = "colbert-small"
BAR = 20.0
"""Seconds for 1,000 questions over 1,000,000 tokens on two cores, all signals."""


AIMED = {250: 3.0, 1000: 2.0}
"""Points that token vectors are to add within so many tokens, on the mean of samples below their ceiling."""
NOTES = """- The projection of `colbert-small` was trained on squad2 questions, and xquad_en is similar: judge by the
  other columns.
- `multiscale` weighs vectors 0.5, also with token vectors; `multiscale(dense=1)` weighs all three equally. Its gain
  within 1,000 tokens comes from the vectors: *BM25 + vectors* has it without token vectors, which help within 250 and
  500 tokens and on multi-hop questions (musique). Therefore token vectors are optional.
- Throughput of `colbert-small`: about 1,500 tokens/s with two threads on a busy machine, half of `minilm`; measure
  yours with `chunkwise models`.
- Samples, not whole datasets; see the intervals for differences of a point or two. Other embedders and the
  cross-encoder as signals: [above](#every-embedder-and-the-reranker).
"""


class Sample(NamedTuple):
    """A part of a set small enough for two cores."""

    name: str
    corpora: tuple[str, ...]
    questions: int
    """At most; those whose documents are not in the sample are left out."""
    characters: int
    """At most, beside the documents that hold answers."""

    @property
    def available(self) -> bool:
        return all((SHARED / each / "corpus.jsonl").is_file() for each in self.corpora)

    def read(self) -> tuple[list[Document], list[Question]]:
        """Documents with answers first, then others by chance."""
        folder = self.corpora[0]
        file = "queries_with_duplicates.jsonl" if folder == "chroma_eval" else "queries.jsonl"
        questions = QuestionSet(self.name, self.corpora, f"{folder}/{file}").read(seed=SEED)
        rows = [
            json.loads(line)
            for each in self.corpora
            for line in (SHARED / each / "corpus.jsonl").open(encoding="utf-8")
        ]
        random.Random(SEED).shuffle(rows)
        texts = {row["doc_id"]: row["text"] for row in rows}
        kept: dict[str, int] = {}
        asked: list[Question] = []
        for question in questions:
            needed = {places[0].document for places in question.references} - kept.keys()
            size = sum(len(texts[each]) for each in needed)
            if len(asked) < self.questions and sum(kept.values()) + size <= self.characters:
                asked.append(question)
                kept |= {each: len(texts[each]) for each in needed}
        for row in rows:
            size = len(row["text"])
            if row["doc_id"] not in kept and sum(kept.values()) + size <= self.characters:
                kept[row["doc_id"]] = size
        documents = [
            Document(row["doc_id"], row["text"], title=row.get("title") or "")
            for row in rows
            if row["doc_id"] in kept
        ]
        return documents, asked


SAMPLES = (
    Sample("anthropic_code", ("anthropic_code",), 142, 10_000_000),
    Sample("xquad_en", ("xquad_en",), 200, 10_000_000),
    Sample("squad2 + distractors", ("squad2", "squad_distractors"), 250, 1_200_000),
    Sample("chroma_eval", ("chroma_eval",), 250, 10_000_000),
    Sample("musique", ("musique",), 150, 1_000_000),
    Sample("cuad", ("cuad",), 200, 600_000),
)


class Weights(NamedTuple):
    """How much each signal counts."""

    words: float
    vectors: float
    tokens: float

    def __str__(self) -> str:
        named = zip(("BM25", "vectors", "token vectors"), self, strict=True)
        return " + ".join(
            name if weight == 1 else f"{weight:g} {name}" for name, weight in named if weight
        )


SO_FAR, NOW, EQUAL = Weights(1, 0.5, 0), Weights(1, 0.5, 1), Weights(1, 1, 1)
SHOWN = (
    Weights(1, 0, 0), Weights(0, 1, 0), SO_FAR, Weights(0, 0, 1), Weights(1, 0, 1), NOW, Weights(1, 1, 0), EQUAL,
)  # fmt: skip
GRID = tuple(Weights(1, *pair) for pair in product((0.5, 1), (0, 0.5, 1, 2)))
"""What is chosen from, on the other samples."""

AMONG = (8_000, 16_000, 32_000, 64_000)
"""Tokens a question's are compared with at most, tried."""
CEILING = 98
"""Percent within 1,000 tokens above which a sample can show no more."""
COSTS = ("bytes a token", "times a plain index", "ms a question, all compared")

Votes = list[NDArray[np.float64]]


class Signals:
    """One sample: the votes of each signal for the atoms of its documents, a question each."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        documents, self.questions = sample.read()
        index = chunkwise.index(documents, settings=IndexOptions(maxsim=ENCODER))
        source = index.source
        assert isinstance(source, LocalIndex)
        self.source, self.atoms, self.stats = source, source.atom_table(), index.stats()
        assert self.atoms.token_vectors is not None
        self.tokens = len(self.atoms.token_vectors.codes)
        of_atoms = sum(
            each.nbytes
            for name, each in source.arrays.items()
            if name.startswith(("atom", "token"))
        )
        self.times_plain = self.stats.bytes / (self.stats.bytes - of_atoms)
        texts = [each.text for each in self.questions]
        batch = QueryBatch(texts, source.settings)
        holds = partial(self.atoms.terms.holds, allowed=None)
        terms = [query_terms(text, source.languages, holds) for text in texts]
        plain = Multiscale(dense=1)
        prepared = plain.prepare(self.atoms)
        nothing: list[None] = [None] * len(prepared.sizes)
        self.words = self._votes(plain._by_words(prepared, terms, nothing))
        self.vectors = self._votes(plain._by_vectors(prepared, batch.vectors, nothing))
        self.spoken = batch.token_vectors
        self._by_tokens = partial(plain._by_tokens, prepared, excluded=nothing)
        self.near = self.near_among(late_interaction._COMPARED)

    def near_among(self, most: int) -> Votes:
        """By token vectors, those of so many tokens compared that words and vectors find best."""
        first = [one + 0.5 * two for one, two in zip(self.words, self.vectors, strict=True)]
        compared = [
            late_interaction.compared_atoms(self.atoms, points, None, most) for points in first
        ]
        return self._votes(
            self._by_tokens(asked, atoms)
            for asked, atoms in zip(self.spoken, compared, strict=True)
        )

    @cached_property
    def exact(self) -> Votes:
        """By token vectors, all of them compared."""
        every = np.arange(len(self.atoms))
        began = process_time()
        found = self._votes(self._by_tokens(asked, every) for asked in self.spoken)
        self.seconds_a_question = (process_time() - began) / len(self.spoken)
        return found

    def _votes(self, found: Sequence[list[BestWindows]] | object) -> Votes:
        return [atom_votes(each, len(self.atoms)) for each in found]  # type: ignore[attr-defined]

    def recalls(self, weights: Weights, near: Votes | None = None) -> NDArray[np.float64]:
        """Questions × budgets, in percent; `near`: other votes by token vectors than the usual ones."""
        texts = _Texts(self.atoms, self.source)
        ids = self.source.ids()
        found = np.zeros((len(self.questions), len(BUDGETS)))
        signals = (self.words, self.vectors, self.near if near is None else near)
        for at, (question, *votes) in enumerate(zip(self.questions, *signals, strict=True)):
            points = np.sum(
                [weight * own for weight, own in zip(weights, votes, strict=True)], axis=0
            )
            for column, budget in enumerate(BUDGETS):
                candidates = AtomCandidates.of(points, budget)
                spans = assemble(self.atoms, candidates, budget, MultiscaleRetriever().least, texts)
                hits = [
                    SimpleNamespace(doc_id=ids[each.document], start=each.start, end=each.end)
                    for each in spans
                ]
                found[at, column] = 100 * recall(question, hits)
        return found


class Measured(NamedTuple):
    """One sample: recall by weights, questions × budgets, and what is said about it."""

    recalls: dict[Weights, NDArray[np.float64]]
    exact: NDArray[np.float64]
    """Of the plain sum, every token compared."""
    among: dict[int, NDArray[np.float64]]
    """The same, at most so many compared."""
    about: list[str]


def measured(sample: Sample, keep: Path | None) -> Measured:
    """Measured now, or as it was kept in a folder."""
    file = keep / f"{sample.corpora[0]}.npz" if keep else None
    if file and file.exists():
        known = np.load(file)
        recalls = {weights: known[str(weights)] for weights in {*SHOWN, *GRID}}
        among = {most: known[f"among {most}"] for most in AMONG}
        return Measured(recalls, known["exact"], among, known["about"].tolist())
    signals = Signals(sample)
    recalls = {weights: signals.recalls(weights) for weights in {*SHOWN, *GRID}}
    exact = signals.recalls(NOW, signals.exact)
    among = {most: signals.recalls(NOW, signals.near_among(most)) for most in AMONG}
    counts = (len(signals.source.ids()), len(signals.questions), signals.tokens)
    held, took = signals.stats.bytes / signals.tokens, 1000 * signals.seconds_a_question
    costs = [f"{held:.0f}", f"{signals.times_plain:.1f}×", f"{took:.0f}"]
    about = [sample.name, *(f"{each:,}" for each in counts), *costs]
    found = Measured(recalls, exact, among, about)
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        named = {str(weights): each for weights, each in recalls.items()}
        named |= {f"among {most}": each for most, each in among.items()}
        np.savez(file, exact=found.exact, about=np.array(about), **named)
    return found


Figures = dict[str, dict[Weights, NDArray[np.float64]]]


def _cells(values: NDArray[np.float64]) -> str:
    return " / ".join(f"{each:.1f}" for each in values.mean(axis=0))


def _difference(first: NDArray[np.float64], second: NDArray[np.float64]) -> str:
    """Of the means, with the interval of the paired differences."""
    found = paired_difference(first / 100, second / 100)
    assert found is not None
    low, high = 100 * found.difference.low, 100 * found.difference.high
    return f"{(second - first).mean():+.1f} ({low:+.1f} to {high:+.1f})"


def _chosen(figures: Figures, column: int) -> tuple[list[list[str]], float]:
    """For every sample the weights that are best on the others, and what they are worth on it; the mean of those."""
    rows, worth = [], []
    for name, own in figures.items():
        others = [each for other, each in figures.items() if other != name]
        best = max(GRID, key=lambda w: np.mean([each[w][:, column].mean() for each in others]))
        worth.append(own[best][:, column].mean())
        rows.append([name, str(best), f"{worth[-1]:.1f}", f"{own[NOW][:, column].mean():.1f}"])
    return rows, float(np.mean(worth))


def page(samples: Sequence[Sample], keep: Path | None) -> str:
    """The part of the page, measured now."""
    figures: Figures = {}
    exact: dict[str, NDArray[np.float64]] = {}
    among: dict[str, dict[int, NDArray[np.float64]]] = {}
    about = []
    for sample in samples:
        found = measured(sample, keep)
        figures[sample.name], exact[sample.name] = found.recalls, found.exact
        among[sample.name] = found.among
        about.append(found.about)
        print(*found.about, sep=", ", flush=True)
        for weights in SHOWN:
            print(f"  {weights}: {_cells(found.recalls[weights])}", flush=True)
        print(f"  exact: {_cells(found.exact)}", flush=True)
    names = list(figures)
    below = [name for name in names if figures[name][SO_FAR][:, 2].mean() < CEILING] or names
    shown = []
    for weights in SHOWN:
        means = np.mean([figures[name][weights].mean(axis=0) for name in below], axis=0)
        cells = [_cells(figures[name][weights]) for name in names]
        shown.append([str(weights), *cells, " / ".join(f"{each:.1f}" for each in means)])
    lost = [
        [name, *map(_cells, among[name].values()), _cells(exact[name])]
        for name in names
        if any((each != exact[name]).any() for each in among[name].values())
    ]
    parts = [
        f"{HEADING}\n",
        "Written by `python -m benchmarks.signals`: words (BM25), late vectors of `minilm`, and the token vectors of",
        "`colbert-small` (64 numbers in 2 bits), each with the votes of six sizes. Recall of the gold characters",
        "within 250 / 500 / 1,000 / 2,000 tokens, in %.\n",
        machine.describe(),
        table(
            ["sample", "documents", "questions", "its tokens", *COSTS],
            about,
        ),
        "",
        table(["signals", *names, "mean"], shown),
        "",
        f"- The mean is that of {', '.join(below)}: below {CEILING} % within 1,000 tokens so far.",
        "",
    ]  # fmt: skip
    for weights in (NOW, EQUAL):
        pairs = {name: (figures[name][SO_FAR], figures[name][weights]) for name in names}
        gained = [
            [name, *(_difference(one[:, at], two[:, at]) for at in range(len(BUDGETS)))]
            for name, (one, two) in pairs.items()
        ]
        parts += [
            f"{weights} against {SO_FAR}, paired over questions, with 95 % intervals:\n",
            table(["", *(f"{each:,} tokens" for each in BUDGETS)], gained),
            "",
        ]
        for budget, aim in AIMED.items():
            at = BUDGETS.index(budget)
            own = [(pairs[name][1] - pairs[name][0])[:, at].mean() for name in below]
            verdict = "met" if np.mean(own) >= aim else "**missed**"
            parts.append(
                f"- within {budget:,} tokens {np.mean(own):+.1f} on the mean, the least {min(own):+.1f}; "
                f"aimed at {aim:+.0f}: {verdict}"
            )
        parts.append("")
    for column in (0, 2) if len(names) > 1 else ():
        rows, worth = _chosen(figures, column)
        now, equal = (
            np.mean([own[weights][:, column].mean() for own in figures.values()])
            for weights in (NOW, EQUAL)
        )
        parts += [
            f"Weights chosen on the other samples by recall within {BUDGETS[column]:,} tokens, and what they are worth "
            f"on the one left out; mean {worth:.1f}, {NOW} {now:.1f}, {EQUAL} {equal:.1f}:\n",
            table(["left out", "chosen", "worth", str(NOW)], rows),
            "",
        ]
    if lost:
        parts += [
            f"In an index of more than {late_interaction._COMPARED:,} tokens a question's tokens are compared with "
            "those of the atoms that words and vectors find best, up to that number. What that loses, and what "
            "fewer would lose:\n",
            table(["", *(f"the best {most:,} compared" for most in AMONG), "all compared"], lost),
            "",
        ]
    return "\n".join(parts)


def speed(tokens: int = 1_000_000, questions: int = 1000, seed: int = 7) -> str:
    """All signals over real text with vectors by chance, which take as long as others."""
    documents = multiscale._documents(tokens)
    atoms = multiscale._atoms(documents, seed)
    chance = np.random.default_rng(seed)
    sizes = np.rint(atoms.tokens * 1.1).astype(np.int64)
    width = get_token_encoder(ENCODER).dimensions
    codes = chance.integers(0, 256, (int(sizes.sum()), width // 4)).astype(np.uint8)
    atoms = replace(
        atoms, token_vectors=TokenTable(np.append(0, np.cumsum(sizes)).astype(np.int64), codes)
    )
    asked = [
        query_terms(text, ["en"]) for text in multiscale._questions(documents, questions, seed)
    ]
    vectors = chance.normal(size=(questions, multiscale.DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    spoken = [chance.normal(size=(14, width)).astype(np.float32) for _ in range(questions)]
    retriever = Multiscale()
    prepared = retriever.prepare(atoms)
    retriever.search(prepared, asked[:4], vectors[:4], multiscale.BUDGET, tokens=spoken[:4])
    rows = []
    for name, given in (("words and vectors", None), ("and token vectors", spoken)):
        began, worked = perf_counter(), process_time()
        retriever.search(prepared, asked, vectors, multiscale.BUDGET, tokens=given)
        rows.append([name, f"{perf_counter() - began:.1f}", f"{process_time() - worked:.1f}"])
    met = "met" if float(rows[-1][1]) < BAR else "**missed**"
    return "\n".join([
        f"{questions:,} questions of 14 tokens over {int(atoms.tokens.sum()):,} tokens (the model's {len(codes):,}):\n",
        table(["signals", "seconds", "of all cores' time"], rows),
        "",
        f"- bar {BAR:.0f} s: {met}; half of all cores' time is {float(rows[-1][2]) / 2:.1f} s",
        "",
    ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("samples", nargs="*", help="names of samples; none: all, and the page")
    parser.add_argument(
        "--speed", action="store_true", help="only 1,000 questions over 1,000,000 tokens"
    )
    parser.add_argument(
        "--save", type=Path, help="a folder for figures: a second run goes on with them"
    )
    given = parser.parse_args()
    if given.speed:
        print(speed())
        return
    found = [
        each for each in SAMPLES
        if each.available and (not given.samples or each.name in given.samples or each.corpora[0] in given.samples)
    ]  # fmt: skip
    text = page(found, given.save)
    if given.samples:
        print(text)
        return
    text = f"{text}\n{speed()}\n{NOTES}"
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    PAGE.write_text(f"{before.rstrip()}\n\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
