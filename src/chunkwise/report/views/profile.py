"""What is shown of a corpus: where to start first, then the figures that this rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from chunkwise.base.wording import counted, percent, plural, short_number, thousands
from chunkwise.profiling.results import (
    PREVIEW,
    DocumentGroup,
    Oversized,
    PassagePlace,
    Profile,
    ProfileAdvice,
    Repeats,
    SizeBin,
    SizeSummary,
)
from chunkwise.report.charts import (
    BAR,
    MARK,
    RAIL,
    Chart,
    ChartSize,
    Spec,
    chart,
    row_key,
    rows_of,
)
from chunkwise.report.views.view import Tile, View

_LEAST_BINS = 11
_ROOM = 1000
"""Larger numbers are shortened: a column is narrow."""
_TICKS = (25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800)
_SPARE = (25, 3200, 12800)
"""Left out on narrow screens."""
_END = 1.3
"""Where the numbers behind bars end: "100 %" in the wider font of a page needs a fifth of a narrow chart."""
_LEAST = 0.013
"""Of the highest column: what is there is seen."""


@dataclass(frozen=True, slots=True)
class FitShare:
    """Of the sections, how many fit whole into so many tokens."""

    size: int
    share: float


@dataclass(frozen=True, slots=True)
class LanguageCount:
    """Documents in a language."""

    name: str
    documents: int


@dataclass(frozen=True, slots=True)
class BlockSizes:
    """Sizes of one kind of block."""

    name: str
    sizes: SizeSummary
    share: float
    """Of the tokens of the corpus."""


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Documents of one folder or one format."""

    name: str
    documents: int
    tokens: int
    token_share: float
    languages: tuple[str, ...]
    median_section: int
    fit_200: float
    fit_400: float
    repeated: float

    @property
    def label(self) -> str:
        return "top level" if self.name == "." else self.name


@dataclass(frozen=True, slots=True)
class ProfileView(View):
    """The whole of a profile, as page and terminal show it."""

    page_template: ClassVar[str] = "profile.html.j2"
    fragment_template: ClassVar[str] = "fragment_profile.html.j2"

    title: str
    tokenizer: str
    documents: int
    empty_documents: int
    tokens: int
    characters: int
    languages: tuple[LanguageCount, ...]
    """Those of people: without source code."""
    advice: tuple[ProfileAdvice, ...]
    tiles: tuple[Tile, ...]
    sizes: tuple[BlockSizes, ...]
    """Documents, sections, paragraphs, sentences, lists, tables, code."""
    longest_section: PassagePlace | None
    fits: tuple[FitShare, ...]
    section_chart: Chart | None
    fit_chart: Chart | None
    document_chart: Chart | None
    folders: tuple[GroupRow, ...]
    formats: tuple[GroupRow, ...]
    oversized: Oversized
    repeats: Repeats
    preview: int
    """Characters that are kept of a quoted text."""

    def sizes_of(self, name: str) -> BlockSizes:
        return next(each for each in self.sizes if each.name == name)

    def where(self, places: Sequence[PassagePlace]) -> list[tuple[str, str, list[str]]]:
        """Document, section and offsets of each place; several in one section together."""
        starts: dict[tuple[str, str], list[str]] = {}
        for place in places:
            starts.setdefault((place.document, place.section), []).append(thousands(place.start))
        return [(*key, offsets) for key, offsets in starts.items()]


def profile_view(profile: Profile, title: str = "") -> ProfileView:
    """`title` is what the corpus is called."""
    total = profile.total
    has_sections = bool(total.sections.count) and total.longest_section is not None
    kinds = {
        "documents": total.lengths, "sections": total.sections, "paragraphs": total.paragraphs,
        "sentences": total.sentences, "lists": total.lists, "tables": total.tables, "code": total.code,
    }  # fmt: skip
    return ProfileView(
        title=title,
        tokenizer=profile.tokenizer,
        documents=total.documents,
        empty_documents=total.empty_documents,
        tokens=total.tokens,
        characters=total.characters,
        languages=tuple(LanguageCount(*each) for each in total.spoken.items()),
        advice=profile.advice,
        tiles=_tiles(total),
        sizes=tuple(BlockSizes(name, own, total.share(own)) for name, own in kinds.items()),
        longest_section=total.longest_section,
        fits=tuple(FitShare(*each) for each in total.fits.items()),
        section_chart=histogram(total.sections.histogram, "section", total.fits) if has_sections else None,
        fit_chart=_fit_chart(total.fits) if has_sections else None,
        document_chart=histogram(total.lengths.histogram, "document", {}),
        folders=tuple(_group(each, total.tokens) for each in profile.folders),
        formats=tuple(_group(each, total.tokens) for each in profile.formats),
        oversized=total.oversized,
        repeats=total.repeats,
        preview=PREVIEW,
    )  # fmt: skip


def _group(group: DocumentGroup, tokens: int) -> GroupRow:
    return GroupRow(
        group.name,
        group.documents,
        group.tokens,
        group.tokens / tokens if tokens else 0.0,
        tuple(group.languages),
        group.sections.median,
        group.fits[200],
        group.fits[400],
        group.repeats.token_share,
    )


def _tiles(total: DocumentGroup) -> tuple[Tile, ...]:
    counts = {
        "documents": total.documents,
        "tokens": total.tokens,
        "sections": total.sections.count,
        "tokens in the median section": total.sections.median,
        "sentences": total.sentences.count,
        "tables": total.tables.count,
        "lists": total.lists.count,
        "pieces of code": total.code.count,
    }
    if total.empty_documents:
        counts["empty documents"] = total.empty_documents
    tiles = [Tile(short_number(value), name) for name, value in counts.items()]
    return (*tiles, Tile(percent(total.repeats.token_share), "of the tokens repeated"))


