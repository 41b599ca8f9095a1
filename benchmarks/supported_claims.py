"""Claims held against a passage: by the words, by a cross-encoder, and by both, on published questions with answers.

Nobody here wrote a claim: it is a question with its published answer behind it, and the passage is the paragraph it
was asked about, so claim and passage are in different words. What the passage does not support: the same question with
the answer to another question about the paragraph (a number for a number); the true claim held against that paragraph
of the same article that has most of its words and not its answer. *Words*: `faithfulness.words`, as it is.
*Cross-encoder*: ms-marco-MiniLM-L-12-v2 reads claim and passage together. *Either*: one of the two says so.
*Both*: words with a smaller share of the claim's terms, and numbers, names and negations as before, where the
cross-encoder agrees. Thresholds were chosen for the highest F1 on half of the articles of squad2 and judged on the
others and on xquad_en. Precision / recall · F1, with the 95 % interval of F1 over questions.

The cross-encoder detects the topic, not the statement: it accepts nearly every wrong answer about the right
paragraph. Words reject half of those, but find fewer true claims. By F1, words are better on squad2 and the
cross-encoder on xquad_en, but all stay below 0.667, the score for accepting every claim about the right paragraph.
Since neither is clearly better, chunkwise uses words, which need no model. No entailment model with a license was
available as a package.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import corpora
from benchmarks.resampling import RESAMPLES
from benchmarks.tables import table
from chunkwise.metrics.claims.claim_support import THRESHOLD, supports
from chunkwise.metrics.claims.text_normalization import Readable
from chunkwise.models.rerank.cross_encoder import PretrainedReranker
from chunkwise.records.json import parse_json

QUESTIONS = 200
"""Of each set and half: a claim each, held against three passages."""
LONGEST = 60
"""Characters of an answer: longer ones are sentences by themselves."""
SHARES = (0.3, 0.4, 0.5, 0.6, THRESHOLD)
"""Of the claim's terms: what words may ask for where the cross-encoder has a say, too."""
TRUE, OTHER_ANSWER, OTHER_PASSAGE = "true", "another answer", "another paragraph"


class Pair(NamedTuple):
    """A claim and the passage it is held against."""

    question: str
    kind: str
    claim: str
    passage: str


class Judged(NamedTuple):
    """All pairs of a set, judged: a row a pair."""

    question: NDArray[np.int64]
    kind: NDArray[np.str_]
    words: NDArray[np.bool_]
    """Pairs × shares of the terms."""
    logit: NDArray[np.float64]

    @property
    def truth(self) -> NDArray[np.bool_]:
        return np.asarray(self.kind == TRUE)


def pairs_of(name: str, part: int | None = None, seed: int = 3) -> Iterator[Pair]:
    """Three a question, of some questions by chance; `part`: of every other document alone."""
    folder = corpora.SHARED / name
    texts = {row["doc_id"]: row["text"] for row in _rows(folder / "corpus.jsonl")}
    documents = sorted(texts)
    if part is not None:
        documents = documents[part::2]
    rows = [
        row
        for row in _rows(folder / "queries.jsonl")
        if row["paragraph"]["doc_id"] in documents and 0 < len(row["answer"]) <= LONGEST
    ]
    paragraphs: dict[str, dict[tuple[int, int], list[str]]] = {each: {} for each in documents}
    for row in rows:
        place = row["paragraph"]
        own = paragraphs[place["doc_id"]].setdefault((place["start"], place["end"]), [])
        own.append(row["answer"].strip())
    random.Random(seed).shuffle(rows)
    found = 0
    for row in rows:
        place, answer = row["paragraph"], row["answer"].strip()
        here = (place["start"], place["end"])
        text = texts[place["doc_id"]]
        known = {answer, *(each["text"] for each in row.get("alt_references", ()))}
        others = [each for each in paragraphs[place["doc_id"]][here] if _is_another(each, known)]
        passages = [
            text[low:high] for low, high in paragraphs[place["doc_id"]] if (low, high) != here
        ]
        passages = [each for each in passages if answer.casefold() not in each.casefold()]
        if not others or not passages:
            continue
        claim = claim_of(row["query"], answer)
        nearest = max(passages, key=lambda each: len(_words(each) & _words(claim)))
        yield Pair(row["query_id"], TRUE, claim, text[slice(*here)])
        yield Pair(
            row["query_id"], OTHER_ANSWER, claim_of(row["query"], others[0]), text[slice(*here)]
        )
        yield Pair(row["query_id"], OTHER_PASSAGE, claim, nearest)
        found += 1
        if found == QUESTIONS:
            return


def claim_of(question: str, answer: str) -> str:
    """A question with its answer behind it, as one sentence."""
    return f"{question.strip().rstrip('?？ ')}: {answer.strip().rstrip('.')}."


