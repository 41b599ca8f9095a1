"""What a studio shows: documents, their index, runs, questions, a history; read and made while pages are served."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkwise.base.errors import ChunkwiseError, UnreadableDocument
from chunkwise.base.own_files import is_index_folder
from chunkwise.base.recently_used import RecentlyUsed
from chunkwise.base.wording import counted
from chunkwise.studio.project_sources import ProjectSources
from chunkwise.studio.read_request import NotFound, NotReady

# What is not needed before the first page is imported by what needs it: a studio is there in a moment.
if TYPE_CHECKING:
    from chunkwise.core import Document, Query
    from chunkwise.evaluation.results import Results
    from chunkwise.labels.store import LabelStore
    from chunkwise.models.embed.embedder import Embedder
    from chunkwise.retrieval import Index
    from chunkwise.studio.background_jobs import DraftJob, Job
    from chunkwise.studio.corpus import StudioCorpus
    from chunkwise.studio.question_review import ChangedQuestion
    from chunkwise.tracking.history import History
    from chunkwise.tuning.sweep_result import SweepResult

_MOST_PROBLEMS = 200
"""Lines about what cannot be read that are kept."""


@dataclass(frozen=True, slots=True)
class StudioRun:
    """A file of results, or a run that the demonstration made."""

    number: int
    name: str
    """The file, or what was done."""
    results: Results | None = None
    sweep: SweepResult | None = None


@dataclass(slots=True)
class Step:
    """One thing that is done in the background."""

    name: str
    done: int = 0
    total: int = 0
    """0: not known."""
    finished: bool = False
    problem: str = ""


class Project:
    """Pages ask it for what is there already; `start` begins to read and to make the rest."""

    def __init__(self, sources: ProjectSources) -> None:
        self.sources = sources
        self.title = sources.title
        self.index: Index | None = _opened(sources.index) if sources.index else None
        self.index_before: Index | None = None
        """What was searched before a recommendation was applied; None: none was."""
        self._corpus: StudioCorpus | None = None
        self._corpus_lock = threading.Lock()
        self.problems: list[str] = []
        self.problem_count = 0
        self.question_problems: list[str] = []
        self.steps: list[Step] = []
        self.runs: list[StudioRun] = []
        self._queries: dict[str, Query] = {}
        self._questions_lock = threading.RLock()
        self._questions_stamp: tuple[int, ...] = ()
        """Of the file of questions as it was read; empty: there was none."""
        self._documents_are_read = False
        self.search_lock = threading.Lock()
        """One search or reading at a time: an index on a server has one connection."""
        self.evaluating = threading.Semaphore(1)
        self.asking = threading.Semaphore(1)
        """One answer at a time: the models behind it use every core, or cost money."""
        self.askers = threading.Semaphore(2)
        """Who is being answered and who waits for it."""
        self.llm = sources.llm
        self.made: RecentlyUsed[Any] = RecentlyUsed(64)
        """Pages and comparisons that were looked at, by what they are."""
        self.into = sources.into
        """Where the recommendation of a sweep is applied."""
        self.jobs_lock = threading.Lock()
        self.sweeps: dict[str, Job] = {}
        """Those that were started here, by the names of their folders."""
        self.applied: dict[str, Job] = {}
        self._taken: set[int] = set()
        """Of these the ones whose index was opened."""
        self.drafting: DraftJob | None = None
        """Questions that are being drafted, or were last."""
        self.changed_questions: dict[str, ChangedQuestion] = {}
        """By question its last change of this sitting, which can be undone."""
        self._files: dict[tuple[str, int], int] = {}
        self.pictures: RecentlyUsed[Any] = RecentlyUsed(12)
        """Of pages of PDFs."""
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def corpus(self) -> StudioCorpus:
        """The documents; those of an index are listed by its own strategy."""
        with self._corpus_lock:
            if self._corpus is None:
                self._corpus = _corpus(
                    self.index.settings.strategy if self.sources.index and self.index else ""
                )
            return self._corpus

    @property
    def queries(self) -> dict[str, Query]:
        """The questions; read again where another studio or a command has written the file."""
        with self._questions_lock:
            if self._documents_are_read and self._stamp() != self._questions_stamp:
                try:
                    self.read_questions()
                except ChunkwiseError as error:  # somebody may be in the middle of an edit
                    self._tell(str(error))
            return self._queries

    @queries.setter
    def queries(self, result: dict[str, Query]) -> None:
        with self._questions_lock:
            self._queries, self._questions_stamp = result, self._stamp()

    def _stamp(self) -> tuple[int, ...]:
        try:
            result = self.questions_file().stat()
        except OSError:
            return ()
        return result.st_mtime_ns, result.st_size, result.st_ino

    def start(self, after: float = 0.0) -> None:
        """Everything that takes time, one thing after the other, beside the server; it begins after some seconds."""

        def work() -> None:
            self._stopping.wait(after)
            self._work()

        self._thread = threading.Thread(target=work, name="chunkwise-studio", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """What is being made here is left where it is: nothing of it is on disk. A sweep keeps what it has."""
        self._stopping.set()
        if self.drafting is not None:
            self.drafting.stopping.set()
        for job in (*self.sweeps.values(), *self.applied.values()):
            job.stop()

    def wait(self) -> None:
        """Until all is read and made."""
        if self._thread is not None:
            self._thread.join()

    @property
    def working(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _work(self) -> None:
        has_documents = self.index is not None or bool(self.sources.documents)
        has_questions = bool(self.sources.questions) or self.questions_file().is_file()
        steps: list[tuple[str, bool, Callable[[Step], None]]] = [
            ("reading documents", has_documents, self._read),
            ("reading runs", bool(self.sources.runs or _sweep_records()), self._read_runs),
            ("reading questions", has_questions, self._read_questions),
            ("indexing", self.index is None and has_documents, self._make_index),
            ("opening the applied index", has_documents and not self.sources.index, self._open_applied),
            ("evaluating two retrievers", self.sources.demo, self._evaluate),
            ("counting sections and boundary issues", has_documents and self.sources.counts_issues, self._look),
        ]  # fmt: skip
        for name, wanted, work in steps:
            if not wanted:
                continue
            if self._stopping.is_set():
                return
            step = Step(name)
            self.steps.append(step)
            try:
                work(step)
            except ChunkwiseError as error:
                step.problem = str(error)
            except Exception as error:
                # A fault of ours in one step is told on the page, and the others go on.
                step.problem = f"internal error: {type(error).__name__}: {error}"
            step.finished = True

    def _read(self, step: Step) -> None:
        if self.index is not None:
            numbers = self.index.source.document_numbers()
            step.total = len(numbers)
            for _ in self.corpus.use(_Indexed(self.index, numbers, self.search_lock), len(numbers)):
                step.done += 1
                if self._stopping.is_set():
                    return
            self._documents_are_read = True
            return
        from chunkwise.documents import InputReader, LoadOptions

        loading = self.sources.loading() if self.sources.loading is not None else LoadOptions()
        for result in InputReader(list(self.sources.documents), loading).documents():
            if self._stopping.is_set():
                return
            if isinstance(result, UnreadableDocument):
                self._tell(str(result))
            else:
                self.corpus.add(result)
                step.done += 1
        self._documents_are_read = True
        if not len(self.corpus):
            raise ChunkwiseError(
                f"no document could be read from {', '.join(self.sources.documents)}"
                + (f"; the first problem: {self.problems[0]}" if self.problems else "")
            )

    def _tell(self, problem: str) -> None:
        self.problem_count += 1
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(problem)

    def _read_runs(self, step: Step) -> None:
        step.total = len(self.sources.runs)
        for name in self.sources.runs:
            try:
                self._add_run(name)
            except ChunkwiseError as error:
                self._tell(str(error))
            step.done += 1
        for record in _sweep_records():
            from chunkwise.tuning.run.sweep_folder import RESULTS

            self.run_of_file(record.parent / RESULTS)

    def _add_run(self, name: str) -> None:
        from chunkwise.evaluation.results import read_results
        from chunkwise.tracking.import_runs import is_sweep_file, read_sweep

        path, number = Path(name), len(self.runs)
        if is_sweep_file(path):
            self.runs.append(StudioRun(number, name, sweep=read_sweep(path)))
        else:
            self.runs.append(StudioRun(number, name, results=read_results(path)))

    def _read_questions(self, step: Step) -> None:
        from chunkwise.testsets.reading import read_testset

        with self._questions_lock:
            own = self.questions_file()
            self._questions_stamp = self._stamp()  # what is written from now on is read again
            name = str(own) if own.is_file() else self.sources.questions
            if not name:
                return
            documents = self.corpus.documents() or None
            self.question_problems = []
            result = read_testset(
                name,
                documents,
                lambda problem: self.question_problems.append(f"{problem.where}: {problem.text}"),
            )
            self._queries = {query.id: query for query in result.queries}
            step.done = step.total = len(self._queries)

    def _make_index(self, step: Step) -> None:
        """In memory: what is to stay is made by `chunkwise index`."""
        from chunkwise.documents import LoadOptions
        from chunkwise.retrieval import index

        documents = self.corpus.documents()
        step.total = sum(len(item.text) for item in documents)

        def advance(amount: int, note: str) -> None:
            step.done += amount
            if self._stopping.is_set():
                raise ChunkwiseError("stopped")

        self.index = index(
            documents,
            embedder=self.sources.embedder or None,
            vectors=None if self.sources.embedder else "none",
            advance=advance,
            options=LoadOptions(on_unreadable=lambda problem: self._tell(str(problem))),
        )

    def _open_applied(self, step: Step) -> None:
        """The one that a recommendation was applied to earlier, if it still has these documents."""
        if is_index_folder(self.into):
            result = _opened(self.into)
            if result.settings.search.changed() and set(result.source.ids()) == set(
                self.corpus.ids()
            ):
                self.use_applied(result)

    def use_applied(self, index: Index) -> None:
        """From now on everything is searched as the recommendation says."""
        with self.search_lock:
            self.index_before = self.index_before or self.index
            self.index = index

    def take_applied(self) -> None:
        """Open the index of a recommendation whose making has ended."""
        with self.jobs_lock:
            ended = [job for job in self.applied.values() if not job.is_running]
            new = [job for job in ended if id(job) not in self._taken]
            self._taken.update(map(id, new))
        if any(job.process.returncode in (0, 3) for job in new):
            self.use_applied(_opened(self.into))

    def _evaluate(self, step: Step) -> None:
        """The demonstration has runs to look at, made of its own questions."""
        from chunkwise.evaluation.evaluate import evaluate
        from chunkwise.evaluation.scoring import Listeners

        step.total = len(_DEMO_RUNS)
        for name, strategy, retriever in _DEMO_RUNS:
            if self._stopping.is_set():
                return
            results = evaluate(
                self.corpus.documents(), self.sources.questions, strategy=strategy, embedder="none",
                retriever=retriever, budget=1000,
                metrics=_DEMO_METRICS, listeners=Listeners(on_bad=lambda _: None),
            )  # fmt: skip
            self.runs.append(StudioRun(len(self.runs), name, results=results))
            step.done += 1

    def _look(self, step: Step) -> None:
        step.total = len(self.corpus)
        for number in range(step.total):
            if self._stopping.is_set():
                return
            with suppress(
                ChunkwiseError
            ):  # a strategy of others may refuse a document; its row stays without counts
                self.corpus.look_at(number)
            step.done += 1

    def ready_index(self) -> Index:
        """The index, or a sentence about why there is none yet."""
        with suppress(ChunkwiseError):  # what went wrong is told beside the sweep
            self.take_applied()
        if self.index is not None:
            return self.index
        for step in self.steps:
            if step.name == "indexing" and step.problem:
                raise NotFound(f"the documents could not be indexed: {step.problem}")
        if not self.sources.documents:
            raise NotFound(
                "no documents to search; start the studio with some: chunkwise studio handbook/"
            )
        raise NotReady("the documents are being indexed; try again in a moment")

    @contextmanager
    def index_of_its_own(self) -> Iterator[Index]:
        """For work that takes long: an index on disk is opened once more, so that searches need not wait."""
        index = self.ready_index()
        if index.place is not None:
            yield _opened(str(index.place))
            return
        with self.search_lock:
            yield index

    @property
    def shown_place(self) -> str:
        """Of the index, without its password."""
        place = self.sources.index or self.into
        if "://" in place:
            from chunkwise.base.secrets import without_password

            return without_password(place)
        return place

    def embedder(self, index: Index | None = None) -> Embedder:
        """The model of an index, loaded when it is first wanted."""
        from chunkwise.models import get_embedder

        model = (index or self.ready_index()).embedder
        result: Embedder = self.made.get(("embedder", model), lambda: get_embedder(model))
        return result

    def run_of_file(self, file: Path) -> int | None:
        """The number of a sweep's results among the runs, read anew when they are others; None: they cannot be read."""
        try:
            key = str(file), file.stat().st_mtime_ns
        except OSError:
            return None
        with self.jobs_lock:
            if key not in self._files:
                named = [run.number for run in self.runs if Path(run.name) == file]
                if not named or any(name == key[0] for name, _ in self._files):
                    try:
                        self._add_run(str(file))
                    except ChunkwiseError:
                        return None  # it is being written
                    named = [self.runs[-1].number]
                self._files[key] = named[-1]
            return self._files[key]

    def run(self, number: int) -> StudioRun:
        if not 0 <= number < len(self.runs):
            there = f"there are {counted(len(self.runs), 'run')}" if self.runs else "there is none"
            raise NotFound(f"there is no run {number}; {there}, counted from 0")
        return self.runs[number]

    def history(self) -> History | None:
        """Of the project around the working folder, or the one that was named; None: nothing is kept there."""
        if self.sources.demo and self.sources.history is None:
            return None
        from chunkwise.tracking.database import history_place
        from chunkwise.tracking.history import History

        result = History(history_place(self.sources.history))
        return result if len(result) else None

    def labels(self) -> LabelStore:
        """Of the project around the working folder, or those that were named; the demonstration has its own."""
        from chunkwise.labels.store import LabelStore, labels_place

        name = self.sources.labels
        if name is None and self.sources.demo:
            name = ".chunkwise/demo-labels.db"
        return LabelStore(labels_place(name))

    def labeled_count(self) -> int:
        """Questions that somebody has labeled."""
        store = self.labels()
        return len({event.query_id for event in store.events()}) if store.exists() else 0

    def questions_file(self) -> Path:
        """Where questions are made and changed; the demonstration's go into a file of their own."""
        if self.sources.demo or not self.sources.questions:
            return Path(".chunkwise") / (
                "demo-questions.json" if self.sources.demo else "questions.json"
            )
        return Path(self.sources.questions)

    def question_states(self) -> dict[str, str]:
        """What people decided of each question: accepted, edited or unreviewed; of a file of another form nothing."""
        from chunkwise.testsets.formats.chunkwise import QuestionsFile, id_of_row
        from chunkwise.testsets.review import state_of

        path = self.questions_file()
        try:
            rows = QuestionsFile.read(path).rows if path.is_file() else []
        except ChunkwiseError:
            return {}
        return {id_of_row(row) or str(at): state_of(row) for at, row in enumerate(rows, 1)}

    def unreviewed_drafts(self) -> list[str]:
        """Ids of generated questions that nobody has decided on; those of people need no review."""
        from chunkwise.testsets.formats.chunkwise import QuestionsFile, id_of_row
        from chunkwise.testsets.generate.generate import GENERATED
        from chunkwise.testsets.review import state_of

        path = self.questions_file()
        try:
            rows = QuestionsFile.read(path).rows if path.is_file() else []
        except ChunkwiseError:
            return []
        waiting = [row for row in rows if GENERATED in row and state_of(row) == "unreviewed"]
        return [id for row in waiting if (id := id_of_row(row)) in self.queries]

    def read_questions(self) -> None:
        """Again, after one was changed."""
        self._read_questions(Step("reading questions"))

    def document_texts(self, ids: Sequence[str]) -> dict[str, Document]:
        """Those of these documents that are here."""
        numbers = {id: self.corpus.number_of(id) for id in ids}
        return {id: self.corpus.document(at) for id, at in numbers.items() if at is not None}


