"""Test questions out of documents: planned, asked of a model and verified, or made by rules where there is none."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Protocol

from chunkwise.base.allow_hosts_and_code_from_files import trust_caller
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.core import SECTION_SEPARATOR, Document, OnProgress, Query
from chunkwise.documents import Inputs, LoadOptions
from chunkwise.models import get_language_model
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import LlmUsage
from chunkwise.models.llm.language_model import LanguageModel, Reply, Request, Schema
from chunkwise.models.llm.prompt import Prompt, fenced, load_prompt
from chunkwise.retrieval.indexes import Index, documents_in
from chunkwise.testsets.formats.chunkwise import (
    QuestionRow,
    QuestionsFile,
    dropped_file,
    is_there,
    row_of,
)
from chunkwise.testsets.generate.candidate import (
    Ending,
    GeneratedQuestions,
    ProposedQuestion,
    QuestionTally,
)
from chunkwise.testsets.generate.filters import FilterChain, WordSearch
from chunkwise.testsets.generate.logged_questions import logged_questions
from chunkwise.testsets.generate.plan import (
    EXTRACTED,
    SHARES,
    QuestionTask,
    QuestionType,
    check_shares,
    question_tasks,
)
from chunkwise.testsets.generate.questions_in_text import questions_in
from chunkwise.testsets.generate.source_passages import (
    SourcePassage,
    SourcePassages,
    find_source_passages,
)
from chunkwise.testsets.generate.two_hop_questions import two_hop_questions
from chunkwise.testsets.query_log import LiveQuery
from chunkwise.testsets.question_record import draft_of
from chunkwise.testsets.testset import Unreadable

_TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 4}
# Quotes come first: what is asked then is about them.
SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "quotes": _TEXTS,
        "question": {"type": "string"},
        "answer": {"type": "string"},
        "facts": _TEXTS,
    },
    "required": ["quotes", "question", "answer", "facts"],
    "additionalProperties": False,
}
MOST_TOKENS = 400
"""Of an answer."""
TRIES = 2
"""Calls one request may take: an answer of the wrong form is asked for once more."""
_IN_A_ROW = 5
"""Requests without an answer after which no more are sent."""


def request_for(task: QuestionTask) -> Request:
    """One question of one kind about these passages."""
    prompt = _prompt(task.kind)
    system, user = prompt.filled(
        passages="\n\n".join(
            _shown(passage, number if len(task.passages) > 1 else None)
            for number, passage in enumerate(task.passages, 1)
        )
    )
    return Request(system, user, SCHEMA, MOST_TOKENS, version=prompt.version)


def prompt_version(kind: QuestionType) -> str:
    """Name, number and hash of the wording."""
    return _prompt(kind).version


def _shown(passage: SourcePassage, number: int | None) -> str:
    """Between marks, with where it stands: the title and the headings are text of the document, too."""
    title, path = passage.document.title, passage.path
    # The first heading of most documents is their title.
    names = path if path and path[0] == title else (title, *path)
    place = SECTION_SEPARATOR.join(filter(None, names))
    text = f"{place}\n\n{passage.text}" if place else passage.text
    return fenced(text, "passage", number)


def _prompt(kind: QuestionType) -> Prompt:
    return load_prompt(f"questions_{kind.replace('-', '_')}")


def ask_in_waves(
    tasks: Iterator[QuestionTask], client: LlmClient, max_calls: int, needed: Callable[[], int]
) -> Iterator[tuple[QuestionTask, Reply]]:
    """In the order of the tasks, until nothing more is needed, the tasks or the calls are used up, or a whole wave and
    five requests in a row went unanswered.

    An answer that is known already counts as a call: a run that is repeated ends where it ended.
    """
    before = client.spent
    in_a_row = 0
    while (count := needed()) > 0:
        used = calls_since(before, client)
        wave = list(islice(tasks, min(count, (max_calls - used) // TRIES)))
        if not wave:
            return
        answered = False
        for task, reply in _in_order(wave, client):
            answered |= reply.is_answered
            in_a_row = 0 if reply.is_answered else in_a_row + 1
            yield task, reply
        # A wave may be one request: the last question that is missing.
        if not answered and in_a_row >= _IN_A_ROW:
            return


def calls_since(before: LlmUsage, client: LlmClient) -> int:
    """Made, or answered from what is kept."""
    return client.spent.calls + client.spent.kept - before.calls - before.kept


def _in_order(wave: list[QuestionTask], client: LlmClient) -> Iterator[tuple[QuestionTask, Reply]]:
    """What comes too early waits; in the client's cache it is safe already."""
    waiting: dict[int, Reply] = {}
    following = 0
    with closing(client.ask_each([request_for(task) for task in wave])) as replies:
        for number, reply in replies:
            waiting[number] = reply
            while following in waiting:
                yield wave[following], waiting.pop(following)
                following += 1


