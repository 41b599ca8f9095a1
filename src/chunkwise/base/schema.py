"""Options declared once: annotations of a frozen dataclass, which every surface reads.

    @dataclass(frozen=True, kw_only=True)
    class SearchOptions(Options):
        k: Annotated[Count | None, option("Hits per question", flag="-k")] = None

Validation, command-line flags, files, HTTP bodies, tools and reference pages come from this declaration.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    Union,
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
Dollars = Annotated[float, Meta(ge=0)]
Name = Annotated[str, Meta(min_length=1, max_length=4096)]
Names = tuple[Name, ...]


class Field(NamedTuple):
    """One option as the surfaces see it."""

    name: str
    type: Any
    """The annotation, with bounds."""
    default: Any
    help: str
    flag: str
    """The short flag, empty for none."""
    long_flag: str
    metavar: str
    default_text: str
    """Shown in help where the default is chosen at run time."""
    group: str
    common: bool
    parse: Callable[[str], Any] | None
    """Reads the text of a flag where the type alone does not say how."""
    repeated: bool
    """The flag may be given several times."""
    variable: str
    """Environment variable with the value where the flag is not given."""

    @property
    def kind(self) -> Any:
        """The type without bounds and `None`: int, str, bool, a Literal or a tuple."""
        return _without_none(self.type)

    @property
    def choices(self) -> tuple[str, ...]:
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()


def option(
    help: str,
    *,
    flag: str = "",
    long_flag: str = "",
    metavar: str = "",
    default: str = "",
    group: str = "",
    common: bool = False,
    parse: Callable[[str], Any] | None = None,
    repeated: bool = False,
    variable: str = "",
) -> Meta:
    """Describe an option, inside `Annotated`.

    Args:
        help: One line of at most 60 characters, without a full stop.
        flag: Short flag, such as `-k`.
        long_flag: Long flag where it is not the name of the field.
        metavar: Placeholder of the value in help.
        default: Text shown as the default where the value is chosen at run time.
        group: Heading under which help lists the option.
        common: Listed by `--help`, not only by `--help-all`.
        parse: Reads the text of a flag where the type alone does not say how.
        repeated: The flag may be given several times; a `tuple[…, ...]` says so by its type.
        variable: Environment variable with the value where the flag is not given.
    """
    return Meta(
        description=help,
        extra={
            "flag": flag, "long_flag": long_flag, "metavar": metavar, "default_text": default, "group": group,
            "common": common, "parse": parse, "repeated": repeated, "variable": variable,
        },
    )  # fmt: skip


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """Base of option values: checked when they are made, whoever makes them."""

    def __post_init__(self) -> None:
        checker = _checker(type(self))
        given = {name: getattr(self, name) for name in checker.__struct_fields__}
        try:
            checked = msgspec.convert(given, checker)
        except msgspec.ValidationError as error:
            raise _invalid(error, given, type(self)) from None
        for name, value in given.items():
            converted = getattr(checked, name)
            if converted is not value:
                object.__setattr__(self, name, converted)

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
        if (meta := _meta(annotation)) is None:
            continue
        extra = dict(meta.extra or {})
        extra["long_flag"] = extra["long_flag"] or f"--{field.name.replace('_', '-')}"
        extra["repeated"] = extra["repeated"] or get_args(_without_none(annotation))[1:] == (...,)
        fields.append(Field(field.name, annotation, field.default, meta.description or "", **extra))
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
        fields = [(field.name, field.type, field.default) for field in schema(kind)]
        _CHECKERS[kind] = msgspec.defstruct(kind.__name__, fields, kw_only=True)
    return _CHECKERS[kind]


def _invalid(error: msgspec.ValidationError, given: Mapping[str, Any], kind: type) -> InvalidOption:
    reason, _, path = str(error).partition(" - at `$.")
    name = path.rstrip("`").partition("[")[0].partition(".")[0]
    if choices := next(field.choices for field in schema(kind) if field.name == name):
        reason = f"allowed: {', '.join(choices)}"
    reason = reason.replace("`", "").partition(", got ")[0]
    return InvalidOption(name, given[name], reason[:1].lower() + reason[1:])


def _meta(annotation: Any) -> Meta | None:
    found = [meta for meta in getattr(annotation, "__metadata__", ()) if isinstance(meta, Meta)]
    return next((meta for meta in found if meta.extra is not None), None)


def _without_none(annotation: Any) -> Any:
    """`Annotated[Annotated[int, …] | None, …]` is an int."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif get_origin(annotation) in (Union, UnionType):
            annotation = next(part for part in get_args(annotation) if part is not NoneType)
        else:
            return annotation
