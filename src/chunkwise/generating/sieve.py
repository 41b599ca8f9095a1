"""Everything a question has to pass before it is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from chunkwise.core import Query
from chunkwise.generating.candidate import Candidate, Draft
from chunkwise.generating.easy import WordSearch
from chunkwise.generating.filters.given_away import gives_away
from chunkwise.generating.filters.malformed import malformed
from chunkwise.generating.filters.near_duplicates import Asked
from chunkwise.generating.filters.needs_passage import needs_passage
from chunkwise.generating.filters.unsupported import is_unsupported, named_facts
from chunkwise.generating.ground import Ground
from chunkwise.generating.locating import references_of
from chunkwise.generating.question_types import EASY
from chunkwise.generating.tally import Reason
from chunkwise.generating.verified_kinds import verified_kinds


class Sieve:
    """Knows the documents and what was asked before."""

    def __init__(self, ground: Ground, words: WordSearch | None) -> None:
        """`words` None: nothing is tagged as easy."""
        self._ground = ground
        self._words = words
        self._texts = {document.id: document.text for document in ground.documents}
        self.asked = Asked()

    def passed(self, draft: Draft, is_known: Callable[[str], bool]) -> Query | Reason | None:
        """The question, located and tagged, or why it is dropped; what passes counts as asked.

        None: `is_known` says of its id that it is there already.
        """
        if malformed(draft.question, draft.answer):
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
        if malformed(query.text, query.answer or query.text):
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