GENERATED = "generated"
"""The field that says who wrote a question, and by which prompt."""


class DraftStore(Protocol):
    """Where questions are kept as they are made."""

    queries: list[Query]
    """Those that are there: no other asks the same again."""

    def knows(self, id: str) -> bool:
        """Whether it is there, or was and a person dropped it."""

    def add(self, query: Query, made: Mapping[str, str]) -> None:
        """Kept when this returns; `made` says by whom."""


class QuestionsStore:
    """Of a file, or of none: then nothing is written.

    A person may review the file while questions are added: it is read again before it is written.
    """

    def __init__(self, path: Path | None, documents: Sequence[Document]) -> None:
        self._documents = {document.id: document for document in documents}
        self.queries: list[Query] = []
        self._known: set[str] = set()
        self._file: QuestionsFile | None = None
        if path is None:
            return
        self._file = QuestionsFile.new(path)
        self._refresh(self._file)
        if is_there(gone := dropped_file(path)):
            self._known |= {str(row.get("query_id")) for row in QuestionsFile.read(gone).rows}

    def knows(self, id: str) -> bool:
        """Whether it is there, or was and a person dropped it."""
        return id in self._known

    def add(self, query: Query, made: Mapping[str, str]) -> None:
        """On disk when this returns."""
        if self._file is not None:
            self._refresh(self._file)
            self._file.rows.append(generated_row(query, self._documents, made))
            self._file.write()
        self.queries.append(query)
        self._known.add(query.id)

    def _refresh(self, file: QuestionsFile) -> None:
        file.refresh()
        self.queries = list(_generated(file))
        self._known |= {query.id for query in self.queries}


def generated_row(
    query: Query, documents: Mapping[str, Document], made: Mapping[str, str]
) -> QuestionRow:
    """With the text at every place, by which it is found again when a document has changed."""
    texts = {
        place.doc_id: documents[place.doc_id].text
        for reference in query.references
        for place in reference.places
    }
    return {**row_of(query, texts), GENERATED: dict(made)}


def _generated(file: QuestionsFile) -> Iterator[Query]:
    """An error for questions that were not made by us: they are not ours to add to."""
    for number, row in enumerate(file.rows, 1):
        if GENERATED not in row:
            raise ChunkwiseError(
                f"{file.path} exists, and its question {number} wasn't generated; choose another "
                "output file"
            )
        draft = draft_of(row, number, f"{file.path}, question {number}")
        if isinstance(draft, Unreadable):
            raise ChunkwiseError(
                f"{draft.where} cannot be read: {draft.reason}; choose another output file"
            )
        yield draft.query


CALLS_A_QUESTION = 3
"""Calls that are made at most for every question wanted, where nobody says otherwise."""


