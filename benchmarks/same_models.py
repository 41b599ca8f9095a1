"""Several sizes at once against what a careful user builds from parts, with the same models and the same reranker.

python -m benchmarks.same_models FOLDER                    # all samples; figures are kept in the folder
python -m benchmarks.same_models FOLDER --questions 40 xquad_en
python -m benchmarks.same_models FOLDER --html             # docs/benchmarks/retrieval.md, from what the folder has

From parts: chunks of 1,000 characters with 200 of overlap, words and `minilm` by reciprocal ranks, the best hundred
chunks put in order by the cross-encoder. Several sizes: `search --budget`, words and `minilm`, the cross-encoder over
32 passages as one more signal. The samples are those of `benchmarks.signals`.
"""

from __future__ import annotations

import argparse
import json
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
from benchmarks.question_sets import Question, recall  # noqa: E402
from benchmarks.retrieval import BUDGETS, DEFAULT  # noqa: E402
from benchmarks.signals import SAMPLES, Sample  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from chunkwise.models.rerank.cross_encoder import PretrainedReranker  # noqa: E402
from chunkwise.retrieval.indexes import Index  # noqa: E402
from chunkwise.stats.paired import paired_difference  # noqa: E402

PAGE = ROOT / "docs" / "benchmarks" / "retrieval.md"
HEADING = "## With the same models and the same reranker"
NEXT = "## Comparison with a reference implementation"
PATIENCE = 36_000.0
"""Seconds a question may take: no passage is left out for a slow machine."""


class Way(NamedTuple):
    """One way to answer."""

    name: str
    strategy: str | None
    retriever: str
    is_reranked: bool


WAYS = (
    Way("from parts", DEFAULT, "hybrid(fusion=rrf, dense=1)", False),
    Way("from parts, reranked", DEFAULT, "hybrid(fusion=rrf, dense=1)", True),
    Way("multiscale", None, "multiscale", False),
    Way("multiscale, reranked", None, "multiscale", True),
)


def measured(sample: Sample, folder: Path, most: int | None) -> None:
    """Questions × budgets of every way, kept in the folder; what is there is not measured again."""
    documents, questions = sample.read()
    questions = questions[:most]
    indexes: dict[str | None, Index] = {}
    reranker = PretrainedReranker(PATIENCE)
    for way in WAYS:
        file = _file(folder, sample, way)
        if file.is_file():
            continue
        if way.strategy not in indexes:
            given = {} if way.strategy is None else {"strategy": way.strategy}
            indexes[way.strategy] = chunkwise.index(documents, **given)
        found = _recalls(indexes[way.strategy], questions, way, reranker)
        about = {"way": way.name, "sample": sample.name, "machine": machine.describe()}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({**about, "recall": found.tolist()}), encoding="utf-8")
        print(sample.name, way.name, found.mean(axis=0).round(3), flush=True)


def _file(folder: Path, sample: Sample, way: Way) -> Path:
    return folder / f"{sample.corpora[0]}-{WAYS.index(way)}.json"


def _recalls(
    index: Index, questions: list[Question], way: Way, reranker: PretrainedReranker
) -> NDArray[np.float64]:
    texts = [each.text for each in questions]
    columns = []
    for budget in BUDGETS:
        hits = index.search(
            texts,
            budget=budget,
            retriever=way.retriever,
            reranker=reranker if way.is_reranked else None,
        )
        columns.append([recall(each, own) for each, own in zip(questions, hits, strict=True)])
    return np.array(columns).T


def page(folder: Path) -> str:
    """The part of the page, of all samples that the folder has whole."""
    rows, differences, where = [], [], ""
    for sample in SAMPLES:
        files = [_file(folder, sample, way) for way in WAYS]
        if not all(file.is_file() for file in files):
            continue
        known = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        recalls = [100 * np.array(each["recall"]) for each in known]
        where = known[0]["machine"]
        name = f"{sample.name}, {len(recalls[0])} questions"
        rows.append([name, *(" / ".join(f"{x:.1f}" for x in each.mean(axis=0)) for each in recalls)])  # fmt: skip
        for first, second in ((0, 2), (1, 3)):
            pair = f"{WAYS[second].name} − {WAYS[first].name}"
            cells = [
                _cell(recalls[first][:, at], recalls[second][:, at]) for at in range(len(BUDGETS))
            ]
            differences.append([sample.name, pair, *cells])
    return "\n".join([
        f"{HEADING}\n",
        "Written by `python -m benchmarks.same_models`. What a careful user builds from parts: chunks of 1,000",
        "characters with 200 of overlap, words and `minilm` by reciprocal ranks, the best hundred chunks put in order",
        "by the cross-encoder. Beside it `search --budget`, with the same two models, and the cross-encoder over 32",
        "passages as one more signal. Samples of the sets; recall within 250 / 500 / 1,000 / 2,000 tokens, in %.\n",
        where,
        table(["sample", *(way.name for way in WAYS)], rows),
        "",
        table(["", "", *(f"{each:,} tokens" for each in BUDGETS)], differences),
        "",
    ])  # fmt: skip


def _cell(first: NDArray[np.float64], second: NDArray[np.float64]) -> str:
    found = paired_difference(first / 100, second / 100)
    assert found is not None
    low, high = 100 * found.difference.low, 100 * found.difference.high
    said = f"{(second - first).mean():+.1f} ({low:+.1f} to {high:+.1f})"
    return f"**{said}**" if low > 0 or high < 0 else said


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="for figures: a second run goes on with them")
    parser.add_argument("samples", nargs="*", help="names of samples; none: all")
    parser.add_argument("--questions", type=int, help="of each sample, at most")
    parser.add_argument("--html", action="store_true", help="only write what the folder has")
    given = parser.parse_args()
    if not given.html:
        for sample in SAMPLES:
            is_named = {sample.name, sample.corpora[0]} & set(given.samples)
            if sample.available and (is_named or not given.samples):
                measured(sample, given.folder, given.questions)
    part = page(given.folder)
    print(part)
    if given.html:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(HEADING if HEADING in text else NEXT)
        rest = rest.partition(NEXT)[2] if HEADING in text else rest
        PAGE.write_text(f"{before.rstrip()}\n\n{part.strip()}\n\n{NEXT}{rest}", encoding="utf-8")


if __name__ == "__main__":
    main()
