"""Names of built-in and third-party parts, each imported only when it is needed: the same for every kind of part."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from chunkwise.base import parameters, spec
from chunkwise.base.allow_hosts_and_code_from_files import check_allowed
from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnknownName, warn_user
from chunkwise.base.user_code import run_file, version_of
from chunkwise.base.wording import did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints


@dataclass(frozen=True, slots=True)
class RegisteredPart:
    """One name of a registry, for people who look for it."""

    name: str
    package: str
    """Whose it is: `chunkwise`, or another package with its version."""
    target: str
    """`module:Name`; empty where a name stands for no class of its own."""
    problem: str = ""
    """Why it cannot be used; empty: it can."""


class Registry:
    """One kind of part: built-in names, then those of an entry point group, then `./file.py:Name`."""

    def __init__(
        self,
        kind: str,
        group: str,
        builtin: Mapping[str, str],
        *,
        needs: tuple[str, ...],
        example: str = "",
        forms: Iterable[str] = (),
        libraries: Iterable[str] = (),
        by_library: str = "",
    ) -> None:
        self.kind = kind
        self.group = group
        self.builtin = MappingProxyType(dict(builtin))
        self.needs = needs
        """What an object of this kind has, its method first and with what it is called; `a or b`: one of the two."""
        self.example = example
        """A specification with parameters, for error messages."""
        self.forms = tuple(forms)
        """Other ways to name one that whoever asks has tried before, such as `openai:NAME`."""
        self.libraries = frozenset(libraries)
        self.by_library = by_library
        """`module:function` that makes a part of `library:Name`."""

    def _entry_points(self) -> EntryPoints:
        from importlib.metadata import entry_points  # slow to import, and built-in names need none

        return entry_points(group=self.group)

    def _plugins(self) -> dict[str, EntryPoint]:
        # Where two packages have the same name it must not be the folder's order that decides.
        points = sorted(self._entry_points(), key=_package, reverse=True)
        return {point.name: point for point in points}

    def names(self) -> list[str]:
        """Built-in names in their order, then plugins in alphabetical order."""
        return [*self.builtin, *sorted(set(self._plugins()) - set(self.builtin))]

    def get(self, name: str) -> Any:
        """The part of this name; an unknown name lists the nearest known ones, a recorded one runs no code by path."""
        check_allowed(name)
        if name in self.builtin:
            return import_target(self.builtin[name])
        if ".py:" in name:
            return _from_file(self.kind, name)
        library, _, rest = name.partition(":")
        if rest and library in self.libraries:
            return import_target(self.by_library)(library, rest)
        point = self._plugins().get(name)
        if point is not None:
            return self._loaded(point)
        raise self._unknown(name)

    def make(
        self, named: object, by_form: Callable[[str], Any] | None = None, /, **given: object
    ) -> Any:
        """An object from `name(parameter=value)`; `given` are parameters, too. One that is made already is checked.

        `by_form` makes one of a text in one of the other `forms`, and gives None for any other. Every name that
        becomes a part comes by here, so this is where those of files and tables are held back.
        """
        if not isinstance(named, str):
            return self.checked(named)
        check_allowed(named)
        made = by_form(named) if by_form is not None else None
        if made is not None:
            return made
        name, values = spec.parse(named, self.kind, self.example)
        values = {**values, **given}
        check_allowed(values)
        return self.build(name, self.get(name), values)

    def build(self, name: str, part: Any, values: Mapping[str, object]) -> Any:
        """A class or a function is called with the parameters; an object is taken as it is."""
        if isinstance(part, type) or (callable(part) and self._missing(part)):
            made = parameters.build(part, name, values)
            return made if name in self.builtin else self.checked(made, name)
        if values:
            raise InvalidParameter(
                f"{name} is an object and takes no parameter {next(iter(values))!r}"
            )
        return self.checked(part, name)

    def checked(self, made: Any, name: str = "") -> Any:
        """The object itself, if it has what one of this kind needs and can be called as one of it is."""
        if isinstance(made, type):
            raise InvalidParameter(
                f"{made.__name__} is a class; expected an instance: {made.__name__}()"
            )
        if missing := self._missing(made):
            raise InvalidParameter(
                f"{name or type(made).__name__} is not a valid {self.kind}: it has no "
                f"`{missing}`; needed: {', '.join(self.needs)} (example: docs/how-to/extend.md)"
            )
        for need in self.needs:
            if misfit := _misfit(made, need):
                raise InvalidParameter(
                    f"{name or type(made).__name__} is not a valid {self.kind}: {misfit} "
                    "(example: docs/how-to/extend.md)"
                )
        return made

    def all(self) -> dict[str, Any]:
        """Every part that can be imported; a broken plugin is one warning, not the end."""
        result = {}
        for name in self.names():
            try:
                result[name] = self.get(name)
            except Exception as error:  # somebody else's code: one broken plugin is no end
                if name in self.builtin:
                    raise
                warn_user(str(error))
        return result

    def made(self) -> dict[str, Any]:
        """One object of every part, with its usual parameters; a broken plugin is one warning."""
        result = {}
        for name, part in self.all().items():
            try:
                result[name] = self.build(name, part, {})
            except Exception as error:  # somebody else's code: one broken plugin is no end
                if name in self.builtin:
                    raise
                warn_user(f"cannot create the {self.kind} {name!r}: {error}")
        return result

    def listed(self) -> list[RegisteredPart]:
        """Every name with where it comes from; plugins are loaded, to see whether they can be."""
        parts = [RegisteredPart(name, "chunkwise", target) for name, target in self.builtin.items()]
        used = self._plugins()
        others = sorted(self._entry_points(), key=lambda point: (point.name, point.value))
        return parts + [self._entry(point, used[point.name]) for point in others]

    def _entry(self, point: EntryPoint, used: EntryPoint) -> RegisteredPart:
        problem = ""
        if point.name in self.builtin:
            problem = f"ignored: {point.name!r} is a built-in name"
        elif point != used:
            problem = f"ignored: {_package(used)} also provides {point.name!r}"
        else:
            try:
                problem = self._why_not(self._loaded(point))
            except ChunkwiseError as error:
                problem = str(error)
        return RegisteredPart(point.name, _package(point), point.value, problem)

    def _why_not(self, part: Any) -> str:
        """Nothing is made only to be listed: of a class its method is looked for, a function is taken as it is."""
        needs = self.needs[:1] if isinstance(part, type) else () if callable(part) else self.needs
        missing = _first_missing(part, needs)
        return f"not a valid {self.kind}: it has no `{missing}`" if missing else ""

    def _loaded(self, point: EntryPoint) -> Any:
        try:
            return point.load()
        except Exception as error:  # somebody else's code: say whose
            whose = f"; it comes with {_package(point)}" if point.dist else ""
            raise ChunkwiseError(
                f"the {self.kind} {point.name!r} cannot be loaded: {type(error).__name__}: "
                f"{error}{whose}"
            ) from error

    def _missing(self, part: Any) -> str:
        return _first_missing(part, self.needs)

    def _unknown(self, name: str) -> UnknownName:
        if name.endswith(".py"):
            return UnknownName(f"{name!r} is a file; add the class: {name}:ClassName")
        known = list(dict.fromkeys([*self.forms, *self.names()]))
        hint = did_you_mean(name, known, f"known: {', '.join(known)}")
        return UnknownName(f"unknown {self.kind} {spec.quoted(name)}; {hint}")


def import_target(target: str) -> Any:
    """What `module:name` means."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


