"""A report as HTML: a page that needs nothing else, or one element for a notebook.

`Markup.format` escapes everything that is put into it, and every text is first put on one line, or on its lines,
without control characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatchmethod

from markupsafe import Markup

from chunkwise.base.wording import format_number
from chunkwise.report.draw_chart import chart_table, draw_chart
from chunkwise.report.format_values import NOTHING, format_parts, sign_of
from chunkwise.report.page import OWN, code_lines, rendered, scoped_style
from chunkwise.report.report import (
    Badge,
    Chart,
    Code,
    Column,
    Estimate,
    Excerpt,
    Headline,
    KeyFigures,
    Next,
    Note,
    Report,
    ReportPart,
    Section,
    Value,
    ValueTable,
)
from chunkwise.report.sanitize import clean_lines, one_line

_TOOLS_FROM = 12
"""Rows from which on a table can be searched."""
_FRAGMENT_STYLES = ("page.css", "charts.css", "report.css")


def report_page(report: Report) -> str:
    """A whole page; nothing is fetched, and it can be read without its script."""
    return render_in_frame(report, OWN)


def render_in_frame(report: Report, package: str, **values: object) -> str:
    """The page inside the frame (`base.html.j2`) of a package."""
    writer = _Writer()
    body = writer.parts(report.parts, 2)
    return rendered(
        "report.html.j2", package, report=report, body=body, sections=writer.sections, **values
    )


def report_fragment(report: Report) -> str:
    """One element for a notebook, without what is detail: its style reaches nothing outside of it, nothing runs."""
    style = Markup(scoped_style("chunkwise-report", *_FRAGMENT_STYLES))  # our own files
    body = _Writer(is_brief=True).parts(report.parts, 3)
    page = Markup('<div class="chunkwise-report"><style>{}</style><h2>{}</h2>{}</div>')
    return str(page.format(style, _text(report.title), body))


class _Writer:
    """Writes the parts of one page, and remembers its sections."""

    def __init__(self, *, is_brief: bool = False) -> None:
        self.sections: list[tuple[str, str]] = []
        self._is_brief = is_brief
        self._tables = 0

    def parts(self, parts: Iterable[ReportPart], level: int) -> Markup:
        shown = (part for part in parts if not (self._is_brief and getattr(part, "detail", False)))
        return Markup("\n").join(self.part(part, level) for part in shown)

    @singledispatchmethod
    def part(self, part: ReportPart, level: int) -> Markup:
        raise TypeError(f"a report has no part {type(part).__name__}")

    @part.register
    def _verdict(self, part: Headline, level: int) -> Markup:
        sign = _sign(part.level)
        return Markup('<p class="verdict {}">{}<bdi>{}</bdi></p>').format(
            part.level, sign, _text(part.text)
        )

    @part.register
    def _note(self, part: Note, level: int) -> Markup:
        style = "warning" if part.is_warning else "hint"
        return Markup('<p class="{}"><bdi>{}</bdi></p>').format(style, _text(part.text))

    @part.register
    def _next(self, part: Next, level: int) -> Markup:
        return Markup('<p class="next">Next <code><bdi>{}</bdi></code></p>').format(
            _text(part.command)
        )

    @part.register
    def _figures(self, part: KeyFigures, level: int) -> Markup:
        tile = Markup(
            '<div class="card tile"><b>{}</b><span><bdi>{}</bdi></span><small><bdi>{}</bdi></small></div>'
        )
        tiles = [
            tile.format(
                _value(figure.value, Column("", figure.kind)),
                _text(figure.title),
                _text(figure.note),
            )
            for figure in part.figures
        ]
        return Markup('<div class="tiles">{}</div>').format(Markup("").join(tiles))

    @part.register
    def _code(self, part: Code, level: int) -> Markup:
        head = _heading(part.title, level)
        return Markup(
            '<div class="card code">{}<pre tabindex="0"><code>{}</code></pre></div>'
        ).format(head, code_lines(part.text))

    @part.register
    def _passage(self, part: Excerpt, level: int) -> Markup:
        head = Markup("")
        if part.title or part.place:
            head = Markup('<p class="where"><b><bdi>{}</bdi></b> <bdi>{}</bdi></p>').format(
                _text(part.title), _text(part.place)
            )
        runs = [
            Markup('<mark class="{}">{}</mark>').format(run.mark, clean_lines(run.text))
            if run.mark
            else Markup("{}").format(clean_lines(run.text))
            for run in part.runs
        ]
        page = Markup('<div class="passage {}">{}<blockquote><bdi>{}</bdi></blockquote></div>')
        return page.format(part.level, head, Markup("").join(runs))

    @part.register
    def _chart(self, part: Chart, level: int) -> Markup:
        page = Markup(
            '<div class="card">{}{}<details class="numbers"><summary>The numbers</summary>{}</details></div>'
        )
        numbers = self._grid(chart_table(part), "", "", level)
        return page.format(
            _heading(part.title, level, "titled"), Markup(draw_chart(part)), numbers
        )  # escaped where it is drawn

    @part.register
    def _section(self, part: Section, level: int) -> Markup:
        lead = (
            Markup('<p class="lead"><bdi>{}</bdi></p>').format(_text(part.lead))
            if part.lead
            else ""
        )
        # Without a title there is no heading that others are below.
        inside = level + 1 if part.title else level
        if part.is_beside:
            columns = [self.parts([one], inside) for one in part.parts]
            inner = Markup('<div class="two">{}</div>').format(
                Markup("").join(Markup("<div>{}</div>").format(column) for column in columns)
            )
        else:
            inner = Markup("<div>{}</div>").format(self.parts(part.parts, inside))
        if part.is_folded:
            page = Markup('<details class="more"><summary><bdi>{}</bdi></summary>{}{}</details>')
            return page.format(_text(part.title), lead, inner)
        anchor = ""
        if level == 2:
            anchor = f"part-{len(self.sections) + 1}"
            self.sections.append((anchor, part.title))
        head = _heading(part.title, level)
        named = Markup(' id="{}"').format(anchor) if anchor else ""
        return Markup("<section{}>{}{}{}</section>").format(named, head, lead, inner)

    @part.register
    def _table(self, part: ValueTable, level: int) -> Markup:
        head = _heading(part.title, level, "titled")
        inside = level + 1 if part.title else level
        if not part.noun or len(part.rows) < _TOOLS_FROM or self._is_brief:
            rows = (
                ValueTable(part.columns, part.rows[: part.brief_rows], details=())
                if self._is_brief
                else part
            )
            return Markup('{}<div class="card wide-table">{}</div>').format(
                head, self._grid(rows, "", part.title, inside)
            )
        self._tables += 1
        name = f"table-{self._tables}"
        tools = Markup(
            '<form class="tools" data-for="{}" data-noun="{}" data-rows="20" hidden>'
            '<label class="wide">Search <input type="search" autocomplete="off"></label>{}'
            '<output aria-live="polite"></output></form>'
        ).format(name, part.noun, Markup("").join(_filters(part)))
        more = Markup('<p class="pages"><button type="button" hidden></button></p>')
        page = Markup('{}{}<div class="card wide-table">{}{}</div>')
        return page.format(
            head, tools, self._grid(part, name, part.title or part.noun, inside), more
        )

    def _grid(self, table: ValueTable, name: str, caption: str, level: int) -> Markup:
        heads = [
            Markup('<th role="columnheader" scope="col" class="{}"{}>{}</th>').format(
                _side(column),
                Markup(' data-sort="c{}"').format(at) if name else "",
                _text(column.title),
            )
            for at, column in enumerate(table.columns)
        ]
        head = Markup('<thead role="rowgroup"><tr role="row">{}</tr></thead>').format(
            Markup("").join(heads)
        )
        if not any(column.title for column in table.columns):
            head = Markup("")
        opener = _opener(table) if table.details else -1
        numbers = _filter_numbers(table) if name else {}
        rows = []
        for at, row in enumerate(table.rows):
            cells = self._cells(
                table, row, table.details[at] if table.details else (), opener, level
            )
            data = Markup("").join(_row_data(table, row, numbers)) if name else ""
            rows.append(Markup('<tr role="row"{}>{}</tr>').format(data, cells))
        page = Markup(
            '<table class="report-table" role="table"{}>{}{}<tbody role="rowgroup">{}</tbody></table>'
        )
        return page.format(
            Markup(' id="{}"').format(name) if name else "",
            Markup("<caption>{}</caption>").format(_text(caption)) if caption else "",
            head,
            Markup("\n").join(rows),
        )

    def _cells(
        self,
        table: ValueTable,
        row: Sequence[Value],
        details: Sequence[ReportPart],
        opener: int,
        level: int,
    ) -> Markup:
        cells = []
        for place, (value, column) in enumerate(zip(row, table.columns, strict=True)):
            shown = _value(value, column)
            if place == opener and details:
                page = Markup("<details><summary data-sorted>{}</summary>{}</details>")
                shown = page.format(shown, self.parts(details, level))
            tag, role = ("td", 'role="cell"') if place else ("th", 'role="rowheader" scope="row"')
            style = f"{_side(column)} empty" if value in ("", ()) else _side(column)
            cell = Markup('<{0} {1} class="{2}" data-label="{3}" data-found>{4}</{0}>')
            cells.append(cell.format(Markup(tag), Markup(role), style, _text(column.title), shown))
        return Markup("").join(cells)


def _opener(table: ValueTable) -> int:
    """The column that opens the details of a row: the one with the most words."""
    words = [at for at, column in enumerate(table.columns) if column.kind == "text"]
    lengths = {at: sum(len(str(row[at])) for row in table.rows) for at in words}
    return max(lengths, key=lambda at: lengths[at], default=0)


FilterNumbers = dict[int, dict[str, int]]
"""By column: the number of each value that rows can be filtered by."""


def _filter_numbers(table: ValueTable) -> FilterNumbers:
    numbers = {}
    for at, column in enumerate(table.columns):
        if column.is_filter:
            options = sorted({tag for row in table.rows for tag in _tags(row[at])})
            numbers[at] = {option: number for number, option in enumerate(options)}
    return numbers


def _row_data(table: ValueTable, row: Sequence[Value], numbers: FilterNumbers) -> Iterator[Markup]:
    """Numbers to sort by, and the numbers of the values to filter by."""
    for at, (value, column) in enumerate(zip(row, table.columns, strict=True)):
        number = value.value if isinstance(value, Estimate) else value
        if column.kind not in ("text", "code"):
            is_number = isinstance(number, int | float)
            yield Markup(' data-c{}="{}"').format(at, f"{number:.6g}" if is_number else "")
        if at in numbers:
            chosen = " ".join(str(numbers[at][tag]) for tag in _tags(value))
            yield Markup(' data-f{}="{}"').format(at, chosen)


def _filters(table: ValueTable) -> Iterator[Markup]:
    for at, options in _filter_numbers(table).items():
        if len(options) > 1:
            choices = [
                Markup('<option value="{}">{}</option>').format(
                    number, one_line(option, 60) or "(none)"
                )
                for option, number in options.items()
            ]
            page = Markup(
                '<label>{} <select data-filter="f{}"><option value="">all</option>{}</select></label>'
            )
            yield page.format(_text(table.columns[at].title), at, Markup("").join(choices))


def _tags(value: Value) -> tuple[str, ...]:
    if isinstance(value, tuple):
        return value
    return (value.text if isinstance(value, Badge) else "" if value is None else str(value),)


def _value(value: Value, column: Column) -> Markup:
    match value:
        case None:
            return Markup('<span class="none">{}</span>').format(NOTHING)
        case Badge():
            return Markup('<span class="badge {}">{}<bdi>{}</bdi></span>').format(
                value.level, _sign(value.level), _text(value.text)
            )
        case Estimate():
            mean, ends = format_parts(value, column.kind)
            small = Markup(" <small>{}</small>").format(ends) if ends else ""
            text = Markup("<b>{}</b>{}").format(mean, small)
            return _with_bar(text, value) if column.is_drawn else text
        case tuple():
            return Markup(" ").join(
                Markup('<span class="tag"><bdi>{}</bdi></span>').format(_text(tag)) for tag in value
            )
        case str():
            page = Markup(
                "<code><bdi>{}</bdi></code>" if column.kind == "code" else "<bdi>{}</bdi>"
            )
            return page.format(_text(value))
        case _:
            text = Markup("{}").format(format_number(value, column.kind))
            return _with_bar(text, Estimate(value)) if column.is_drawn else text


def _with_bar(text: Markup, estimate: Estimate) -> Markup:
    """Beside the number a bar from 0 to 1, its interval drawn over the end."""
    if estimate.value is None:
        return text
    whisker = Markup("")
    if estimate.low is not None and estimate.high is not None:
        line = Markup('<line class="whisker" x1="{}" x2="{}" y1="7" y2="7"/>')
        whisker = line.format(_edge(estimate.low), _edge(estimate.high))
    return Markup(
        '<div class="bar"><span>{}</span><svg class="line" height="14" aria-hidden="true">'
        '<rect class="rail" width="100%" y="2" height="10" rx="4"/>'
        '<rect class="column" width="{}" y="2" height="10" rx="4"/>{}</svg></div>'
    ).format(text, _edge(estimate.value), whisker)


def _edge(share: float) -> str:
    return f"{100 * min(max(share, 0.0), 1.0):.4g}%"


def _side(column: Column) -> str:
    side = "words" if column.kind in ("text", "code") else "numbers"
    return f"{side} drawn" if column.is_drawn else side


def _sign(level: str) -> Markup:
    return (
        Markup('<span aria-hidden="true">{}</span> ').format(sign_of(level))
        if level
        else Markup("")
    )


def _heading(title: str, level: int, style: str = "") -> Markup:
    if not title:
        return Markup("")
    page = Markup('<h{0} class="{1}"><bdi>{2}</bdi></h{0}>')
    return page.format(min(level, 6), style, _text(title))


def _text(text: str) -> str:
    return one_line(text)