class GenerationRun:
    """One run over documents that are read; what is planned can be asked for before anything is sent."""

    def __init__(
        self,
        documents: Sequence[Document],
        n: int,
        *,
        into: Path | DraftStore | None = None,
        types: Mapping[QuestionType, float] = SHARES,
        seed: int = 0,
        advance: OnProgress | None = None,
    ) -> None:
        if n < 1:
            raise InvalidParameter(f"n is {n}; the minimum is 1")
        self._n = n
        self._shares = check_shares(types)
        self._seed = seed
        self._advance: OnProgress = advance or (lambda amount, note: None)
        self._store: DraftStore = (
            QuestionsStore(into, documents) if into is None or isinstance(into, Path) else into
        )
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
        filters = self._filter_chain()
        line = question_tasks(self.source_passages, self._shares, self._seed)
        before = client.spent
        for task, reply in ask_in_waves(line, client, most, lambda: self.needed):
            self._tally.asked_for[task.kind] += 1
            if reply.is_answered:
                self._offer(
                    task,
                    ProposedQuestion.of(task.kind, task.passages, reply.value),
                    filters,
                    client,
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

    def by_rules(self, log: Sequence[LiveQuery] = ()) -> GeneratedQuestions:
        """From a log and from the texts themselves, of no kind more than a fifth; nobody is asked.

        Of two hops, where nothing else is wanted.
        """
        filters = self._filter_chain()
        kinds = Counter(kind for each in self._store.queries for kind in each.types)
        of_two = list(self._shares) == ["two-hop"]
        made = (
            two_hop_questions(self.source_passages)
            if of_two
            else questions_in(self.source_passages, self._n, kinds)
        )
        logged = logged_questions(log, self.source_passages.documents, filters.words) if log else ()
        languages = self._languages()
        asked = ((each, languages.get(each.references[0].doc_id, "none")) for each in logged)
        for query, language in chain(asked, made):
            if self.needed < 1:
                break
            if self._store.knows(query.id):
                continue
            passed = filters.made_by_rule(query, language)
            if isinstance(passed, Query):
                self._keep(passed, {"by": EXTRACTED})
                kinds.update(query.types)
            else:
                self._tally.dropped[passed] += 1
            self._advance(0, self._tally.note)
        return self._result(EXTRACTED, "rules" if self.needed > 0 else "enough")

    def planned(self, max_calls: int | None = None) -> list[QuestionTask]:
        """What would be asked for if every call were needed."""
        line = question_tasks(self.source_passages, self._shares, self._seed)
        most = self.most_calls(max_calls) if self.needed > 0 else 0
        return list(islice(line, most))

    def most_calls(self, given: int | None) -> int:
        if given is not None and given < 2:
            raise InvalidParameter(
                f"max_calls is {given}; the minimum is 2, since malformed answers are retried once"
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
        self, task: QuestionTask, draft: ProposedQuestion, filters: FilterChain, client: LlmClient
    ) -> None:
        passed = filters.passed(draft, self._store.knows)
        if isinstance(passed, Query):
            made = {"by": client.identity, "prompt": prompt_version(task.kind)}
            self._keep(passed, made)
        elif passed is not None:
            self._tally.dropped[passed] += 1

    def _keep(self, query: Query, made: Mapping[str, str]) -> None:
        self._store.add(query, made)
        self._tally.kept.update(query.types[:1])
        self._advance(1, self._tally.note)

    def _filter_chain(self) -> FilterChain:
        """Questions that are there already count as asked."""
        filters = FilterChain(self.source_passages, self._words)
        languages = self._languages()
        for query in self._store.queries:
            known = (languages.get(reference.doc_id) for reference in query.references)
            filters.asked.add(query.text, query.references, next(filter(None, known), "none"))
        return filters

    @cached_property
    def _words(self) -> WordSearch:
        return WordSearch(self.source_passages.documents, self._note)

    def _languages(self) -> dict[str, str]:
        """Of each document with a passage that can be asked about."""
        return {passage.document.id: passage.language for passage in self.source_passages.passages}

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
    options: LoadOptions = LoadOptions(),
    advance: OnProgress | None = None,
) -> GeneratedQuestions:
    """Generate test questions with exact references.

    Args:
        source: Documents, or an index.
        n: Number of questions, at most.
        llm: Language model by name or object; without it, questions are extracted from the text.
        output: File to save questions to immediately; an existing file is resumed.
        types: Share of each question type.
        seed: Random seed.
        max_calls: Maximum LLM calls [default: 3 n].
        max_cost: Limit in dollars.
        options: How to read files.
        advance: Progress callback.

    Returns:
        The questions, and reasons for rejected ones.

    Raises:
        InvalidParameter: An invalid value.
        ChunkwiseError: No readable documents.

    Example:
        >>> questions = chunkwise.generate_questions("handbook/", 50, output="questions.json")
    """
    trust_caller(llm, options)
    documents = list(documents_in(source, options))
    if not documents:
        raise ChunkwiseError("no readable documents; give the documents the questions are about")
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
            raise InvalidParameter("max_cost conflicts with the limit of the client; give one")
        return llm
    return LlmClient(get_language_model(llm), max_cost=max_cost)
