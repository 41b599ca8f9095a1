"""`chunkwise monitor alerts` and `monitor ack`: the alerts that stand, and those that somebody knows of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from chunkwise.base.schema import Count, Option, argument
from chunkwise.base.wording import points
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.keep_run import HistoryOption
from chunkwise.cli.options import Json
from chunkwise.cli.report_options import JsonOrReport
from chunkwise.cli.streams import print_json, say, shown_place

if TYPE_CHECKING:
    from chunkwise.tracking.history import History


class AckOptions(HistoryOption):
    """The options of `chunkwise monitor ack`."""

    numbers: Annotated[tuple[Count, ...], argument("ALERT...")]
    as_json: Json = False


@dataclass_command("ack", AckOptions)
def ack(options: AckOptions) -> None:
    """Keep alerts quiet until the fall is worse. ALERT is a number, as `chunkwise monitor alerts` lists them.

    Examples:
      chunkwise monitor ack 3
      chunkwise monitor ack 3 4 5
    """
    history = options.opened()
    known = history.acknowledge(*options.numbers)
    if options.as_json:
        print_json({"acknowledged": [alert.to_dict() for alert in known]})
        return
    for alert in known:
        say(
            f"alert {alert.number} is acknowledged: {alert.metric} stays quiet until it is lower by "
            f"another {points(alert.figure.tolerance)}; `watch --tolerance` sets how many"
        )


class AlertsOptions(HistoryOption, JsonOrReport):
    """The options of `chunkwise monitor alerts`."""

    number: Annotated[Count | None, argument("[ALERT]")] = None
    over: Annotated[bool, Option(
        "Also show closed alerts", long_flag="--all", common=True
    )] = False  # fmt: skip


@dataclass_command("alerts", AlertsOptions)
def alerts(options: AlertsOptions) -> None:
    """List the alerts that stand: what fell, since which run, acknowledged or not; or show one whole, by its number.

    Examples:
      chunkwise monitor alerts
      chunkwise monitor alerts 3
      chunkwise monitor alerts --all --json
    """
    from chunkwise.report.watch_report import alert_reports, alerts_report

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
        say(f"no alert is open in {shown_place(history.place)}")
