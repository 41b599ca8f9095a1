"""`chunkwise list strategies`."""

from __future__ import annotations

import json
from typing import Annotated, Any

from chunkwise.base.schema import Option, argument
from chunkwise.base.wording import as_set
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.report_options import JsonOrReport
from chunkwise.report.report import Code, Column, Note, Report, Section, ValueTable


class StrategiesOptions(JsonOrReport):
    """The options of `chunkwise list strategies`."""

    names: Annotated[tuple[str, ...], argument("[NAMES]...")] = ()
    brief: Annotated[bool, Option("Hide parameters", common=True)] = False


@dataclass_command("strategies", StrategiesOptions)
def command(options: StrategiesOptions) -> None:
    """List strategies: parameters, defaults, bounds, and when to use each.

    NAMES are the strategies to show [default: all].

    Examples:
      chunkwise list strategies --brief
      chunkwise list strategies sentences
      chunkwise list strategies
      chunkwise list strategies --json
    """
    from chunkwise.chunkers import describe_strategies, describe_strategy, strategies

    described = (
        [describe_strategy(name, strategies.get(name)) for name in options.names]
        if options.names
        else describe_strategies()
    )
    options.print_result(
        lambda: _report(described, options.brief),
        lambda: json.loads(json.dumps(described, default=str)),
    )


def _report(strategies: list[dict[str, Any]], brief: bool) -> Report:
    columns = (Column("strategy"), Column("asks"), Column("MB/s", "number"), Column("purpose"))
    rows = tuple(
        (one["name"], ", ".join(one["asks"]) or "–", one["megabytes_per_second"], one["purpose"])
        for one in strategies
    )
    sections = (
        Section(
            f"{one['name']}  {one['purpose']}",
            (Code("\n".join(map(_parameter, one["parameters"]))),),
            lead=one["use"],
        )
        for one in strategies
    )
    how = Note('Format: "name(parameter=value, …)". Plugins can add strategies.')
    parts = (ValueTable(columns, rows, brief_rows=len(rows)),) if brief else sections
    return Report("Strategies", (*parts, how))


def _parameter(parameter: dict[str, Any]) -> str:
    default = parameter["default"]
    shown = "" if default is None else f"={json.dumps(default, default=str)}"
    allowed = _allowed(parameter)
    return f"{parameter['name']}{shown}  {parameter['help']}{f' ({allowed})' if allowed else ''}"


def _allowed(parameter: dict[str, Any]) -> str:
    if parameter["choices"]:
        return ", ".join(parameter["choices"])
    if parameter["low"] is None:
        return str(parameter["unit"])
    return f"{as_set(parameter['low'])} to {as_set(parameter['high'])} {parameter['unit']}"
