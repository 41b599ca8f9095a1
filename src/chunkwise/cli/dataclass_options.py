"""How a command is declared: its options are the annotations of a class, each said once with type, flag and help.

    class CountOptions(SourceOptions):
        most: Annotated[Count, Option("Lines to show", common=True)] = 5

    @dataclass_command("count", CountOptions)
    def count(options: CountOptions) -> None: ...

Options that several commands share stand in classes that a command's own class inherits; `--help` shows its own first.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from chunkwise.base.progress import watch_models
from chunkwise.base.schema import Field, Options, schema
from chunkwise.cli.groups import DefaultGroup, write_commands
from chunkwise.cli.progress import progress
from chunkwise.cli.written_files import check_outputs

Command = TypeVar("Command", bound=Options)


def is_typed(name: str) -> bool:
    """Whether the field of this name was given on the command line, not by the environment or a file."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


class GroupedOption(click.Option):
    """An option listed under a heading; `--help` shows the common ones, `--help-all` every one."""

    def __init__(
        self, declarations: Sequence[str], *, group: str, common: bool, **settings: Any
    ) -> None:
        self.group = group
        self.common = common
        super().__init__(declarations, **settings)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Its short and its long flag, without other names."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        flags, text = record
        *others, last = flags.split(", ")
        short = f"{others[0]}, " if others and not others[0].startswith("--") else " " * 4
        return short + last, text


class EstimateMade(Exception):
    """Ends a dry run once it is known what would be asked; what that takes is shown."""

    def __init__(self, show: Callable[[bool], None]) -> None:
        """`show` prints it, as JSON or in words."""
        super().__init__()
        self.show = show


_ALL = f"{__name__}.help_all"
"""Whether a context lists every option."""


def full_help(context: click.Context) -> str:
    """The help of a command with every option."""
    context.meta[_ALL] = True
    command = context.command
    if isinstance(command, DefaultGroup):
        command = command.default
        context = command.context_class(
            command, parent=context, info_name="", terminal_width=context.terminal_width
        )
    return command.get_help(context)


def _show_all(context: click.Context, _: click.Parameter, given: bool) -> None:
    if given:
        click.echo(full_help(context))
        context.exit()


_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show every option",
)

_LAST = ("Language model", "Documents", "Workers", "Output", "History", "Options")
"""Groups at the end of help, in this order."""


class TypedCommand(click.Command):
    """A command with the options it declares."""

    options: type[Options]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), *([_HELP_ALL] if self._hides(self.params) else [])]

    def _hides(self, params: Iterable[click.Parameter]) -> bool:
        return any(isinstance(param, GroupedOption) and not param.common for param in params)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does; `--help-all` says the rest."""
        text = inspect.cleandoc(self.help or "")
        is_short = self._hides(self.params) and not ctx.meta.get(_ALL)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text.partition("\n\n")[0] if is_short else text)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the common options, or all of them, under their headings."""
        shown = [
            param
            for param in self.get_params(ctx)
            if isinstance(param, click.Option)
            and (not isinstance(param, GroupedOption) or param.common or ctx.meta.get(_ALL))
        ]
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in shown:
            if (record := param.get_help_record(ctx)) is not None:
                groups.setdefault(getattr(param, "group", "Help"), []).append(record)
        of_every_command = groups.pop("Help", [])
        for name in sorted(groups, key=lambda name: _LAST.index(name) if name in _LAST else -1):
            with formatter.section(name):
                formatter.write_dl(groups[name])
        if of_every_command:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_dl(of_every_command)
        if ctx.parent is not None and isinstance(group := ctx.parent.command, DefaultGroup):
            write_commands(formatter, group, group.list_commands(ctx), ctx)


def dataclass_command(
    name: str, options: type[Command]
) -> Callable[[Callable[[Command], None]], TypedCommand]:
    """A command that is handed its options as one value; its docstring is its help, with examples at the end."""

    def declare(run: Callable[[Command], None]) -> TypedCommand:
        def call(**values: Any) -> None:
            from chunkwise.base.allow_hosts_and_code_from_files import named_by_user

            values = {name: _local(value) for name, value in values.items()}
            with named_by_user(_typed(values)):
                given = options(**values)
                quiet = getattr(given, "quiet", False)
                watch_models(lambda name, total: progress(name, total, quiet))
                check_outputs(given)
                try:
                    run(given)
                except EstimateMade as made:
                    made.show(getattr(given, "as_json", False))

        text, _, examples = inspect.cleandoc(run.__doc__ or "").partition("Examples:\n")
        typed = TypedCommand(
            name, params=list(_parameters(options)), callback=call, help=text,
            epilog=f"\b\nExamples:\n{examples}" if examples else None,
        )  # fmt: skip
        typed.options = options
        return typed

    return declare


def _local(value: Any) -> Any:
    """A path of this machine in the place of its `file:///` address."""
    from chunkwise.base.object_store import local_name

    if isinstance(value, tuple):
        return tuple(map(_local, value))
    return type(value)(local_name(str(value))) if isinstance(value, str | Path) else value


def _typed(values: dict[str, Any]) -> dict[str, Any]:
    """Those that the user named, and no file in the place of the user."""
    context = click.get_current_context()
    return {
        name: value
        for name, value in values.items()
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT_MAP
    }


def _parameters(options: type[Options]) -> Iterator[click.Parameter]:
    """List a class's own options before those it inherits."""
    declared = {field.name: field for field in schema(options)}
    for part in options.__mro__:
        for name in inspect.get_annotations(part):
            if name in declared:
                yield _parameter(declared.pop(name))


_TYPES: dict[Any, click.ParamType[Any]] = {int: click.INT, float: click.FLOAT, bool: click.BOOL}


def _type(field: Field) -> click.ParamType[Any]:
    """How the text of a flag is read; bounds are checked where the value is made."""
    if field.parse is not None:
        return click.STRING
    if field.choices:
        return click.Choice(field.choices)
    if field.kind is Path:
        is_file, is_folder = (field.metavar.startswith(name) for name in ("FILE", "FOLDER"))
        return click.Path(path_type=Path, file_okay=not is_folder, dir_okay=not is_file)
    return _TYPES.get(field.kind, click.STRING)


def _parameter(field: Field) -> click.Parameter:
    """Make the flag or the argument of a declared option."""
    given: dict[str, Any] = {"type": _type(field), "required": field.is_required}
    if not field.is_required:
        is_read = field.parse is not None and field.default is not None
        given["default"] = field.default_text if is_read else field.default
    if field.is_argument:
        many = -1 if field.repeated else 1
        return click.Argument([field.name], metavar=field.metavar, nargs=many, **given)
    at_once = field.at_once
    if at_once is not None:
        given |= {
            "is_eager": True,
            "callback": lambda context, _, value: at_once(context, value) or value,
        }
    if field.kind is bool:
        given["is_flag"] = True
    return GroupedOption(
        [*field.flags, field.name], group=field.group, common=field.common,
        help=" ".join(filter(None, [field.help, _default(field)])), metavar=field.metavar or None,
        multiple=field.repeated, envvar=field.variable or None, **given,
    )  # fmt: skip


def _default(field: Field) -> str:
    default: Any = field.default_text
    if not default and not field.is_required and field.default not in (None, (), "", False):
        default = ",".join(field.default) if isinstance(field.default, tuple) else field.default
    default = f"default: {default}" if default != "" else ""
    message = ", ".join(filter(None, [default, field.variable]))
    return f" [{message}]" if message else ""
