"""Files of a user as modules: run once for each version, and known to every process that works for this one."""

from __future__ import annotations

import importlib.util
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from chunkwise.base.errors import ChunkwiseError

_modules: dict[tuple[Path, int], ModuleType] = {}


def run_file(file: Path, changed: int) -> ModuleType:
    """A file as a module; `changed` tells its versions apart."""
    if (file, changed) in _modules:
        return _modules[file, changed]
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
    _modules[file, changed] = module
    return module


def files_run() -> list[tuple[Path, int]]:
    """What another process runs, too, before it is sent objects of these modules."""
    return list(_modules)


def modules_run() -> list[ModuleType]:
    return list(_modules.values())
