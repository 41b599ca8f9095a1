"""Public names of a package, imported when they are first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Make `__all__`, `__getattr__` and `__dir__` of a package.

    Args:
        package: Name of the package.
        homes: Names by their modules, separated by spaces; a module without names is itself an attribute.
    """
    modules = {name: module for module, names in homes.items() for name in names.split()}
    submodules = {module.rpartition(".")[2]: module for module, names in homes.items() if not names}

    def get(name: str) -> Any:
        if name in submodules:
            return importlib.import_module(submodules[name])
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(modules[name]), name)

    public = sorted(name for name in modules if not name.startswith("__"))
    return public, get, lambda: sorted([*modules, *submodules])
