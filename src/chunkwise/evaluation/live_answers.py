"""What a user's own retriever gave for every question: made records of, kept as they come, told where it failed.

Records are as a file of hits has them: texts, places, or both. A question that the retriever fails on, or takes too
long for, has no score and a reason, and the others go on.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import msgspec

from chunkwise.base.errors import ChunkwiseError, error_words
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
from chunkwise.records.objects import record_of_object
from chunkwise.records.read import OnBadRow
from chunkwise.records.write import append_json_lines

Records = list[dict[str, object] | str]
_GIVE_UP = 10
"""Questions in a row, from the first on, that fail: then all do."""


def hit_records(answer: object) -> Records:
    """Records of what a retriever handed out; a text in the place of one says why it is none."""
    result = hits_in(answer)
    if result is None:
        raise RetrieverFailed("it returned None; expected a list of hits, which may be empty")
    if isinstance(result, str | Mapping):
        result = [result]
    if not isinstance(result, Iterable):
        raise RetrieverFailed(f"it returned {type(result).__name__}; expected a list of hits")
    return [record_of_object(each) for each in islice(result, MOST_HITS)]


@dataclass(frozen=True, slots=True)
class LiveAnswers:
    """What came back for every question, in their order."""

    records: Sequence[Records]
    failed: Mapping[str, str]
    """By the id of a question, why it has no answer."""
    seconds: Sequence[float]
    """Of the questions that were answered."""


def _kept_answers(
    path: Path | None, name: str, queries: Sequence[Query], k: int
) -> dict[str, tuple[Records, float]]:
    """Those of this retriever in the file, by the id of their question, with the seconds each took."""
    if path is None or not path.exists():
        return {}
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ChunkwiseError(f"cannot read {path}: {error.strerror or error}") from error
    texts = {query.id: query.text for query in queries}
    answers = {}
    for line in lines:
        # The line at which the last run was ended is none.
        with suppress(msgspec.MsgspecError):
            kept = msgspec.json.decode(line, type=_KeptAnswer)
            if (kept.retriever, kept.k, kept.query) == (name, k, texts.get(kept.query_id)):
                answers[kept.query_id] = kept.hits, kept.seconds
    return answers


class _KeptAnswer(msgspec.Struct):
    """A line of the file of answers; a question that failed has an error in place of hits."""

    query_id: str
    query: str
    retriever: str
    k: int
    hits: Records
    seconds: float


def _tell_failures(
    reasons: Mapping[str, str], name: str, on_bad: OnBadRow, *, but: str | None
) -> None:
    """A line a reason, with the questions it holds for; that which an exception is about to tell is left to it."""
    of_reason: defaultdict[str, list[str]] = defaultdict(list)
    for id, reason in reasons.items():
        of_reason[reason].append(id)
    for reason, ids in of_reason.items():
        if reason != but:
            others = f" and {counted(len(ids) - 1, 'other')}" if len(ids) > 1 else ""
            on_bad(f"question {ids[0]!r}{others}: {name} failed: {reason}")


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
    kept = _kept_answers(path, retriever.name, queries, k)
    records: list[Records] = []
    failed: dict[str, str] = {}
    seconds: list[float] = []
    reason = ""
    for number, query in enumerate(queries, 1):
        if query.id in kept:
            own, took = kept[query.id]
        else:
            began = time.perf_counter()
            own, reason = _asked(retriever, query, k)
            took = round(time.perf_counter() - began, 6)
            if path is not None:
                said = {"error": reason} if reason else {"hits": own, "seconds": took}
                about = {
                    "query_id": query.id,
                    "query": query.text,
                    "retriever": retriever.name,
                    "k": k,
                }
                try:
                    append_json_lines(path, [{**about, **said}])
                except OSError as error:
                    raise ChunkwiseError(
                        f"cannot write {path}: {error.strerror or error}"
                    ) from error
            if reason:
                failed[query.id] = reason
                if len(failed) == number == _GIVE_UP < len(queries):
                    _tell_failures(failed, retriever.name, on_bad, but=reason)
                    raise ChunkwiseError(
                        f"{retriever.name} failed on all of the first "
                        f"{counted(_GIVE_UP, 'question')}: {reason}"
                    )
        records.append(own)
        if query.id not in failed:
            seconds.append(took)
        if advance:
            advance(1, f"{thousands(number)} of {counted(len(queries), 'question')}")
    is_dead = bool(failed) and len(failed) == len(queries)
    _tell_failures(failed, retriever.name, on_bad, but=reason if is_dead else None)
    if is_dead:
        raise ChunkwiseError(f"{retriever.name} failed on every question: {reason}")
    return LiveAnswers(records, failed, seconds)


def _asked(retriever: LiveRetriever, query: Query, k: int) -> tuple[Records, str]:
    """The records, or why there are none."""
    try:
        return hit_records(retriever.retrieve(query, k)), ""
    except RetrieverFailed as error:
        return [], str(error)
    except Exception as error:  # somebody else's code: this question has no score, the others go on
        return [], " ".join(error_words(error).split())[:300]


def latency(seconds: Sequence[float]) -> dict[str, float]:
    """Of a question: the median, what 95% of them do not exceed, and the slowest; empty where none was answered."""
    if not seconds:
        return {}
    ranked = sorted(seconds)
    median, p95 = (ranked[math.ceil(share * len(ranked)) - 1] for share in (0.5, 0.95))
    return {f"{LATENCY}median": median, f"{LATENCY}p95": p95, f"{LATENCY}slowest": ranked[-1]}
