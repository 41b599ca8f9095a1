"""The likeliest cause of an alert: what changed when the fall began, and a command that shows whether it was that."""

from __future__ import annotations

import shlex

from chunkwise.tracking.alerts import (
    WatchedFigure,
)
from chunkwise.tracking.difference import (
    DOCUMENTS,
    QUESTIONS,
    SETTINGS,
    VERSIONS,
    DifferencePart,
    RunDifference,
)
from chunkwise.tracking.store import History

_NAMED = 160


_FLAGS = {
    "strategy": "-s", "retriever": "--retriever", "embedder": "--embedder", "vectors": "--vectors",
    "context": "--context", "language": "--language", "neighbours": "--neighbours", "mmr": "--mmr",
    "reranker": "--reranker", "k": "-k",
    "budget": "--budget", "tokenizer": "--tokenizer", "seed": "--seed",
}  # fmt: skip


def likely_cause(
    history: History, before: int, since: int, metric: str, figure: WatchedFigure, command: str
) -> tuple[str, str]:
    """What made most of the fall when it began, and a command that shows whether it did."""
    apart = f"chunkwise history diff {before} {since}{history.option}"
    found = history.difference(before, since)
    divided = found.metrics.get(metric)
    sign = 1 if figure.is_lower_better else -1
    parts = [part for part in divided.parts if sign * part.amount > 0] if divided else []
    if not parts:
        told = found.changes.words
        what = ", ".join(told) if told else "nothing that is recorded changed"
        return f"{what} in run {since}", apart
    part = max(parts, key=lambda each: abs(each.amount))
    return _cause_words(part, since, found), _checked_by(part, found, command) or apart


def _cause_words(part: DifferencePart, since: int, found: RunDifference) -> str:
    documents = found.changes.documents
    if part.cause == DOCUMENTS and documents:
        return f"changed documents in run {since} ({documents.words})"
    words = part.words if len(part.words) <= _NAMED else f"{part.words[: _NAMED - 1]}…"
    return f"{words} in run {since}" if part.cause != QUESTIONS else f"{words}, in run {since}"


def _checked_by(part: DifferencePart, found: RunDifference, command: str) -> str:
    """Where one setting or one package changed, the same again with what it was."""
    if part.cause == SETTINGS and len(found.changes.settings) == 1:
        (only,) = found.changes.settings
        flag = _FLAGS.get(only.name)
        if flag and only.before not in (None, ""):
            return with_option(command, flag, str(only.before))
    if part.cause == VERSIONS and len(found.changes.versions) == 1:
        (only,) = found.changes.versions
        if only.before and only.name != "python":
            return f"pip install {shlex.quote(f'{only.name}=={only.before}')} && {command}"
    if part.cause not in (DOCUMENTS, QUESTIONS, SETTINGS, VERSIONS) and not found.changes.words:
        return command  # again: what differs without a change is noise
    return ""


def with_option(command: str, flag: str, value: str) -> str:
    """The command with this value in place of the one it names."""
    words = shlex.split(command)
    while flag in words:
        at = words.index(flag)
        del words[at : at + 2]
    return shlex.join([*words, flag, value])
