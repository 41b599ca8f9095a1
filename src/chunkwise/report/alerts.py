"""Alerts in the form of each way that tells them: lines of JSON, a webhook, Slack, a mail."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from chunkwise.records.typed import json_text
from chunkwise.report.page import alert_mail
from chunkwise.report.plain_text import one_line
from chunkwise.report.views.watch import WatchView, drift_lines, subject
from chunkwise.tracking.notify import AlertMessage

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
