"""Is this chunking good? Documents or an index, questions, and a result with intervals."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from chunkwise.base.allow_hosts_and_code_from_files import trust_caller
from chunkwise.base.errors import ChunkwiseError, InvalidOption, InvalidParameter
from chunkwise.base.parameters import named_list
from chunkwise.base.progress import Stages, Stopwatch
from chunkwise.base.runner import Jobs
from chunkwise.base.wording import counted, from_to, listed, thousands
from chunkwise.chunkers.chunk import StrategyLike
from chunkwise.chunkers.read_chunks import ChunksSource
from chunkwise.core import Document, Hit, Query
from chunkwise.documents import Inputs, LoadOptions, each_input, leaving_out
from chunkwise.documents.document_hash import documents_data
from chunkwise.evaluation.citation_locations import ChunkNames
from chunkwise.evaluation.evaluate_system import QuestionSet, depths, evaluate_system
from chunkwise.evaluation.live_answers import ask_live, latency
from chunkwise.evaluation.live_retriever import is_live, live_retriever
from chunkwise.evaluation.results import Json, Results
from chunkwise.evaluation.run_file import locate_records, read_answers, read_hits
from chunkwise.evaluation.scoring import Listeners, Measures
from chunkwise.evaluation.sources import (
    NamedChunks,
    Skipped,
    carried_questions,
    chunks_of_file,
    documents_of,
    known_index,
    new_index,
    no_documents,
    no_questions_file,
    questions_read,
    refuse_bare,
    with_places,
)
from chunkwise.evaluation.system_under_test import (
    EvaluatedSystem,
    hits_system,
    with_budget,
)
from chunkwise.metrics.judges.judge import LLM, Judge, get_judge, judge_names, registry
from chunkwise.metrics.metric import Metric
from chunkwise.metrics.registry import (
    asks_for_all,
    chosen,
    known_metrics,
    named_one_by_one,
    of_judge,
)
from chunkwise.models import get_language_model
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import LanguageModel
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.options import (
    IndexOptions,
    JudgesLike,
    LiveOptions,
    MetricsLike,
    ScoreOptions,
    SearchOptions,
)
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.indexes import Index, named_index
from chunkwise.retrieval.retrievers import Retriever
from chunkwise.retrieval.search.rerank import resolve_reranker
from chunkwise.retrieval.settings import without_embedder
from chunkwise.testsets.question_record import draft_of
from chunkwise.testsets.testset import Draft, TestSet, Unreadable, hash_of
from chunkwise.text.tokens.tokenizers import (
    DEFAULT_TOKENIZER,
    TokenizerLike,
    canonical_name,
    get_tokenizer,
)

_OF_QUESTIONS = frozenset(("references", "reference answer", "facts", "labels"))
"""What metrics need that only questions can have."""
_WITHOUT_REFERENCES = (
    ", use a judge (--judge llm), or metrics that need neither (--metrics boundary_issues)"
)
TestQueries = str | os.PathLike[str] | TestSet | Iterable[Query | Mapping[str, object]]
"""A file of any known format, or questions that are there already: values, or records as a file has them."""

File = str | os.PathLike[str] | None
_USUAL_K = 5


def evaluate(
    source: Inputs | Index,
    queries: TestQueries | None = None,
    *,
    strategy: StrategyLike | None = None,
    embedder: str | Embedder | None = None,
    retriever: str | Retriever | object | None = None,
    reranker: str | Reranker | None = None,
    k: int | None = None,
    budget: int | None = None,
    metrics: MetricsLike | None = None,
    judge: JudgesLike | None = None,
    llm: str | LanguageModel | LlmClient | None = None,
    hits: File = None,
    chunks: ChunksSource | None = None,
    index: IndexOptions = IndexOptions(),
    search: SearchOptions = SearchOptions(),
    score: ScoreOptions = ScoreOptions(),
    live: LiveOptions = LiveOptions(),
    options: LoadOptions = LoadOptions(),
    jobs: Jobs = 1,
    listeners: Listeners = Listeners(),
) -> Results:
    """Score retrieval on test questions, with confidence intervals.

    Unusable questions are skipped and listed in the results; moved passages are located. Questions on which your own
    retriever fails are unscored.

    Args:
        source: Documents (files, folders, `Document`s), an index, or a test set with documents.
        queries: Test questions: a file of any supported format, `Query` values or records [default: those of `source`].
        strategy: Chunking strategy: a name with parameters, or an object with `split`.
        embedder: Embedding model: a name or an object; "none" for BM25 only.
        retriever: A name, or your own: a function (also async), a LangChain or LlamaIndex retriever, `./file.py:name`,
            a URL or a command (`command:python mine.py`).
        reranker: Reranker of the top hits: a name, a URL or an object.
        k: Hits per question [default: 5].
        budget: Token budget per question, instead of `k`.
        metrics: Metrics or groups, by name or as objects [default: all].
        judge: "llm" for LLM metrics; another judge (name, `./file.py:Class` or object) adds its retrieval_precision.
            Pass several as a list, or separated by commas.
        llm: Language model of the judge: a name, an object or a client [default: local].
        hits: File of another system's hits to score.
        chunks: Chunks made by another tool.
        index: All other index options.
        search: All other search options.
        score: All other scoring options.
        live: How to call your own retriever.
        options: How to read documents.
        jobs: Number of processes, or a `RayCluster`.
        listeners: Callbacks for progress and skipped input.

    Returns:
        The scores of every metric and question.

    Raises:
        InvalidOption: An option is invalid or doesn't apply.
        ChunkwiseError: Nothing to evaluate, or an unreadable file.

    Example:
        >>> chunkwise.evaluate("docs/", "questions.json", strategy="sentences", k=5)
    """
    trust_caller(
        strategy, embedder, retriever, reranker, index, search, metrics, judge, score, llm, options
    )
    left_out = Skipped(listeners.on_bad, listeners.on_note, options.on_unreadable)
    watch = Stopwatch()
    stages = listeners.stages
    score = score.override(metrics=metrics, judge=judge)
    asks_live = hits is None and is_live(retriever)
    searching = search.override(
        retriever=None if asks_live else retriever, k=k, budget=budget, reranker=reranker
    )
    known = None if hits is not None or asks_live else named_index(source)
    if known is not None:
        searching = searching.filled_from(known.settings.search)
    k, budget = searching.k, searching.budget
    if k is not None and budget is not None:
        raise InvalidOption("k", k, f"k conflicts with the budget of {budget} tokens; use one")
    k = _USUAL_K if k is None else k
    Filter.of(searching)  # wrong conditions are an error before anything is read
    searching = replace(
        searching,
        k=None,
        reranker=resolve_reranker(searching.reranker),
        tokenizer=_checked_tokenizer(searching.tokenizer),
    )
    made_with = without_embedder(index.override(strategy=strategy, embedder=embedder))
    if hits is None and not asks_live:
        searching = with_budget(searching)
        budget = searching.budget
    else:
        of = f"hits of {_told(retriever)}" if asks_live else "hits from a file"
        _refuse_settings(made_with, searching, of)
    names, judges = named_judges(score.judge)
    client = _client(names, llm)
    wanted = score.metrics
    if not isinstance(wanted, str | Metric):
        wanted = named_list("metrics", wanted)  # it is looked at more than once
    measuring = Measures(
        tuple(chosen(wanted, k, budget, asked=names)), k, budget, score, llm=client, judges=judges,
        named=named_one_by_one(wanted, k, budget),
    )  # fmt: skip
    _refuse_unasked(names, measuring)
    files, asked_in = _files(hits, chunks, score.answers), _files(queries)
    if not isinstance(source, str | os.PathLike | Document | Index):
        source = list(each_input(source))  # it is looked at more than once
    if queries is None:
        queries = carried_questions(source)
        asked_in = _files(queries)
    files += [document for file in asked_in for document in no_documents(source, file)]
    options = leaving_out(options, files)
    with watch("index"):
        system = None
        if hits is None and not asks_live:
            system = (
                known_index(known, made_with, searching, chunks)
                if known is not None
                else new_index(
                    source, made_with, options, jobs, searching, left_out, stages, chunks
                )
            )
        documents = system.documents if system else documents_of(source, options, left_out)
    if system is not None and system.index is not None:
        measuring = replace(measuring, judge_model=system.index.embedder)
    if listeners.on_documents is not None:
        listeners.on_documents(documents)
    with watch("questions"):
        named = (
            NamedChunks(ChunkNames(documents, system.chunking, system.chunk_ids))
            if system is not None
            else chunks_of_file(documents, chunks, left_out)
        )
        asked, about = _questions(queries, documents, score.split, left_out, named.names)
        needless = any(_OF_QUESTIONS.isdisjoint(at.metric.needs) for at in measuring.wanted)
        if not names and score.answers is None and (asks_for_all(wanted) or not needless):
            refuse_bare(asked, str(about["file"]), _WITHOUT_REFERENCES)
        if listeners.on_questions is not None:
            listeners.on_questions(asked)
        other = None
        if system is None:
            tokenizer = searching.tokenizer or DEFAULT_TOKENIZER
            other = _OtherSystem(
                documents, _name(hits), retriever, measuring, tokenizer, left_out, watch, stages
            )
            system = other.answer(asked, named, live)
        answered = {}
        if score.answers is not None:
            path = os.fspath(score.answers)
            with left_out.rows_of(path) as bad:
                # Only those of a file are there already; an index tells by its chunks.
                own = system.ask(asked, k=None, budget=None) if system.index is None else []
                answered = read_answers(path, asked, documents, bad, named.names, own)
    about = {"questions": about, **left_out.to_json()}
    if len(system.documents) != len(documents):
        # Those that hold hits found nowhere are no documents of the user's.
        about["documents"] = {**documents_data(documents)}
    results = evaluate_system(
        system, QuestionSet(asked, about, answered), measuring,
        watch=watch, stages=stages, on_estimate=listeners.on_estimate,
    )  # fmt: skip
    if listeners.on_search is not None:
        most = None if budget is not None else k

        def ask_more(more: Sequence[Query]) -> list[list[Hit]]:
            asks = system
            if other is not None and asks_live:
                unnamed = NamedChunks(ChunkNames(documents))
                asks = other.answer(more, unnamed, replace(live, retrieved=None))
            return asks.ask(more, k=most, budget=budget)

        listeners.on_search(ask_more)
    return results


def _files(*given: object) -> list[Path]:
    """The files among these; what is missing is told before hours are spent on the others."""
    paths = [Path(item) for item in given if isinstance(item, str | os.PathLike)]
    for file in paths:
        if os.fspath(file) != "-" and not file.exists():
            raise no_questions_file(os.fspath(file))
    return [file.resolve() for file in paths]


def _checked_tokenizer(tokenizer: TokenizerLike | None) -> TokenizerLike | None:
    """A wrong name is told before anything is read; a model's name is that of its tokenizer."""
    if tokenizer is not None:
        get_tokenizer(tokenizer)
    return canonical_name(tokenizer) if isinstance(tokenizer, str) else tokenizer


