"""Public questions with the places of their answers, and how much of them a search brought back."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from benchmarks.corpora import SHARED


class Place(NamedTuple):
    document: str
    start: int
    end: int


class Found(Protocol):
    """What a search handed out: a hit, or any span of a document."""

    @property
    def doc_id(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class Question(NamedTuple):
    id: str
    text: str
    references: tuple[tuple[Place, ...], ...]
    """Each a place with its alternatives: covering any of them is covering it."""


class QuestionSet(NamedTuple):
    name: str
    corpora: tuple[str, ...]
    """Folders whose documents are searched."""
    questions: str
    """File of the questions."""

    @property
    def folder(self) -> str:
        """That of the questions, a name without spaces."""
        return self.corpora[0]

    @property
    def paths(self) -> list[Path]:
        return [SHARED / folder / "corpus.jsonl" for folder in self.corpora]

    @property
    def available(self) -> bool:
        return all(path.is_file() for path in (*self.paths, SHARED / self.questions))

    def read(self, most: int | None = None, seed: int = 11) -> list[Question]:
        """All questions, or a seeded sample, in a seeded order."""
        with (SHARED / self.questions).open(encoding="utf-8") as lines:
            found = [_question(json.loads(line)) for line in lines]
        random.Random(seed).shuffle(found)
        return found[:most]


SETS = (
    QuestionSet("chroma_eval", ("chroma_eval",), "chroma_eval/queries_with_duplicates.jsonl"),
    QuestionSet("anthropic_code", ("anthropic_code",), "anthropic_code/queries.jsonl"),
    QuestionSet("xquad_de", ("xquad_de",), "xquad_de/queries.jsonl"),
    QuestionSet("xquad_zh", ("xquad_zh",), "xquad_zh/queries.jsonl"),
    QuestionSet("squad2 + distractors", ("squad2", "squad_distractors"), "squad2/queries.jsonl"),
    QuestionSet("cuad", ("cuad",), "cuad/queries.jsonl"),
)


def _question(record: dict[str, Any]) -> Question:
    references = [[_place(each)] for each in record["references"]]
    for other in record.get("same_text_elsewhere", ()):
        references[other["of"]].append(_place(other))
    if len(references) == 1:  # other people's answers to the same question
        references[0] += [_place(each) for each in record.get("alt_references", ())]
    return Question(record["query_id"], record["query"], tuple(map(tuple, references)))


def _place(record: dict[str, Any]) -> Place:
    return Place(record["doc_id"], record["start"], record["end"])


def recall(question: Question, hits: Sequence[Found]) -> float:
    """Share of the characters of the references that the hits cover."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for hit in hits:
        spans.setdefault(hit.doc_id, []).append((hit.start, hit.end))
    joined = {document: _union(own) for document, own in spans.items()}
    total = covered = 0.0
    for places in question.references:
        weight = places[0].end - places[0].start
        total += weight
        covered += weight * max(_share(place, joined.get(place.document, ())) for place in places)
    return covered / total


def _share(place: Place, spans: Iterable[tuple[int, int]]) -> float:
    held = sum(max(0, min(place.end, end) - max(place.start, start)) for start, end in spans)
    return held / (place.end - place.start)


def _union(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
