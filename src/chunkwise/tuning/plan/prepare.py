"""From what a user names (documents, questions, a plan, the folder of a sweep to continue) to a sweep made ready."""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from chunkwise.base.errors import ChunkwiseError, InvalidOption, InvalidParameter
from chunkwise.base.object_store import address_of, local_name
from chunkwise.base.progress import Stages
from chunkwise.base.wording import counted, format_number, percent, thousands
from chunkwise.core import WRITTEN_CONTEXTS, Document
from chunkwise.documents import Input, Inputs, LoadOptions, each_input, leaving_out
from chunkwise.documents.document_hash import documents_hash
from chunkwise.documents.walk import SWEEP_FILES
from chunkwise.evaluation.evaluate import TestQueries, testset_in_memory
from chunkwise.evaluation.pipeline import parse_pipeline, pipeline_label
from chunkwise.evaluation.sources import (
    Skipped,
    documents_of,
    no_documents,
    no_questions_file,
    questions_read,
    refuse_bare,
    with_places,
)
from chunkwise.models import (
    get_embedder,
    get_language_model,
    get_reranker,
    get_token_encoder,
)
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.llm.client import LlmClient
from chunkwise.retrieval.indexes import is_index, settings_at
from chunkwise.retrieval.settings import Settings
from chunkwise.testsets.formats.chunkwise import QuestionsFile, dropped_file, is_there
from chunkwise.testsets.generate.generate import GENERATED as GENERATED_BY
from chunkwise.testsets.generate.generate import GenerationRun
from chunkwise.testsets.generate.logged_questions import LOGGED
from chunkwise.testsets.query_log import LiveQuery, grouped, read_query_log, sampled
from chunkwise.testsets.reading import carries_documents
from chunkwise.testsets.review import REVIEW
from chunkwise.testsets.testset import Origin, TestSet, hash_of
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, canonical_name, get_tokenizer
from chunkwise.tuning.plan.grid import (
    ONE_MODEL,
    NotTried,
    default_chunkers,
    default_retrieval,
    default_sweep,
    not_tried_by_default,
)
from chunkwise.tuning.plan.plan import Plan, default_of_index, plan_pipeline, plan_sweep
from chunkwise.tuning.plan.sweep_budget import WRITING, CorpusSize, SweepEstimate, estimate_sweep
from chunkwise.tuning.plan.sweep_file import path_from, read_sweep
from chunkwise.tuning.sweep import (
    Configuration,
    Sweep,
    check_constraints,
    metrics_to_score,
    objective_of,
)
from chunkwise.tuning.validation import split

_SUFFIX = ".toml"


@dataclass(frozen=True, slots=True)
class SweepSource:
    """A sweep, and the parts of it that exist in memory only."""

    sweep: Sweep
    plan: Path | None = None
    """The file it was read from, which is no document."""
    documents: tuple[Document, ...] = ()
    queries: TestSet | None = None
    embedder: Embedder | None = None
    client: LlmClient | None = None
    """Asks the sweep's language model."""
    drafts: Path | None = None
    """Where questions are kept that are generated because none are named."""

    @property
    def has_no_questions(self) -> bool:
        """Whether questions are to be generated."""
        return self.queries is None and self.sweep.test_queries is None

    @property
    def is_resumable(self) -> bool:
        """Whether another process can continue it from its plan alone."""
        return not self.documents and self.queries is None and self.embedder is None


def sweep_from_source(
    source: Inputs = (),
    test_queries: TestQueries | None = None,
    *,
    resume: str | os.PathLike[str] | None = None,
    **given: Any,
) -> SweepSource:
    """The sweep of a plan, of the folder to `resume`, or the usual one for these documents.

    The `TuneOptions` that are given beside a plan win.
    """
    paths, documents = _paths_and_documents(source)
    plan = _plan_path(paths, len(paths) + len(documents), resume)
    sweep = (
        read_sweep(plan, as_record=resume is not None)
        if plan
        else default_sweep(paths, None, has_headings=True)
    )
    if test_queries is None and plan is None and not documents and len(paths) == 1:
        # A test set that holds its documents brings its questions, too.
        test_queries = paths[0] if carries_documents(paths[0]) else None
    file, queries = _file_or_queries(test_queries)
    if len(paths) == 1 and (settings := _settings_of(paths[0])) and settings.embedder:
        given = {"embedder": settings.embedder, **given}
    embedder = given.get("embedder")
    own = None if embedder is None or isinstance(embedder, str) else embedder
    if own is not None:
        given["embedder"] = own.identity
    client = given.get("llm")
    if client is not None and not isinstance(client, str):
        client = client if isinstance(client, LlmClient) else LlmClient(client)
        given["llm"] = client.identity
    changed = replace(sweep, **given)
    usual = (default_retrieval(sweep.embedder), default_retrieval(""))
    if embedder is not None and sweep.retrieval in usual:
        changed = replace(changed, retrieval=default_retrieval(changed.embedder))
    queries_file = sweep.test_queries if file is None else file
    changed = replace(changed, test_queries=None if queries is not None else queries_file)
    client = client if isinstance(client, LlmClient) else None
    return SweepSource(changed, plan, tuple(documents), queries, own, client)


