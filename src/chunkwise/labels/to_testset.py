"""Labels become questions with references: what people found, how well each passage answers, and what nobody judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chunkwise.core import Document, Label, Passage, Query, Reference
from chunkwise.labels.question_labels import QuestionLabels
from chunkwise.labels.store import RELEVANT
from chunkwise.records.write import write_json
from chunkwise.testsets.formats.chunkwise import row_of

UNANSWERABLE = "unanswerable"
"""Type of a question that nothing in the documents answers."""


@dataclass(frozen=True, slots=True)
class LabeledQuestions:
    """Questions made of labels, and what could not become one."""

    queries: tuple[Query, ...]
    pools: Mapping[str, Mapping[str, object]]
    """By question how its passages were found, and how many of them nobody judged."""
    disputed: int
    """Passages left out, since as many people call them relevant as not."""
    empty: int
    """Questions with labels of which none says where an answer stands, or that there is none."""

    @property
    def unjudged(self) -> int:
        return sum(int(str(pool["unjudged"])) for pool in self.pools.values())


def questions_from_labels(
    labels: Sequence[QuestionLabels], known: Mapping[str, Query] | None = None
) -> LabeledQuestions:
    """References are the gold spans, and passages that answer (grade 2 or 3) where no gold span lies in them.

    `known`: questions by id, whose answer, facts and types are kept.
    """
    queries: list[Query] = []
    pools: dict[str, Mapping[str, object]] = {}
    disputed = empty = 0
    for label in labels:
        graded = [
            (passage.place, grade)
            for passage in label.passages
            if (grade := passage.grade) is not None
        ]
        disputed += len(label.passages) - len(graded)
        places = _references(
            [span.place for span in label.gold], [p for p, g in graded if g >= RELEVANT]
        )
        nothing = bool(label.nothing) and not places
        if not places and not nothing and not graded:
            empty += bool(label.people)
            continue
        before = (known or {}).get(label.query_id) or Query(label.query_id, label.query)
        types = (
            *before.types,
            *((UNANSWERABLE,) if nothing and UNANSWERABLE not in before.types else ()),
        )
        queries.append(
            replace(
                before, text=before.text or label.query, types=types,
                references=tuple(Reference(*place) for place in places),
                labels=tuple(Label(*place, grade >= RELEVANT, grade) for place, grade in graded),
            )
        )  # fmt: skip
        if label.pool is not None:
            pools[label.query_id] = {
                "depth": label.pool.depth, "retrievers": list(label.pool.retrievers),
                "passages": len(label.pool.passages), "unjudged": len(label.unjudged),
                "left": [place._asdict() for place in label.unjudged],
            }  # fmt: skip
    return LabeledQuestions(tuple(queries), pools, disputed, empty)


def _references(gold: Sequence[Passage], relevant: Sequence[Passage]) -> list[Passage]:
    """Gold spans joined where they overlap; a passage that answers counts where none of them lies in it."""
    beyond = [place for place in relevant if not any(map(place.overlaps, gold))]
    joined: list[Passage] = []
    for place in sorted([*gold, *beyond]):
        last = joined[-1] if joined else None
        if last is not None and last.doc_id == place.doc_id and place.start < last.end:
            joined[-1] = last._replace(end=max(last.end, place.end))
        else:
            joined.append(place)
    return joined


def write_questions(
    made: LabeledQuestions,
    path: Path,
    documents: Sequence[Document] = (),
    texts: Sequence[QuestionLabels] = (),
) -> None:
    """In our own form, each with its pool; places with what stands there, by which they are found again."""
    known = {document.id: document.text for document in documents}
    said: dict[Passage, str] = {}
    for labels in texts:
        said |= {passage.place: passage.text for passage in labels.passages}
        said |= {span.place: span.text for span in labels.gold}
    rows = []
    for query in made.queries:
        row = row_of(query, known)
        for name in ("references", "labels"):
            for place in row.get(name, ()):  # type: ignore[attr-defined]
                text = said.get(Passage(place["doc_id"], place["start"], place["end"]), "")
                if "text" not in place and text:
                    place["text"] = text
        if query.id in made.pools:
            row["pool"] = made.pools[query.id]
        rows.append(row)
    write_json(path, rows, indent=2)
