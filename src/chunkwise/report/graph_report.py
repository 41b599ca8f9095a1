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
            f"{counted(overview.names, 'name')}; {thousands(overview.linking)} of them {lead} "
            "from one passage to another."
        ),
        *_names(overview, details, brief_names),
    ]
    if overview.common:
        verb = one_or_many(overview.common, "is", "are")
        parts.append(
            Note(
                f"{counted(overview.common, 'name')} {verb} in too many passages, so links "
                "through them are ignored."
            )
        )
    if overview.statements:
        parts.append(
            Note(f"{counted(overview.statements, 'relation')} extracted by a language model")
        )
    named = [(count.name, count.passages) for count in overview.most_linked]
    parts += _picture("Connections", named, overview.links)
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
    common = "; too common to follow" if counts.is_common else ""
    named = [(neighbor.name, neighbor.passages) for neighbor in found.neighbors]
    parts = [
        Headline(f"{text}{common}."),
        *_stated(found),
        *_mentions(found),
        *_picture("Connections of its neighbors", named, links),
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
    known = {detail.counts.name: detail for detail in details}
    columns = [
        Column("name"), Column("passages", "count"), Column("mentions", "count"), Column("documents", "count"),
    ]  # fmt: skip
    rows = [
        (
            f"{count.name} (not followed)" if count.is_common else count.name,
            count.passages,
            count.mentions,
            count.documents,
        )
        for count in overview.most_linked
    ]
    opened = tuple(_opened(count, known) for count in overview.most_linked)
    yield ValueTable(
        tuple(columns), tuple(rows), "Most linked names", "name", opened if known else (), brief_rows
    )  # fmt: skip


def _opened(counts: NameCount, known: Mapping[str, NameDetails]) -> tuple[ReportPart, ...]:
    """What is said of a name, and what stands beside it."""
    details = known.get(counts.name)
    if details is None:
        return ()
    beside = ", ".join(neighbor.name for neighbor in details.neighbors[:_NEIGHBORS])
    return (
        *([Note(f"Beside it: {beside}")] if beside else []),
        *_stated(details),
        *map(_mention, details.mentions),
    )


def _stated(details: NameDetails) -> Iterator[ReportPart]:
    """What a language model read of it."""
    described = [
        Excerpt(
            (TextRun(description.text),),
            place=f"{description.doc_id} {from_to(description.start, description.end)}",
            title="",
        )
        for description in details.descriptions
    ]
    if described:
        yield Section("Summary by a language model", tuple(described))
    related = [
        Excerpt(
            (TextRun(f"“{relation.quote}”"),),
            f"{relation.subject} — {relation.relation} → {relation.object}",
            f"{relation.doc_id} {from_to(relation.start, relation.end)}",
        )
        for relation in details.relations
    ]
    if related:
        yield Section("Relations with quotes", tuple(related))


def _mentions(details: NameDetails) -> Iterator[ReportPart]:
    excerpts = tuple(map(_mention, details.mentions))
    if not excerpts:
        return
    yield Section("Mentions", excerpts[:_BRIEF_MENTIONS])
    if excerpts[_BRIEF_MENTIONS:]:
        yield Section("More mentions", excerpts[_BRIEF_MENTIONS:], is_folded=True, detail=True)
    left = details.counts.mentions - len(excerpts)
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


def _neighbors(name_details: NameDetails) -> Iterator[ReportPart]:
    rows = tuple(
        (neighbor.name, neighbor.shared, neighbor.passages) for neighbor in name_details.neighbors
    )
    if not rows:
        return
    columns = (
        Column("name"),
        Column("shared passages", "count"),
        Column("passages", "count"),
    )
    details = tuple((_mention(neighbor.evidence),) for neighbor in name_details.neighbors)
    yield ValueTable(columns, rows, "Neighboring names", "name", details, _BRIEF_NEIGHBORS)


def _passages(details: NameDetails) -> Iterator[ReportPart]:
    rows = tuple(
        (
            passage.doc_id,
            from_to(passage.start, passage.end),
            "about it" if passage.is_about else "",
        )
        for passage in details.passages
    )
    if rows:
        columns = (Column("document"), Column("characters"), Column(""))
        left = details.counts.passages - len(rows)
        more = (Note(f"… {counted(left, 'more passage')}"),) if left > 0 else ()
        yield Section(
            "Passages",
            (ValueTable(columns, rows, noun="passage", brief_rows=100), *more),
            detail=True,
        )


def _communities(overview: NameOverview) -> Iterator[ReportPart]:
    excerpts = tuple(
        Excerpt(
            (TextRun(community.summary),),
            f"level {community.level}",
            f"{counted(community.documents, 'document')}, {counted(community.tokens, 'token')}",
        )
        for community in overview.communities
    )
    if excerpts:
        yield Section("Community summaries by a language model", excerpts, detail=True)


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
            "Lines connect names that share passages; thicker lines share more.",
            detail=True,
        )
