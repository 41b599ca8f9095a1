"""What each embedder and the reranker are worth as signals of multi-scale retrieval, and what they cost.

python -m benchmarks.gpu_reading prepare FOLDER     # then its `read` on a machine with a GPU, files back to FOLDER
python -m benchmarks.embedders pairs FOLDER         # what the reranker is to read there
python -m benchmarks.embedders score FOLDER [SET…]  # recall of every mix of signals, by the library's own arithmetic
python -m benchmarks.embedders costs FOLDER         # speed on this machine, and how near its vectors are
python -m benchmarks.embedders page FOLDER          # the part of docs/benchmarks/models.md
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from time import process_time
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import chunkwise
from benchmarks import machine
from benchmarks.gpu_reading import CHECKED, MODELS, samples
from benchmarks.question_sets import recall
from benchmarks.signals import HEADING as SIGNALS
from benchmarks.signals import PAGE, _cells, _difference
from benchmarks.tables import table
from chunkwise.models import get_embedder, get_reranker, get_token_encoder
from chunkwise.retrieval.multiscale import AtomCandidates, Multiscale, assemble, atom_votes
from chunkwise.retrieval.multiscale.multiscale import _by_reading
from chunkwise.retrieval.multiscale.window_votes import Windows, spread
from chunkwise.retrieval.retrievers import MultiscaleRetriever
from chunkwise.retrieval.retrievers import _Texts as AtomTexts
from chunkwise.text.terms import query_terms


class Signal(NamedTuple):
    """A model and how it was asked: `own`, `late`, `maxsim`."""

    model: str
    reading: str

    def __str__(self) -> str:
        if self.reading == "maxsim":
            return self.model
        return f"{self.model}, {'late' if self.reading == 'late' else 'each window'}"


class Mix(NamedTuple):
    """Votes added up: how much words, each signal, and the reranker on top of them count."""

    words: float
    signals: tuple[tuple[Signal, float], ...] = ()
    rerank: float = 0.0

    def __str__(self) -> str:
        named = [("BM25", self.words), *((str(signal), own) for signal, own in self.signals)]
        named.append(("reranker", self.rerank))
        return " + ".join(name if own == 1 else f"{own:g} {name}" for name, own in named if own)


MINILM = Signal("minilm", "late")
COLBERT = Signal("colbert-small", "maxsim")
DEFAULT = Mix(1, ((MINILM, 0.5),))
EMBEDDERS = [name for name, model in MODELS.items() if model.pooling in ("mean", "cls")]
ALONE = [Mix(1), Mix(0, ((MINILM, 1),)), Mix(0, ((COLBERT, 1),))] + [
    Mix(0, ((Signal(name, "own"), 1),)) for name in EMBEDDERS
]
BESIDE = [
    Mix(1, ((Signal(name, reading), 0.5),)) for name in EMBEDDERS for reading in ("late", "own")
]
TOGETHER = [
    Mix(1, ((MINILM, 0.5),), 0.5), Mix(1, ((MINILM, 0.5),), 1), Mix(1, ((MINILM, 1),)),
    Mix(1, ((MINILM, 1),), 0.5), Mix(1, ((MINILM, 1),), 1), Mix(1, ((MINILM, 0.5), (COLBERT, 1))),
    Mix(1, ((MINILM, 1), (COLBERT, 1))), Mix(1, ((MINILM, 1), (COLBERT, 1)), 0.5),
    Mix(1, ((MINILM, 1), (COLBERT, 1)), 1),
    Mix(1, ((Signal("bge-small", "own"), 1),)), Mix(1, ((MINILM, 0.5), (Signal("bge-small", "own"), 0.5))),
]  # fmt: skip
BUDGETS = (250, 500, 1000, 2000)


def _top(votes: NDArray[Any]) -> set[int]:
    return set(np.argsort(-votes, kind="stable")[:_NEAREST].tolist())


def _by_agreement(votes: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """A signal counts as much, squared, as its best atoms are those of the two others."""
    best = [_top(each) for each in votes]
    shared = [sum(len(one & other) for other in best) - len(one) for one in best]
    weights = np.square(np.array(shared, np.float64))
    return weights * (3 / weights.sum()) if weights.sum() else np.ones(3)


def _by_peaks(votes: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """A signal counts as much as its best atom stands out from its twenty-first."""
    weights = np.array([1 - np.sort(each)[-_NEAREST - 1] / max(each.max(), 1e-9) for each in votes])
    return weights * (3 / weights.sum()) if weights.sum() else np.ones(3)


def _by_disagreement(votes: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """Words and vectors alone: vectors count from 0.5, where both find the same, to 1."""
    shared = len(_top(votes[0]) & _top(votes[1])) / _NEAREST
    return np.array([1, 1 - shared / 2, 0])


_NEAREST = 20
"""Atoms that are looked at."""
RULES = {
    "all three, by how far they agree": _by_agreement,
    "all three, by how far each stands out": _by_peaks,
    "BM25 + 0.5 to 1 minilm, by how far they disagree": _by_disagreement,
}


class SavedResults:
    """What came back from the other machine, looked up by name."""

    def __init__(self, folder: Path) -> None:
        self._files: dict[str, Any] = {}
        for path in sorted(folder.glob("*.[0-9].npz")):
            found = np.load(path)
            self._files |= dict.fromkeys(found.files, found)

    def __getitem__(self, key: str) -> NDArray[Any]:
        array: NDArray[Any] = self._files[key][key]
        return array


class Scored:
    """A sample with the votes of every signal, and recall by any mix of them."""

    def __init__(self, sample: Any, folder: Path) -> None:

        self.name, self.saved = sample.corpora[0], SavedResults(folder)
        documents, self.questions = sample.read()
        source: Any = chunkwise.index(documents, vectors="none").source
        self.atoms, self.ids = source.atom_table(), source.ids()
        texts = AtomTexts(self.atoms, source)
        self._passages = texts.passages
        # The same atoms are looked at for every mix.
        self.texts: Any = SimpleNamespace(
            **{each: cache(getattr(texts, each)) for each in ("says", "blocks", "parts")}
        )
        holds = partial(self.atoms.terms.holds, allowed=None)
        terms = [query_terms(each.text, source.languages, holds) for each in self.questions]
        plain = Multiscale()
        prepared = plain.prepare(self.atoms)
        self.sizes = prepared.sizes
        by_words = plain._by_words(prepared, terms, [None] * len(self.sizes))
        self.words = [atom_votes(each, len(self.atoms)) for each in by_words]
        self._known: dict[Signal, list[NDArray[np.float32]]] = {}
        self.logits: list[dict[int, float]] = [{} for _ in self.questions]
        if (folder / "pairs.npz").exists():
            asked = np.load(folder / "pairs.npz")[self.name].astype(np.int64)
            logits = self.kept[f"{self.name}|ms-marco-minilm"]
            for (question, window), logit in zip(asked.tolist(), logits.tolist(), strict=True):
                self.logits[question][window] = logit
        self.unread = 0

    def window_texts(self, numbers: Sequence[int]) -> list[str]:
        """Of windows of 200 tokens."""

        windows = self.sizes[2]
        return list(
            self._passages(Windows(windows.first[list(numbers)], windows.stop[list(numbers)]))
        )

    def votes(self, signal: Signal) -> list[NDArray[np.float32]]:

        if signal not in self._known:
            count = len(self.atoms)
            total = [np.zeros(count, np.float32) for _ in self.questions]
            for at, windows in enumerate(self.sizes):
                key = f"{self.name}|{signal.model}|{signal.reading}|{at}"
                numbers = self.kept[f"{key}|numbers"].astype(np.int64)
                shares = self.kept[f"{key}|share"] / 65535.0
                for own, some, share in zip(total, numbers, shares, strict=True):
                    own += spread(windows.first[some], windows.stop[some], share, count)
            self._known = {key: own for key, own in self._known.items() if key in (MINILM, COLBERT)}
            self._known[signal] = total
        return self._known[signal]

    def points(self, mix: Mix) -> Iterator[NDArray[np.float64]]:

        signals = [(weight, self.votes(signal)) for signal, weight in mix.signals]
        passages = self.sizes[2]
        for at, words in enumerate(self.words):
            points = mix.words * words
            for weight, votes in signals:
                points = points + weight * votes[at]
            if mix.rerank:
                weight = mix.rerank * len(self.sizes)
                read = _by_reading(
                    self.atoms, points, passages, lambda some, at=at: self._read(at, some), weight
                )
                points = points + atom_votes([read], len(self.atoms))
            yield points

    def _read(self, question: int, some: Any) -> NDArray[np.float32]:
        numbers = self.sizes[2].first.searchsorted(some.first).tolist()
        found = [self.logits[question].get(each, np.nan) for each in numbers]
        self.unread += int(np.isnan(found).sum())
        return np.array(found, np.float32)

    def points_by(self, rule: str) -> Iterator[NDArray[np.float64]]:
        """Weights of words, vectors and token vectors that each question gets for itself, without labels."""
        for own in zip(self.words, self.votes(MINILM), self.votes(COLBERT), strict=True):
            yield sum(weight * votes for weight, votes in zip(RULES[rule](own), own, strict=True))

    def recalls(self, every: Iterator[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Questions × budgets, in percent, by the points of every question's atoms."""

        least = MultiscaleRetriever().least
        found = np.zeros((len(self.questions), len(BUDGETS)))
        for at, (question, points) in enumerate(zip(self.questions, every, strict=True)):
            for column, budget in enumerate(BUDGETS):
                spans = assemble(
                    self.atoms, AtomCandidates.of(points, budget), budget, least, self.texts
                )
                hits = [
                    SimpleNamespace(doc_id=self.ids[each.document], start=each.start, end=each.end)
                    for each in spans
                ]
                found[at, column] = 100 * recall(question, hits)
        return found


