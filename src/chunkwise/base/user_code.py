"""Code of the user's own: files run as modules, once for each version, and whether code is what it was."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b, sha256
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from modulefinder import ModuleFinder
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
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


def version_of(file: Path) -> int:
    """Another number whenever the file, or one that it imports from beside it, is changed."""
    stamps = [
        (str(neighbor), found.st_mtime_ns, found.st_size)
        for neighbor in with_neighbors(file)
        if (found := _stat(neighbor))
    ]
    return int.from_bytes(sha256(repr(stamps).encode("utf-8", "surrogatepass")).digest()[:7])


def with_neighbors(file: Path) -> list[Path]:
    """The file, and all that it imports from its folder or its package, and they in turn; as far as the files say so.

    What is installed is no neighbor, and neither is what Python has of its own.
    """
    file = file.absolute()
    package = file.parent
    while (package / "__init__.py").is_file() and package.parent != package:
        package = package.parent
    roots = [
        str(path) for path in dict.fromkeys((package, file.parent)) if path not in _installed()
    ]
    finder = ModuleFinder(roots, excludes=sys.stdlib_module_names)
    with suppress(OSError, ImportError, SyntaxError, ValueError, RecursionError, MemoryError):
        # Whoever runs it is told what is wrong with it.
        if package == file.parent:
            finder.run_script(str(file))
        else:
            finder.import_hook(".".join(file.relative_to(package).with_suffix("").parts))
    files = (getattr(module, "__file__", None) for module in finder.modules.values())
    result = {Path(item) for item in files if item}
    return [file, *sorted(result - {file})]


@cache
def _installed() -> frozenset[Path]:
    return frozenset(Path(path) for path in sysconfig.get_paths().values())


def _stat(file: Path) -> os.stat_result | None:
    try:
        return file.stat()
    except OSError:
        return None


class _Neighbor(NamedTuple):
    folder: str
    """Of the file that imported it."""
    stamp: tuple[int, int]
    """When its own file was changed, and how large it was."""


_beside: dict[str, _Neighbor] = {}
"""Modules that files of the user imported from beside them."""


@contextmanager
def _imports_beside(file: Path) -> Iterator[None]:
    """Its own imports find what lies beside it, as they do where Python runs it; nothing that is installed is hidden by
    that, and what others import later does not look there."""
    folder = str(file.absolute().parent)
    # One that changed is run again, and with it those that may have taken something from it.
    is_changed = any(
        other.folder == folder and other.stamp != _stamp(name) for name, other in _beside.items()
    )
    for name in list(_beside):
        # Of the same name as one beside another file: that one keeps what it has.
        top = name.partition(".")[0]
        is_hidden = Path(folder, f"{top}.py").exists() or Path(folder, top).is_dir()
        if is_changed if _beside[name].folder == folder else is_hidden:
            sys.modules.pop(name, None)
            del _beside[name]
    sys.path.append(folder)
    before = set(sys.modules)
    try:
        yield
    finally:
        # Files that it had run are no neighbors: objects of their classes are sent by the names of these modules.
        for name in set(sys.modules) - before - {item.__name__ for item in modules_run()}:
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(folder + os.sep):
                _beside[name] = _Neighbor(folder, _stamp(name))
        if folder in sys.path:  # the last one: where it stood there before, it stays
            del sys.path[len(sys.path) - 1 - sys.path[::-1].index(folder)]


def _stamp(module: str) -> tuple[int, int]:
    file = getattr(sys.modules.get(module), "__file__", None)
    result = _stat(Path(str(file))) if file else None  # a folder of modules has none
    return (result.st_mtime_ns, result.st_size) if result else (0, 0)


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
        self._by_name = {file.module_name: file for file in files}

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
    _expected.update((file.file, file) for file in files)
    sys.meta_path.append(_ExpectedFiles(files))


def modules_run() -> list[ModuleType]:
    """Those that are still imported: a test, or a notebook, may have removed some from `sys.modules`."""
    return [item for _, item in _modules.values() if item.__name__ in sys.modules]


_PLAIN = (str, int, float, bool, tuple, type(None))
_OURS = "chunkwise."


def code_fingerprint(kind: type) -> str:
    """The class and a hash of its methods, its plain values, its file, and what that file imports from beside it.

    Of a class of ours below it, what is looked at is the class alone: ours change with the version.
    """
    result = blake2b(digest_size=8)
    for item in kind.__mro__[:-1]:
        file = _file_of(item)
        is_typed = file is None and not _comes_with_a_version(item)
        for name, value in sorted(vars(item).items()):
            if not name.startswith("__") or isinstance(value, FunctionType):
                text = _written(value, is_typed)
                result.update(f"{name}={text}\n".encode("utf-8", "surrogatepass"))
        if file is not None:
            result.update(f"{file_fingerprint(file)}\n".encode())
    return f"{kind.__qualname__} {result.hexdigest()}"


def file_fingerprint(file: Path) -> str:
    """A hash of what a file says, and of what the files say that it imports from beside it; empty: it is not there."""
    try:
        result = blake2b(file.read_bytes(), digest_size=16)
    except OSError:
        return ""
    for neighbor in with_neighbors(file)[1:]:
        try:
            data = neighbor.read_bytes()
        except OSError:  # gone a moment ago
            continue
        result.update(f"\n{neighbor.name} {len(data)}\n".encode("utf-8", "surrogatepass"))
        result.update(data)
    return result.hexdigest()


def stands_in_files(kind: type) -> bool:
    """Whether all code of a class that is not ours can be read: of what is typed into a prompt helpers are not seen."""
    others = [item for item in kind.__mro__[:-1] if not _comes_with_a_version(item)]
    return all(_file_of(other) is not None for other in others)


def _comes_with_a_version(kind: type) -> bool:
    """Ours, or Python's own, to which classes are said to belong that a program has made."""
    name = kind.__module__
    return name.startswith(_OURS) or name.partition(".")[0] in sys.stdlib_module_names


def _file_of(kind: type) -> Path | None:
    """Where a class stands that is neither ours nor Python's own."""
    if _comes_with_a_version(kind):
        return None
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return Path(file) if isinstance(file, str) and Path(file).is_file() else None


def _written(value: object, is_typed: bool) -> str:
    value = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
    if not isinstance(value, FunctionType):
        return repr(value) if isinstance(value, _PLAIN) else type(value).__qualname__
    try:
        # Of each method: of a class that stands twice in a file, Python finds the first.
        return inspect.getsource(value)
    except (OSError, TypeError):
        # Typed into a prompt; or made by a program out of what is told already, as a dataclass's are.
        return repr(_compiled(value.__code__)) if is_typed else value.__code__.co_name


def _compiled(code: CodeType) -> tuple[object, ...]:
    """What a function does, without the place it was made at."""
    constants = tuple(
        _compiled(item) if isinstance(item, CodeType) else item for item in code.co_consts
    )
    return code.co_name, code.co_names, code.co_code, constants