_DEMO_METRICS = ("recall", "precision", "completeness", "boundary_issues", "citation_accuracy")
"""None of them needs a model: the demonstration works without any."""
_DEMO_RUNS = (
    ("common default", "recursive(max_tokens=1000, overlap=200, tokenizer='characters')",
     "bm25"),
    ("recommended", "structure(max_tokens=400, overlap=0)", "bm25"),
)  # fmt: skip


def _sweep_records() -> list[Path]:
    """Of the sweeps in the working folder."""
    from chunkwise.documents.walk import SWEEP_RECORD

    return sorted(Path().glob(f"*/{SWEEP_RECORD}"))


def _opened(place: str) -> Index:
    from chunkwise.retrieval import open_index

    return open_index(place)


def _corpus(strategy: str) -> StudioCorpus:
    """An index may be cut by a model, by what is not here or by what was given: then the list counts as usual."""
    from chunkwise.chunkers.chunk import DEFAULT_STRATEGY
    from chunkwise.studio.corpus import StudioCorpus, needs_a_model

    try:
        made = StudioCorpus(strategy or DEFAULT_STRATEGY)
    except ChunkwiseError:
        return StudioCorpus(DEFAULT_STRATEGY)
    return StudioCorpus(DEFAULT_STRATEGY) if needs_a_model(made.strategy) else made


class _Indexed:
    """Documents of an index by their place in the list; never while it is searched, as `lock` says."""

    def __init__(self, index: Index, numbers: Sequence[int], lock: threading.Lock) -> None:
        self._index = index
        self._numbers = numbers
        self._lock = lock

    def document(self, number: int) -> Document:
        with self._lock:
            return self._index.source.document(self._numbers[number])
