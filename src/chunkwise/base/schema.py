"""Options declared once: annotations of a class, which every surface reads.

    class SearchOptions(Options):
        k: Annotated[Count | None, Option("Hits per question", flag="-k")] = None

Validation, command-line flags, files, HTTP bodies, tools and reference pages come from this declaration.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from inspect import get_annotations
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta

from chunkwise.base.errors import InvalidOption, UnknownOption

T = TypeVar("T", bound="Options")

# Bounds belong to the type: msgspec takes none on `int | None`.
Count = Annotated[int, Meta(ge=1, le=1 << 40)]
Amount = Annotated[int, Meta(ge=0, le=1 << 40)]
Concurrency = Annotated[int, Meta(ge=1, le=256)]
Share = Annotated[float, Meta(ge=0, le=1)]
Cosine = Annotated[float, Meta(ge=-1, le=1)]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Port = Annotated[int, Meta(ge=1, le=65_535)]
Dollars = Annotated[float, Meta(ge=0)]
Name = Annotated[str, Meta(min_length=1, max_length=4096)]
Names = tuple[Name, ...]


@dataclasses.dataclass(frozen=True)
class Option:
    """What the surfaces say of an option, inside `Annotated`."""

    help: str = ""
    """One line of at most 60 characters, without a full stop."""
    _: dataclasses.KW_ONLY
    flag: str = ""
    """Short flag, such as `-k`; more names of the flag stand behind it."""
    long_flag: str = ""
    """Long flag where it is not the name of the field."""
    metavar: str = ""
    """Placeholder of the value in help."""
    default_text: str = ""
    """Shown as the default where the value is chosen at run time."""
    group: str = ""
    """Heading under which help lists the option; empty: that of the class."""
    common: bool = False
    """Listed by `--help`, not only by `--help-all`."""
    parse: Callable[[str], Any] | None = None
    """Reads a text where the type alone does not say how."""
    repeated: bool = False
    """The flag may be given several times; a `tuple[…, ...]` says so by its type."""
    variable: str = ""
    """Environment variable with the value where the flag is not given."""
    is_argument: bool = False
    """Filled by the words of the command line that belong to no flag."""
    writes: Literal["", "new", "any"] = ""
    """Whether it names a file to write: a new one or one of ours, or any file, which is added to."""
    at_once: Callable[[Any, Any], None] | None = None
    """Gets the command's context and the value before other flags are read."""


def argument(metavar: str) -> Option:
    """Describe an option that the words of the command line fill."""
    return Option(metavar=metavar, is_argument=True)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Field(Option):
    """One option as the surfaces see it."""

    name: str
    type: Any
    """The annotation, with bounds."""
    default: Any
    """`MISSING` where one must be given."""

    @property
    def flags(self) -> tuple[str, ...]:
        """Short flags, then the long one."""
        return (*self.flag.split(), self.long_flag)

    @property
    def is_required(self) -> bool:
        return self.default is dataclasses.MISSING

    @property
    def kind(self) -> Any:
        """The type of one value without bounds and `None`: int, str, bool, a Literal …"""
        kind = _without_none(self.type)
        return _without_none(get_args(kind)[0]) if get_args(kind)[1:] == (...,) else kind

    @property
    def choices(self) -> tuple[str, ...]:
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(dataclasses.field,)
)
class Options:
    """Base of option values, which are frozen dataclasses: checked when they are made, whoever makes them."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    _group: ClassVar[str]
    _hides: ClassVar[bool]

    def __init_subclass__(
        cls, group: str = "Options", hides_inherited: bool = False, kw_only: bool = True
    ) -> None:
        """`hides_inherited`: of the options only its own are common."""
        cls._group, cls._hides = group, hides_inherited
        dataclasses.dataclass(frozen=True, kw_only=kw_only)(cls)

    def __post_init__(self) -> None:
        checker = _checker(type(self))
        given = {}
        for field in schema(type(self)):
            given[field.name] = value = getattr(self, field.name)
            if field.parse is not None and isinstance(value, str):
                try:
                    given[field.name] = field.parse(value)
                except ValueError as error:
                    raise InvalidOption(field.name, value, str(error)) from None
        try:
            checked = msgspec.convert(given, checker)
        except msgspec.ValidationError as error:
            raise _invalid(error, given, type(self)) from None
        for name in given:
            object.__setattr__(self, name, getattr(checked, name))

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """Make the value from a mapping of any surface: a file, a request, a tool call."""
        names = [field.name for field in schema(cls)]
        for name in given:
            if name not in names:
                raise UnknownOption(name, names)
        return cls(**given)

    def override(self, **given: Any) -> Self:
        """The same options with these values; None keeps what is there."""
        changed = {name: value for name, value in given.items() if value is not None}
        return dataclasses.replace(self, **changed) if changed else self

    def changed(self) -> dict[str, Any]:
        """The values that differ from their defaults, by name."""
        return {
            field.name: value
            for field in schema(type(self))
            if (value := getattr(self, field.name)) != field.default
        }

    def part(self, kind: type[T]) -> T:
        """The options of one base class alone, such as `SearchOptions` of a command's options."""
        return kind(**{field.name: getattr(self, field.name) for field in schema(kind)})


