"""`docs/commands.md`: every command with its options; those of several commands once, at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import click

from chunkwise.cli.dataclass_options import GroupedOption, full_help
from chunkwise.cli.main import group

HELP = "Help"
SHARED = 3
"""Commands from which on an option is described once for all of them."""
HEAD = """\
# Commands

For everybody at a terminal: every command and option. Progress and messages go to stderr (`CHUNKWISE_PROGRESS_SECONDS`
sets the seconds between lines, `inf` for none); `--json` prints only JSON to stdout.
[Exit statuses](reference/exit-statuses.md) are the same for all commands.
"Also" lists [shared options](#shared-options), which are described once at the end.

"""

Record = tuple[str, str, str]
"""Heading, flags and help of an option."""


def commands_page() -> str:
    """Write the page."""
    commands = list(_commands("chunkwise", group))
    used = Counter(record for _, context in commands for record, _ in _records(context))
    # Of a name with several meanings the most frequent one.
    shared: dict[str, Record] = {}
    for record, commands_with_it in used.most_common():
        if commands_with_it >= SHARED:
            shared.setdefault(_name(record), record)
    sections = [_section(path, context, {*shared.values()}) for path, context in commands]
    return HEAD + "\n".join([*sections, _shared_section(sorted(shared.items()))])


def _commands(
    path: str, command: click.Command, parent: click.Context | None = None
) -> Iterator[tuple[str, click.Context]]:
    context = click.Context(
        command, parent=parent, info_name=path.split()[-1], terminal_width=80, max_content_width=80
    )
    yield path, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None and child is not getattr(command, "default", None):
                yield from _commands(f"{path} {name}", child, context)


def _records(context: click.Context) -> Iterator[tuple[Record, click.Option]]:
    command = getattr(context.command, "default", context.command)
    for option in command.get_params(context):
        if isinstance(option, click.Option) and (record := option.get_help_record(context)):
            heading = option.group if isinstance(option, GroupedOption) else HELP
            yield (heading, *record), option


def _section(path: str, context: click.Context, shared: set[Record]) -> str:
    also = [(record, option) for record, option in _records(context) if record in shared]
    for _, option in also:
        option.hidden = True
    text = full_help(context)
    for _, option in also:
        option.hidden = False
    names = ", ".join(f"`{_name(record)}`" for record, _ in also if record[0] != HELP)
    return f"## {path}\n\n```text\n{text}\n```\n" + (f"\nAlso {names}.\n" if names else "")


def _name(record: Record) -> str:
    return record[1].strip().partition(", ")[2].split(" ")[0] or record[1].split()[0]


def _shared_section(shared: Sequence[tuple[str, Record]]) -> str:
    formatter = click.HelpFormatter(width=80, max_width=80)
    for heading in sorted({record[0] for _, record in shared}):
        with formatter.section(heading):
            formatter.write_dl([record[1:] for _, record in shared if record[0] == heading])
    return f"## Shared options\n\n```text\n{formatter.getvalue().strip()}\n```\n"