_OF_PIPELINES = ("objective", "k", "seed", "time", "tokenizer", "at_least")


def sweep_of_pipeline(
    pipeline: str,
    source: Inputs,
    test_queries: TestQueries | None,
    timeout: float = 60.0,
    **given: Any,
) -> SweepSource:
    """The sweep of a pipeline's own parameters; wrong declarations are told at once."""
    for name, value in given.items():
        if name not in _OF_PIPELINES:
            raise InvalidOption(
                name,
                value,
                "conflicts with a pipeline, which has its own models and chunks; leave it out",
            )
    if test_queries is None:
        raise InvalidParameter("a pipeline needs questions: queries=… (--queries FILE)")
    paths, documents = _paths_and_documents(source)
    file, queries = _file_or_queries(test_queries)
    name, fixed = parse_pipeline(pipeline)
    plain = pipeline_label(shortest_reference(name), fixed)
    sweep = Sweep(
        tuple(paths), file, (), (), pipeline=plain, timeout=timeout,
        **{"embedder": "", "prior": False, **given},
    )  # fmt: skip
    plan_pipeline(sweep)
    return SweepSource(sweep, None, tuple(documents), queries)


def shortest_reference(name: str) -> str:
    """The same for one file, however its path is written."""
    path, mark, attribute = name.rpartition(":")
    if not path.endswith(".py"):
        return name
    short = shortest_path(path)
    return f"{short if os.path.isabs(short) else os.path.join('.', short)}{mark}{attribute}"


def _paths_and_documents(source: Inputs) -> tuple[list[str], list[Document]]:
    paths: list[str] = []
    documents: list[Document] = []
    for one in each_input(source):
        if isinstance(one, Document):
            documents.append(one)
        else:
            paths.append(os.fspath(one))
    return paths, documents


def _plan_path(paths: list[str], inputs: int, resume: str | os.PathLike[str] | None) -> Path | None:
    """None: these are documents."""
    if resume is not None:
        if inputs:
            raise InvalidParameter(
                "documents conflict with resume, which uses those of the sweep; leave them out"
            )
        path = Path(resume) / SWEEP_FILES[0]
        if not path.is_file():
            raise InvalidParameter(
                f"{os.fspath(resume)} has no sweep to resume; use another folder: -o FOLDER"
            )
        return path
    if not inputs:
        raise InvalidParameter(
            "no documents given; expected files, folders, or a plan (sweep.toml)"
        )
    plans = [path for path in paths if path.lower().endswith(_SUFFIX)]
    if plans and inputs > 1:
        raise InvalidParameter(
            f"{plans[0]} is a plan, which names its documents; give only the plan, or only "
            f"documents"
        )
    return Path(plans[0]) if plans else None


def _file_or_queries(test_queries: TestQueries | None) -> tuple[str | None, TestSet | None]:
    """The path of a file, or the queries that are in memory already."""
    if test_queries is None:
        return None, None
    if isinstance(test_queries, str | os.PathLike):
        return os.fspath(test_queries), None
    if isinstance(test_queries, TestSet):
        return None, test_queries
    return None, testset_in_memory(test_queries)