def _first_missing(part: Any, needs: tuple[str, ...]) -> str:
    """What it needs and has not; empty: it has all."""
    for need in needs:
        names = [item.partition("(")[0] for item in need.split(" or ")]
        if not any(_has(part, name) for name in names):
            return " or ".join(names)
    return ""


def _misfit(part: Any, need: str) -> str:
    """Why a method cannot be called with what it is called with, `embed(texts, kind)`; empty: it can, or who knows."""
    for item in need.split(" or "):
        name, bracket, values = item.partition("(")
        method = getattr(part, name, None) if bracket else None
        try:
            signature = inspect.signature(method) if callable(method) else None
        except (TypeError, ValueError):  # written in C
            continue
        try:
            if signature is not None:
                signature.bind(*values.removesuffix(")").split(", "))
        except TypeError:
            taken = ", ".join(signature.parameters) if signature else ""
            return f"its `{name}` takes ({taken}) but is called as {item}"
    return ""


def _has(part: Any, name: str) -> bool:
    # A property is not asked for its value: that of a model may load its weights.
    return hasattr(type(part), name) or hasattr(part, name)


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "unknown"


def _from_file(kind: str, reference: str) -> Any:
    path, _, attribute = reference.rpartition(":")
    file = Path(path)
    if not file.is_file():
        raise UnknownName(f"{path!r}, the file of the {kind} {attribute!r}, doesn't exist")
    module = run_file(file.resolve(), version_of(file.resolve()))
    if not hasattr(module, attribute):
        raise UnknownName(f"{path!r} has no {attribute!r}")
    return getattr(module, attribute)
