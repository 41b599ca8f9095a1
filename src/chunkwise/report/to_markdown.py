"""A report as Markdown, for comments on pull requests, for documents, and for language models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chunkwise.report.draw_chart import chart_table
from chunkwise.report.format_values import format_value, sign_of
from chunkwise.report.report import (
    Chart,
    Code,
    Column,
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
from chunkwise.report.sanitize import clean_lines, harmless_text, one_line

_PLAIN = frozenset(" ,?'+=%/().:;-–−▲≈▼●○")
"""Signs that Markdown leaves alone inside a line."""


def to_markdown(report: Report) -> str:
    """All of the report."""
    lines = [f"# {_text(report.title)}", ""]
    if report.subtitle:
        lines += [_text(report.subtitle), ""]
    lines += _parts(report.parts, 2)
    return "\n".join(lines).rstrip() + "\n"


def _parts(parts: Iterable[ReportPart], level: int) -> Iterator[str]:
    for part in parts:
        yield from _part(part, level)


def _part(part: ReportPart, level: int) -> Iterator[str]:
    match part:
        case Headline():
            yield from (f"**{_text(f'{sign_of(part.level)} {part.text}'.strip())}**", "")
        case Note():
            yield from (f"> {_text(part.text)}" if part.is_warning else _text(part.text), "")
        case KeyFigures():
            for figure in part.figures:
                note = f" ({_text(figure.note)})" if figure.note else ""
                yield f"- {_text(figure.title)}: **{_text(format_value(figure.value, figure.kind))}**{note}"
            yield ""
        case ValueTable():
            yield from _table(part)
        case Chart():
            yield from _table(chart_table(part))
        case Excerpt():
            head = " · ".join(_text(each) for each in (part.title, part.place) if each)
            text = "".join(
                f"**{_lines(run.text)}**" if run.mark else _lines(run.text) for run in part.runs
            )
            yield from (
                *([f"{head}"] if head else []),
                *(f"> {line}" for line in text.split("\n")),
                "",
            )
        case Code():
            fence = "`" * max(3, 1 + _longest_run(part.text))
            yield from (
                *([f"{_text(part.title)}:", ""] if part.title else []),
                fence,
                harmless_text(part.text).rstrip("\n"),
                fence,
                "",
            )
        case Section(is_folded=True):
            yield from (f"<details><summary>{_text(part.title)}</summary>", "")
            yield from _parts(part.parts, level + 1)
            yield from ("</details>", "")
        case Section():
            yield from (f"{'#' * min(level, 6)} {_text(part.title)}", "")
            if part.lead:
                yield from (_text(part.lead), "")
            yield from _parts(part.parts, level + 1)
        case Next():
            yield from (f"Next: <code>{_text(part.command)}</code>", "")


def _table(table: ValueTable) -> Iterator[str]:
    if table.title:
        yield from (f"**{_text(table.title)}**", "")
    yield f"| {' | '.join(_text(column.title) for column in table.columns)} |"
    yield f"|{'|'.join('---' if column.kind in ('text', 'code') else '---:' for column in table.columns)}|"
    for row in table.rows:
        yield f"| {' | '.join(_cell(*pair) for pair in zip(row, table.columns, strict=True))} |"
    yield ""


def _cell(value: Value, column: Column) -> str:
    text = _text(format_value(value, column.kind))
    return f"<code>{text}</code>" if column.kind == "code" and text else text


def _text(text: str) -> str:
    """On one line, with nothing in it that Markdown would obey, addresses included."""
    escaped = "".join(_escaped(sign) for sign in one_line(text))
    return escaped.replace("://", "&#58;//").replace("www.", "www&#46;")


def _lines(text: str) -> str:
    return "\n".join(map(_text, clean_lines(text).split("\n")))


def _escaped(sign: str) -> str:
    return sign if sign.isalnum() or sign in _PLAIN or ord(sign) > 127 else f"&#{ord(sign)};"


def _longest_run(text: str) -> int:
    longest = length = 0
    for sign in text:
        length = length + 1 if sign == "`" else 0
        longest = max(longest, length)
    return longest
