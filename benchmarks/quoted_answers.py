"""Answers quoted without a language model: how much of the gold answer stands in the quoted sentences.

`chunkwise ask` without `--llm` quotes up to three sentences from the best 600 tokens. *Read*: share of the answer's
characters in those 600 tokens; *quoted*: in the quoted sentences; *in doubt*: answers marked as uncertain; *refused*:
questions without a quote. Questions about another corpus have no answer here, so all should be refused or in doubt.
Thresholds were set on 150, 50 and 30 other questions of the same datasets.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.question_sets import SETS, Question, QuestionSet, recall
from benchmarks.tables import table
from chunkwise.answering.ask import BUDGET, RetrievedQuestion, quote_each
from chunkwise.answering.cited_answer import CitedAnswer
from chunkwise.core import Query
from chunkwise.retrieval.indexes import Index, index

_QUESTIONS = 100
_FOREIGN = "chroma_eval"
"""Of other things than encyclopaedias have: speeches, chats, balances, medicine."""
_NAMES = ("squad2 + distractors", "chroma_eval", "xquad_de", "xquad_zh")


def run() -> str:
    """A table; each row a set of questions over one corpus."""
    sets = [each for each in SETS if each.name in _NAMES and each.available]
    questions = {each.name: each.read(_QUESTIONS, seed=5) for each in sets}
    rows: list[list[object]] = []
    foreign = next((each for each in sets if each.name == _FOREIGN), None)
    for each in sets:
        made = index(each.paths)
        rows.append(_row(each.name, made, questions[each.name]))
        if foreign and each.name.startswith("squad2"):
            rows.append(_foreign(each, foreign, made, questions[foreign.name]))
    head = [
        "questions",
        "count",
        "read",
        "quoted",
        "words quoted",
        "in doubt",
        "refused",
    ]
    return f"{_about()}\n\n{table(head, rows)}"


def _about() -> str:
    return "\n".join((__doc__ or "").strip().splitlines()[2:])


def _row(name: str, made: Index, questions: Sequence[Question]) -> list[object]:
    answered = _answered(made, questions)
    pairs = list(zip(questions, answered, strict=True))
    read = sum(recall(question, each.passages) for question, each in pairs)
    quoted = sum(recall(question, each.citations) for question, each in pairs)
    return [
        name,
        len(pairs),
        _per_cent(read, pairs),
        _per_cent(quoted, pairs),
        *_states(answered),
    ]


def _foreign(
    own: QuestionSet, other: QuestionSet, made: Index, questions: Sequence[Question]
) -> list[object]:
    answered = _answered(made, questions)
    return [
        f"{own.name}, asked what {other.name} is",
        len(answered),
        "–",
        "–",
        *_states(answered),
    ]


def _answered(made: Index, questions: Sequence[Question]) -> list[CitedAnswer]:
    queries = [Query(each.id, each.text) for each in questions]
    hits = made.search(queries, budget=BUDGET)
    retrieved = [RetrievedQuestion(*each) for each in zip(queries, hits, strict=True)]
    return list(quote_each(retrieved))


def _states(answered: Sequence[CitedAnswer]) -> list[object]:
    words = [len(each.text.split()) for each in answered if each.claims]
    doubt = sum(any(claim.state == "quoted" for claim in each.claims) for each in answered)
    refused = sum(not each.claims for each in answered)
    mean = f"{sum(words) / max(len(words), 1):.0f}"
    return [mean, _per_cent(doubt, answered), _per_cent(refused, answered)]


def _per_cent(count: float, of: Sequence[object]) -> str:
    return f"{100 * count / len(of):.0f} %"
