"""How a command is declared: its options are the fields of a frozen dataclass, each said once with type, flag and help.

    @dataclass(frozen=True, kw_only=True)
    class CountOptions(SourceOptions):
        most: int = option("--most", type=click.IntRange(1), default=5, help="Lines to show.")

    @dataclass_command("count", CountOptions, examples=EXAMPLES)
    def count(options: CountOptions) -> None: ...

Options that several commands share stand in classes that a command's own class inherits; `--help` shows its own first.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, field
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from chunkwise.base.schema import Field, schema
from chunkwise.cli.groups import DefaultGroup, write_commands


class RealRange(click.FloatRange):
    """A range of numbers; "nan" is in none, though it compares with neither end."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is no number {self._describe_range()}.", param, ctx)
        return number


Options = TypeVar("Options")

_DECLARATION = "click"
"""Key of a field's metadata: makes the parameter of click for a field of a name."""


def option(*flags: str, **settings: Any) -> Any:
    """A field that a flag fills."""
    if settings.get("required"):
        default: Any = MISSING
    else:
        empty: Any = () if settings.get("multiple") else False if settings.get("is_flag") else None
        default = settings.get("default", empty)
    return field(
        default=default,
        metadata={_DECLARATION: lambda name: GroupedOption([*flags, name], **settings)},
    )


def argument(metavar: str, **settings: Any) -> Any:
    """A field that the words of the command line fill which belong to no flag."""
    return field(
        metadata={_DECLARATION: lambda name: click.Argument([name], metavar=metavar, **settings)}
    )


def is_typed(name: str) -> bool:
    """Whether the field of this name was given on the command line, not by the environment or a file."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


class GroupedOption(click.Option):
    """An option listed under a heading; `--help` shows the common ones, `--help-all` every one."""

    def __init__(
        self,
        declarations: Sequence[str],
        *,
        group: str = "",
        common: bool = False,
        late_help: Callable[[], str] | None = None,
        **settings: Any,
    ) -> None:
        self.group = group or "Options"
        self.common = common
        self.late_help = late_help
        """Makes help that names what is declared elsewhere, once it is asked for."""
        super().__init__(declarations, **settings)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        if self.late_help is not None:
            self.help = self.late_help()
        return super().get_help_record(ctx)


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
    help="Show every option.",
)

_WORDS = f"{__name__}.words"
"""Where a context has what was typed behind the command."""


class TypedCommand(click.Command):
    """A command that keeps the words it was given, and names the flags that are spelled like an unknown one."""

    options: type[object]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), *([_HELP_ALL] if self._hides(self.params) else [])]

    def _hides(self, params: Iterable[click.Parameter]) -> bool:
        return any(isinstance(each, GroupedOption) and not each.common for each in params)

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
                groups.setdefault(getattr(param, "group", ""), []).append(record)
        last = groups.pop("", [])
        for name, records in groups.items():
            with formatter.section(name):
                formatter.write_dl(records)
        with formatter.section("Help"):
            formatter.write_dl(last)
        if ctx.parent is not None and isinstance(group := ctx.parent.command, DefaultGroup):
            write_commands(formatter, group, group.list_commands(ctx), ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_WORDS] = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            near = _nearest_first(error.option_name, error.possibilities or ())
            better = " or ".join(near)
            said = f"No such option {error.option_name!r}."
            said += f" Did you mean {better}?" if near else ""
            raise click.NoSuchOption(error.option_name, said, ctx=error.ctx) from None


_ALIKE, _LESS_ALIKE = 0.65, 0.15
"""From the nearest flag: what is spelled much less alike is no hint."""


def _nearest_first(name: str, flags: Iterable[str]) -> list[str]:
    """Of flags that are spelled like a name those that are about as near as the nearest, which comes first."""
    from difflib import SequenceMatcher

    alike = {
        flag: SequenceMatcher(None, name.strip("-"), flag.strip("-")).ratio() for flag in flags
    }
    least = max(_ALIKE, max(alike.values(), default=0.0) - _LESS_ALIKE)
    return [flag for flag in sorted(alike, key=lambda flag: -alike[flag]) if alike[flag] >= least]


def dataclass_command(
    name: str, options: type[Options], *, examples: str
) -> Callable[[Callable[[Options], None]], TypedCommand]:
    """A command that is handed its options as one value; `examples` stand below its help."""

    def declare(run: Callable[[Options], None]) -> TypedCommand:
        def call(**values: Any) -> None:
            from chunkwise.base.allow_hosts_and_code_from_files import named_by_user

            with named_by_user(_typed(values)):
                run(options(**values))

        typed = TypedCommand(
            name, params=list(_parameters(options)), callback=call, help=run.__doc__, epilog=examples
        )  # fmt: skip
        typed.options = options
        return typed

    return declare


def parsed_anew(options: Options) -> Options:
    """The options as the same words give them now: a file that they name may have been written again."""
    old = click.get_current_context()
    words = list(old.meta[_WORDS])
    with old.command.make_context(old.info_name, words, parent=old.parent) as context:
        return type(options)(**context.params)


def _typed(values: dict[str, Any]) -> dict[str, Any]:
    """Those that the user named, and no file in the place of the user."""
    context = click.get_current_context()
    return {
        name: value
        for name, value in values.items()
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT_MAP
    }


def _parameters(options: type[object]) -> Iterator[click.Parameter]:
    """List a class's own fields before those it inherits; a redeclared field counts once."""
    shared = {field.name: field for field in schema(options)}
    done: set[str] = set()
    for part in options.__mro__:
        declared: Mapping[str, Any] = part.__dict__.get("__dataclass_fields__", {})
        for name in inspect.get_annotations(part):
            if name in declared and name not in done:
                done.add(name)
                if name in shared:
                    yield _shared_option(shared[name])
                else:
                    yield declared[name].metadata[_DECLARATION](name)


class _ParsedText(click.ParamType[Any]):
    """A text that the option's own function reads."""

    name = "text"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(f"{value!r}: {error}", param, ctx)


def _shared_option(field: Field) -> click.Option:
    """Make the flag of a declared option; bounds are checked where the value is made."""
    kinds: dict[Any, click.ParamType[Any]] = {int: click.INT, float: click.FLOAT, bool: click.BOOL}
    kind: click.ParamType[Any] = kinds.get(field.kind, click.STRING)
    if field.choices:
        kind = click.Choice(field.choices)
    if field.parse is not None:
        kind = _ParsedText(field.parse)
    shown: bool | str = field.default_text or field.default not in (None, (), "", False)
    return GroupedOption(
        [name for name in (field.flag, field.long_flag, field.name) if name],
        type=kind, default=field.default, multiple=field.repeated, is_flag=field.kind is bool, help=field.help,
        metavar=field.metavar or None, show_default=shown, group=field.group, common=field.common,
        envvar=field.variable or None, show_envvar=bool(field.variable),
    )  # fmt: skip
