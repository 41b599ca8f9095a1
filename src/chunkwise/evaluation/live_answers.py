"""What a user's own retriever gave for every question: made records of, kept as they come, told where it failed.

Records are as a file of hits has them: texts, places, or both. A question that the retriever fails on, or takes too
long for, has no score and a reason, and the others go on.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import counted, thousands
from chunkwise.core import OnProgress, Query
from chunkwise.evaluation.live_retriever import (
    MOST_HITS,
    LiveRetriever,
    RetrieverFailed,
    hits_in,
)
from chunkwise.evaluation.results import LATENCY
from chunkwise.options import LiveOptions
from chunkwise.records.json import parse_json
from chunkwise.records.objects import record_of_object
from chunkwise.records.read import OnBadRow
from chunkwise.records.write import append_json_lines

_GIVE_UP = 10
"""Questions in a row, from the first on, that fail: then all do."""


def hit_records(answer: object) -> list[dict[str, object] | str]:
    """Records of what a retriever handed out; a text in the place of one says why it is none."""
    found = hits_in(answer)
    if found is None:
        raise RetrieverFailed(
            "it gave nothing (None); a list of hits is needed, an empty one where there are none"
        )
    if isinstance(found, str | Mapping):
        found = [found]
    if not isinstance(found, Iterable):
        raise RetrieverFailed(f"it gave {type(found).__name__}; a list of hits is needed")
    return [record_of_object(each) for each in islice(found, MOST_HITS)]


@dataclass(frozen=True, slots=True)
class LiveAnswers:
    """What came back for every question, in their order."""

    records: Sequence[Sequence[dict[str, object] | str]]
    failed: Mapping[str, str]
    """By the id of a question, why it has no answer."""
    seconds: Sequence[float]
    """Of the questions that were answered."""
    known: int = 0
    """Questions whose answers were in the file already."""


@dataclass(slots=True)
class _Kept:
    """The file of answers: read first, then added to, a line at a time."""

    path: Path | None
    name: str
    known: dict[str, tuple[list[dict[str, object] | str], float]] = field(default_factory=dict)

    def read(self, queries: Sequence[Query], k: int) -> None:
        if self.path is None or not self.path.exists():
            return
        texts = {query.id: query.text for query in queries}
        for line in _lines(self.path):
            try:
                record = parse_json(line)
            except (ValueError, RecursionError):  # the line at which the last run was ended
                continue
            if not isinstance(record, dict) or not isinstance(hits := record.get("hits"), list):
                continue
            id, seconds = record.get("query_id"), record.get("seconds")
            same = record.get("retriever") == self.name and record.get("k") == k
            if (
                same
                and id in texts
                and record.get("query") == texts[id]
                and isinstance(seconds, float)
            ):
                self.known[id] = (
                    [each if isinstance(each, dict) else str(each) for each in hits],
                    seconds,
                )

    def add(self, query: Query, k: int, **found: object) -> None:
        if self.path is None:
            return
        record = {
            "query_id": query.id,
            "query": query.text,
            "retriever": self.name,
            "k": k,
            **found,
        }
        try:
            append_json_lines(self.path, [record])
        except OSError as error:
            raise ChunkwiseError(f"cannot write {self.path}: {error.strerror or error}") from error


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open("rb") as file:
            for line in file:
                yield line.decode("utf-8", "replace")
    except OSError as error:
        raise ChunkwiseError(f"cannot read {path}: {error.strerror or error}") from error


@dataclass(slots=True)
class _Failures:
    """Why questions have no answer; a reason is told once, with the questions it holds for."""

    name: str
    on_bad: OnBadRow
    reasons: dict[str, str] = field(default_factory=dict)
    """By the id of a question."""

    def add(self, id: str, reason: str) -> None:
        self.reasons[id] = reason

    def tell(self, *, but: str | None) -> None:
        """A line a reason; that which an exception is about to tell is left to it."""
        of_reason: defaultdict[str, list[str]] = defaultdict(list)
        for id, reason in self.reasons.items():
            of_reason[reason].append(id)
        for reason, ids in of_reason.items():
            if reason == but:
                continue
            told = f"question {ids[0]!r}"
            if len(ids) > 1:
                told += f" and {counted(len(ids) - 1, 'other')}"
            self.on_bad(f"{told}: {self.name} did not answer: {reason}")


def ask_live(
    retriever: LiveRetriever,
    queries: Sequence[Query],
    k: int,
    options: LiveOptions = LiveOptions(),
    *,
    on_bad: OnBadRow,
    advance: OnProgress | None = None,
) -> LiveAnswers:
    """Every question once, one after the other; stops where the first ones fail without an exception."""
    path = None if options.retrieved is None else Path(options.retrieved)
    kept = _Kept(path, retriever.name)
    kept.read(queries, k)
    records: list[list[dict[str, object] | str]] = []
    failures = _Failures(retriever.name, on_bad)
    failed = failures.reasons
    seconds: list[float] = []
    for number, query in enumerate(queries, 1):
        if query.id in kept.known:
            own, took = kept.known[query.id]
        else:
            began = time.perf_counter()
            own, reason = _asked(retriever, query, k)
            took = round(time.perf_counter() - began, 6)
            if reason:
                kept.add(query, k, error=reason)
                failures.add(query.id, reason)
                if len(failed) == number == _GIVE_UP < len(queries):
                    failures.tell(but=reason)
                    raise ChunkwiseError(
                        f"{retriever.name} fails on each of the first {counted(_GIVE_UP, 'question')}: {reason}"
                    )
            else:
                kept.add(query, k, hits=own, seconds=took)
        records.append(own)
        if query.id not in failed:
            seconds.append(took)
        if advance:
            advance(1, f"{thousands(number)} of {counted(len(queries), 'question')}")
    is_dead = bool(failed) and len(failed) == len(queries)
    failures.tell(but=reason if is_dead else None)
    if is_dead:
        raise ChunkwiseError(f"{retriever.name} answers none of the questions: {reason}")
    return LiveAnswers(records, failed, seconds, len(kept.known))


def _asked(
    retriever: LiveRetriever, query: Query, k: int
) -> tuple[list[dict[str, object] | str], str]:
    """The records, or why there are none."""
    try:
        return hit_records(retriever.retrieve(query, k)), ""
    except RetrieverFailed as error:
        return [], str(error)
    except Exception as error:  # somebody else's code: this question has no score, the others go on
        told = (
            f"{type(error).__name__}: {error}"
            if not isinstance(error, ChunkwiseError)
            else str(error)
        )
        return [], " ".join(told.split())[:300]


def latency(seconds: Sequence[float]) -> dict[str, float]:
    """Of a question: the median, what 95% of them do not exceed, and the slowest; empty where none was answered."""
    if not seconds:
        return {}
    ranked = sorted(seconds)
    median, p95 = (ranked[math.ceil(share * len(ranked)) - 1] for share in (0.5, 0.95))
    return {f"{LATENCY}median": median, f"{LATENCY}p95": p95, f"{LATENCY}slowest": ranked[-1]}
