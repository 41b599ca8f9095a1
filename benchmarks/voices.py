"""What each voice of multi-scale retrieval is worth: words, vectors, token vectors, a cross-encoder."""

from __future__ import annotations

import json
import random
from typing import NamedTuple

from benchmarks.corpora import SHARED
from benchmarks.question_sets import Question, QuestionSet
from chunkwise.core import Document

SEED = 11


class Sample(NamedTuple):
    """A part of a set small enough for two cores."""

    name: str
    corpora: tuple[str, ...]
    questions: int
    """At most; those whose documents are not in the sample are left out."""
    characters: int
    """At most, beside the documents that hold answers."""

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
