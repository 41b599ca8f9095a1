"""Answers judged by their words: short gold answers of published questions, and sentences that hold them or do not.

Correct answers: the source sentence with the gold answer, that sentence with a reformatted number, and alternative
human answers (squad2: other annotators; musique: aliases, many of which mean something else: "Robin" for "Dick
Grayson"). Wrong answers: the other sentences of the paragraph, and the same sentence with a different number. None
was written for chunkwise. `answer_correctness.words`, token F1 and exact match
(both as SQuAD defines them) judge an answer correct from 0.5 on. *Agree*: share of decided answers judged correctly;
*right at 0*: correct answers with a score of 0.

Human judgments: on 124 answers of five systems to 35 questions of EVOUNA (Wang et al. 2023; copied from its pages and
not repeated by this script), an earlier version scored 113 and agreed with people on 0.947 of them. Token F1 agreed
on 0.492 of all 124, exact match on 0.419. One correct answer scored 0 ("France" for "Old French"); with F1 four did,
with exact match 72.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks import corpora
from benchmarks.tables import table
from chunkwise.core import Document, Query
from chunkwise.metrics.answers.correctness import answer_correctness
from chunkwise.metrics.evidence import Answer
from chunkwise.records.json import parse_json
from chunkwise.text.analyzed import Analyzed

LOOKED_AT = ("squad2", "xquad_en", "musique")
"""What the rules were written with; the others were only scored."""
ONLY_SCORED = ("xquad_de", "xquad_zh", "cuad")
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
        known = [
            gold,
            *(each["text"] for each in row.get("alt_references", ())),
            *row.get("answer_aliases", ()),
        ]
        for wording in dict.fromkeys(known[1:]):
            if wording != gold:
                yield Judged("another wording of people", True, query, wording)
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


def _words(text: str) -> Counter[str]:
    return Counter(re.sub(r"\b(a|an|the)\b", " ", re.sub(r"[^\w\s]", "", text.lower())).split())


def token_f1(answer: str, gold: str) -> float:
    """As SQuAD defines it."""
    said, expected = _words(answer), _words(gold)
    return 2 * (said & expected).total() / max(1, said.total() + expected.total())


def exact_match(answer: str, gold: str) -> float:
    """As SQuAD defines it, but for the order of the words."""
    return float(_words(answer) == _words(gold))


def correctness(judged: Judged) -> float | None:
    """The metric that is measured."""
    given = {judged.query.id: Answer(judged.answer)}
    return answer_correctness([judged.query], given)[0].value


class Measured(NamedTuple):
    """Rows of two tables."""

    kinds: list[list[str]]
    """Of each kind of answer: how many, the share that was judged as it is, how many were not scored."""
    total: list[str]
    """Over all kinds, beside token F1 and exact match."""


def measured(name: str) -> Measured:
    """Of one set of questions."""
    kinds: dict[tuple[str, bool], list[float | None]] = {}
    agree, zeros, scored, answers = [0, 0, 0], [0, 0, 0], 0, 0
    for judged in answers_of(name):
        value, gold = correctness(judged), judged.query.answer or ""
        kinds.setdefault((judged.kind, judged.is_right), []).append(value)
        every = (value, token_f1(judged.answer, gold), exact_match(judged.answer, gold))
        answers += 1
        scored += value is not None
        for at, each in enumerate(every):
            if value is not None and each is not None:
                agree[at] += (each >= _RIGHT) == judged.is_right
            zeros[at] += judged.is_right and each == 0
    rows = []
    for (kind, is_right), values in sorted(kinds.items(), key=lambda each: not each[0][1]):
        known = [each for each in values if each is not None]
        right = sum((each >= _RIGHT) == is_right for each in known) / max(1, len(known))
        is_so, unscored = "right" if is_right else "wrong", len(values) - len(known)
        rows.append([name, kind, is_so, f"{len(values):,}", f"{right:.3f}", f"{unscored:,}"])
    of = sum(len(values) for (_, is_right), values in kinds.items() if is_right)
    shares = [f"{each / max(1, scored):.3f}" for each in agree]
    lost = " / ".join(f"{each:,}" for each in zeros)
    return Measured(
        rows,
        [name, f"{answers:,}", f"{scored / max(1, answers):.2f}", *shares, f"{lost} of {of:,}"],
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
        totals = [
            "questions",
            "answers",
            "scored",
            "agree",
            "token F1",
            "exact match",
            "right at 0",
        ]
        heads = ["questions", "answer", "is", "answers", "judged so", "unscored"]
        parts += [
            f"### {title}",
            table(totals, [each.total for each in found]),
            table(heads, kinds),
        ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(run())
