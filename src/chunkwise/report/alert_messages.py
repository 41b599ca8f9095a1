"""Alerts in the form of each way that tells them: lines of JSON, a webhook, Slack, a mail; or as a template has it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.records.json import json_text
from chunkwise.report.page import alert_mail
from chunkwise.report.sanitize import one_line
from chunkwise.report.views.watch import WatchView, drift_lines, subject
from chunkwise.tracking.notify import AlertMessage

if TYPE_CHECKING:
    from jinja2 import Template

_SLACK_MOST = 2900
"""Characters of a block; Slack takes 3,000."""


def alert_message(view: WatchView, label: str) -> AlertMessage:
    """The alerts of a run as every way tells them; what documents and questions say stays text in all of them."""
    head = subject(view.alerts)
    drift = drift_lines(view.corpus, view.live)
    text = "\n\n".join("\n".join(lines) for lines in (*view.lines, drift) if lines)
    run = {
        "number": view.run,
        "when": view.when,
        "label": one_line(label, 300),
        "reference": view.reference,
    }
    rows = [
        {"kind": "chunkwise alert", "version": 1, "run": run, "alert": alert.to_dict(), "text": "\n".join(lines)}
        for alert, lines in zip(view.alerts, view.lines, strict=True)
    ]  # fmt: skip
    webhook: dict[str, Any] = {
        "kind": "chunkwise alerts", "version": 1, "subject": head, "text": text, "run": run,
        "alerts": [alert.to_dict() for alert in view.alerts],
        "drift": json.loads(json_text({"corpus": view.corpus, "questions": view.live})),
    }  # fmt: skip
    html = alert_mail(view.lines, head, drift)
    return AlertMessage(head, text, html, tuple(rows), webhook, _slack(head, view.lines, drift))


def _slack(head: str, alerts: Sequence[Sequence[str]], drift: Sequence[str]) -> dict[str, Any]:
    """Blocks of plain text: no markup, no mention and no link of a document is obeyed there."""
    parts = ["\n".join(lines)[:_SLACK_MOST] for lines in (*alerts, drift) if lines]
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": head[:150], "emoji": False}}
    ]
    blocks += [
        {"type": "section", "text": {"type": "plain_text", "text": part, "emoji": False}}
        for part in parts[:40]
    ]
    safe = head.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": safe, "blocks": blocks}


_TEMPLATED = ("file", "webhook", "slack", "email")


class AlertTemplates:
    """Forms of a team's own, by way: Jinja2 templates that are given `subject`, `text`, `run`, `alerts` and `drift`.

    What comes out is JSON for a webhook and Slack, a line of JSON an `alert` for a file, and the text of a mail.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._templates: dict[str, Template] = {}
        for word in words:
            way, _, name = word.partition("=")
            if way not in _TEMPLATED or not name:
                raise InvalidParameter(
                    f"--alert-template: {word!r} names no way and file; allowed: {', '.join(_TEMPLATED)}, as in "
                    "slack=alert.json.j2"
                )
            self._templates[way] = _template(Path(name))

    def applied(self, message: AlertMessage) -> AlertMessage:
        """The message in these forms; raises where a template cannot be filled, or what it gives is no JSON."""
        values = {**message.webhook, "subject": message.subject, "text": message.text}
        for way, template in self._templates.items():
            if way == "email":
                message = replace(message, text=_filled(way, template, values), html="")
            elif way == "file":
                rows = tuple(_json(way, template, {**values, **row}) for row in message.rows)
                message = replace(message, rows=rows)
            elif way == "slack":
                message = replace(message, slack=_json(way, template, values))
            else:
                message = replace(message, webhook=_json(way, template, values))
        return message


def _template(file: Path) -> Template:
    from jinja2 import StrictUndefined, TemplateSyntaxError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    try:
        text = file.read_text("utf-8")
        return ImmutableSandboxedEnvironment(undefined=StrictUndefined).from_string(text)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "no UTF-8"
        raise ChunkwiseError(f"--alert-template: {file} cannot be read: {why}") from None
    except TemplateSyntaxError as error:
        raise ChunkwiseError(
            f"--alert-template: {file}, line {error.lineno}: {error.message}"
        ) from None


def _filled(way: str, template: Template, values: dict[str, Any]) -> str:
    try:
        return template.render(values)
    except Exception as error:  # anything that a template may ask for
        raise ChunkwiseError(f"the template for {way} cannot be filled: {error}") from None


def _json(way: str, template: Template, values: dict[str, Any]) -> dict[str, Any]:
    try:
        found = json.loads(_filled(way, template, values))
    except ValueError as error:
        raise ChunkwiseError(
            f"the template for {way} gives no JSON ({error}); write values as {{{{ text|tojson }}}}"
        ) from None
    if not isinstance(found, dict):
        raise ChunkwiseError(f"the template for {way} gives no JSON object")
    return found
