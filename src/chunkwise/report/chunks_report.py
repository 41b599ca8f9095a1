"""The report of chunks in a terminal: where each lies, how large it is, how it begins and ends, what is cut badly."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from chunkwise.base.wording import counted, from_to, listed, one_or_many, thousands
from chunkwise.core import Chunk
from chunkwise.metrics.cuts.boundary_issues import find_issues
from chunkwise.report.lint_report import cuts_words, kind_name
from chunkwise.report.report import (
    Excerpt,
    Headline,
    Next,
    Note,
    Report,
    ReportPart,
    Section,
    TextRun,
)
from chunkwise.report.sanitize import one_line
from chunkwise.text.analyzed import Analyzed

_HEAD, _TAIL = 160, 70
"""Characters that are shown of a chunk: of its beginning and of its end."""


def chunks_report(
    documents: Iterable[tuple[Analyzed, Sequence[Chunk]]],
    *,
    most: int | None = None,
    unit: str = "tokens",
    next_command: str = "",
    quiet: bool = False,
) -> Report:
    """Build the report of documents with their chunks; `most` chunks are shown in all, and every one is counted.

    A quiet report has chunks without a summary.
    """
    sizes: list[int] = []
    totals: Counter[str] = Counter()
    shown: list[ReportPart] = []
    count = summaries = hurt = cuts = 0
    for document, chunks in documents:
        kinds: defaultdict[int, list[str]] = defaultdict(list)
        issues = find_issues(document, chunks)
        for issue in issues:
            kinds[issue.chunk].append(kind_name(issue.kind))
            totals[issue.kind] += not issue.again
        hurt, cuts = hurt + len(kinds), cuts + len({issue.cut for issue in issues})
        excerpts, reach = [], 0
        for number, chunk in enumerate(
            chunks[: None if most is None else max(most - len(sizes), 0)]
        ):
            excerpts.append(_excerpt(number, chunk, reach, kinds[number], unit))
            reach = reach if chunk.level else max(reach, chunk.end)
        if excerpts:
            names = dict.fromkeys(filter(None, (document.document.title, document.document.id)))
            shown.append(Section(" · ".join(names), tuple(excerpts)))
        sizes.extend(chunk.token_count for chunk in chunks)
        summaries += sum(1 for chunk in chunks if chunk.level)
        count += 1
    if most and len(sizes) > most:  # where none is shown, there are no others
        shown.append(Note(f"… {counted(len(sizes) - most, 'more chunk')}"))
    if quiet:
        return Report("", tuple(shown), "chunk")
    title = f"{counted(len(sizes), 'chunk')} of {counted(count, 'document')}"
    if summaries:
        title += (
            f", {thousands(summaries)} of them {one_or_many(summaries, 'a summary', 'summaries')}"
        )
    if not sizes:
        return Report(title, (), "chunk")
    verdict = [Headline("No boundary issues.", "good")]
    if hurt:
        verdict = [Headline(f"{cuts_words(len(sizes) - summaries, hurt, cuts)}.", "bad")]
        named = [f"{thousands(total)} {kind_name(kind)}" for kind, total in totals.most_common()]
        shown.append(Note(f"{listed(named, 3)}."))
        shown += [Next(next_command)] if next_command else []
    size = f"{thousands(min(sizes))} to {thousands(max(sizes))} {unit}, median {thousands(np.median(sizes))}"
    return Report(title, (*verdict, *shown), "chunk", size)


def _excerpt(number: int, chunk: Chunk, reach: int, kinds: Sequence[str], unit: str) -> Excerpt:
    """How a chunk begins and ends; what an earlier one has as well stands in ‹›."""
    place = [
        from_to(chunk.start, chunk.end),
        counted(chunk.token_count, unit.removesuffix("s")),
        chunk.section_path,
        f"summary of {counted(len(chunk.spans), 'passage')}, level {chunk.level}"
        if chunk.level
        else "",
        f"! {', '.join(dict.fromkeys(kinds))}" if kinds else "",
    ]
    shared = 0 if chunk.level else max(0, min(reach, chunk.end) - chunk.start)
    repeated, text = one_line(chunk.text[:shared]).strip(), one_line(chunk.text[shared:])
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD].rstrip()} … {text[-_TAIL:].lstrip()}"
    context = f"[{one_line(chunk.context)}] " if chunk.context else ""
    runs = (TextRun(f"‹{repeated[:_HEAD]}› " if repeated else "", "repeated"), TextRun(text))
    place = list(filter(None, place))
    return Excerpt(
        (TextRun(context), *runs), str(number + 1), " · ".join(place), "bad" if kinds else ""
    )