def score(folder: Path, names: Sequence[str]) -> None:
    """Recall of every mix on samples, kept in the folder; what is there already is not done again."""
    for sample in samples():
        if names and sample.corpora[0] not in names:
            continue
        file = folder / f"{sample.corpora[0]}.scores.npz"
        known = dict(np.load(file)) if file.exists() else {}
        wanted = [
            mix for mix in (DEFAULT, *TOGETHER, *ALONE, *RULES, *BESIDE) if str(mix) not in known
        ]
        scored = Scored(sample, folder) if wanted else None
        for mix in wanted:
            assert scored is not None
            known[str(mix)] = scored.recalls(
                scored.points_by(mix) if isinstance(mix, str) else scored.points(mix)
            )
            print(
                sample.name, mix, known[str(mix)].mean(axis=0).round(1), scored.unread, flush=True
            )
            np.savez(file, **known)


COSTS_OF = "chroma_eval"
"""The sample whose passages a processor reads once more."""


def costs(folder: Path) -> None:
    """How fast a processor reads, how near its vectors are to the GPU's, and what an index keeps of them."""

    sample = next(each for each in samples() if each.corpora[0] == COSTS_OF)
    scored = Scored(sample, folder)
    file = folder / "costs.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    questions = [each.text for each in scored.questions[:CHECKED]]
    for name, model in MODELS.items():
        if name in known:
            continue
        if model.pooling == "pair":
            reranker: Any = get_reranker("local").model  # type: ignore[attr-defined]
            numbers = [(q, w) for q in range(2) for w in list(scored.logits[q])[:32]]
            texts = scored.window_texts([window for _, window in numbers])
            began = process_time()
            read = [
                float(reranker.scores(questions[q], [text])[0])
                for (q, _), text in zip(numbers, texts, strict=True)
            ]
            took = process_time() - began
            there = [scored.logits[q][w] for q, w in numbers]
            off = np.abs(np.subtract(read, there))
            known[name] = {
                "question": 32 * took / len(numbers), "logits apart": float(off.mean()), "most": float(off.max()),
                "correlation": float(np.corrcoef(read, there)[0, 1]),
                "speed": 2 * _count(questions, numbers, texts) / took,
            }  # fmt: skip
        else:
            encoder: Any = (
                get_token_encoder(name)
                if model.pooling == "tokens"
                else get_embedder(name, cache=False)
            )
            numbers = scored.kept[f"{COSTS_OF}|minilm|checked"].tolist()
            texts = scored.window_texts(numbers)
            read_texts = encoder.token_vectors if model.pooling == "tokens" else encoder.embed
            read_texts(texts[:1])
            began = process_time()
            found = read_texts(texts)
            took = process_time() - began
            tokens = sum(len(encoder.token_starts(text)) for text in texts)
            began = process_time()
            asked = (
                encoder.query_vectors(questions)
                if model.pooling == "tokens"
                else encoder.embed(questions, "query")
            )
            known[name] = {
                "speed": 2 * tokens / took,
                "question": (process_time() - began) / len(questions),
            }
            if model.pooling != "tokens":
                for what, own in (("passages", found), ("questions", asked)):
                    near = np.einsum(
                        "ij,ij->i", own, scored.kept[f"{COSTS_OF}|{name}|{what}"].astype(np.float32)
                    )
                    known[name][what] = [float(near.mean()), float(near.min())]
        print(name, known[name], flush=True)
        file.write_text(json.dumps(known, indent=1))
    if "bytes" not in known:
        documents, _ = next(
            each for each in samples() if each.corpora[0] == "anthropic_code"
        ).read()
        tokens = chunkwise.index(documents, vectors="none").stats()
        sizes = {
            "words": tokens.bytes,
            "late": chunkwise.index(documents).stats().bytes,
            "own": chunkwise.index(documents, embedder=_Numbers(), vectors="own").stats().bytes,
        }
        known["bytes"] = {key: own / tokens.tokens for key, own in sizes.items()}
        file.write_text(json.dumps(known, indent=1))
        print(known["bytes"])