@dataclass(frozen=True, slots=True)
class PreparedSweep:
    """Everything is known but the figures."""

    sweep: Sweep
    plan: Plan
    inputs: SweepInputs
    notes: tuple[str, ...] = ()
    """What the user is told of it beforehand."""
    client: LlmClient | None = None
    """What asks the sweep's language model."""
    embedder: Embedder | None = None
    """None: that of the sweep, by its name."""
    ends: float = field(default=math.inf, compare=False)
    """In `time.monotonic()`: nothing is begun afterwards; reading and generated questions count."""

    def estimate(self, known: Collection[str] = (), jobs: int = 1) -> SweepEstimate:
        """What is left to do when these configurations are done."""
        sweep, inputs = self.sweep, self.inputs
        plan = self.plan
        questions = inputs.questions.queries
        size = CorpusSize(
            len(inputs.documents), inputs.characters, inputs.tokens(sweep.tokenizer), len(questions),
            sum(bool(query.answer) for query in questions), inputs.expected,
        )  # fmt: skip
        return estimate_sweep(plan, sweep, size, known, jobs, self.client)


def check_sweep(sweep: Sweep, embedder: Embedder | None = None) -> Sweep:
    """The sweep with its objective in full; wrong names are told at once."""
    objective = objective_of(sweep.objective, sweep.k)
    metrics_to_score(objective, sweep.k)
    if "-" in (*sweep.documents, sweep.test_queries):
        raise InvalidParameter(
            "'-' is standard input, which a resumed sweep can't read again; give a file"
        )
    if embedder is None and sweep.embedder:
        get_embedder(sweep.embedder)
    get_tokenizer(sweep.tokenizer)
    for name in sweep.embedders:
        get_embedder(name)
    for name in sweep.rerankers:
        get_reranker(name)
    if sweep.maxsim:
        get_token_encoder(sweep.maxsim)
    return replace(
        sweep, objective=objective, tokenizer=canonical_name(sweep.tokenizer),
        at_least=check_constraints(sweep.at_least, sweep.k),
        documents=tuple(map(shortest_path, sweep.documents)),
        test_queries=sweep.test_queries and shortest_path(sweep.test_queries),
        query_log=sweep.query_log and shortest_path(sweep.query_log),
    )  # fmt: skip


def shortest_path(path: str) -> str:
    """The same however it is written: below the current folder from there, elsewhere from the root."""
    cwd = Path.cwd()
    return path_from(cwd, path if address_of(path) else os.path.abspath(local_name(path)))


def prepare_sweep(
    source: SweepSource, left_out: Skipped, options: LoadOptions = LoadOptions()
) -> PreparedSweep:
    """Where the sweep is the usual one, it is fitted to the documents, and what it leaves out is said.

    Questions that are to be generated are still missing: see `with_generated_questions`.
    """
    began = time.monotonic()
    embedder, client = source.embedder, source.client
    sweep = check_sweep(source.sweep, embedder)
    if sweep.llm and client is None:
        client = LlmClient(get_language_model(sweep.llm))
    inputs = read_sweep_inputs(replace(source, sweep=sweep), left_out, options)
    # However long the reading took, some of the limit is left to try something.
    ends = max(began + sweep.time, time.monotonic() + _LEAST_LEFT * sweep.time)
    if sweep.pipeline:
        return PreparedSweep(sweep, plan_pipeline(sweep), inputs, ends=ends)
    sweep, unusual = _fitted(sweep, inputs)
    result = plan_sweep(sweep, _own_default(sweep))
    plan = replace(result, left_out=(*result.left_out, *unusual))
    prepared = _within_time(PreparedSweep(sweep, plan, inputs, (), client, embedder, ends))
    file = source.drafts
    if source.has_no_questions and file is not None and _has_decisions(file):
        # Once a person has worked on the file no others are added, so that the next sweep asks nothing new.
        prepared = _asking(prepared, questions_read(str(file), prepared.inputs.documents, left_out))
    return _without_slow_model(prepared)


def _own_default(sweep: Sweep) -> Configuration | None:
    """That of the index whose documents these are; None: they are no index's, or no sweep can try how it is cut."""
    settings = _settings_of(sweep.documents[0]) if len(sweep.documents) == 1 else None
    if settings is None or settings.context in WRITTEN_CONTEXTS:
        return None
    return default_of_index(settings, sweep)


def _settings_of(place: str) -> Settings | None:
    return settings_at(place) if is_index(place) else None


_LEAST_LEFT = 1 / 3
"""Share of the time limit that is left where reading the documents took the rest."""


def _asking(prepared: PreparedSweep, questions: TestSet) -> PreparedSweep:
    splits = split(questions.queries, prepared.sweep.test_share, prepared.sweep.seed)
    inputs = replace(prepared.inputs, questions=questions, splits=splits, expected=0)
    return replace(prepared, inputs=inputs)