def _told(retriever: object) -> str:
    return retriever if isinstance(retriever, str) else type(retriever).__name__


def _refuse_settings(made_with: IndexOptions, searching: SearchOptions, of: str) -> None:
    """Hits are there already: nothing is cut, indexed or searched for them; their tokens are counted."""
    searching = replace(searching, tokenizer=None, budget=None)
    for name, value in {**made_with.changed(), **searching.changed()}.items():
        raise InvalidOption(name, value, f"doesn't apply to {of}; leave it out")


_DEPTH_OF_BUDGET = 50
"""Hits that a retriever of the user's own is asked for within a budget: small chunks, or many."""


@dataclass(frozen=True, slots=True)
class _OtherSystem:
    """Hits that nobody searches an index of ours for: those of a file, or of a retriever that is asked."""

    documents: Sequence[Document]
    hits: str | None
    retriever: object
    measuring: Measures
    tokenizer: TokenizerLike
    left_out: Skipped
    watch: Stopwatch
    stages: Stages

    def answer(
        self, queries: Sequence[Query], known: NamedChunks, live: LiveOptions
    ) -> EvaluatedSystem:
        """Compared with its chunks where they are `known`."""
        name = self.hits
        if name is not None:
            with self.left_out.rows_of(name) as bad:
                result = read_hits(name, queries, self.documents, bad, known.names, self.tokenizer)
            return self._system(queries, result, known, {"hits": name})
        retriever = live_retriever(self.retriever, live.timeout)
        # Asked once, for as many hits as any metric looks at.
        most = self.measuring.k if self.measuring.budget is None else _DEPTH_OF_BUDGET
        deepest = max([*depths(self.measuring.wanted), most])
        with self.left_out.rows_of(retriever.name) as bad:
            with (
                closing(retriever),
                self.watch("retrieve"),
                self.stages("asking the retriever", len(queries)) as advance,
            ):
                answers = ask_live(retriever, queries, deepest, live, on_bad=bad, advance=advance)
            result = locate_records(
                answers.records, queries, self.documents, bad, known.names, self.tokenizer
            )
        system = self._system(queries, result, known, {"retriever": retriever.name, "live": True})
        return replace(system, failed=answers.failed, latency=latency(answers.seconds))

    def _system(
        self,
        queries: Sequence[Query],
        found: Sequence[Sequence[Hit]],
        known: NamedChunks,
        configuration: Mapping[str, Json],
    ) -> EvaluatedSystem:
        system = hits_system(
            self.documents, queries, found, {**configuration, "chunks": known.file}, self.tokenizer
        )
        return replace(system, chunking=known.chunking, position=known.position)


