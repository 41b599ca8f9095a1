"""`docs/api.md`: every public name with its signature, what it is, and its parameters, out of the code itself."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Literal, get_origin

import chunkwise
from chunkwise import ext, options
from chunkwise.core.document import PlaceInDocument

HEAD = """# Python

Verbs and values are in `chunkwise`, option values in `chunkwise.options`, names for authors of parts in
`chunkwise.ext`. `make docs` writes this page from the code. The same thing has the same name in every verb and,
with dashes, on the command line ([commands](commands.md)).
Values have `to_dict()`, which returns plain values for JSON, and are drawn in notebooks. In signatures:
"""

TYPES = {
    "Inputs": "the path of a file, folder or archive, a glob, `-`, a `Document`, or an iterable of them",
    "StrategyLike": "the name of a strategy with its parameters, an object with `split`, or what `get_strategy` gives",
    "ChunksSource": "a path, or an iterable of `Chunk`s or of mappings",
    "TestQueries": "a path, a test set, or an iterable of `Query` values",
    "Where": "conditions by key, a text such as `price>=10`, or several of them",
    "WhenUnreadable": '`"warn"`, `"raise"`, or a function that takes an `UnreadableDocument`',
    "OnProgress": "a function that takes the work done since the last call, and a note",
    "OnBadRow": "a function that takes a line of text",
    "Embedder, Reranker, LanguageModel, Judge, Retriever": "your own objects: see [extending](how-to/extend.md)",
}
"""Names in signatures that are no public ones."""


WITHIN = """What verbs return and what fields hold, and what has no name in `chunkwise` itself: nobody has to make one.
"""


def api_page() -> str:
    """The whole page."""
    verbs, values = _functions_and_classes(chunkwise, chunkwise.__all__)
    tools, parts = _functions_and_classes(ext, ext.__all__)
    settings = {
        name: value
        for name, value in vars(options).items()
        if inspect.isclass(value) and value.__module__ == options.__name__
    }
    settings["RayCluster"] = options.RayCluster
    within = _within({**verbs, **tools}, {**values, **parts, **settings})
    lines = [HEAD, *(f"- `{name}`: {told}" for name, told in TYPES.items()), "", "## Verbs\n"]
    lines += [_function(f"chunkwise.{name}", verb) for name, verb in verbs.items()]
    lines.append("## Values\n")
    lines += [_class(f"chunkwise.{name}", value) for name, value in values.items()]
    lines.append("## Options\n")
    lines += [_class(f"chunkwise.options.{name}", kind) for name, kind in sorted(settings.items())]
    lines.append("## For authors of parts\n")
    lines += [_function(f"chunkwise.ext.{name}", tool) for name, tool in tools.items()]
    lines += [_class(f"chunkwise.ext.{name}", part) for name, part in parts.items()]
    lines.append("## Values within values\n")
    lines.append(WITHIN)
    lines += [_class(value.__name__, value) for value in within]
    return "\n".join(lines).rstrip() + "\n"


def _functions_and_classes(
    module: ModuleType, names: list[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    public = {name: getattr(module, name) for name in names}
    functions = {name: value for name, value in public.items() if inspect.isfunction(value)}
    return functions, {name: value for name, value in public.items() if name not in functions}


def _within(verbs: dict[str, Any], values: dict[str, Any]) -> list[type]:
    """Every value of ours that verbs return, in whatever value it is held, and that has no public name."""
    public = {*values.values()}
    waiting = [kind for each in verbs.values() for kind in _returned(each)]
    found: set[type] = set()
    while waiting:
        kind = waiting.pop()
        if kind in found:
            continue
        found.add(kind)
        waiting += [each for _, told, _ in _fields(kind) for each in _named(told, kind.__module__)]
        for member in vars(kind).values():
            method = member.fget if isinstance(member, property) else member
            if inspect.isfunction(method) and not method.__name__.startswith("_"):
                waiting += _returned(method)
    return sorted(found - public, key=lambda kind: kind.__name__)


def _returned(function: Any) -> list[type]:
    function = inspect.unwrap(function)
    return _named(str(function.__annotations__.get("return", "")), function.__module__)


def _named(annotation: str, module: str) -> list[type]:
    """Our values among the names of an annotation; protocols are no values."""
    names = vars(sys.modules[module])
    known = [names.get(word) for word in re.findall(r"\w+", annotation)]
    return [
        each
        for each in known
        if inspect.isclass(each)
        and each.__module__.startswith("chunkwise.")
        and not issubclass(each, Exception)
        and not getattr(each, "_is_protocol", False)
    ]


def _function(name: str, function: Any, level: str = "###") -> str:
    doc = inspect.getdoc(function) or ""
    lines = [f"{level} {name}", "", "```python", _signature(name, function), "```", ""]
    lines += [_prose(doc.partition("\nArgs:\n")[0]), ""]
    described = arguments(doc)
    if rows := [f"- `{each}`: {text}" for each, text in described.items()]:
        lines += [*rows, ""]
    for title in ("Returns", "Raises"):
        if text := section(doc, title):
            lines += [f"{title}: {_prose(text)}", ""]
    if example := section(doc, "Example"):
        lines += ["```python", example, "```", ""]
    return "\n".join(lines)


def section(doc: str, title: str) -> str:
    """One section of a Google-style docstring."""
    found = re.search(rf"(?ms)^{title}:\n(.*?)(?=^\S|\Z)", doc)
    return textwrap.dedent(found[1]).strip() if found else ""


def arguments(doc: str) -> dict[str, str]:
    """The descriptions of parameters in a Google-style docstring."""
    described = re.findall(r"(?ms)^\*{0,2}(\w+): (.*?)(?=^\S|\Z)", section(doc, "Args"))
    return {name: " ".join(text.split()) for name, text in described}


def _class(name: str, found: Any) -> str:
    doc = inspect.getdoc(found) or ""
    lines = [f"### {name}", "", _prose(doc.partition("\nExample:\n")[0]), ""]
    if example := section(doc, "Example"):
        lines += ["```python", example, "```", ""]
    bases = [base.__name__ for base in found.__mro__[1:] if base.__module__ == options.__name__]
    if bases:
        lines += [f"It has the fields of {', '.join(f'`{base}`' for base in bases)} and these.", ""]
    fields = list(_fields(found))
    defaults = _defaults(found) if fields else {}
    shown = [(f"`{own}: {kind}{defaults[own]}`", told) for own, kind, told in fields]
    if plain := [field for field, told in shown if not told]:
        lines += [f"Fields: {', '.join(plain)}", ""]
    if described := [f"- {field}: {told}" for field, told in shown if told]:
        lines += [*described, ""]
    own = [each for each in _own_members(found) if each[0] not in {name for name, *_ in fields}]
    if own:
        silent = [f"`{shown}`" for _, shown, told in own if not told]
        lines += [f"- `{shown}`: {told}" for _, shown, told in own if told]
        lines += [f"- by their names: {', '.join(silent)}"] if silent else []
        lines.append("")
    lines += [
        _function(f"{name}.{each}", getattr(found, each), "####") for each in _long_methods(found)
    ]
    return "\n".join(lines)


_METHODS_SHOWN_WHOLE = {"Index": ("search", "update", "export")}


def _long_methods(found: Any) -> tuple[str, ...]:
    return _METHODS_SHOWN_WHOLE.get(found.__name__, ())


def _own_members(found: Any) -> Iterator[tuple[str, str, str]]:
    """Properties and methods that have something to say, in the order of the source."""
    shared = vars(PlaceInDocument) if issubclass(found, PlaceInDocument) else {}
    for name, member in {**shared, **vars(found)}.items():
        if name.startswith("_") or name in _long_methods(found):
            continue
        if isinstance(member, property):
            told = inspect.getdoc(member.fget) or ""
            if not told.startswith("The old name of"):
                yield name, name, _first(told)
        elif inspect.isfunction(member):
            signature = _signature(name, member).replace("\n", " ")
            yield (
                name,
                " ".join(signature.split()).replace("( ", "(").replace(", )", ")"),
                _first(inspect.getdoc(member) or ""),
            )


def _parameters(function: Any) -> list[inspect.Parameter]:
    every = inspect.signature(function).parameters.values()
    return [each for each in every if each.name != "self"]


def _signature(name: str, function: Any) -> str:
    """One parameter a line where they are several."""
    signature = inspect.signature(function)
    shown: list[str] = []
    keyword = False
    for each in _parameters(function):
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not keyword:
            keyword = True
            shown.append("*")
        shown.append(_parameter(each))
    returns = (
        ""
        if signature.return_annotation is inspect.Signature.empty
        else (f" -> {_annotation(signature.return_annotation)}")
    )
    line = f"{name}({', '.join(shown)}){returns}"
    if len(line) <= 100:
        return line
    inside = "".join(f"    {each},\n" for each in shown)
    return f"{name}(\n{inside}){returns}"


def _parameter(each: inspect.Parameter) -> str:
    star = "**" if each.kind is inspect.Parameter.VAR_KEYWORD else ""
    annotation = (
        "" if each.annotation is inspect.Parameter.empty else f": {_annotation(each.annotation)}"
    )
    default = "" if each.default is inspect.Parameter.empty else f" = {_default(each.default)}"
    return f"{star}{each.name}{annotation}{default}"


def _annotation(annotation: object) -> str:
    return (
        annotation
        if isinstance(annotation, str)
        else getattr(annotation, "__name__", str(annotation))
    )


def _default(value: object) -> str:
    if dataclasses.is_dataclass(value) and value == type(value)():
        return f"{type(value).__name__}()"
    if callable(value):
        return getattr(value, "__name__", "…")
    shown = repr(value)
    return shown if len(shown) <= 40 else "…"


def _fields(found: Any) -> Iterator[tuple[str, str, str]]:
    """The fields of a value with their types and what the source says below them."""
    if not (dataclasses.is_dataclass(found) or hasattr(found, "_fields")):
        return
    names = (
        [field.name for field in dataclasses.fields(found)]
        if dataclasses.is_dataclass(found)
        else list(found._fields)
    )
    told: dict[str, str] = {}
    kinds: dict[str, str] = {}
    inherited: set[str] = set()
    for base in reversed(found.__mro__):
        if base is object or base.__module__.partition(".")[0] != "chunkwise":
            continue
        if base is not found and base.__module__ == options.__name__:
            inherited |= {field.name for field in dataclasses.fields(base)}
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(tree, ast.ClassDef)
        last = ""
        for node in tree.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                last = node.target.id
                kinds[last], help = _described(node.annotation)
                told |= {last: help} if help else {}
            elif last and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                told[last] = _prose(str(node.value.value))
            else:
                last = ""
    for name in (each for each in names if not each.startswith("_") and each not in inherited):
        yield name, _spelled_out(kinds.get(name, ""), found.__module__), told.get(name, "")


def _described(annotation: ast.expr) -> tuple[str, str]:
    """The type of a field, and the help of a declared option."""
    match annotation:
        case ast.Subscript(
            ast.Name("Annotated"),
            ast.Tuple([kind, ast.Call(ast.Name("Option"), [ast.Constant(help)])]),
        ):
            return ast.unparse(kind), str(help)
    return ast.unparse(annotation), ""


def _spelled_out(annotation: str, module: str) -> str:
    """With the values that are allowed, where a name stands for them."""
    names = vars(sys.modules[module])

    def values(word: re.Match[str]) -> str:
        meant = names.get(word[0])
        return repr(meant).removeprefix("typing.") if get_origin(meant) is Literal else word[0]

    return re.sub(r"\w+", values, annotation)


def _defaults(found: Any) -> dict[str, str]:
    """Of each field ` = VALUE`, or nothing where one must be given."""
    if not dataclasses.is_dataclass(found):
        values = dict(found._field_defaults)
    else:
        values = {
            field.name: field.default_factory()
            if field.default_factory is not dataclasses.MISSING
            else field.default
            for field in dataclasses.fields(found)
        }
    return {
        name: f" = {_default(values[name])}"
        if values.get(name, dataclasses.MISSING) is not dataclasses.MISSING
        else ""
        for name in getattr(found, "_fields", values)
    }


def _first(told: str) -> str:
    return _prose(told.partition("\n\n")[0])


def _prose(told: str) -> str:
    """Paragraphs, each on one line."""
    return "\n\n".join(" ".join(part.split()) for part in told.split("\n\n") if part.strip())
