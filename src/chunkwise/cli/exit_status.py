"""What a command ends with: the same for the same thing, in every command. docs/exit-statuses.md is made of this."""

from __future__ import annotations

from typing import NamedTuple

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnknownName

DONE = 0
FAILED = 1
WRONG_USAGE = 2
SKIPPED = 3
"""Everything else worked, but something could not be read, asked or written."""
NOT_REACHED = 4
"""A figure is not what was asked for, or a run is shown to be worse than it may be."""
NOT_COMPARABLE = 5
"""Two runs were made of other documents, questions or rules, or one has no scores: a difference would say nothing."""


def settled(
    *,
    failed: bool = False,
    wrong_usage: bool = False,
    not_comparable: bool = False,
    not_reached: bool = False,
    skipped: bool = False,
) -> int:
    """What a command ends with: where several are true, the first of these counts."""
    order = (
        (failed, FAILED),
        (wrong_usage, WRONG_USAGE),
        (not_comparable, NOT_COMPARABLE),
        (not_reached, NOT_REACHED),
        (skipped, SKIPPED),
    )
    return next((status for is_true, status in order if is_true), DONE)


def of_error(error: ChunkwiseError) -> int:
    """What a command ends with that an error stopped: one of usage where a value or a name is wrong."""
    return WRONG_USAGE if isinstance(error, InvalidParameter | UnknownName) else FAILED


def of_signal(number: int) -> int:
    """What a command ends with that was stopped from outside, as shells count it."""
    return 128 + number


class ExitStatus(NamedTuple):
    """A number, what it means, and when it comes."""

    number: int
    meaning: str
    when: tuple[str, ...]


EXIT_STATUSES = (
    ExitStatus(DONE, "all went well", (
        "a search that finds nothing, an answer that the documents do not say it, a comparison that shows nothing",
        "a history without runs that is listed or charted; nothing to forget or to clear",
        "what was told on stderr and costs nothing: files passed over in a folder, questions mended, a run that could "
        "not be kept or handed on",
    )),
    ExitStatus(FAILED, "an error: what was asked for is not done", (
        "no document could be read: an empty folder, a path that is not there, nothing but broken files",
        "no question could be read, or a file that is named is not there or damaged",
        "an optional dependency is missing (the line is the command that installs it), weights cannot be fetched",
        "a server does not answer, a disk is full, there is not enough memory, `--strict` met a document that cannot "
        "be read",
    )),
    ExitStatus(WRONG_USAGE, "wrong usage, or a value or a name that is none", (
        "an option that is not known, a number outside of its bounds, two options that contradict each other",
        "no model, strategy, metric, prompt, run or type of question has this name, or a model's file is not there",
        "no question has a reference, an answer, facts or labels, and what is to be measured needs one of them",
        "a file would be overwritten that is read, or that is there already where `--force` is asked for",
    )),
    ExitStatus(SKIPPED, "done, but not all of it: each part that is missing has a line on stderr", (
        "some documents, questions or rows could not be read; the others were",
        "a language model did not answer everything, or the limit of its cost was reached",
        "`testset check` found problems, `testset generate` made fewer questions than wanted, a judge is not to be "
        "trusted",
    )),
    ExitStatus(NOT_REACHED, "done, and a limit that was asked for does not hold", (
        "`evaluate --fail-under`, `--fail-over`, `lint --fail-over`, `compare --fail-if-worse`, `--no-new-zero`, an "
        "alert of `monitor`",
    )),
    ExitStatus(NOT_COMPARABLE, "done, but what was to be compared is not comparable", (
        "`compare --fail-if-worse` or `--no-new-zero` of runs with other documents, other questions or other rules of "
        "scoring; `--accept-changed` names what may differ",
        "a question has a score in the first run and none in the other; no metric of those that are named has a score",
    )),
    ExitStatus(130, "stopped by Ctrl-C; 143 by SIGTERM, 129 by SIGHUP", (
        "files and indexes are as they were or new, each whole; the same command goes on from what is kept",
    )),
)  # fmt: skip