def testset_in_memory(given: Iterable[Query | Mapping[str, object]]) -> TestSet:
    """Questions that are there already, as values or as records of a file; what is none is told with what would be one.

    Those of records have no places yet: `with_places` finds them.
    """
    if not isinstance(given, Iterable):
        raise InvalidParameter(
            f"queries is {type(given).__name__}; expected the path of a question file, or a list "
            "of Query"
        )
    queries: list[Query] = []
    drafts: dict[str, Draft] = {}
    for number, item in enumerate(given, 1):
        if isinstance(item, Query):
            queries.append(item)
            continue
        if not isinstance(item, Mapping):
            raise InvalidParameter(
                f"question {number} is {type(item).__name__}; expected a chunkwise.Query, or a "
                "record such as "
                '{"query": "…", "relevant_text": "…"}'
            )
        draft = draft_of(
            {str(key): value for key, value in item.items()}, number, f"question {number}"
        )
        if isinstance(draft, Unreadable):
            raise InvalidParameter(f"question {number}: {draft.reason}")
        queries.append(draft.query)
        drafts[draft.query.id] = draft
    _refuse_repeated(queries)
    return TestSet(tuple(queries), "", hash_of(queries), drafts)


def _questions(
    given: TestQueries,
    documents: Sequence[Document],
    split: str,
    left_out: Skipped,
    chunks: ChunkNames,
) -> tuple[list[Query], dict[str, Json]]:
    if isinstance(given, str | os.PathLike):
        testset = questions_read(os.fspath(given), documents, left_out, chunks)
    elif isinstance(given, TestSet):
        testset = given
    else:
        testset = with_places(testset_in_memory(given), documents, left_out, chunks)
        queries = _placed(testset.queries, documents, left_out)
        testset = replace(testset, queries=queries, hash=hash_of(queries))
    splits = sorted({query.split for query in testset.queries if query.split})
    if split and split not in splits:
        known = f"it has {', '.join(splits)}" if splits else "it is not split"
        raise ChunkwiseError(f"no questions in the split {split!r}; {known}")
    asked = [query for query in testset.queries if not split or query.split == split]
    if not asked:
        raise ChunkwiseError(
            f"no usable questions in {testset.name or 'the test set'}{_first(left_out)}"
        )
    return asked, {**testset.about(asked), "left_out": left_out.dropped_questions, "split": split}