def _count(
    questions: Sequence[str], numbers: Sequence[tuple[int, int]], texts: Sequence[str]
) -> int:

    minilm: Any = get_embedder("minilm", cache=False)
    asked = [len(minilm.token_starts(each)) for each in questions]
    return sum(
        asked[q] + len(minilm.token_starts(text))
        for (q, _), text in zip(numbers, texts, strict=True)
    )


class _Numbers:
    """Any vectors, as many numbers as those of the others: what matters is the room they take."""

    identity, dimensions = "numbers", 384

    def embed(self, texts: Sequence[str], kind: str = "passage") -> NDArray[np.float32]:
        rows = np.random.default_rng(1).normal(size=(len(texts), 384)).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


HEADING = "## Every embedder, and the reranker"
AIMED = {250: 3.0, 1000: 2.0}
"""Points over the usual mix, within so many tokens, on the mean of samples below their ceiling."""
CEILING = 98
"""Percent within 1,000 tokens above which a sample can show no more."""
WORST = -0.5
"""Points that a sample may lose at most."""
OTHER_LANGUAGES = ("xquad_de", "xquad_zh")


def page(folder: Path) -> str:
    """The part of the page, from what is kept in the folder."""

    figures = {
        sample.name: dict(np.load(folder / f"{sample.corpora[0]}.scores.npz"))
        for sample in samples()
        if (folder / f"{sample.corpora[0]}.scores.npz").exists()
    }
    known = json.loads((folder / "costs.json").read_text())
    names = list(figures)
    usual = str(DEFAULT)
    english = [name for name in names if name not in OTHER_LANGUAGES]
    below = [name for name in english if figures[name][usual][:, 2].mean() < CEILING]

    def row(mix: Mix | str) -> list[str]:
        own = [figures[name].get(str(mix)) for name in names]
        means = [each for name, each in zip(names, own, strict=True) if name in below]
        cells = ["–" if each is None else _cells(each) for each in own]
        mean = "–"
        if all(each is not None for each in means):
            mean = " / ".join(
                f"{each:.1f}" for each in np.mean([each.mean(axis=0) for each in means], axis=0)
            )  # type: ignore[union-attr]
        return [str(mix), *cells, mean]

    parts = [
        f"{HEADING}\n",
        "Written by `python -m benchmarks.embedders`. Recall of the gold characters within 250 / 500 / 1,000 / 2,000",
        "tokens, in %, at several sizes. *late*: documents read once, and a window has the mean of its tokens' vectors",
        "(what the index keeps of `minilm`); *each window*: every window of all six sizes read by itself, eleven times",
        "the work, which no index keeps: what a model could give. *reranker*: `--reranker local`, 32 passages a",
        "question as one more signal. Samples: those of [the signals](#signals-of-multi-scale-retrieval), and 200",
        "questions each of xquad_de and xquad_zh. Vectors and logits come from the exports' weights on one H200 GPU",
        "in 16 bits; processors round the activations of the exports to 8 bits (how near the two are stands below).",
        "Cells with – were not measured.\n",
        machine.describe(),
        table(
            ["signals", *names, "mean"], [row(mix) for mix in (*ALONE, *BESIDE, *TOGETHER, *RULES)]
        ),
        "",
        f"- The mean is that of {', '.join(below)}: below {CEILING} % within 1,000 tokens with {usual}, the usual mix.",
        "",
        f"Against {usual}, within 250 and 1,000 tokens, paired over questions, with 95 % intervals:\n",
    ]
    rows = []
    for mix in (*BESIDE, *TOGETHER):
        if mix == DEFAULT:
            continue
        cells = []
        for name in names:
            one, two = figures[name].get(usual), figures[name].get(str(mix))
            cells.append(
                "–"
                if one is None or two is None
                else "; ".join(_difference(one[:, at], two[:, at]) for at in (0, 2))
            )
        rows.append([str(mix), *cells])
    parts += [table(["", *names], rows), ""]
    parts += [
        _aims(figures, below, english),
        "",
        _left_out(figures, english),
        "",
        *_cost_lines(known, table),
    ]
    return "\n".join(parts)


