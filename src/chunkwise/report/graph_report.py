"""The report of the names of an index: those that link most, or one with its mentions, neighbors and passages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chunkwise.base.wording import counted, from_to, one_or_many, thousands
from chunkwise.report.draw_network import strongest_edges
from chunkwise.report.report import (
    Axis,
    Chart,
    Column,
    Edge,
    Estimate,
    Excerpt,
    Headline,
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
from chunkwise.report.sanitize import one_line
from chunkwise.retrieval.graph.names_and_neighbors import (
    NameCount,
    NameDetails,
    NameLink,
    NameMention,
    NameOverview,
)

_DRAWN = 44
"""Names in a picture."""
_AROUND = 110
"""Characters of a sentence on each side of the name."""
_BRIEF_NAMES, _BRIEF_MENTIONS, _BRIEF_NEIGHBORS = 15, 3, 6
_NEIGHBORS = 6
"""Names beside one in a list of many."""


def names_report(
    overview: NameOverview,
    details: Sequence[NameDetails] = (),
    title: str = "",
    *,
    brief_names: int = _BRIEF_NAMES,
    next_command: str = "",
) -> Report:
    """Build the report of all names of an index.

    Args:
        overview: Its counts, and the names that link most.
        details: Of the first of them.
        title: What the index is called.
        brief_names: How many a terminal shows without -v.
        next_command: What to run next.
    """
    lead = one_or_many(overview.linking, "leads", "lead")
    size = f"{counted(overview.mentions, 'mention')} in {counted(overview.passages, 'passage')}"
    parts: list[ReportPart] = [
        Headline(
            f"{counted(overview.names, 'name')}; {thousands(overview.linking)} of them {lead} from one passage to "
            "another."
        ),
        *_names(overview, details, brief_names),
    ]
    if overview.common:
        verb = one_or_many(overview.common, "is", "are")
        parts.append(
            Note(
                f"{counted(overview.common, 'name')} {verb} in too many passages to lead anywhere: not followed."
            )
        )
    if overview.statements:
        parts.append(Note(f"{counted(overview.statements, 'statement')} read by a language model"))
    named = [(each.name, each.passages) for each in overview.most_linked]
    parts += _picture("How they hang together", named, overview.links)
    parts += _communities(overview)
    parts += [Next(next_command)] if next_command else []
    subtitle = f"{counted(overview.documents, 'document')} · {size}"
    return Report(title or "Names", tuple(parts), "names", subtitle)


def name_report(
    found: NameDetails,
    links: Sequence[NameLink] = (),
    title: str = "",
    next_command: str = "",
) -> Report:
    """Build the report of one name.

    Args:
        found: Where it stands, and what stands beside it.
        links: Between its neighbors, by their places among them.
        title: What the index is called.
        next_command: What to run next.
    """
    counts = found.counts
    text = (
        f"{counted(counts.mentions, 'mention')} in {counted(counts.documents, 'document')}, "
        f"{counted(counts.passages, 'passage')}"
    )
    common = "; too common to be followed" if counts.is_common else ""
    named = [(each.name, each.passages) for each in found.neighbors]
    parts = [
        Headline(f"{text}{common}."),
        *_stated(found),
        *_mentions(found),
        *_picture("How its neighbors hang together", named, links),
        *_neighbors(found),
        *_passages(found),
        *([Next(next_command)] if next_command else []),
    ]
    return Report(counts.name, tuple(parts), "name", title)


def _names(
    overview: NameOverview, details: Sequence[NameDetails], brief_rows: int
) -> Iterator[ReportPart]:
    if not overview.most_linked:
        return
    known = {each.counts.name: each for each in details}
    columns = [
        Column("name"), Column("passages", "count"), Column("mentions", "count"), Column("documents", "count"),
    ]  # fmt: skip
    rows = [
        (
            f"{each.name} (not followed)" if each.is_common else each.name,
            each.passages,
            each.mentions,
            each.documents,
        )
        for each in overview.most_linked
    ]
    opened = tuple(_opened(each, known) for each in overview.most_linked)
    yield ValueTable(
        tuple(columns), tuple(rows), "Names that link most", "name", opened if known else (), brief_rows
    )  # fmt: skip


def _opened(counts: NameCount, known: Mapping[str, NameDetails]) -> tuple[ReportPart, ...]:
    """What is said of a name, and what stands beside it."""
    found = known.get(counts.name)
    if found is None:
        return ()
    beside = ", ".join(each.name for each in found.neighbors[:_NEIGHBORS])
    return (
        *([Note(f"Beside it: {beside}")] if beside else []),
        *_stated(found),
        *map(_mention, found.mentions),
    )


def _stated(found: NameDetails) -> Iterator[ReportPart]:
    """What a language model read of it."""
    described = [
        Excerpt(
            (TextRun(each.text),), place=f"{each.doc_id} {from_to(each.start, each.end)}", title=""
        )
        for each in found.descriptions
    ]
    if described:
        yield Section("Summary by a language model", tuple(described))
    related = [
        Excerpt(
            (TextRun(f"“{each.quote}”"),),
            f"{each.subject} — {each.relation} → {each.object}",
            f"{each.doc_id} {from_to(each.start, each.end)}",
        )
        for each in found.relations
    ]
    if related:
        yield Section("Relations, each with its quote", tuple(related))


def _mentions(found: NameDetails) -> Iterator[ReportPart]:
    excerpts = tuple(map(_mention, found.mentions))
    if not excerpts:
        return
    yield Section("Mentions", excerpts[:_BRIEF_MENTIONS])
    if excerpts[_BRIEF_MENTIONS:]:
        yield Section("More mentions", excerpts[_BRIEF_MENTIONS:], is_folded=True, detail=True)
    left = found.counts.mentions - len(excerpts)
    if left > 0:
        yield Note(f"… {counted(left, 'more mention')}", detail=True)


def _mention(mention: NameMention) -> Excerpt:
    """What stands around the name, and where."""
    start, end = (at - mention.sentence[0] for at in (mention.start, mention.end))
    low, high = max(0, start - _AROUND), min(len(mention.text), end + _AROUND)
    runs = (
        TextRun(("…" if low else "") + one_line(mention.text[low:start]).lstrip()),
        TextRun(one_line(mention.text[start:end]), "match"),
        TextRun(
            one_line(mention.text[end:high]).rstrip() + ("…" if high < len(mention.text) else "")
        ),
    )
    kind = "" if mention.kind == "mention" else f" · {mention.kind}"
    place = f"{from_to(mention.start, mention.end)}{kind}"
    return Excerpt(tuple(run for run in runs if run.text), mention.doc_id, place)


def _neighbors(found: NameDetails) -> Iterator[ReportPart]:
    rows = tuple((each.name, each.shared, each.passages) for each in found.neighbors)
    if not rows:
        return
    columns = (
        Column("name"),
        Column("passages with both", "count"),
        Column("passages in all", "count"),
    )
    details = tuple((_mention(each.evidence),) for each in found.neighbors)
    yield ValueTable(columns, rows, "Names beside it", "name", details, _BRIEF_NEIGHBORS)


def _passages(found: NameDetails) -> Iterator[ReportPart]:
    rows = tuple(
        (each.doc_id, from_to(each.start, each.end), "about it" if each.is_about else "")
        for each in found.passages
    )
    if rows:
        columns = (Column("document"), Column("characters"), Column(""))
        left = found.counts.passages - len(rows)
        more = (Note(f"… {counted(left, 'more passage')}"),) if left > 0 else ()
        yield Section(
            "Passages",
            (ValueTable(columns, rows, noun="passage", brief_rows=100), *more),
            detail=True,
        )


def _communities(overview: NameOverview) -> Iterator[ReportPart]:
    excerpts = tuple(
        Excerpt(
            (TextRun(each.summary),),
            f"level {each.level}",
            f"{counted(each.documents, 'document')}, {counted(each.tokens, 'token')}",
        )
        for each in overview.communities
    )
    if excerpts:
        yield Section("What hangs together, in a model’s words", excerpts, detail=True)


def _picture(
    title: str, names: Sequence[tuple[str, int]], links: Sequence[NameLink]
) -> Iterator[ReportPart]:
    """The first names that share a passage with another one; nothing where none do."""
    edges = strongest_edges(
        [
            (link.one, link.other, link.shared)
            for link in links
            if max(link.one, link.other) < _DRAWN
        ]
    )
    drawn = sorted({end for edge in edges for end in edge[:2]})
    if drawn:
        points = tuple(Point(names[at][0], Estimate(names[at][1])) for at in drawn)
        joined = tuple(Edge(names[one][0], names[other][0], both) for one, other, both in edges)
        series = (Series("", points),)
        chart = Chart("", "network", Axis("name"), Axis("passages", "count"), series, joined)
        yield Section(
            title,
            (chart,),
            "A line where passages have both, thicker for more of them.",
            detail=True,
        )