def _first(left_out: Skipped) -> str:
    """The first reason why a question is left out; empty: none was."""
    messages = left_out.questions
    more = f" (and {thousands(len(messages) - 1)} more)" if len(messages) > 1 else ""
    return f"; {messages[0]}{more}" if messages else ""


def _placed(
    queries: Sequence[Query], documents: Sequence[Document], left_out: Skipped
) -> tuple[Query, ...]:
    """Those whose places lie in the documents, as for questions from a file."""
    sizes = {document.id: len(document.text) for document in documents}
    kept, lines = [], []
    for query in queries:
        places = [place for reference in query.references for place in reference.places]
        wrong = [p for p in places if not 0 <= p.start < p.end <= sizes.get(p.doc_id, -1)]
        if wrong:
            id, start, end = wrong[0]
            there = f"has {counted(sizes[id], 'character')}" if id in sizes else "doesn't exist"
            lines.append(
                f"question {query.id!r} refers to {from_to(start, end)} of {id!r}, which {there}"
            )
        else:
            kept.append(query)
    left_out.question_lines(lines)
    return tuple(kept)


def _refuse_repeated(queries: Sequence[Query]) -> None:
    """Scores, hits and answers are joined with their questions by the ids."""
    times = Counter(query.id for query in queries)
    if twice := [id for id, count in times.items() if count > 1]:
        raise InvalidParameter(f"duplicate question ids: {listed(list(map(repr, twice)), 3)}")