def _without_slow_model(prepared: PreparedSweep) -> PreparedSweep:
    """Without contexts and answers of a language model that would take longer than the rest leaves."""
    sweep, plan, estimate = prepared.sweep, prepared.plan, prepared.estimate()
    seconds = estimate.seconds.get("asking", 0.0) if prepared.client else 0.0
    if (
        estimate.total <= sweep.time
        or not seconds
        or any(configuration.llm for configuration in plan.configurations)
    ):
        return prepared
    why = f"about {format_number(seconds, 'seconds')}, more than the time limit leaves"
    unasked = NotTried(f"contexts and answers by {sweep.llm}", why)
    return replace(
        prepared,
        sweep=replace(sweep, llm=""),
        plan=replace(plan, left_out=(*plan.left_out, unasked)),
        notes=(*prepared.notes, f"not tried: {unasked.what} ({why})"),
    )


def _within_time(prepared: PreparedSweep) -> PreparedSweep:
    """With as much text as there is time for: what questions are about, then other documents, drawn at random.

    The last of them is cut. A language model has its share of the time for questions, and variations have theirs;
    what else a model is asked comes last, and does not count. Nor does the clock: the same limit gives the same sample.
    """
    limit, inputs = prepared.sweep.time, prepared.inputs
    estimate = prepared.estimate()
    if prepared.client and inputs.expected:
        limit *= 1 - WRITING
    if estimate.variations:
        limit *= 1 - _VARYING
    needed = _sweeping(prepared)
    if needed <= limit:
        return prepared
    # Questions take their time however little text there is.
    fixed = _sweeping(replace(prepared, inputs=replace(inputs, documents=())))
    return _sampled(prepared, max(limit - fixed, limit / 2) / (needed - fixed))


_VARYING = 1 / 3
"""Share of the time limit that is left for other models and rerankers, where some are named."""


def _sweeping(prepared: PreparedSweep) -> float:
    """Seconds, about, without what a language model and variations of the best take."""
    estimate = replace(prepared, client=None).estimate()
    return estimate.total - estimate.seconds.get("variations", 0.0)


def _sampled(prepared: PreparedSweep, share: float) -> PreparedSweep:
    sweep, inputs = prepared.sweep, prepared.inputs
    asked = {
        place.doc_id
        for query in inputs.questions.queries
        for reference in query.references
        for place in reference.places
    }
    order = list(range(len(inputs.documents)))
    random.Random(sweep.seed).shuffle(order)
    order.sort(key=lambda at: inputs.documents[at].id not in asked)
    room = share * inputs.characters
    kept: dict[int, Document] = {}
    for at in order:
        document = inputs.documents[at]
        if room > 0 or document.id in asked:
            is_whole = document.id in asked or len(document.text) <= room
            kept[at] = document if is_whole else _beginning(document, int(room))
        room -= len(document.text)
    documents = [kept[at] for at in sorted(kept)]
    characters = sum(len(item.text) for item in documents)
    note = (
        f"The sweep used {percent(characters / inputs.characters)} of the text "
        f"({thousands(len(kept))} of {counted(len(order), 'document')}) to meet the time limit."
    )
    corpus = documents_hash(inputs.documents)
    inputs = replace(inputs, documents=documents, note=note, corpus=corpus)
    return replace(prepared, inputs=inputs, notes=(*prepared.notes, note))


def _beginning(document: Document, most: int) -> Document:
    """The lines of the first characters, under the same id: places in it are places in the document."""
    end = document.text.rfind("\n", 0, most) + 1 or most
    blocks = document.blocks
    return replace(
        document,
        text=document.text[:end],
        blocks=None if blocks is None else tuple(block for block in blocks if block.end <= end),
        pages=tuple(page for page in document.pages if page < end),
        boxes=None,
        links=(),
    )


def _fitted(sweep: Sweep, inputs: SweepInputs) -> tuple[Sweep, tuple[NotTried, ...]]:
    if sweep.chunkers not in (default_chunkers(True), default_chunkers(False)):
        return sweep, ()
    has_headings = inputs.has_headings
    untried = not_tried_by_default(has_headings)
    if sweep.embedder and not sweep.rerankers and not sweep.embedders and not sweep.maxsim:
        untried = (*untried, ONE_MODEL)
    return replace(sweep, chunkers=default_chunkers(has_headings)), untried


