"""`docs/commands.md`: every command with all its options, as `--help-all` prints them."""

from __future__ import annotations

from collections.abc import Iterator

import click

from chunkwise.cli.dataclass_options import full_help
from chunkwise.cli.main import group

HEAD = """\
# Commands

For everybody at a terminal: every command and option. Progress and messages go to stderr (`CHUNKWISE_PROGRESS_SECONDS`
sets the seconds between lines, `inf` for none); `--json` prints only JSON to stdout.
[Exit statuses](reference/exit-statuses.md) are the same for all commands.

"""


def commands_page() -> str:
    """Write the page."""
    sections = [f"## {path}\n\n```text\n{text}\n```\n" for path, text in _helps("chunkwise", group)]
    return HEAD + "\n".join(sections)


def _helps(
    path: str, command: click.Command, parent: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    context = click.Context(
        command, parent=parent, info_name=path.split()[-1], terminal_width=80, max_content_width=80
    )
    yield path, full_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None and child is not getattr(command, "default", None):
                yield from _helps(f"{path} {name}", child, context)