_SCHEMAS: dict[type, tuple[Field, ...]] = {}
_CHECKERS: dict[type, type[msgspec.Struct]] = {}


def schema(kind: type) -> tuple[Field, ...]:
    """List the declared options of a class, its own after those it inherits."""
    if kind in _SCHEMAS:
        return _SCHEMAS[kind]
    hints = get_type_hints(kind, include_extras=True)
    fields = []
    for field in dataclasses.fields(kind):
        annotation = hints[field.name]
        marks = getattr(annotation, "__metadata__", ())
        described = [mark for mark in marks if isinstance(mark, Option)]
        if not described:
            continue
        values = vars(described[-1]) | {
            "name": field.name,
            "type": annotation,
            "default": field.default,
        }
        owner = next(base for base in kind.__mro__ if field.name in get_annotations(base))
        values["group"] = values["group"] or getattr(owner, "_group", "")
        values["common"] &= owner is kind or not getattr(kind, "_hides", False)
        values["long_flag"] = values["long_flag"] or f"--{field.name.replace('_', '-')}"
        values["repeated"] |= get_args(_without_none(annotation))[1:] == (...,)
        fields.append(Field(**values))
    return _SCHEMAS.setdefault(kind, tuple(fields))


def json_schema(kind: type[Options]) -> dict[str, Any]:
    """The options as a JSON Schema object, for HTTP and tools: parts are given by their names."""
    (described,) = msgspec.json.schema_components([_checker(kind)])[1].values()
    for declared in described["properties"].values():
        if "anyOf" in declared:
            declared["anyOf"] = [choice for choice in declared["anyOf"] if choice]
    described.pop("required", None)
    return {**described, "title": kind.__name__, "additionalProperties": False}


def _checker(kind: type) -> type[msgspec.Struct]:
    if kind not in _CHECKERS:
        fields = []
        for field in schema(kind):
            kind_of_value: Any = field.type
            described = Annotated[kind_of_value, Meta(description=field.help)]
            default = msgspec.NODEFAULT if field.is_required else field.default
            fields.append((field.name, described, default))
        _CHECKERS[kind] = msgspec.defstruct(kind.__name__, fields, kw_only=True)
    return _CHECKERS[kind]


_TYPES = {
    "int": "an integer", "float": "a number", "str": "text", "bool": "true or false", "array": "a list",
}  # fmt: skip


def _invalid(error: msgspec.ValidationError, given: Mapping[str, Any], kind: type) -> InvalidOption:
    reason, _, path = str(error).partition(" - at `$.")
    name = path.rstrip("`").partition("[")[0].partition(".")[0]
    if choices := next(field.choices for field in schema(kind) if field.name == name):
        reason = f"allowed: {', '.join(choices)}"
    reason = re.sub(r"`(\w+)( \| null)?", lambda of: _TYPES.get(of[1], of[1]), reason)
    reason = reason.replace("`", "").partition(", got ")[0]
    return InvalidOption(name, given[name], reason[:1].lower() + reason[1:])


def _without_none(annotation: Any) -> Any:
    """`Annotated[Annotated[int, …] | None, …]` is an int."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif get_origin(annotation) in (Union, UnionType):
            annotation = next(part for part in get_args(annotation) if part is not NoneType)
        else:
            return annotation