_COUNTED = 1_000_000
"""Characters whose tokens are counted; those of the rest are reckoned from them."""


@dataclass(frozen=True, slots=True)
class SweepInputs:
    """Read once."""

    documents: Sequence[Document]
    questions: TestSet
    splits: tuple[str, ...]
    """validation or test, per question."""
    expected: int = 0
    """Questions still to be generated."""
    note: str = ""
    """How much of the text the sweep read, and how much of a log was of use; empty: all."""
    corpus: str = ""
    """The hash of all documents, where some were left out."""

    @property
    def characters(self) -> int:
        return sum(len(document.text) for document in self.documents)

    @property
    def has_headings(self) -> bool:
        """Whether any document has a section to go by."""
        return any(Analyzed(document).has_headings for document in self.documents)

    def tokens(self, tokenizer: str = DEFAULT_TOKENIZER) -> int:
        """Of all documents, about; of a small corpus exactly."""
        count = get_tokenizer(tokenizer).count
        counted = tokens = 0
        for document in self.documents:
            text = document.text[: _COUNTED - counted]
            counted, tokens = counted + len(text), tokens + count(text)
            if counted >= _COUNTED:
                break
        return round(tokens * self.characters / counted) if counted else 0


GENERATED = 125
"""Questions that are generated where none are named; a fifth, the most of one kind, are enough for a review."""


def with_generated_questions(
    prepared: PreparedSweep, file: Path | None, left_out: Skipped, stages: Stages
) -> PreparedSweep:
    """With questions out of a log and the documents, or by a language model, where some are expected.

    The `file` keeps them; those in it stay.
    """
    sweep, client, documents = prepared.sweep, prepared.client, prepared.inputs.documents
    if not prepared.inputs.expected:
        return prepared
    log: list[LiveQuery] = []
    if sweep.query_log:
        with left_out.rows_of(sweep.query_log) as bad:
            asked = grouped(read_query_log(sweep.query_log, bad)).queries
        log = sampled(asked, GENERATED // 2, seed=sweep.seed)
    with stages("questions", GENERATED) as advance:
        run = GenerationRun(documents, GENERATED, into=file, advance=advance)
        if client:
            client.stop_after(WRITING * sweep.time)
            run.by_model(client)
        made = run.by_rules(log).queries
    if file is not None and file.exists():
        questions = questions_read(str(file), documents, left_out)
    else:
        origins: dict[str, Origin] = {query.id: "generated" for query in made}
        questions = TestSet(made, "generated", hash_of(made), origins=origins)
    complete = _asking(prepared, questions)
    if not sweep.query_log:
        return complete
    logged = sum(LOGGED in query.types for query in questions.queries)
    placed = (
        f"{counted(logged, 'question')} of the log have a passage on which all chunkings agree."
    )
    note = " ".join(filter(None, (complete.inputs.note, placed)))
    return replace(complete, inputs=replace(complete.inputs, note=note))


def _has_decisions(file: Path) -> bool:
    """Whether somebody has accepted, changed, dropped or written a question."""
    if not is_there(file):
        return False
    rows = QuestionsFile.read(file).rows
    is_changed = any(REVIEW in row or GENERATED_BY not in row for row in rows)
    return is_changed or is_there(dropped_file(file))


def read_sweep_inputs(
    source: SweepSource, left_out: Skipped, options: LoadOptions = LoadOptions()
) -> SweepInputs:
    """What the sweep names, and what is there already."""
    sweep, file = source.sweep, source.sweep.test_queries
    given: list[Input] = [*source.documents, *sweep.documents]
    if file and not os.path.exists(file):
        raise no_questions_file(file)  # before anything is read
    if not given:
        raise ChunkwiseError("no documents given; expected files or folders")
    questions_file = no_documents(given, file) if file else []
    documents = documents_of(given, leaving_out(options, questions_file), left_out)
    questions = with_places(source.queries or TestSet(()), documents, left_out)
    if file:
        questions = questions_read(file, documents, left_out)
        if not questions.queries:
            raise ChunkwiseError(
                f"no usable questions in {file}; correct it, or leave it out to compare only "
                f"boundaries and costs"
            )
    refuse_bare(questions.queries, questions.name)
    splits = split(questions.queries, sweep.test_share, sweep.seed)
    return SweepInputs(documents, questions, splits, GENERATED if source.has_no_questions else 0)
