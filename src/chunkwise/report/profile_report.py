"""The report of a corpus: its sizes, and what is unusual in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from chunkwise.base.wording import counted, format_number, listed, percent, shortened, thousands
from chunkwise.profiling.results import (
    PREVIEW,
    DocumentGroup,
    PassagePlace,
    Profile,
    SizeBin,
    SizeSummary,
)
from chunkwise.report.report import (
    Axis,
    Chart,
    Column,
    Estimate,
    Excerpt,
    Headline,
    KeyFigure,
    KeyFigures,
    Next,
    Note,
    Point,
    Report,
    ReportPart,
    Section,
    Series,
    TextRun,
    ValueTable,
)

_LINE = 78
_EDGES = (25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800)
"""Sizes that the columns of a chart end at."""


def profile_report(profile: Profile, title: str = "", next_command: str = "") -> Report:
    """Build the report of a profile.

    Args:
        profile: What `profile` returned.
        title: What the corpus is called.
        next_command: What to run next.
    """
    total = profile.total
    fit = f"{percent(total.fits[400])} of the sections fit into 400 tokens."
    parts: list[ReportPart] = [
        Headline(fit if total.tokens else "No text to chunk."),
        *_sections(total),
        KeyFigures(tuple(_key_figures(total)), detail=True),
        *_sizes(total),
        *(Note(text, detail=at > 0) for at, text in enumerate(profile.notes)),
        *_lengths(total),
        *_groups("Folders", "folder", profile.folders, total),
        *_groups("Formats", "format", profile.formats, total),
        *_oversized(total),
        *_repeats(total),
        *([Next(next_command)] if next_command else []),
    ]
    return Report(title or "A corpus", tuple(parts), "profile", _subtitle(total, profile.tokenizer))


def _subtitle(total: DocumentGroup, tokenizer: str) -> str:
    languages = listed([f"{name} {thousands(count)}" for name, count in total.spoken.items()], 3)
    size = f"{counted(total.documents, 'document')}, {counted(total.tokens, 'token')}"
    return shortened(" · ".join(filter(None, (f"{size} ({tokenizer})", languages))), _LINE)


def _key_figures(total: DocumentGroup) -> Iterator[KeyFigure]:
    counts = {
        "documents": total.documents,
        "tokens": total.tokens,
        "sections": total.sections.count,
        "tokens in the median section": total.sections.median,
        "sentences": total.sentences.count,
        "tables": total.tables.count,
        "lists": total.lists.count,
        "code blocks": total.code.count,
    }
    if total.empty_documents:
        counts["empty documents"] = total.empty_documents
    for name, count in counts.items():
        yield KeyFigure(name, count, "count")
    yield KeyFigure("repeated tokens", total.repeats.token_share, "share")


def _sizes(total: DocumentGroup) -> Iterator[ReportPart]:
    kinds = {
        "documents": total.lengths, "sections": total.sections, "paragraphs": total.paragraphs,
        "sentences": total.sentences, "lists": total.lists, "tables": total.tables, "code": total.code,
    }  # fmt: skip
    rows = tuple(
        (
            name,
            sizes.count,
            sizes.mean,
            sizes.median,
            sizes.p95,
            sizes.longest,
            total.share(sizes),
        )
        for name, sizes in kinds.items()
        if sizes.count
    )
    if not rows:
        return
    columns = (
        Column(""), Column("count", 'count'), Column("mean", 'count'), Column("median", 'count'),
        Column("p95", 'count'), Column("largest", 'count'), Column("of tokens", 'share'),
    )  # fmt: skip
    yield ValueTable(columns, rows, "Sizes in tokens")
    if total.sections.count:
        shares = [
            f"{percent(share)} into {thousands(size)}"
            for size, share in total.fits.items()
            if size > 100
        ]
        yield Note(f"Sections that fit: {', '.join(shares)} tokens.")


def _sections(total: DocumentGroup) -> Iterator[ReportPart]:
    sections, longest = total.sections, total.longest_section
    if not sections.count or longest is None:
        return
    rows = tuple((f"{thousands(size)} tokens", share) for size, share in total.fits.items())
    columns = (Column("size"), Column("sections", "share", is_drawn=True))
    place = f"“{longest.section}”" if longest.section else "text without headings"
    yield Section(
        "Section sizes",
        (
            _histogram(sections, "Sections by size", "sections", is_half=True),
            ValueTable(columns, rows, "Sections that fit into"),
        ),
        f"The longest has {counted(longest.tokens, 'token')}: {place} in {longest.document}.",
        is_beside=True,
        detail=True,
    )


def _lengths(total: DocumentGroup) -> Iterator[ReportPart]:
    if total.lengths.count:
        chart = _histogram(total.lengths, "Documents by length", "documents")
        yield Section("Document lengths", (chart,), detail=True)


def _histogram(sizes: SizeSummary, title: str, noun: str, *, is_half: bool = False) -> Chart:
    points = tuple(Point(name, Estimate(count)) for name, count in _columns(sizes.histogram))
    return Chart(
        title,
        "columns",
        Axis("tokens"),
        Axis(noun, "count"),
        (Series("", points),),
        is_half=is_half,
    )


def _columns(bins: Sequence[SizeBin]) -> list[tuple[str, int]]:
    """Without empty ones at both ends."""
    counts = dict.fromkeys((*_EDGES, None), 0)
    for one in bins:
        edge = next((edge for edge in _EDGES if one.up_to and one.up_to <= edge), None)
        counts[edge] += one.count
    named = [
        (f"≤{format_number(edge, 'count')}" if edge else "more", count)
        for edge, count in counts.items()
    ]
    used = [at for at, (_, count) in enumerate(named) if count]
    return named[used[0] : used[-1] + 1] if used else []


def _groups(
    title: str, noun: str, groups: Sequence[DocumentGroup], total: DocumentGroup
) -> Iterator[ReportPart]:
    columns = (
        Column(noun), Column("documents", 'count'), Column("tokens", 'count'), Column("share", 'share'),
        Column("languages"), Column("median section", 'count'), Column("fit 400", 'share'),
        Column("repeated", 'share'),
    )  # fmt: skip
    rows = tuple(
        (
            "top level" if group.name == "." else group.name,
            group.documents,
            group.tokens,
            group.tokens / total.tokens if total.tokens else None,
            listed(list(group.languages), 3),
            group.sections.median,
            group.fits[400],
            group.repeats.token_share,
        )
        for group in groups
    )
    if rows:
        yield Section(
            title,
            (ValueTable(columns, rows, noun=noun),),
            "Median section: in tokens; fit 400: sections that fit into 400 tokens.",
            detail=True,
        )


def _oversized(total: DocumentGroup) -> Iterator[ReportPart]:
    oversized = total.oversized
    if not oversized.over_100:
        return
    lead = (
        f"{counted(oversized.over_100, 'sentence')} ({percent(oversized.share_over_100)}) of more than "
        f"100 tokens, {thousands(oversized.over_200)} of more than 200. The longest:"
    )
    examples = tuple(
        _passage(place.text, counted(place.tokens, "token"), [place])
        for place in oversized.examples
    )
    yield Section("Oversized sentences", examples, lead, detail=True)


def _repeats(total: DocumentGroup) -> Iterator[ReportPart]:
    repeats = total.repeats
    if not repeats.passages:
        return
    partly = "" if repeats.complete else "; only the start of the corpus was compared"
    lead = (
        f"{counted(repeats.passages, 'passage')} of eight words or more, {thousands(repeats.copies)} "
        "copies, "
        f"{percent(repeats.token_share)} of the tokens{partly}."
    )
    examples = tuple(
        _passage(example.text, f"{thousands(example.count)} ×", example.places)
        for example in repeats.examples
    )
    yield Section("Repeated passages", examples, lead, detail=True)


def _passage(text: str, title: str, places: Iterable[PassagePlace]) -> Excerpt:
    """What is kept of a long text is its beginning."""
    starts: dict[str, list[str]] = {}
    for place in places:
        starts.setdefault(place.document, []).append(thousands(place.start))
    where = "; ".join(f"{name} at {' and '.join(offsets)}" for name, offsets in starts.items())
    shown = text + "…" * (len(text) >= PREVIEW) or "(text not stored)"
    return Excerpt((TextRun(shown),), title, where)
