"""Alerts as JSON lines, as the JSON of a webhook and as text; or as templates render them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.records.json import plain
from chunkwise.report.report import Report
from chunkwise.report.sanitize import one_line
from chunkwise.report.to_terminal import terminal_text
from chunkwise.report.watch_report import (
    WatchedRunReport,
    alert_reports,
    alerts_subject,
    drift_parts,
)
from chunkwise.tracking.notify import AlertMessage

if TYPE_CHECKING:
    from jinja2 import Template

_WIDTH = 100


def alert_message(watched: WatchedRunReport) -> AlertMessage:
    """The alerts of a run for every kind of channel."""
    outcome, alerts = watched.outcome, watched.outcome.alerts
    head = alerts_subject(alerts)
    reports = alert_reports(alerts, watched.texts, outcome.option)
    messages = [terminal_text(report, _WIDTH, verbose=True) for report in reports]
    drift = Report(head, tuple(drift_parts(watched.corpus, watched.live)))
    text = "\n\n".join(
        [*messages, *([terminal_text(drift, _WIDTH, verbose=True)] if drift.parts else [])]
    )
    run = {
        "number": outcome.run.number,
        "when": outcome.run.when,
        "label": one_line(outcome.run.label, 300),
        "reference": outcome.watched.reference,
    }
    rows = [
        {"kind": "chunkwise alert", "version": 1, "run": run, "alert": alert.to_dict(), "text": words}
        for alert, words in zip(alerts, messages, strict=True)
    ]  # fmt: skip
    payload: dict[str, Any] = {
        "kind": "chunkwise alerts", "version": 1, "subject": head, "text": text, "run": run,
        "alerts": [alert.to_dict() for alert in alerts],
        "drift": plain({"corpus": watched.corpus, "questions": watched.live}),
    }  # fmt: skip
    return AlertMessage(head, text, tuple(rows), payload)


_TEMPLATED = ("file", "webhook", "text")


class AlertTemplates:
    """Custom forms of alerts: Jinja2 templates that are given `subject`, `text`, `run`, `alerts` and `drift`.

    They render the JSON of a webhook, the JSON line per `alert` of a file, and the text that services send.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._templates: dict[str, Template] = {}
        for word in words:
            form, _, name = word.partition("=")
            if form not in _TEMPLATED or not name:
                raise InvalidParameter(
                    f"--alert-template: {word!r} is not FORM=FILE; allowed forms: "
                    f"{', '.join(_TEMPLATED)}"
                )
            self._templates[form] = _template(Path(name))

    def apply(self, message: AlertMessage) -> AlertMessage:
        """The message in these forms; raises if a template cannot be rendered, or renders no JSON."""
        values = {**message.payload, "subject": message.subject, "text": message.text}
        for form, template in self._templates.items():
            if form == "text":
                message = replace(message, text=_render(form, template, values))
            elif form == "file":
                rows = tuple(
                    _render_json(form, template, {**values, **row}) for row in message.rows
                )
                message = replace(message, rows=rows)
            else:
                message = replace(message, payload=_render_json(form, template, values))
        return message


def _template(file: Path) -> Template:
    from jinja2 import StrictUndefined, TemplateSyntaxError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    try:
        text = file.read_text("utf-8")
        return ImmutableSandboxedEnvironment(undefined=StrictUndefined).from_string(text)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ChunkwiseError(f"--alert-template: {file} cannot be read: {why}") from None
    except TemplateSyntaxError as error:
        raise ChunkwiseError(
            f"--alert-template: {file}, line {error.lineno}: {error.message}"
        ) from None


def _render(form: str, template: Template, values: dict[str, Any]) -> str:
    try:
        return template.render(values)
    except Exception as error:  # anything that a template may ask for
        raise ChunkwiseError(f"the template for {form} cannot be rendered: {error}") from None


def _render_json(form: str, template: Template, values: dict[str, Any]) -> dict[str, Any]:
    try:
        value = json.loads(_render(form, template, values))
    except ValueError as error:
        raise ChunkwiseError(
            f"the template for {form} renders no JSON ({error}); write values as {{{{ "
            "text|tojson }}}}"
        ) from None
    if not isinstance(value, dict):
        raise ChunkwiseError(f"the template for {form} renders no JSON object")
    return value
