"""Files of a user as modules: run once for each version, and known to every process that works for this one."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from chunkwise.base.errors import ChunkwiseError


class UserFile(NamedTuple):
    """A version of a file, with what it said when it was run."""

    file: Path
    changed: int
    source: bytes

    @property
    def module_name(self) -> str:
        hashed = sha256(f"{self.file}{self.changed}".encode()).hexdigest()[:12]
        return f"chunkwise_user_{self.file.stem}_{hashed}"


_modules: dict[tuple[Path, int], tuple[UserFile, ModuleType]] = {}
_expected: dict[Path, UserFile] = {}
"""In a process that works for another: what the other has run last of each file."""


def run_file(file: Path, changed: int) -> ModuleType:
    """A file as a module; `changed` tells its versions apart. Who works for another process runs what that one ran."""
    if file in _expected:
        changed = _expected[file].changed
    if (file, changed) in _modules:
        return _modules[file, changed][1]
    if file in _expected:
        return importlib.import_module(_expected[file].module_name)
    try:
        source = file.read_bytes()
    except OSError as error:
        raise ChunkwiseError(f"{file} cannot be read: {error.strerror or error}") from error
    return _run(UserFile(file, changed, source))


def _run(given: UserFile) -> ModuleType:
    name = given.module_name
    spec = importlib.util.spec_from_file_location(name, given.file, loader=_SourceLoader(given))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up by name
    try:
        _SourceLoader(given).exec_module(module)
    except ChunkwiseError:
        del sys.modules[name]
        raise
    return module


_beside: dict[str, str] = {}
"""Modules that files of the user imported from beside them, with their folders."""


@contextmanager
def _imports_beside(file: Path) -> Iterator[None]:
    """Its own imports find what lies beside it, as they do where Python runs it; nothing that is installed is hidden by
    that, and what others import later does not look there."""
    folder = str(file.absolute().parent)
    for name in [name for name, other in _beside.items() if other != folder]:
        # Of the same name as one beside another file: that one keeps what it has.
        if Path(folder, f"{name}.py").exists() or Path(folder, name).is_dir():
            sys.modules.pop(name, None)
            del _beside[name]
    sys.path.append(folder)
    before = set(sys.modules)
    try:
        yield
    finally:
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(folder + os.sep):
                _beside[name] = folder
        if folder in sys.path:  # the last one: where it stood there before, it stays
            del sys.path[len(sys.path) - 1 - sys.path[::-1].index(folder)]


class _SourceLoader(Loader):
    """Runs what the file said, whatever it says by now."""

    def __init__(self, given: UserFile) -> None:
        self._given = given

    def exec_module(self, module: ModuleType) -> None:
        file, changed, source = self._given
        try:
            with _imports_beside(file):
                exec(compile(source, file, "exec"), module.__dict__)
        except Exception as error:  # somebody else's code: say whose
            raise ChunkwiseError(
                f"{file} cannot be run: {type(error).__name__}: {error}"
            ) from error
        _modules[file, changed] = self._given, module


class _ExpectedFiles(MetaPathFinder):
    """Objects that are sent name the modules of their classes: those, and no others, are run when they arrive."""

    def __init__(self, files: Iterable[UserFile]) -> None:
        self._by_name = {each.module_name: each for each in files}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        given = self._by_name.get(name)
        if given is None:
            return None
        return importlib.util.spec_from_file_location(name, given.file, loader=_SourceLoader(given))


def files_run() -> list[UserFile]:
    """What another process may need before it is sent objects of these modules."""
    return [given for given, _ in _modules.values()]


def expect_files(files: Sequence[UserFile]) -> None:
    """What the process that this one works for has run, in its order: run here as soon as something of it is used."""
    _expected.update((each.file, each) for each in files)
    sys.meta_path.append(_ExpectedFiles(files))


def modules_run() -> list[ModuleType]:
    return [module for _, module in _modules.values()]
