"""Groups of commands: modules imported when they are needed, and a command that need not be named."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Mapping, Sequence

import click


class CommandGroup(click.Group):
    """Lists each command with its whole first sentence, and suggests the nearest name for an unknown one."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_commands(formatter, self, self.list_commands(ctx), ctx)

    def summary(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        assert command is not None
        text = inspect.cleandoc(command.short_help or command.help or "")
        return " ".join(text.partition("\n\n")[0].split()).removesuffix(".")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            self.refuse_unknown(ctx, args[0])
        return super().resolve_command(ctx, args)

    def refuse_unknown(self, ctx: click.Context, name: str) -> None:
        from chunkwise.base.wording import did_you_mean

        known = self.list_commands(ctx)
        hint = did_you_mean(name, known, f"commands: {', '.join(known)}")
        ctx.fail(f"unknown command {name!r}; {hint}")


def write_commands(
    formatter: click.HelpFormatter, group: CommandGroup, names: Sequence[str], ctx: click.Context
) -> None:
    """Write the section that lists the commands of a group."""
    with formatter.section("Commands"):
        formatter.write_dl([(name, group.summary(ctx, name)) for name in names])


class LazyGroup(CommandGroup):
    """A group whose commands are attributes `command` of modules, imported on use."""

    def __init__(self, name: str, *, package: str, summaries: Mapping[str, str], help: str) -> None:
        super().__init__(name, help=help)
        self._package = package
        self._summaries = summaries

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._summaries:
            return None
        module = importlib.import_module(f"{self._package}.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def summary(self, ctx: click.Context, name: str) -> str:
        return self._summaries[name]


class DefaultGroup(CommandGroup):
    """A group with a command that runs where none is named: `chunkwise runs` is `chunkwise runs list`."""

    def __init__(self, default: click.Command, commands: Iterable[click.Command]) -> None:
        super().__init__(default.name, add_help_option=False, help=default.help)
        self.default = default
        default.context_class = _UnnamedContext
        for command in commands:
            self.add_command(command)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            takes_words = any(isinstance(param, click.Argument) for param in self.default.params)
            if args and not args[0].startswith("-") and not takes_words:
                self.refuse_unknown(ctx, args[0])
            args = ["", *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        return super().get_command(ctx, cmd_name) or self.default


class _UnnamedContext(click.Context):
    """The default command goes by the name of its group, and its help lists the group's commands."""

    @property
    def command_path(self) -> str:
        return self.parent.command_path if self.parent else super().command_path