def histogram(bins: tuple[SizeBin, ...], noun: str, marks: Mapping[int, float]) -> Chart | None:
    """Columns, one a range of sizes of a `noun`; `marks` are sizes with the share that fits into each."""
    shown = _trimmed(bins, keep=bool(marks))
    if not shown:
        return None
    return chart(
        lambda room: _columns(shown, noun, marks, room),
        f"Sizes of {plural(2, noun)} in tokens",
        ("tokens", plural(2, noun)),
        [(_range(item), thousands(item.count)) for item in shown],
        is_half=bool(marks),
    )


def _columns(
    shown: tuple[SizeBin, ...], noun: str, marks: Mapping[int, float], room: ChartSize
) -> Spec:
    most = max(item.count for item in shown)
    columns = [
        {"from": at + 0.08, "to": at + 0.92, "middle": at + 0.5, "count": item.count and max(item.count, _LEAST * most),
         "label": short_number(item.count, whole=_ROOM),
         "description": f"{counted(item.count, noun)} of {_range(item)} tokens"}
        for at, item in enumerate(shown)
        if item.count
    ]  # fmt: skip
    edges = {item.up_to: at for at, item in enumerate(shown, 1) if item.up_to is not None}
    fits = [
        {"edge": edges[size], "label": percent(share)}
        for size, share in marks.items()
        if size in edges
    ]
    text = {"type": "text", "aria": False}
    above = {"type": "quantitative", "axis": None, "stack": None, "scale": {"domain": [0, most]}}
    return {
        "width": room.width,
        "height": 150,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": columns},
        "encoding": {"x": _sizes(edges, len(shown), marks, room), "y": {"field": "count", **above}},
        "layer": [
            {"mark": {"type": "bar", "color": BAR, "cornerRadiusEnd": 2},
             "encoding": {"x": {"field": "from"}, "x2": {"field": "to"}, "y2": {"datum": 0},
                          "description": {"field": "description"}}},
            {"mark": {**text, "dy": -8, "fontSize": 10 if room.narrow else 11},
             "encoding": {"x": {"field": "middle"}, "text": {"field": "label"}}},
            {"data": {"values": fits}, "mark": {"type": "rule", "stroke": MARK, "strokeDash": [3, 3]},
             "encoding": {"x": {"field": "edge"}, "y": {"value": -18}, "y2": {"value": 150}}},
            {"data": {"values": fits}, "mark": {**text, "color": MARK, "fontWeight": 600},
             "encoding": {"x": {"field": "edge"}, "y": {"value": -27}, "text": {"field": "label"}}},
        ],
    }  # fmt: skip


def _sizes(
    edges: Mapping[int, int], count: int, marks: Mapping[int, float], room: ChartSize
) -> Spec:
    """An axis on which each range is as wide as any other; every edge's number would not fit."""
    spare = _SPARE if room.narrow else ()
    named = {
        at: short_number(size, whole=_ROOM)
        for size, at in edges.items()
        if size in marks or (size in _TICKS and size not in spare and at < count)
    }
    labels = [named.get(at, "") for at in range(count + 1)]
    axis = {
        "values": list(named), "labelExpr": f"{json.dumps(labels)}[datum.value]", "title": None,
        "grid": False, "domain": True, "labelFlush": False,
    }  # fmt: skip
    scale = {"domain": [0, count], "nice": False}
    return {"type": "quantitative", "scale": scale, "axis": axis}


def _trimmed(bins: tuple[SizeBin, ...], *, keep: bool) -> tuple[SizeBin, ...]:
    """Without empty ranges at the far end and, unless the marks are to stay, at the near one."""
    used = [index for index, item in enumerate(bins) if item.count]
    if not used:
        return ()
    return (
        bins[: max(used[-1] + 1, _LEAST_BINS)] if keep else bins[max(used[0] - 1, 0) : used[-1] + 2]
    )


def _range(item: SizeBin) -> str:
    return (
        f"more than {thousands(item.above)}"
        if item.up_to is None
        else f"{thousands(item.above + 1)} to {thousands(item.up_to)}"
    )


def _fit_chart(fits: Mapping[int, float]) -> Chart:
    """One bar a share, its name before it and its number behind."""
    values = {f"into {counted(size, 'token')}": share for size, share in fits.items()}
    return chart(
        lambda room: _bars(values, room),
        "Shares of sections that fit whole",
        ("", "share"),
        [(name, percent(share)) for name, share in values.items()],
        is_half=True,
    )


def _bars(values: Mapping[str, float], room: ChartSize) -> Spec:
    rows: list[Spec] = [
        {"row": row_key(at, name, 20), "share": min(share, 1.0), "label": percent(share),
         "description": f"{name}: {percent(share)}"}
        for at, (name, share) in enumerate(values.items())
    ]  # fmt: skip
    # The numbers stand behind the end of the longest.
    x = {
        "type": "quantitative", "axis": None, "stack": None,
        "scale": {"domain": [0, _END], "nice": False},
    }  # fmt: skip
    bar = {"type": "bar", "height": 10, "cornerRadius": 5}
    return {
        "width": room.width,
        "height": {"step": 34},
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": rows},
        "encoding": {"y": rows_of(row["row"] for row in rows)},
        "layer": [
            {"mark": {**bar, "color": RAIL, "aria": False}, "encoding": {"x": {**x, "datum": 1}}},
            {"mark": {**bar, "color": BAR},
             "encoding": {"x": {**x, "field": "share"}, "description": {"field": "description"}}},
            {"mark": {"type": "text", "align": "right", "fontWeight": 600, "aria": False},
             "encoding": {"x": {**x, "datum": _END}, "text": {"field": "label"}}},
        ],
    }  # fmt: skip
