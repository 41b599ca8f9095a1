"""What a sweep has found out so far, in its folder beside plan and report: a file a configuration, whole or not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from chunkwise.base import spec
from chunkwise.base.allow_hosts_and_code_from_files import refuse_links
from chunkwise.base.atomic_files import check_writable, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.progress import Stages, unwatched
from chunkwise.base.user_code import file_fingerprint
from chunkwise.base.version import __version__
from chunkwise.chunkers import get_strategy, strategies
from chunkwise.core import Document, Query
from chunkwise.documents.document_hash import documents_hash
from chunkwise.documents.walk import SWEEP_FILES, SWEEP_RECORD
from chunkwise.evaluation.results import Json
from chunkwise.records.json import json_text
from chunkwise.records.write import text_file
from chunkwise.testsets.generate.plan import EXTRACTED
from chunkwise.testsets.testset import hash_of
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER
from chunkwise.tuning.plan.plan import Plan
from chunkwise.tuning.plan.prepare import PreparedSweep
from chunkwise.tuning.plan.sweep_file import sweep_text
from chunkwise.tuning.sweep import Configuration, Sweep
from chunkwise.tuning.sweep_result import TIME_UP, Outcome

LAYOUT = 3
"""Of the folder; a record of another one is not gone on with."""
_ABOUT = "about.json"
_OUTCOMES = "outcomes"

_OF_QUESTIONS = ("questions", "generated")

SweepFingerprint = Mapping[str, Json]


def sweep_fingerprint(
    documents: Sequence[Document], queries: Sequence[Query], sweep: Sweep
) -> SweepFingerprint:
    """Everything that decides the figures of a configuration, apart from the configuration itself."""
    return {
        "layout": LAYOUT,
        "chunkwise": __version__,
        "documents": documents_hash(documents),
        "questions": [hash_of([query]) for query in queries],
        "generated": all(EXTRACTED in query.types for query in queries),
        "objective": sweep.objective,
        "k": sweep.k,
        "model": sweep.embedder,
        # Older records were all counted by the usual one, and do not say so.
        **({} if sweep.tokenizer == DEFAULT_TOKENIZER else {"tokenizer": sweep.tokenizer}),
        **({"pipeline": sweep.pipeline} if sweep.pipeline else {}),
    }


class SweepRecord:
    """The same command goes on where the last one was stopped; configurations may be added."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def matches(self, fingerprint: SweepFingerprint, *, changes: bool = True) -> None:
        """Makes the folder this sweep's, if it `changes` anything; an error says what differs from another one's.

        Outcomes of more questions keep the scores of those that are left: a review drops some. Those of another sample
        of the same documents give way: there is time for more of them.
        """
        path = self.folder / _ABOUT
        if not path.exists():
            if any(self._files()):
                raise ChunkwiseError(
                    f"{self.folder} has results of a sweep without its settings ({_ABOUT}); "
                    f"use another folder: -o OTHER"
                )
            if changes:
                _write(path, dict(fingerprint))
            return
        try:
            known = _read(path)
        except (ValueError, RecursionError) as error:
            raise ChunkwiseError(
                f"{path} is damaged ({error}); use another folder: -o OTHER"
            ) from None
        whole, before = (
            record.get("corpus", record.get("documents")) for record in (fingerprint, known)
        )
        # Questions are generated after documents are compared, and a run knows only what it reads of a corpus.
        fingerprint = {
            **{name: known[name] for name in (*_OF_QUESTIONS, "corpus") if name in known},
            **fingerprint,
        }
        names = dict.fromkeys([*fingerprint, *known])
        other = [name for name in names if known.get(name) != fingerprint.get(name)]
        asked, wanted = _questions(known), _questions(fingerprint)
        only_questions = {*other} <= {*_OF_QUESTIONS}
        is_fewer = only_questions and {*wanted} < {*asked}
        # What generated questions found gives way to the reviewed ones, or to those of people.
        gives_way = (only_questions and known.get("generated")) or (
            whole == before and {*other} <= {"documents", "corpus", *_OF_QUESTIONS}
            and "documents" in other
        )  # fmt: skip
        if other and not (is_fewer or gives_way):
            message = "; ".join(_difference(item, known, fingerprint) for item in other)
            raise ChunkwiseError(
                f"{self.folder} belongs to another sweep: {message}. Use another folder (-o "
                f"OTHER), or remove this one"
            )
        if not other or not changes:
            return
        if is_fewer:
            self._select(asked, wanted)
        else:
            for outcome in self._files():
                outcome.unlink()
        _write(path, dict(fingerprint))

    @property
    def questions(self) -> list[str]:
        """Hashes of the questions that were asked, in the order of the scores; none: nothing was."""
        return _questions(self._about)

    @property
    def documents(self) -> Json:
        """The hash of the documents that are searched; None: nothing was."""
        return self._about.get("documents")

    @property
    def _about(self) -> SweepFingerprint:
        try:
            return _read(self.folder / _ABOUT)
        except (ValueError, RecursionError, OSError):
            return {}

    def _select(self, asked: Sequence[str], wanted: Sequence[str]) -> None:
        """Rewrites every outcome with the scores of the wanted questions."""
        place = {question: at for at, question in enumerate(asked)}
        rows = [place[question] for question in wanted]
        for path in self._files():
            try:
                value = _read(path)
                scores = msgspec.convert(value.get("outcome"), Outcome).scores
            except (ValueError, RecursionError, OSError):
                continue  # `known` sets it aside
            if any(len(score) != len(asked) for score in scores.values()):
                path.unlink()  # killed while it was rewritten for other questions
                continue
            value["outcome"]["scores"] = {
                name: [own[at] for at in rows] for name, own in scores.items()
            }
            _write(path, value)

    def known(self, planned: Iterable[Configuration] = ()) -> dict[str, Outcome]:
        """By key; a file that cannot be read is set aside, and its configuration is no longer known.

        Strategies of one's own are made again as `planned`, to see whether their code is the same: what a record
        names is not run.
        """
        result: dict[str, Outcome] = {}
        strategies = {configuration.key: configuration.strategy for configuration in planned}
        retrievers = {configuration.key: configuration.retriever for configuration in planned}
        for path in sorted(self._files()):
            try:
                value = _read(path)
                outcome = msgspec.convert(value.get("outcome"), Outcome)
                if outcome.configuration.key != path.stem:
                    raise ValueError("another configuration's")
            except (ValueError, RecursionError, OSError):
                with says_what_it_writes(path):
                    path.replace(path.with_name(f"{path.name}.damaged"))
                continue
            # A strategy of one's own keeps its name when its code changes.
            is_ours = _is_ours(outcome.configuration.strategy)
            strategy = "" if is_ours else strategies.get(path.stem)
            code = _pipeline_code(retrievers.get(path.stem, "")) or (
                None if strategy is None else _code(strategy)
            )
            if code is not None and value.get("code") == code:
                result[path.stem] = outcome
        return result

    def keep(self, outcome: Outcome) -> None:
        """On disk when this returns."""
        configuration = outcome.configuration
        path = self.folder / _OUTCOMES / f"{configuration.key}.json"
        code = _pipeline_code(configuration.retriever) or _code(configuration.strategy)
        _write(path, {"outcome": outcome, "code": code})

    def _files(self) -> list[Path]:
        folder = self.folder / _OUTCOMES
        # What begins with a dot was being written when somebody was killed.
        return [path for path in folder.glob("*.json") if not path.name.startswith(".")]


