"""What is shown of a corpus: where to start first, then the figures that this rests on."""

from __future__ import annotations

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
from chunkwise.report.charts import BAR, MARK, RAIL, Chart, Drawing, Panel, chart, rows_panel, span
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
        lambda drawing: _columns(shown, noun, marks, drawing),
        f"Sizes of {plural(2, noun)} in tokens",
        ("tokens", plural(2, noun)),
        [(_range(item), thousands(item.count)) for item in shown],
        is_half=bool(marks),
    )


def _columns(
    shown: tuple[SizeBin, ...], noun: str, marks: Mapping[int, float], drawing: Drawing
) -> None:
    """Each range is as wide as any other; the numbers of all edges would not fit."""
    most = max(item.count for item in shown)
    panel = Panel(
        drawing, 4, 46 if marks else 20, drawing.width - 24, 150, span(0, len(shown)), span(0, most)
    )
    edges = {item.up_to: at for at, item in enumerate(shown, 1) if item.up_to is not None}
    spare = _SPARE if drawing.narrow else ()
    labels = [
        (at, short_number(size, whole=_ROOM))
        for size, at in edges.items()
        if size in marks or (size in _TICKS and size not in spare and at < len(shown))
    ]
    panel.x_axis(labels, base=True)
    for at, item in enumerate(shown):
        if not item.count:
            continue
        left, top = panel.x(at + 0.08), panel.y(max(item.count, _LEAST * most))
        width = panel.x(at + 0.92) - left
        hint = f"{counted(item.count, noun)} of {_range(item)} tokens"
        drawing.bar(left, top, width, panel.bottom - top, BAR, hint)
        label = short_number(item.count, whole=_ROOM)
        size = 10 if drawing.narrow else 11
        drawing.text(left + width / 2, top - 6, label, anchor="middle", size=size)
    for size, share in marks.items():
        if size in edges:
            x = panel.x(edges[size])
            drawing.line(x, panel.top - 18, x, panel.bottom, MARK, dash="3,3")
            drawing.text(x, panel.top - 24, percent(share), anchor="middle", fill=MARK, bold=True)


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
        lambda drawing: _bars(values, drawing),
        "Shares of sections that fit whole",
        ("", "share"),
        [(name, percent(share)) for name, share in values.items()],
        is_half=True,
    )


def _bars(values: Mapping[str, float], drawing: Drawing) -> None:
    # The numbers stand behind the end of the longest.
    panel = rows_panel(drawing, list(values), 20, 34, span(0, _END))
    for at, (name, share) in enumerate(values.items()):
        middle = panel.y(-at - 0.5)
        full = panel.x(1) - panel.left
        drawing.bar(panel.left, middle - 5, full, 10, RAIL, radius=5)
        hint = f"{name}: {percent(share)}"
        drawing.bar(panel.left, middle - 5, full * min(share, 1.0), 10, BAR, hint, radius=5)
        drawing.text(panel.x(_END), middle + 4, percent(share), anchor="end", bold=True)
