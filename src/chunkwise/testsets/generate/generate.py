"""Test questions out of documents: planned, asked of a model and verified, or made by rules where there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.base.parameters import takes
from chunkwise.base.renamed import renamed
from chunkwise.core import Document, OnProgress, Query
from chunkwise.documents import Inputs, LoadOptions, WhenUnreadable
from chunkwise.models import get_language_model
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import LanguageModel
from chunkwise.retrieval.indexes import Index, documents_in
from chunkwise.testsets.generate.candidate import ProposedQuestion
from chunkwise.testsets.generate.filters import FilterChain, WordSearch
from chunkwise.testsets.generate.outcome import Ending, GeneratedQuestions, QuestionTally
from chunkwise.testsets.generate.plan import QuestionTask, question_tasks
from chunkwise.testsets.generate.question_types import SHARES, QuestionType, check_shares
from chunkwise.testsets.generate.requests import TRIES, ask_in_waves, calls_since, prompt_version
from chunkwise.testsets.generate.rules import MADE_BY, rule_questions
from chunkwise.testsets.generate.source_passages import SourcePassages, find_source_passages
from chunkwise.testsets.generate.store import QuestionsStore

CALLS_A_QUESTION = 3
"""Calls that are made at most for every question wanted, where nobody says otherwise."""


class GenerationRun:
    """One run over documents that are read; what is planned can be asked for before anything is sent."""

    def __init__(
        self,
        documents: Sequence[Document],
        n: int,
        *,
        into: Path | None = None,
        types: Mapping[QuestionType, float] = SHARES,
        seed: int = 0,
        advance: OnProgress | None = None,
    ) -> None:
        if n < 1:
            raise InvalidParameter(f"n is {n}; at least one question is needed")
        self._n = n
        self._shares = check_shares(types)
        self._seed = seed
        self._advance: OnProgress = advance or (lambda amount, note: None)
        self._store = QuestionsStore(into, documents)
        self._found_before = len(self._store.queries)
        self.source_passages: SourcePassages = find_source_passages(documents, self._note)
        self._tally = QuestionTally()

    @property
    def needed(self) -> int:
        """Questions still to be made."""
        return self._n - len(self._store.queries)

    def by_model(self, client: LlmClient, max_calls: int | None = None) -> GeneratedQuestions:
        """Asks until there are enough, or the calls, the money or the passages are used up."""
        most = self.most_calls(max_calls)
        sieve = self._sieve()
        line = question_tasks(self.source_passages, self._shares, self._seed)
        before = client.spent
        for task, reply in ask_in_waves(line, client, most, lambda: self.needed):
            self._tally.asked_for[task.kind] += 1
            if reply.is_answered:
                self._offer(
                    task, ProposedQuestion.of(task.kind, task.passages, reply.value), sieve, client
                )
            else:
                # Of those without an answer the client knows how many nobody was asked.
                self._tally.unanswered[reply.reason] += 1
                self._tally.unasked = client.spent.unasked - before.unasked
            self._advance(0, self._tally.note)
            if self.needed < 1:
                break
        used = calls_since(before, client)
        return self._result(client.identity, self._ending(line, most - used), self._shares)

    def by_rules(self) -> GeneratedQuestions:
        """From definitions, amounts and headings; nobody is asked."""
        sieve = self._sieve()
        for query, language in rule_questions(self.source_passages):
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

    def planned(self, max_calls: int | None = None) -> list[QuestionTask]:
        """What would be asked for if every call were needed."""
        line = question_tasks(self.source_passages, self._shares, self._seed)
        most = self.most_calls(max_calls) if self.needed > 0 else 0
        return list(islice(line, most))

    def most_calls(self, given: int | None) -> int:
        if given is not None and given < 2:
            raise InvalidParameter(
                f"max_calls is {given}; the least is 2, because an answer of the wrong form is asked for once more"
            )
        return CALLS_A_QUESTION * self._n if given is None else given

    def _ending(self, line: Iterator[QuestionTask], calls_left: int) -> Ending:
        if self.needed < 1:
            return "enough"
        if self._tally.unasked:
            return "cost"
        if next(line, None) is None:
            return "passages"
        return "calls" if calls_left < TRIES else "silence"

    def _offer(
        self, task: QuestionTask, draft: ProposedQuestion, sieve: FilterChain, client: LlmClient
    ) -> None:
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

    def _sieve(self) -> FilterChain:
        """Questions that are there already count as asked."""
        try:
            words = WordSearch(self.source_passages.documents, self._note)
        except MissingExtra:
            words = None
        sieve = FilterChain(self.source_passages, words)
        languages = {each.document.id: each.language for each in self.source_passages.passages}
        for query in self._store.queries:
            known = (languages.get(each.doc_id) for each in query.references)
            sieve.asked.add(query.text, query.references, next(filter(None, known), "none"))
        return sieve

    def _note(self, amount: int, note: str) -> None:
        """What is done before the first question: the bar counts questions, and does not move."""
        self._advance(0, note)

    def _result(
        self, made_by: str, ending: Ending, kinds: Mapping[QuestionType, float] | None = None
    ) -> GeneratedQuestions:
        return GeneratedQuestions(
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


@takes(options=LoadOptions)
@renamed(inputs="source", on_skip="on_unreadable", into="output")
def generate_questions(
    source: Inputs | Index,
    n: int = 100,
    *,
    llm: str | LanguageModel | LlmClient | None = None,
    output: str | os.PathLike[str] | None = None,
    types: Mapping[QuestionType, float] = SHARES,
    seed: int = 0,
    max_calls: int | None = None,
    max_cost: float | None = None,
    options: LoadOptions | None = None,
    on_unreadable: WhenUnreadable = "warn",
    advance: OnProgress | None = None,
) -> GeneratedQuestions:
    """At most `n` questions about files, folders, archives, `Document`s or an index, each with its exact references.

    `llm` names a model, or is one; without it questions are made by rules and tagged `fallback`. Every question is
    in the file `output` as soon as it is kept; a file that is there already is gone on with. `max_calls` is 3 n.
    """
    documents = list(documents_in(source, options, on_unreadable))
    if not documents:
        raise ChunkwiseError("no document was read; name the documents the questions are about")
    client = _client(llm, max_cost)
    file = None if output is None else Path(output)
    making = GenerationRun(documents, n, into=file, types=types, seed=seed, advance=advance)
    return making.by_rules() if client is None else making.by_model(client, max_calls)


def _client(
    llm: str | LanguageModel | LlmClient | None, max_cost: float | None
) -> LlmClient | None:
    if llm is None:
        return None
    if isinstance(llm, LlmClient):
        if max_cost is not None:
            raise InvalidParameter("max_cost is given beside a client, which has its own; give one")
        return llm
    return LlmClient(get_language_model(llm), max_cost=max_cost)
