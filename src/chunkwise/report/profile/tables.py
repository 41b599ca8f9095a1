"""The tables and lists of the profile page."""

from __future__ import annotations

from html import escape

from chunkwise.base.wording import counted, percent, short_number
from chunkwise.profiling.results import DocumentGroup, PassagePlace, Profile
from chunkwise.profiling.tally import PREVIEW
from chunkwise.report.plain_text import one_line
from chunkwise.report.profile.charts import inline_bar

_MOST_ROWS = 40


def groups_table(profile: Profile) -> str:
    """A row a folder, then a row a format."""
    head = "".join(
        f"<th>{name}</th>"
        for name in (
            "",
            "documents",
            "tokens",
            "",
            "languages",
            "median section",
            "fit 200",
            "fit 400",
            "repeated",
        )
    )
    rows = _group_rows("Folders", profile.folders, profile.total.tokens)
    rows += _group_rows("Formats", profile.formats, profile.total.tokens)
    return f'<div class="card scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _group_rows(name: str, groups: tuple[DocumentGroup, ...], tokens: int) -> str:
    rows = [f'<tr class="head"><td colspan="9">{name}</td></tr>']
    for group in groups[:_MOST_ROWS]:
        languages = ", ".join(escape(one_line(name, 24)) for name in list(group.languages)[:3])
        more = f" +{len(group.languages) - 3}" if len(group.languages) > 3 else ""
        label = "top level" if group.name == "." else one_line(group.name, 80)
        cells = (
            f"<bdi>{escape(label)}</bdi>", f"{group.documents:,}", short_number(group.tokens),
            inline_bar(group.tokens / tokens if tokens else 0), f"{languages}{more}",
            f"{group.sections.median:,}", percent(group.fits[200]), percent(group.fits[400]),
            percent(group.repeats.token_share),
        )  # fmt: skip
        rows.append(f"<tr>{''.join(_cell(index, cell) for index, cell in enumerate(cells))}</tr>")
    if len(groups) > _MOST_ROWS:
        rows.append(f'<tr><td colspan="9">and {len(groups) - _MOST_ROWS:,} more</td></tr>')
    return "".join(rows)


def _cell(index: int, content: str) -> str:
    return f'<td class="bar">{content}</td>' if index == 3 else f"<td>{content}</td>"


def sizes_table(total: DocumentGroup) -> str:
    """Median, p95 and largest of every kind of block."""
    kinds = {
        "Sections": total.sections, "Sentences": total.sentences, "Paragraphs": total.paragraphs,
        "Lists": total.lists, "Tables": total.tables, "Code": total.code,
    }  # fmt: skip
    head = "".join(
        f"<th>{name}</th>"
        for name in ("", "count", "mean", "median", "p95", "largest", "share of tokens")
    )
    rows = "".join(
        f"<tr><td>{name}</td><td>{sizes.count:,}</td><td>{sizes.mean:,.0f}</td><td>{sizes.median:,}</td>"
        f"<td>{sizes.p95:,}</td><td>{sizes.longest:,}</td><td>{percent(total.share(sizes))}</td></tr>"
        if sizes.count
        else f'<tr><td>{name}</td><td colspan="6" class="none">none</td></tr>'
        for name, sizes in kinds.items()
    )
    return (
        f'<div class="card scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        '<p class="hint">Sizes in tokens; p95: 95 % are no larger.</p>'
    )


def oversized(total: DocumentGroup) -> str:
    """How many sentences are too long for small chunks, and the longest."""
    found = total.oversized
    if not found.over_100:
        return '<div class="card"><p class="none">No sentence is longer than 100 tokens.</p></div>'
    rows = "".join(
        f'<li><span class="badge">{place.tokens:,} tokens</span>{_quoted(place.text)}{_where((place,))}</li>'
        for place in found.examples
    )
    return (
        f'<div class="card"><p>{counted(found.over_100, "sentence")} ({percent(found.share_over_100)}) of more than'
        f" 100 tokens, {found.over_200:,} ({percent(found.share_over_200)}) of more than 200. The longest:</p>"
        f'<ol class="places">{rows}</ol></div>'
    )


def repeats(total: DocumentGroup) -> str:
    """What stands in the corpus more than once."""
    found = total.repeats
    partly = (
        ""
        if found.complete
        else " The corpus has more passages than are compared: the first ones were."
    )
    if not found.passages:
        return f'<div class="card"><p class="none">No passage of eight words or more occurs twice.{partly}</p></div>'
    rows = "".join(
        f'<li><span class="badge">{repeat.count:,} ×</span>{_quoted(repeat.text)}{_where(repeat.places)}</li>'
        for repeat in found.examples
    )
    return (
        f'<div class="card"><p>{counted(found.passages, "passage")} of eight words or more, {found.copies:,} copies,'
        f" {percent(found.token_share)} of the tokens.{partly}</p>"
        f'<ol class="places">{rows}</ol></div>'
    )


def _quoted(text: str) -> str:
    if not text:
        return "<i>text not kept</i>"
    return f"<bdi>{escape(one_line(text))}</bdi>{'…' if len(text) >= PREVIEW else ''}"


def _where(places: tuple[PassagePlace, ...]) -> str:
    starts: dict[tuple[str, str], list[str]] = {}
    for place in places:
        key = one_line(place.document, 100), one_line(place.section, 100)
        starts.setdefault(key, []).append(f"{place.start:,}")
    told = " · ".join(
        f"<bdi>{escape(document)}</bdi> at {' and '.join(offsets)}"
        + (f", <bdi>{escape(section)}</bdi>" if section else "")
        for (document, section), offsets in starts.items()
    )
    return f'<span class="where">{told}</span>'