def _aims(figures: Mapping[str, Any], below: Sequence[str], english: Sequence[str]) -> str:
    """Which mixes reach what is aimed at, all samples known."""

    rows = []
    for mix in (*TOGETHER, *RULES):
        gained = {
            name: (figures[name][str(mix)] - figures[name][str(DEFAULT)]).mean(axis=0)
            for name in english
            if str(mix) in figures[name]
        }
        if len(gained) < len(english):
            continue
        least = {at: min(gained, key=lambda name: gained[name][at]) for at in (0, 2)}
        means = {at: float(np.mean([gained[name][at] for name in below])) for at in (0, 2)}
        is_met = all(means[BUDGETS.index(budget)] >= aim for budget, aim in AIMED.items())
        is_met = is_met and all(gained[least[at]][at] >= WORST for at in (0, 2))
        rows.append([
            str(mix), *(f"{means[at]:+.1f}" for at in (0, 2)),
            *(f"{gained[least[at]][at]:+.1f} ({least[at]})" for at in (0, 2)), "yes" if is_met else "no",
        ])  # fmt: skip
    head = ["", "mean, 250", "mean, 1,000", "the least, 250", "the least, 1,000", "reached"]
    aims = " and ".join(f"{aim:+.0f} within {budget:,}" for budget, aim in AIMED.items())
    told = (
        f"Aimed at: {aims} tokens on the mean, no English sample worse by more than half a point."
    )
    return f"{told}\n\n{table(head, rows)}"


