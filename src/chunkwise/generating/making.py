"""One run of making questions: what is planned, asked for, kept, counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from chunkwise.core import Advance, Document, Query
from chunkwise.errors import InvalidParameter, MissingExtra
from chunkwise.generating.asking import TRIES, answers, calls_since, prompt_version
from chunkwise.generating.candidate import Draft
from chunkwise.generating.easy import WordSearch
from chunkwise.generating.fallback.from_rules import MADE_BY, rule_questions
from chunkwise.generating.generated import Ending, Generated
from chunkwise.generating.ground import Ground, ground_of
from chunkwise.generating.question_types import SHARES, Kind, check_shares
from chunkwise.generating.questions_store import QuestionsStore
from chunkwise.generating.sieve import Sieve
from chunkwise.generating.tally import Tally
from chunkwise.generating.tasks import Task, tasks
from chunkwise.models.llm.client import LlmClient

CALLS_A_QUESTION = 3
"""Calls that are made at most for every question wanted, where nobody says otherwise."""


class Making:
    """One run over documents that are read; what is planned can be asked for before anything is sent."""

    def __init__(
        self,
        documents: Sequence[Document],
        n: int,
        *,
        into: Path | None = None,
        types: Mapping[Kind, float] = SHARES,
        seed: int = 0,
        advance: Advance | None = None,
    ) -> None:
        if n < 1:
            raise InvalidParameter(f"n is {n}; at least one question is needed")
        self._n = n
        self._shares = check_shares(types)
        self._seed = seed
        self._advance: Advance = advance or (lambda amount, note: None)
        self._store = QuestionsStore(into, documents)
        self._found_before = len(self._store.queries)
        self.ground: Ground = ground_of(documents, self._note)
        self._tally = Tally()

    @property
    def needed(self) -> int:
        """Questions still to be made."""
        return self._n - len(self._store.queries)

    def by_model(self, client: LlmClient, max_calls: int | None = None) -> Generated:
        """Asks until there are enough, or the calls, the money or the passages are used up."""
        most = self.most_calls(max_calls)
        sieve = self._sieve()
        line = tasks(self.ground, self._shares, self._seed)
        before = client.spent
        for task, reply in answers(line, client, most, lambda: self.needed):
            self._tally.asked_for[task.kind] += 1
            if reply.is_answered:
                self._offer(task, Draft.of(task.kind, task.passages, reply.value), sieve, client)
            else:
                # Of those without an answer the client knows how many nobody was asked.
                self._tally.unanswered[reply.reason] += 1
                self._tally.unasked = client.spent.unasked - before.unasked
            self._advance(0, self._tally.note)
            if self.needed < 1:
                break
        used = calls_since(before, client)
        return self._result(client.identity, self._ending(line, most - used), self._shares)

    def by_rules(self) -> Generated:
        """From definitions, amounts and headings; nobody is asked."""
        sieve = self._sieve()
        for query, language in rule_questions(self.ground):
            if self.needed < 1:
                break
            if self._store.knows(query.id):
                continue
            passed = sieve.made_by_rule(query, language)
            if isinstance(passed, Query):
                self._keep(passed, {"by": MADE_BY})
            else:
                self._tally.dropped[passed] += 1
            self._advance(0, self._tally.note)
        return self._result(MADE_BY, "rules" if self.needed > 0 else "enough")

    def planned(self, max_calls: int | None = None) -> list[Task]:
        """What would be asked for if every call were needed."""
        line = tasks(self.ground, self._shares, self._seed)
        most = self.most_calls(max_calls) if self.needed > 0 else 0
        return list(islice(line, most))

    def most_calls(self, given: int | None) -> int:
        if given is not None and given < 2:
            raise InvalidParameter(
                f"max_calls is {given}; the least is 2, because an answer of the wrong form is asked for once more"
            )
        return CALLS_A_QUESTION * self._n if given is None else given

    def _ending(self, line: Iterator[Task], calls_left: int) -> Ending:
        if self.needed < 1:
            return "enough"
        if self._tally.unasked:
            return "cost"
        if next(line, None) is None:
            return "passages"
        return "calls" if calls_left < TRIES else "silence"

    def _offer(self, task: Task, draft: Draft, sieve: Sieve, client: LlmClient) -> None:
        passed = sieve.passed(draft, self._store.knows)
        if isinstance(passed, Query):
            made = {"by": client.identity, "prompt": prompt_version(task.kind)}
            self._keep(passed, made)
        elif passed is not None:
            self._tally.dropped[passed] += 1

    def _keep(self, query: Query, made: Mapping[str, str]) -> None:
        self._store.add(query, made)
        self._tally.kept.update(query.types[:1])
        self._advance(1, self._tally.note)

    def _sieve(self) -> Sieve:
        """Questions that are there already count as asked."""
        try:
            words = WordSearch(self.ground.documents, self._note)
        except MissingExtra:
            words = None
        sieve = Sieve(self.ground, words)
        languages = {each.document.id: each.language for each in self.ground.passages}
        for query in self._store.queries:
            known = (languages.get(each.doc_id) for each in query.references)
            sieve.asked.add(query.text, query.references, next(filter(None, known), "none"))
        return sieve

    def _note(self, amount: int, note: str) -> None:
        """What is done before the first question: the bar counts questions, and does not move."""
        self._advance(0, note)

    def _result(
        self, made_by: str, ending: Ending, kinds: Mapping[Kind, float] | None = None
    ) -> Generated:
        return Generated(
            tuple(self._store.queries),
            self._n,
            self._found_before,
            {str(reason): count for reason, count in self._tally.all_dropped.items()},
            dict(self._tally.unanswered),
            made_by,
            ending,
            self._tally.unasked,
            None if kinds is None else {kind: self._tally.asked_for[kind] for kind in kinds},
        )
