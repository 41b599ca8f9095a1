"""`chunkwise monitor alerts` and `monitor ack`: the alerts that stand, and those that somebody knows of."""

from __future__ import annotations

from typing import Annotated

from chunkwise.base.schema import Count, Option, argument
from chunkwise.base.wording import points
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.keep_run import HistoryOption
from chunkwise.cli.options import JsonOption
from chunkwise.cli.report_options import JsonOrReport
from chunkwise.cli.streams import say, shown_place
from chunkwise.report.watch_report import alert_reports, alerts_report
from chunkwise.tracking.history import History


class AckOptions(HistoryOption, JsonOption):
    """The options of `chunkwise monitor ack`."""

    numbers: Annotated[tuple[Count, ...], argument("ALERT...")]


@dataclass_command("ack", AckOptions)
def ack(options: AckOptions) -> None:
    """Acknowledge alerts: stay quiet until the metric falls further.

    ALERT is a number listed by `chunkwise monitor alerts`.

    Examples:
      chunkwise monitor ack 3
      chunkwise monitor ack 3 4 5
    """
    known = options.opened().acknowledge(*options.numbers)
    options.answer(
        {"acknowledged": [alert.to_dict() for alert in known]},
        *(
            f"alert {alert.number} acknowledged: no new alert until {alert.metric} falls "
            f"another {points(alert.figure.tolerance)} (set by `monitor --tolerance`)"
            for alert in known
        ),
    )


class AlertsOptions(HistoryOption, JsonOrReport):
    """The options of `chunkwise monitor alerts`."""

    number: Annotated[Count | None, argument("[ALERT]")] = None
    over: Annotated[bool, Option(
        "Also show closed alerts", long_flag="--all", common=True
    )] = False  # fmt: skip


@dataclass_command("alerts", AlertsOptions)
def alerts(options: AlertsOptions) -> None:
    """List open alerts, or show one by its number.

    Examples:
      chunkwise monitor alerts
      chunkwise monitor alerts 3
      chunkwise monitor alerts --all --json
    """

    history: History = options.opened()
    if options.number is not None:
        alert = history.alert(options.number)
        options.print_result(
            lambda: alert_reports([alert], option=history.option)[0], lambda: alert.to_dict()
        )
    elif (standing := history.alerts(over=options.over)) or options.as_json:
        options.print_result(
            lambda: alerts_report(standing, history.place),
            lambda: {"alerts": [alert.to_dict() for alert in standing]},
        )
    else:
        say(f"no open alerts in {shown_place(history.place)}")
