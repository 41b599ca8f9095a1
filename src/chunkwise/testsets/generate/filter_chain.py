"""Everything a question has to pass before it is kept, and its tags: verified kinds, and whether it is easy."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from chunkwise.core import Document, Hit, OnProgress, Passage, Query, Reference
from chunkwise.metrics.claims.amounts import brings_number
from chunkwise.retrieval.indexes import Index, index
from chunkwise.testsets.generate.candidate import Candidate, ProposedQuestion, words_in
from chunkwise.testsets.generate.evidence import references_of
from chunkwise.testsets.generate.filters import (
    AskedQuestions,
    gives_away,
    is_malformed,
    is_unsupported,
    named_facts,
    needs_passage,
)
from chunkwise.testsets.generate.outcome import Reason
from chunkwise.testsets.generate.question_types import EASY, QuestionType
from chunkwise.testsets.generate.source_passages import SourcePassages

STRATEGIES = (
    "sentences(max_tokens=200)",
    "recursive(max_tokens=1000, overlap=200, tokenizer='characters')",
    "structure",
)
DEPTH = 5
_COVERED = 0.95
"""Of a reference's characters: blanks at an edge belong to no chunk."""


class WordSearch:
    """The documents, cut in the usual ways, each searched by words alone."""

    def __init__(self, documents: Sequence[Document], advance: OnProgress | None = None) -> None:
        self._indexes: list[Index] = []
        for number, strategy in enumerate(STRATEGIES, 1):
            if advance is not None:
                advance(
                    0, f"cutting the documents for word search, way {number} of {len(STRATEGIES)}"
                )
            self._indexes.append(index(documents, strategy, vectors="none", advance=advance))

    def finds(self, query: Query) -> bool:
        """Whether every reference is among the first few chunks of every strategy."""
        return all(
            _covers(query, each.search(query.text, k=DEPTH, retriever="bm25"))
            for each in self._indexes
        )


def _covers(query: Query, hits: Sequence[Hit]) -> bool:
    return all(
        any(_share(place, hits) >= _COVERED for place in reference.places)
        for reference in query.references
    )


def _share(place: Passage, hits: Sequence[Hit]) -> float:
    spans = sorted(
        (max(hit.start, place.start), min(hit.end, place.end))
        for hit in hits
        if hit.doc_id == place.doc_id and hit.start < place.end and place.start < hit.end
    )
    covered, reached = 0, place.start
    for start, end in spans:
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return covered / max(1, place.end - place.start)


OTHER_WORDS = 0.5
"""Share of a question's content terms that may stand in the evidence where it is told as a paraphrase."""
_LIST = re.compile(r",\s|;\s|\n|、|\b(?:and|und|et|y)\b")


def verified_kinds(candidate: Candidate, facts: tuple[str, ...]) -> tuple[QuestionType, ...]:
    """The kind asked for where it is one, numeric where the answer has a number; single-concept where it is neither."""
    kind = candidate.draft.kind
    is_one = (
        (kind == "cross-document" and needs_both(candidate))
        or (kind == "paraphrase" and _is_paraphrase(candidate))
        or (kind == "list" and len(facts) > 1 and bool(_LIST.search(candidate.answer)))
    )
    found: list[QuestionType] = [kind] if is_one else []
    if brings_number(candidate.question, candidate.answer, candidate.language):
        found.append("numeric")
    return tuple(found) or ("single-concept",)


def needs_both(candidate: Candidate) -> bool:
    """Whether evidence of two documents has a part of the answer each that the other has not."""
    language = candidate.language
    documents: dict[str, set[int]] = {}
    for reference, text in zip(candidate.references, candidate.evidence, strict=True):
        documents.setdefault(reference.doc_id, set()).update(words_in(text, language))
    if len(documents) < 2 or _same_text(candidate.references):
        return False
    answered = words_in(candidate.answer, language) | words_in(candidate.question, language)
    parts = [answered & terms for terms in documents.values()]
    return all(part - set().union(*(each for each in parts if each is not part)) for part in parts)


def _same_text(references: tuple[Reference, ...]) -> bool:
    return any(each.alternatives for each in references)


def _is_paraphrase(candidate: Candidate) -> bool:
    language = candidate.language
    asked = words_in(candidate.question, language)
    proof = words_in("\n".join(candidate.evidence), language)
    return len(asked & proof) <= OTHER_WORDS * len(asked)


class FilterChain:
    """Knows the documents and what was asked before."""

    def __init__(self, ground: SourcePassages, words: WordSearch | None) -> None:
        """`words` None: nothing is tagged as easy."""
        self._ground = ground
        self._words = words
        self._texts = {document.id: document.text for document in ground.documents}
        self.asked = AskedQuestions()

    def passed(
        self, draft: ProposedQuestion, is_known: Callable[[str], bool]
    ) -> Query | Reason | None:
        """The question, located and tagged, or why it is dropped; what passes counts as asked.

        None: `is_known` says of its id that it is there already.
        """
        if is_malformed(draft.question, draft.answer):
            return "no question"
        about = f"{draft.question} {draft.answer}"
        references = references_of(draft.quotes, draft.passages, self._ground.documents, about)
        if references is None:
            return "quote not in the passage"
        evidence = tuple(self._texts[each.doc_id][each.start : each.end] for each in references)
        candidate = Candidate(draft, references, evidence)
        if is_known(candidate.id):
            return None
        if needs_passage(draft.question, draft.language, self._ground.is_rare):
            return "needs the passage"
        if gives_away(candidate):
            return "answer given away"
        if is_unsupported(candidate):
            return "answer not supported"
        facts = named_facts(candidate)
        query = candidate.query(facts, verified_kinds(candidate, facts))
        return self._unlike(query, draft.language)

    def made_by_rule(self, query: Query, language: str) -> Query | Reason:
        """The same for a question whose evidence is where a rule found it."""
        if is_malformed(query.text, query.answer or query.text):
            return "no question"
        if needs_passage(query.text, language, self._ground.is_rare):
            return "needs the passage"
        return self._unlike(query, language)

    def _unlike(self, query: Query, language: str) -> Query | Reason:
        """The question, tagged, unless one like it was asked."""
        if self.asked.has(query.text, query.references, language):
            return "near-duplicate"
        self.asked.add(query.text, query.references, language)
        if self._words is not None and self._words.finds(query):
            return replace(query, types=(*query.types, EASY))
        return query
