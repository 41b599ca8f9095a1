"""Embedders beside each other on this machine's processor: chunks of 200 tokens, each embedded by itself.

python -m benchmarks.own_vectors FOLDER minilm granite-30m --questions 100 --samples xquad_en anthropic_code
python -m benchmarks.own_vectors FOLDER minilm granite-30m --page    # the part of docs/benchmarks/models.md

For embedders that `benchmarks.embedders` has no figures of: no GPU is needed, and every chunk is read once instead of
every window of six sizes. The samples are those of `benchmarks.voices`. The first embedder is what others are held
against.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import chunkwise
from benchmarks import machine
from benchmarks.languages import HEADING as NEXT
from benchmarks.question_sets import recall
from benchmarks.tables import table
from benchmarks.voices import PAGE, SAMPLES, Sample, _cells, _difference
from chunkwise.models import get_embedder

HEADING = "## Embedders on a processor, each chunk by itself"
STRATEGY = "recursive(max_tokens=200)"
RETRIEVERS = {"vectors alone": "dense", "words and vectors": "hybrid"}
BUDGETS = (250, 500, 1000, 2000)
READ = ("anthropic_code", "xquad_en")
PASSAGES = 40
"""Of these samples chunks are read for the speed, in turns: code and prose."""
NOTES = """\
- **granite-30m** finds more by vectors alone: on the mean of these four samples 3.6 points within 250 tokens and 4.9
  within 1,000, though of single samples only musique and xquad_en show it beyond chance. Beside words little is left of
  that: a quarter of a point less, and 0.4 points more. With it chunks are embedded one by one, where `minilm` has late
  vectors and several sizes at once, so `minilm` stays the usual one.
- It reads four fifths of the tokens that `minilm` reads in the same time, and four fifths of the text where that is
  prose; its vocabulary cuts code into more tokens, so of code it reads three fifths.
- 100 questions a sample, not whole sets; the machine had other work meanwhile, on which recall does not depend.
"""


def measure(folder: Path, sample: Sample, names: Sequence[str], most: int | None) -> None:
    """Questions × budgets of every embedder and retriever, kept in the folder; what is there is not done again."""
    documents, questions = sample.read()
    questions = questions[:most]
    for name in names:
        file = _file(folder, sample, name)
        if file.is_file():
            continue
        index = chunkwise.index(documents, embedder=name, vectors="own", strategy=STRATEGY)
        found = {}
        for way, retriever in RETRIEVERS.items():
            columns = []
            for budget in BUDGETS:
                hits = index.search([q.text for q in questions], budget=budget, retriever=retriever)
                columns.append([recall(q, own) for q, own in zip(questions, hits, strict=True)])
            found[way] = (100 * np.array(columns).T).tolist()
            print(sample.name, name, way, np.mean(found[way], axis=0).round(1), flush=True)
        told = {"tokens": index.stats().tokens, "machine": machine.describe(), "recall": found}
        file.write_text(json.dumps(told), encoding="utf-8")


def speeds(folder: Path, names: Sequence[str]) -> None:
    """What each reads in a second of a core, taking turns: the same minute, the same load."""
    embedders: dict[str, Any] = {name: get_embedder(name, cache=False) for name in names}
    told = []
    for sample in (each for each in SAMPLES if each.name in READ and each.available):
        chunks = [each.text for each in chunkwise.chunk(sample.read()[0], STRATEGY)]
        some = chunks[:: max(1, len(chunks) // PASSAGES)][:PASSAGES]
        took = dict.fromkeys(names, 0.0)
        for embedder in embedders.values():
            embedder.embed(some[:1])
        for text in some:
            for name, embedder in embedders.items():
                began = process_time()
                embedder.embed([text])
                took[name] += process_time() - began
        for name, embedder in embedders.items():
            tokens = sum(len(embedder.token_starts(text)) for text in some)
            characters = sum(map(len, some))
            told.append([name, sample.name, tokens / took[name], characters / took[name]])
            print(*told[-1], flush=True)
    (folder / "speeds.json").write_text(
        json.dumps({"machine": machine.describe(), "speeds": told}), encoding="utf-8"
    )


def _file(folder: Path, sample: Sample, name: str) -> Path:
    return folder / f"{sample.corpora[0]}.{name}.json"


def page(folder: Path, names: Sequence[str]) -> str:
    """The part of the page, of the samples that the folder has whole."""
    rows, differences, where = [], [], ""
    usual, *others = names
    for sample in SAMPLES:
        files = [_file(folder, sample, name) for name in names]
        if not all(file.is_file() for file in files):
            continue
        known = dict(zip(names, map(_read, files), strict=True))
        where = known[usual]["machine"]
        for way in RETRIEVERS:
            recalls = {name: np.array(known[name]["recall"][way]) for name in names}
            first = recalls[usual]
            about = [f"{sample.name}, {len(first)} questions", way]
            rows.append([*about, *(_cells(recalls[name]) for name in names)])
            for name in others:
                cells = [
                    _difference(first[:, at], recalls[name][:, at]) for at in range(len(BUDGETS))
                ]
                differences.append([*about, name, *cells])
    speed = _read(folder / "speeds.json")
    return "\n".join(
        [
            f"{HEADING}\n",
            "Written by `python -m benchmarks.own_vectors`. Chunks of 200 tokens, each embedded by itself; all",
            "documents of a sample, the first of its questions. Recall of the gold characters within 250 / 500 /",
            "1,000 / 2,000 tokens, in %.\n",
            where,
            table(["sample", "found by", *names], rows),
            "",
            f"Against `{usual}`, paired over questions, with 95 % intervals:\n",
            table(
                ["sample", "found by", "", *(f"{each:,} tokens" for each in BUDGETS)], differences
            ),
            "",
            "Speed, one text a call, in turns on one core:\n",
            speed["machine"],
            table(
                ["", "sample", "its tokens a second of a core", "characters a second of a core"],
                [
                    [name, sample, f"{tokens:,.0f}", f"{characters:,.0f}"]
                    for name, sample, tokens, characters in speed["speeds"]
                ],
            ),
            "",
            NOTES,
        ]
    )


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def main() -> None:
    """Measures what is missing, or writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="for figures: a second run goes on with them")
    parser.add_argument("embedders", nargs="+")
    parser.add_argument("--samples", nargs="*", help="names; none: all")
    parser.add_argument("--questions", type=int, help="of each sample, at most")
    parser.add_argument("--page", action="store_true", help="only write what the folder has")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.page:
        before, _, behind = PAGE.read_text("utf-8").partition(NEXT)
        before = before.partition(HEADING)[0].rstrip()
        own = page(given.folder, given.embedders)
        PAGE.write_text(f"{before}\n\n{own}\n{NEXT}{behind}", encoding="utf-8")
        return
    speeds(given.folder, given.embedders)
    for sample in SAMPLES:
        if sample.available and (not given.samples or sample.name in given.samples):
            measure(given.folder, sample, given.embedders, given.questions)


if __name__ == "__main__":
    main()