def run_unknown(
    plan: Plan,
    documents: Sequence[Document],
    queries: Sequence[Query],
    sweep: Sweep,
    record: SweepRecord,
    run: Callable[[list[Configuration]], Generator[Outcome, None, None]],
    stages: Stages = unwatched,
    on_outcome: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """The outcomes of all configurations, in the plan's order; what the record knows is not run again.

    `on_outcome` gets what is known first, then what is new as it comes; what failed is run once more.
    What `run` had no time for is handed out with an error that says so, and is not in the record.
    """
    record.matches(sweep_fingerprint(documents, queries, sweep))
    keys = {item.key for item in plan.configurations}
    recorded = record.known(plan.configurations).items()
    known = {key: item for key, item in recorded if key in keys and not item.error}
    tell = on_outcome or (lambda outcome: None)
    for configuration in plan.configurations:
        if configuration.key in known:
            tell(known[configuration.key])
    outcomes = run([item for item in plan.configurations if item.key not in known])
    left = len(plan.configurations) - len(known)
    with stages("configurations", left) as advance, closing(outcomes):
        for outcome in outcomes:
            record.keep(outcome)
            known[outcome.configuration.key] = outcome
            advance(1, outcome.configuration.label)
            tell(outcome)
    return [known.get(item.key) or Outcome(item, error=TIME_UP) for item in plan.configurations]


def _questions(fingerprint: SweepFingerprint) -> list[str]:
    """Hashes, in the order of the scores."""
    result = fingerprint.get("questions")
    return [str(each) for each in result] if isinstance(result, list) else []


def _difference(name: str, known: SweepFingerprint, now: SweepFingerprint) -> str:
    if name in ("documents", "questions"):
        return f"its {name} differ"
    return f"its {name} is {known.get(name)!r}, now it is {now.get(name)!r}"


def _is_ours(strategy: str) -> bool:
    try:
        return not strategy or spec.parse(strategy)[0] in strategies.builtin
    except InvalidParameter:
        return False


def _code(strategy: str) -> str:
    """Empty for our own strategies, and for one that cannot be made any more."""
    if _is_ours(strategy):
        return ""
    try:
        return get_strategy(strategy).code
    except Exception:  # somebody else's code runs
        return ""


def _pipeline_code(retriever: str) -> str:
    """Of the file that a retriever is taken from; empty where it is from none, or that is gone."""
    file = retriever.partition("(")[0].strip().rpartition(":")[0]
    return file_fingerprint(Path(file)) if file.endswith(".py") else ""


def _read(path: Path) -> dict[str, Any]:
    return msgspec.convert(json.loads(path.read_bytes()), dict[str, Any])


def _write(path: Path, value: object) -> None:
    refuse_links((path.parent, path))
    with text_file(path) as out:
        out.write(json_text(value) + "\n")


PLAN, RECOMMENDATION, RESULTS, REPORT, QUESTIONS, _ = SWEEP_FILES


class SweepFolder:
    """One sweep's; a folder of another sweep is refused and stays as it is."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    @property
    def files(self) -> list[Path]:
        """What a sweep writes here, which is no document of it."""
        return [self.path.resolve() / name for name in SWEEP_FILES]

    @property
    def drafts(self) -> Path:
        """Questions that were generated because none were named, to be reviewed."""
        return self.path / QUESTIONS

    @property
    def record(self) -> SweepRecord:
        return SweepRecord(self.path / SWEEP_RECORD)

    def keeps(self, path: str | os.PathLike[str]) -> bool:
        """Whether a path is one of its files, whose content a page would destroy; its report is a page itself."""
        place = Path(os.path.realpath(path))
        kept = [os.path.realpath(self.path / name) for name in SWEEP_FILES if name != REPORT]
        record = os.path.realpath(self.record.folder)
        return str(place) in kept or place.is_relative_to(record)

    def check_writable(self) -> None:
        """That nothing can be written here is an error before hours are spent."""
        refuse_links(self.path / name for name in (*SWEEP_FILES, SWEEP_RECORD))
        if self.path.exists():
            check_writable(self.path / RESULTS)

    def refuse_another(self, prepared: PreparedSweep) -> None:
        """An error where the record is that of another sweep; without a record nothing is written."""
        self._match(prepared, changes=False)

    def known(self, prepared: PreparedSweep) -> dict[str, Outcome]:
        """What is recorded of the same documents, by key."""
        if self.record.documents != documents_hash(prepared.inputs.documents):
            return {}
        return self.record.known(prepared.plan.configurations)

    def keep_plan(self, prepared: PreparedSweep) -> None:
        """Writes the plan that `--resume` continues."""
        with text_file(self.path / PLAN) as out:
            out.write(sweep_text(prepared.sweep, self.path))

    def begin(self, prepared: PreparedSweep) -> None:
        """Makes the record this sweep's."""
        self._match(prepared)

    def _match(self, prepared: PreparedSweep, *, changes: bool = True) -> None:
        """As far as the questions are known."""
        inputs = prepared.inputs
        fingerprint = sweep_fingerprint(inputs.documents, inputs.questions.queries, prepared.sweep)
        if inputs.corpus:
            fingerprint = {**fingerprint, "corpus": inputs.corpus}
        if inputs.expected:
            fingerprint = {
                name: value for name, value in fingerprint.items() if name not in _OF_QUESTIONS
            }
        self.record.matches(fingerprint, changes=changes)
