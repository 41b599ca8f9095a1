"""Names of built-in and third-party parts, each imported only when it is needed."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from chunkwise.base.errors import ChunkwiseError, UnknownName


class Registry:
    """One kind of part: built-in names, then those of an entry point group, then `./file.py:Name`."""

    def __init__(self, kind: str, group: str, builtin: Mapping[str, str]) -> None:
        self.kind = kind
        self.group = group
        self.builtin = MappingProxyType(dict(builtin))

    def _plugins(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self.group)}

    def names(self) -> list[str]:
        """Built-in names in their order, then plugins in alphabetical order."""
        return [*self.builtin, *sorted(set(self._plugins()) - set(self.builtin))]

    def get(self, name: str) -> Any:
        """The part of this name; an unknown name lists the nearest known ones."""
        if name in self.builtin:
            module, _, attribute = self.builtin[name].partition(":")
            return getattr(importlib.import_module(module), attribute)
        if ".py:" in name:
            return _from_file(self.kind, name)
        point = self._plugins().get(name)
        if point is not None:
            return point.load()
        if name.endswith(".py"):
            raise UnknownName(f"{name!r} is a file; name the class in it, too: {name}:ClassName")
        begun = [known for known in self.names() if name and known.startswith(name)]
        near = begun or get_close_matches(name, self.names())
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(self.names())}"
        raise UnknownName(f"no {self.kind} is named {name!r}; {hint}")

    def all(self) -> dict[str, Any]:
        """Every part that can be imported; a broken plugin is one warning, not the end."""
        found = {}
        for name in self.names():
            try:
                found[name] = self.get(name)
            except Exception as error:
                if name in self.builtin:
                    raise
                warnings.warn(f"the {self.kind} {name!r} cannot be loaded: {error}", stacklevel=2)
        return found


def _from_file(kind: str, reference: str) -> Any:
    path, _, attribute = reference.rpartition(":")
    file = Path(path)
    if not file.is_file():
        raise UnknownName(f"no file {path!r} to take the {kind} {attribute!r} from")
    module = _run_file(file.resolve(), file.stat().st_mtime_ns)
    if not hasattr(module, attribute):
        raise UnknownName(f"{path!r} has no {attribute!r}")
    return getattr(module, attribute)


@cache
def _run_file(file: Path, changed: int) -> ModuleType:
    """A user's file as a module, run once for each of its versions."""
    name = f"chunkwise_user_{file.stem}_{sha256(f'{file}{changed}'.encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up by name
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # somebody else's code: say whose
        del sys.modules[name]
        raise ChunkwiseError(f"{file} cannot be run: {type(error).__name__}: {error}") from error
    return module
