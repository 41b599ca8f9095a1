"""Write `docs/commands.md`: every command with its options; shared options are described once, at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set

import click

from chunkwise.cli.dataclass_options import GroupedOption, full_help
from chunkwise.cli.main import group

HELP = "Help"
SHARED = 2
"""Number of commands from which an option is described once for all of them."""
HEAD = """\
# Commands

Every command and option. Run `chunkwise COMMAND --help` for the common options, `--help-all` for all of them.
Options of several commands are described once, under [shared options](#shared-options).

- Progress and messages go to stderr. `CHUNKWISE_PROGRESS_SECONDS` sets the seconds between lines (`inf`: none).
- `--json` prints only JSON to stdout.
- [Exit statuses](reference/exit-statuses.md) are the same for all commands.

"""

Record = tuple[str, str, str]
"""Heading, flags and help of an option."""


def commands_page() -> str:
    """Write the page."""
    commands = list(_commands("chunkwise", group))
    uses = Counter(record for _, context in commands for record, _ in _records(context))
    # Of several options with the same name, the most common one is shared.
    by_name: dict[str, Record] = {}
    for record, count in uses.most_common():
        if count >= SHARED and record[0] != HELP:
            by_name.setdefault(_name(record), record)
    groups: dict[str, list[Record]] = {}
    for _, record in sorted(by_name.items()):
        groups.setdefault(record[0], []).append(record)
    sections = [_section(path, context, groups) for path, context in commands]
    return HEAD + "\n".join(
        [*sections, "## Shared options\n", *map(_group, sorted(groups.items()))]
    )


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


def _section(path: str, context: click.Context, groups: Mapping[str, list[Record]]) -> str:
    records = dict(_records(context))
    shared = {record for group in groups.values() for record in group if record in records}
    hidden = [option for record, option in records.items() if record in shared or record[0] == HELP]
    for option in hidden:
        option.hidden = True
    text = full_help(context)
    for option in hidden:
        option.hidden = False
    links = [link for heading in groups for link in _links(heading, groups[heading], shared)]
    names = sorted(links, key=lambda link: link.startswith("`"))
    also = f"\nAlso {', '.join(names)}.\n" if names else ""
    return f"## {path}\n\n```text\n{text}\n```\n{also}"


def _links(heading: str, group: Sequence[Record], used: Set[Record]) -> list[str]:
    """Links to a group of options that is mostly used, or the names of the used ones."""
    names = [f"`{_name(record)}`" for record in group if record in used]
    missing = [f"`{_name(record)}`" for record in group if record not in used]
    if len(names) < 3 or len(missing) > 2:
        return names
    link = f"[{heading}](#{heading.lower().replace(' ', '-')})"
    return [f"{link} (without {' and '.join(missing)})" if missing else link]


def _name(record: Record) -> str:
    return record[1].strip().partition(", ")[2].split(" ")[0] or record[1].split()[0]


def _group(group: tuple[str, list[Record]]) -> str:
    heading, records = group
    formatter = click.HelpFormatter(width=80, max_width=80)
    formatter.write_dl([record[1:] for record in records])
    return f"### {heading}\n\n```text\n{formatter.getvalue().rstrip()}\n```\n"
