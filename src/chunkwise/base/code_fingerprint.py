"""What tells whether the code of a part of one's own is still what something was made with."""

from __future__ import annotations

import inspect
import sys
from hashlib import blake2b
from pathlib import Path
from types import CodeType, FunctionType

from chunkwise.base.user_files import with_neighbours

_PLAIN = (str, int, float, bool, tuple, type(None))
_OURS = "chunkwise."


def code_fingerprint(kind: type) -> str:
    """The class and a hash of its methods, its plain values, its file, and what that file imports from beside it.

    Of a class of ours below it, what is looked at is the class alone: ours change with the version.
    """
    found = blake2b(digest_size=8)
    for each in kind.__mro__[:-1]:
        file = _file_of(each)
        is_typed = file is None and not _comes_with_a_version(each)
        for name, value in sorted(vars(each).items()):
            if not name.startswith("__") or isinstance(value, FunctionType):
                said = _written(value, is_typed)
                found.update(f"{name}={said}\n".encode("utf-8", "surrogatepass"))
        if file is not None:
            found.update(f"{file_fingerprint(file)}\n".encode())
    return f"{kind.__qualname__} {found.hexdigest()}"


def file_fingerprint(file: Path) -> str:
    """A hash of what a file says, and of what the files say that it imports from beside it; empty: it is not there."""
    try:
        found = blake2b(file.read_bytes(), digest_size=16)
    except OSError:
        return ""
    for each in with_neighbours(file)[1:]:
        try:
            data = each.read_bytes()
        except OSError:  # gone a moment ago
            continue
        found.update(f"\n{each.name} {len(data)}\n".encode("utf-8", "surrogatepass"))
        found.update(data)
    return found.hexdigest()


def stands_in_files(kind: type) -> bool:
    """Whether all code of a class that is not ours can be read: of what is typed into a prompt helpers are not seen."""
    others = [each for each in kind.__mro__[:-1] if not _comes_with_a_version(each)]
    return all(_file_of(each) is not None for each in others)


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
        _compiled(each) if isinstance(each, CodeType) else each for each in code.co_consts
    )
    return code.co_name, code.co_names, code.co_code, constants