def _is_another(answer: str, known: set[str]) -> bool:
    """An answer of the same kind that shares no word with those that are right."""
    words = set().union(*map(_words, known))
    numeric = any(map(str.isdigit, "".join(known)))
    return not words & _words(answer) and any(map(str.isdigit, answer)) == numeric


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _rows(path: object) -> Iterator[dict[str, object]]:
    with open(str(path), encoding="utf-8") as file:
        for line in file:
            yield parse_json(line)


def judged(pairs: Sequence[Pair], reranker: PretrainedReranker) -> Judged:
    """By the words at every share, and by the cross-encoder."""
    words = np.array(
        [
            [supports(Readable(each.passage), Readable(each.claim), share) for share in SHARES]
            for each in pairs
        ]
    )
    logit = np.array(
        [float(reranker.scores(each.claim, [each.passage])[0]) for each in pairs], np.float64
    )
    names = sorted({each.question for each in pairs})
    question = np.array([names.index(each.question) for each in pairs])
    return Judged(question, np.array([each.kind for each in pairs]), words, logit)


class Rule(NamedTuple):
    """A way to judge, with what was chosen for it."""

    name: str
    chosen: str
    says: Callable[[Judged], NDArray[np.bool_]]


def rules(chosen_on: Judged) -> list[Rule]:
    """Words as they are, and the others at the thresholds that are best on these pairs."""
    logits = np.unique(np.percentile(chosen_on.logit, np.arange(1, 100)))
    as_it_is = SHARES.index(THRESHOLD)

    def best(
        options: Sequence[tuple[str, Callable[[Judged], NDArray[np.bool_]]]],
    ) -> tuple[str, Callable[[Judged], NDArray[np.bool_]]]:
        return max(options, key=lambda each: f1(each[1](chosen_on), chosen_on.truth))

    def said(
        at: int, least: float, combine: str
    ) -> tuple[str, Callable[[Judged], NDArray[np.bool_]]]:
        def says(given: Judged) -> NDArray[np.bool_]:
            near = given.logit >= least
            words = given.words[:, at]
            if combine == "alone":
                return near
            return words | near if combine == "either" else words & near

        share = f"{SHARES[at]:g} of the terms, " if combine == "both" else ""
        return f"{share}logit {least:.1f}", says

    every = range(len(SHARES))
    return [
        Rule("words", f"{THRESHOLD:g} of the terms", lambda given: given.words[:, as_it_is]),
        Rule("cross-encoder", *best([said(as_it_is, each, "alone") for each in logits])),
        Rule("either", *best([said(as_it_is, each, "either") for each in logits])),
        Rule("both", *best([said(at, each, "both") for at, each in product(every, logits)])),
    ]


def f1(said: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    right = np.count_nonzero(said & truth)
    return 2 * right / max(1, np.count_nonzero(said) + np.count_nonzero(truth))


def interval(said: NDArray[np.bool_], given: Judged, seed: int = 1) -> tuple[float, float]:
    """Of F1: questions are drawn, each with all its pairs."""
    count = int(given.question.max()) + 1
    right, positive, true = (
        np.bincount(given.question, each, count) for each in (said & given.truth, said, given.truth)
    )
    drawn = np.random.default_rng(seed).integers(0, count, (RESAMPLES, count))
    sums = [each[drawn].sum(axis=1) for each in (right, positive, true)]
    found = 2 * sums[0] / np.maximum(1, sums[1] + sums[2])
    low, high = np.percentile(found, [2.5, 97.5])
    return float(low), float(high)


def run() -> str:
    """The part of the page."""
    reranker = PretrainedReranker(seconds=3600)
    chosen_on = judged(list(pairs_of("squad2", 0)), reranker)
    sets = {
        "squad2, chosen on": chosen_on,
        "squad2, other articles": judged(list(pairs_of("squad2", 1)), reranker),
        "xquad_en": judged(list(pairs_of("xquad_en")), reranker),
    }
    rows = []
    for name, given in sets.items():
        for rule in rules(chosen_on):
            said = rule.says(given)
            low, high = interval(said, given)
            right = np.count_nonzero(said & given.truth)
            precision = right / max(1, np.count_nonzero(said))
            recall = right / np.count_nonzero(given.truth)
            kinds = [
                f"{np.mean(said[given.kind == kind] == (kind == TRUE)):.3f}"
                for kind in (TRUE, OTHER_ANSWER, OTHER_PASSAGE)
            ]
            score = f"{precision:.3f} / {recall:.3f} · {f1(said, given.truth):.3f} ({low:.3f} to {high:.3f})"
            rows.append([name, f"{len(said):,}", rule.name, rule.chosen, score, *kinds])
    head = ["claims of", "pairs", "judged by", "threshold", "precision / recall · F1", *(
        f"{kind}: judged so" for kind in (TRUE, OTHER_ANSWER, OTHER_PASSAGE)
    )]  # fmt: skip
    about, _, found = __doc__.partition("\n\n")[2].strip().partition("\n\n")
    return "\n\n".join([about, table(head, rows), found])


if __name__ == "__main__":
    print(run())