def named_judges(
    given: str | Judge | Sequence[str | Judge] | None,
) -> tuple[list[str], dict[str, Judge]]:
    """The names of the judges that may be asked, and those of them that others wrote."""
    if given is None:
        return [], {}
    if isinstance(given, str):
        given = judge_names(given)
    every = given if isinstance(given, Sequence) else [given]
    names: list[str] = []
    judges: dict[str, Judge] = {}
    for item in every:
        if isinstance(item, str) and item in registry.builtin:
            # The others of our own are asked wherever a metric needs them.
            names.append(item)
            continue
        made = get_judge(item)
        if made.name in registry.builtin:
            raise InvalidParameter(f"the judge name {made.name!r} is built in; choose another name")
        of_judge(made.name)
        names.append(made.name)
        judges[made.name] = made
    return names, judges


def _refuse_unasked(names: Sequence[str], measuring: Measures) -> None:
    """A judge that no metric asks was named by mistake."""
    asked = {at.metric.opinion_of for at in measuring.wanted}
    for name in names:
        if name not in asked:
            every = {metric.name: metric for metric in (*known_metrics().values(), of_judge(name))}
            known = [metric.name for metric in every.values() if metric.opinion_of == name]
            raise InvalidParameter(
                f"judge is {name!r}, but no chosen metric uses it; metrics that do: "
                f"{', '.join(known)}"
            )


def _client(names: Sequence[str], llm: str | LanguageModel | LlmClient | None) -> LlmClient | None:
    """The language model that is asked; None: none is."""
    if LLM not in names:
        if llm is not None:
            raise InvalidParameter("llm is given but unused; add judge='llm'")
        return None
    return llm if isinstance(llm, LlmClient) else LlmClient(get_language_model(llm or "local"))


def _name(file: File) -> str | None:
    return None if file is None else os.fspath(file)
