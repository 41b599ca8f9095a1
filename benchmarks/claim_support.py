"""Answers judged by their words: short gold answers of published questions, and sentences that hold them or do not.

Nobody here wrote an answer. The sentence of the source that holds the gold answer is a right answer to the question;
the other sentences of its paragraph, and the same sentence with another number in the gold answer, are wrong ones.
Judged by `answer_correctness.words`, with the gold answer as the reference: right from 0.5 on. A right sentence holds
the gold answer as it is written, but for the row that spells its number otherwise: what is asked is whether negations,
units and names that do not belong to the answer make the rules refuse it. *Before*: as the F1 of whole sentences, which
a short reference cannot reach. Contracts (cuad) are mostly asked yes or no, which words do not tell: unscored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks import corpora
from benchmarks.tables import table
from chunkwise.core import Document, Query
from chunkwise.metrics.answers.correctness import answer_correctness
from chunkwise.metrics.evidence import Answer
from chunkwise.records.json import parse_json
from chunkwise.text.analyzed import Analyzed

LOOKED_AT = ("xquad_en", "xquad_de")
"""What the rules were written with; the others were only scored."""
ONLY_SCORED = ("squad2", "xquad_zh", "musique", "cuad")
_BEFORE = {
    "xquad_en": "1.000 / 0.003", "xquad_de": "– / 0.000", "squad2": "1.000 / 0.003", "xquad_zh": "1.000 / 0.011",
    "musique": "1.000 / 0.008",
}  # fmt: skip
"""Precision and recall of the rules that went before."""
_RIGHT = 0.5
"""A score from which an answer counts as judged right."""
_SPELLED = "zero one two three four five six seven eight nine ten eleven twelve".split()
_NUMBER = re.compile(r"(?<![\w.,])[0-9]{1,4}(?![\w.,]*[0-9])")
_AS_DIGITS = {word: str(number) for number, word in enumerate(_SPELLED) if number > 1}


class Judged(NamedTuple):
    """One answer to one question."""

    kind: str
    is_right: bool
    query: Query
    answer: str


def answers_of(name: str) -> Iterator[Judged]:
    """Of every question whose gold answer stands in one sentence of its reference."""
    folder = corpora.SHARED / name
    texts = {row["doc_id"]: row["text"] for row in _rows(folder / "corpus.jsonl")}
    sentences = {id: _sentences(text) for id, text in texts.items()}
    for row in _rows(folder / "queries.jsonl"):
        gold, place = row["answer"].strip(), row.get("paragraph") or row["references"][-1]
        own = [
            texts[place["doc_id"]][low:high].strip()
            for low, high in sentences[place["doc_id"]]
            if low < place["end"] and high > place["start"]
        ]
        if not gold or len(gold) > 60:
            continue
        query = Query(row["query_id"], row["query"], answer=gold)
        known = [gold, *(each["text"] for each in row.get("alt_references", ()))]
        right = [each for each in own if gold in each]
        yield from (Judged("the sentence that holds it", True, query, each) for each in right[:1])
        for each in own:
            if not any(_may_hold(each, one) for one in known):
                yield Judged("another sentence of the paragraph", False, query, each)
        if right and (number := _NUMBER.search(gold)):
            other = gold.replace(number[0], str(int(number[0]) + 1))
            yield Judged(
                "the sentence with another number", False, query, right[0].replace(gold, other)
            )
        if right and (spelled := _otherwise_spelled(gold)):
            kind = "the sentence, its number spelled otherwise"
            yield Judged(kind, True, query, right[0].replace(gold, spelled))


def _may_hold(sentence: str, gold: str) -> bool:
    """A sentence that has half of the gold answer's words may be right after all: it is neither right nor wrong."""
    words = re.findall(r"\w+", gold.casefold())
    return 2 * sum(word in sentence.casefold() for word in words) >= len(words)


def _otherwise_spelled(gold: str) -> str:
    """With 6 for six and six for 6; empty: it has no such number."""
    for word in re.findall(r"\w+", gold):
        if word.lower() in _AS_DIGITS:
            return re.sub(rf"\b{word}\b", _AS_DIGITS[word.lower()], gold, count=1)
    found = _NUMBER.fullmatch(gold.split()[0])
    if found and " " in gold and 1 < int(found[0]) < len(_SPELLED):
        return gold.replace(found[0], _SPELLED[int(found[0])], 1)
    return ""


def _sentences(text: str) -> list[tuple[int, int]]:
    starts = Analyzed(Document("text", text)).sentences.tolist()
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _rows(path: object) -> Iterator[dict[str, object]]:
    with open(str(path), encoding="utf-8") as file:
        for line in file:
            yield parse_json(line)


class Measured(NamedTuple):
    """Rows of two tables."""

    kinds: list[list[str]]
    """Of each kind of answer: how many, the share that was judged as it is, how many were not scored."""
    total: list[str]
    """Precision and recall over all kinds."""


def measured(name: str) -> Measured:
    """Of one set of questions."""
    counts: dict[tuple[str, bool], list[int]] = {}
    for judged in answers_of(name):
        score = answer_correctness([judged.query], {judged.query.id: Answer(judged.answer)})[
            0
        ].value
        at = 2 if score is None else int(score < _RIGHT)
        counts.setdefault((judged.kind, judged.is_right), [0, 0, 0])[at] += 1
    rows = []
    for (kind, is_right), own in sorted(counts.items(), key=lambda each: not each[0][1]):
        share = own[0 if is_right else 1] / max(1, own[0] + own[1])
        rows.append(
            [
                name,
                kind,
                "right" if is_right else "wrong",
                f"{sum(own):,}",
                f"{share:.3f}",
                f"{own[2]:,}",
            ]
        )
    good = sum(own[0] for (_, is_right), own in counts.items() if is_right)
    every = sum(sum(own) for (_, is_right), own in counts.items() if is_right)
    said = sum(own[0] for own in counts.values())
    both = f"{good / max(1, said):.3f} / {good / max(1, every):.3f}"
    return Measured(
        rows, [name, f"{sum(map(sum, counts.values())):,}", both, _BEFORE.get(name, "–")]
    )


def run() -> str:
    """The part of the page."""
    parts = [__doc__.partition("\n\n")[2].strip()]
    for title, names in (
        ("Only scored", ONLY_SCORED),
        ("Looked at while the rules were written", LOOKED_AT),
    ):
        found = [measured(name) for name in names if (corpora.SHARED / name).exists()]
        kinds = [row for each in found for row in each.kinds]
        totals = ["questions", "answers", "precision / recall", "before"]
        heads = ["questions", "answer", "is", "answers", "judged so", "unscored"]
        parts += [
            f"### {title}",
            table(totals, [each.total for each in found]),
            table(heads, kinds),
        ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(run())