def _left_out(figures: Mapping[str, Any], names: Sequence[str]) -> str:
    """For every sample the mix that is best on the others, and what it is worth there."""

    mixes = [
        str(mix)
        for mix in (DEFAULT, *BESIDE, *TOGETHER, *RULES)
        if all(str(mix) in figures[name] for name in names)
    ]
    parts = []
    for column in (0, 2):
        rows, gained = [], []
        for name in names:
            others = [figures[other] for other in names if other != name]
            best = max(
                mixes,
                key=lambda mix: float(np.mean([each[mix][:, column].mean() for each in others])),
            )
            own, usual = (figures[name][mix][:, column].mean() for mix in (best, str(DEFAULT)))
            gained.append(own - usual)
            rows.append([name, best, f"{own:.1f}", f"{usual:.1f}"])
        parts.append(
            f"Chosen on the other samples by recall within {BUDGETS[column]:,} tokens, and what that is worth on the "
            f"one left out: {np.mean(gained):+.1f} points on the mean of all, {min(gained):+.1f} the least.\n\n"
            + table(["left out", "chosen", "worth", "the usual mix"], rows)
        )
    return "\n\n".join(parts)


def _cost_lines(known: Mapping[str, Any], table: Any) -> list[str]:
    rows = []
    for name, model in MODELS.items():
        if name not in known:
            continue
        own = known[name]
        kept = known.get("bytes", {})
        late = "late" if name == "minilm" else "own"
        size = {"pair": "0", "tokens": "16"}.get(
            model.pooling
        ) or f"{kept[late] - kept['words']:.1f}"
        near = "–"
        if "passages" in own:
            near = "; ".join(
                f"{own[what][0]:.3f} ({own[what][1]:.3f})" for what in ("passages", "questions")
            )
        elif "correlation" in own:
            near = f"logits {own['logits apart']:.2f} apart, {own['most']:.2f} at most"
        rows.append([name, f"{own['speed']:,.0f}", size, f"{own['question']:.3f}", near])
    head = [
        "model",
        "tokens per second, two cores",
        "bytes a token",
        "CPU seconds a question",
        "cosines to the GPU's: mean (least) of passages; of questions",
    ]
    return [
        "Throughput on two cores, from CPU time (busy machine):\n",
        table(head, rows),
        "",
    ]


