"""`chunkwise list metrics`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

from chunkwise.base.schema import Option, argument
from chunkwise.base.wording import as_set
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.report_options import JsonOrReport
from chunkwise.report.report import Code, Note, Report, ReportPart, Section

if TYPE_CHECKING:
    from chunkwise.metrics.metric import Metric


_AT = {"none": "", "hits": "@k", "hits or tokens": "@k or @Nt"}


class MetricsOptions(JsonOrReport):
    """The options of `chunkwise list metrics`."""

    names: Annotated[tuple[str, ...], argument("[NAMES]...")] = ()
    brief: Annotated[bool, Option("Show only names and descriptions", common=True)] = False


@dataclass_command("metrics", MetricsOptions)
def command(options: MetricsOptions) -> None:
    """List metrics: bounds, targets and requirements.

    NAMES are metrics or groups [default: all, including plugins].

    Examples:
      chunkwise list metrics
      chunkwise list metrics --brief
      chunkwise list metrics completeness
      chunkwise list metrics recall chunk_recall
    """
    metrics = _named(options.names)
    options.print_result(
        lambda: _report(metrics, options.brief), lambda: [described(metric) for metric in metrics]
    )


def _report(metrics: list[Metric], brief: bool) -> Report:
    if brief:
        lines = (f"{metric.name}  {metric.help}" for metric in metrics)
        parts: list[ReportPart] = [Code("\n".join(lines))]
    else:
        parts = [
            Section(
                group,
                tuple(
                    Code(facts_of(metric), f"{metric.name}{_AT[metric.at]}  {metric.help}")
                    for metric in members
                ),
            )
            for group, members in groupby(metrics, key=lambda metric: metric.group)
        ]
    at = Note("@k: top k hits. @1000t: hits within 1,000 tokens. Plugins can add metrics.")
    return Report("Metrics", (*parts, at))


def described(metric: Metric) -> dict[str, Any]:
    """Everything a metric declares, as JSON has it."""
    from chunkwise.metrics.metric import NEEDS

    aims = metric.aims
    return {
        "name": metric.name,
        "help": metric.help,
        "group": metric.group,
        "question": metric.question.text if metric.question else None,
        "better": metric.better,
        "bounds": list(metric.bounds),
        "targets": {"good": aims.good, "excellent": aims.excellent} if aims else None,
        "needs": {need: NEEDS[need] for need in metric.needs},
        "at": metric.at,
        "scores": metric.per,
        "judge": metric.asks or None,
        "objective": metric.can_choose,
    }


def _named(names: tuple[str, ...]) -> list[Metric]:
    from chunkwise.metrics.registry import groups, known_metrics, parse

    known = known_metrics()
    if not names:
        return list(known.values())
    every = groups()
    result: dict[str, Metric] = {}
    for name in names:
        in_group = [item for item in known.values() if item.group == name]
        in_group += [known[item] for item in every.get(name, ()) if item in known]
        for metric in in_group or [parse(name).metric]:
            result[metric.name] = metric
    return list(result.values())


def facts_of(metric: Metric) -> str:
    """Direction, bounds, targets and needs in one line."""
    from chunkwise.metrics.metric import NEEDS
    from chunkwise.metrics.registry import format_score

    low, high = metric.bounds
    messages = [f"{metric.better} is better, {as_set(low)} to {as_set(high)}"]
    if aims := metric.aims:
        side = "under" if aims.lower_is_better else "over"
        good, excellent = (format_score(metric.name, aim) for aim in (aims.good, aims.excellent))
        messages.append(f"good {side} {good}, excellent {side} {excellent}")
    if metric.per == "chunking":
        messages.append("per corpus")
    if metric.needs:
        messages.append(f"needs {', '.join(NEEDS[need] for need in metric.needs)}")
    return "; ".join(messages)