NOTES = """- **Embedders.** Alone, and each window by itself, the four made for search find more than `minilm` on prose
  asked in whole questions (chroma_eval: 72 to 77 % within 250 tokens, `minilm` 71, and 65 late), `gte-small` and
  `arctic-s` a little more on musique, none on code. Beside words not much of that is left: none is better than `minilm`
  on the mean, at half its speed or less. On cuad, where a question names the contract at length and then asks for a
  clause, `minilm` is the best of all, alone.
- **Reranker.** With weight 1 it adds 2 to 5 points within 250 tokens on every sample except cuad, and nearly five
  within 1,000 on multi-hop questions (musique). Within 1,000 it loses a point and a half on code, and 15 points on
  cuad, where it prefers the page that names the parties. Half the weight has about two thirds of the effect. It reads
  32 passages per question, 2.7 s on one core.
- **No combination reaches the target**, so the default remains `minilm` with late chunking at half the weight of
  BM25. The largest gains within 250 tokens lose on cuad within 1,000, and the gain on cuad (*BM25 + minilm*) loses a
  point or more elsewhere. The closest is *BM25 + minilm, late + colbert-small*: +2.2 and +1.2, worst -0.8, for a
  second model that reads every document. Test it on your questions:
  `tune --reranker local --maxsim colbert-small`.
- **Per-question weights** without labels, from the agreement or the contrast of the three signals, are no better than
  equal weights. A higher vector weight for questions where vectors and BM25 disagree gains on cuad, about as much as
  a constant weight of 0.75. Removing terms shared by half of all questions changes nothing. The share of passages
  that the reranker considers relevant doesn't predict its gain.
"""

READ_BY = (
    DEFAULT, Mix(1, ((MINILM, 1),)), Mix(1, ((MINILM, 1), (COLBERT, 1))), Mix(1, ((MINILM, 0.5), (COLBERT, 1))),
)  # fmt: skip
"""The mixes whose best passages a reranker reads."""


def pairs(folder: Path) -> None:
    """Questions and windows of 200 tokens, as numbers, for the other machine."""
    found = {}
    for sample in samples():
        scored = Scored(sample, folder)
        rows: dict[tuple[int, int], None] = {}

        def read(some: Windows, at: int, own: Scored, into: dict[tuple[int, int], None]) -> Any:
            numbers = own.sizes[2].first.searchsorted(some.first).tolist()
            into.update(dict.fromkeys((at, number) for number in numbers))
            return np.zeros(len(numbers), np.float32)

        for mix in READ_BY:
            for at, points in enumerate(scored.points(mix)):
                reader = partial(read, at=at, own=scored, into=rows)
                _by_reading(scored.atoms, points, scored.sizes[2], reader, 1.0)
        found[scored.name] = np.array(sorted(rows), np.uint32)
    np.savez_compressed(folder / "pairs.npz", **found)  # type: ignore[arg-type]


def main() -> None:
    """One of the steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("step", choices=["pairs", "score", "costs", "page"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*", help="of `score`: folders of the sets; none: all")
    given = parser.parse_args()
    if given.step == "pairs":
        pairs(given.folder)
    elif given.step == "score":
        score(given.folder, given.sets)
    elif given.step == "costs":
        costs(given.folder)
    else:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(HEADING if HEADING in text else SIGNALS)
        behind = rest[rest.index(SIGNALS) :] if SIGNALS in rest else SIGNALS + rest
        PAGE.write_text(
            f"{before.rstrip()}\n\n{page(given.folder)}\n{NOTES}\n{behind}", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
