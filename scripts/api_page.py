"""Write `docs/api.md`: every public name with its signature and docstring, generated from the code."""

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

The Python API: verbs and values in `chunkwise`, option values in `chunkwise.options`, and names for plugin authors
in `chunkwise.ext`. An option has the same name in every verb and, with dashes, on the
[command line](commands.md).

Values have `to_dict()`, which returns plain values for JSON, and a notebook view. Types in signatures:

"""

TYPES = {
    "Inputs": "the path of a file, folder or archive, a glob, `-`, a `Document`, or an iterable of them",
    "StrategyLike": "a strategy name with parameters, an object with `split`, or the result of `get_strategy`",
    "ChunksSource": "a path, or an iterable of `Chunk`s or mappings",
    "TestQueries": "a path, a test set, or an iterable of `Query` values",
    "Where": "conditions by key, a text such as `price>=10`, or several of them",
    "WhenUnreadable": '`"warn"`, `"raise"`, or a function of an `UnreadableDocument`',
    "OnProgress": "a function of the work done since the last call, and a note",
    "OnBadRow": "a function of a message",
    "Embedder, Reranker, LanguageModel, Judge, Retriever": "your own objects, see [extending](how-to/extend.md)",
}
"""Type aliases in signatures that are not public names."""

ON_EVERY_VALUE = {"to_dict", "rows"}
"""Methods that the page describes once."""


def api_page() -> str:
    """Return the whole page."""
    verbs, values = _functions_and_classes(chunkwise, chunkwise.__all__)
    tools, parts = _functions_and_classes(ext, ext.__all__)
    settings = {
        name: value
        for name, value in vars(options).items()
        if inspect.isclass(value) and value.__module__ == options.__name__
    }
    settings["RayCluster"] = options.RayCluster
    results = _result_types(verbs, values, {*values.values(), *parts.values(), *settings.values()})
    lines = [HEAD.rstrip("\n") + "\n", *(f"- `{name}`: {text}" for name, text in TYPES.items())]
    lines.append("\n## Verbs\n")
    lines += [_function(f"chunkwise.{name}", verb) for name, verb in verbs.items()]
    lines.append("## Values\n")
    lines += [_class(f"chunkwise.{name}", value) for name, value in values.items()]
    lines.append("## Result types\n\nTypes of fields and results of the values above.\n")
    lines += [_class(value.__name__, value) for value in results]
    lines.append("## Options\n")
    lines += [_class(f"chunkwise.options.{name}", kind) for name, kind in sorted(settings.items())]
    lines.append("## For plugin authors\n")
    lines += [_function(f"chunkwise.ext.{name}", tool) for name, tool in tools.items()]
    lines += [_class(f"chunkwise.ext.{name}", part) for name, part in parts.items()]
    return "\n".join(lines).rstrip() + "\n"


def _functions_and_classes(
    module: ModuleType, names: list[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    public = {name: getattr(module, name) for name in names}
    functions = {name: value for name, value in public.items() if inspect.isfunction(value)}
    return functions, {name: value for name, value in public.items() if name not in functions}


def _result_types(verbs: dict[str, Any], values: dict[str, Any], public: set[type]) -> list[type]:
    """Find the types without a public name that verbs return, and that public values hold or return."""
    types = {kind for verb in verbs.values() for kind in _returned(verb)}
    for value in values.values():
        for _, annotation, _ in _fields(value):
            types.update(_named(annotation, value.__module__))
        for name, member in vars(value).items():
            method = member.fget if isinstance(member, property) else member
            if inspect.isfunction(method) and not name.startswith("_"):
                types.update(_returned(method))
    return sorted(types - public, key=lambda kind: kind.__name__)


def _returned(function: Any) -> list[type]:
    function = inspect.unwrap(function)
    return _named(str(function.__annotations__.get("return", "")), function.__module__)


def _named(annotation: str, module: str) -> list[type]:
    """Our classes among the names of an annotation, without protocols."""
    names = vars(sys.modules[module])
    known = [names.get(word) for word in re.findall(r"\w+", annotation)]
    return [
        kind
        for kind in known
        if inspect.isclass(kind)
        and kind.__module__.startswith("chunkwise.")
        and not issubclass(kind, Exception)
        and not getattr(kind, "_is_protocol", False)
    ]


def _function(name: str, function: Any, level: str = "###") -> str:
    doc = inspect.getdoc(function) or ""
    lines = [f"{level} {name}", "", "```python", _signature(name, function), "```", ""]
    lines += [_prose(doc.partition("\nArgs:\n")[0]), ""]
    if rows := [f"- `{parameter}`: {text}" for parameter, text in arguments(doc).items()]:
        lines += [*rows, ""]
    for title in ("Returns", "Raises"):
        if text := section(doc, title):
            lines += [f"{title}: {_prose(text)}", ""]
    if example := section(doc, "Example"):
        lines += ["```python", example, "```", ""]
    return "\n".join(lines)


def section(doc: str, title: str) -> str:
    """Return one section of a Google-style docstring."""
    match = re.search(rf"(?ms)^{title}:\n(.*?)(?=^\S|\Z)", doc)
    return textwrap.dedent(match[1]).strip() if match else ""


def arguments(doc: str) -> dict[str, str]:
    """Return the parameter descriptions of a Google-style docstring."""
    described = re.findall(r"(?ms)^\*{0,2}(\w+): (.*?)(?=^\S|\Z)", section(doc, "Args"))
    return {name: " ".join(text.split()) for name, text in described}


def _class(name: str, kind: Any) -> str:
    doc = inspect.getdoc(kind) or ""
    lines = [f"### {name}", "", _prose(doc.partition("\nExample:\n")[0]), ""]
    if example := section(doc, "Example"):
        lines += ["```python", example, "```", ""]
    fields = list(_fields(kind))
    bases = [base.__name__ for base in kind.__mro__[1:] if base.__module__ == options.__name__]
    if bases:
        inherited = f"All fields of {', '.join(f'`{base}`' for base in bases)}"
        lines += [f"{inherited}, and:" if fields else f"{inherited}.", ""]
    defaults = _defaults(kind) if fields else {}
    shown = [(f"`{field}: {type_}{defaults[field]}`", text) for field, type_, text in fields]
    if undocumented := [field for field, text in shown if not text]:
        lines += [f"Fields: {', '.join(undocumented)}", ""]
    if documented := [f"- {field}: {text}" for field, text in shown if text]:
        lines += [*documented, ""]
    skipped = {field for field, *_ in fields} | ON_EVERY_VALUE
    members = [member for member in _members(kind) if member[0] not in skipped]
    if members:
        lines += [f"- `{member}`: {text}" for _, member, text in members if text]
        undocumented = [f"`{member}`" for _, member, text in members if not text]
        lines += [f"- {', '.join(undocumented)}"] if undocumented else []
        lines.append("")
    lines += [
        _function(f"{name}.{method}", getattr(kind, method), "####")
        for method in _METHODS_IN_FULL.get(kind.__name__, ())
    ]
    return "\n".join(lines)


_METHODS_IN_FULL = {"Index": ("search", "update", "export")}


def _members(kind: Any) -> Iterator[tuple[str, str, str]]:
    """List properties and methods in source order: name, signature, summary."""
    shared = vars(PlaceInDocument) if issubclass(kind, PlaceInDocument) else {}
    for name, member in {**shared, **vars(kind)}.items():
        if name.startswith("_") or name in _METHODS_IN_FULL.get(kind.__name__, ()):
            continue
        if isinstance(member, property):
            yield name, name, _first(inspect.getdoc(member.fget) or "")
        elif inspect.isfunction(member):
            signature = " ".join(_signature(name, member).split())
            signature = signature.replace("( ", "(").replace(", )", ")")
            yield name, signature, _first(inspect.getdoc(member) or "")


def _parameters(function: Any) -> list[inspect.Parameter]:
    parameters = inspect.signature(function).parameters.values()
    return [parameter for parameter in parameters if parameter.name != "self"]


def _signature(name: str, function: Any) -> str:
    """Return the signature, with one parameter per line if it is long."""
    signature = inspect.signature(function)
    shown: list[str] = []
    keyword = False
    for parameter in _parameters(function):
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not keyword:
            keyword = True
            shown.append("*")
        shown.append(_parameter(parameter))
    returns = (
        ""
        if signature.return_annotation is inspect.Signature.empty
        else (f" -> {_annotation(signature.return_annotation)}")
    )
    line = f"{name}({', '.join(shown)}){returns}"
    if len(line) <= 100:
        return line
    inside = "".join(f"    {parameter},\n" for parameter in shown)
    return f"{name}(\n{inside}){returns}"


def _parameter(parameter: inspect.Parameter) -> str:
    empty = inspect.Parameter.empty
    star = "**" if parameter.kind is inspect.Parameter.VAR_KEYWORD else ""
    kind = parameter.annotation
    annotation = "" if kind is empty else f": {_annotation(kind)}"
    default = "" if parameter.default is empty else f" = {_default(parameter.default)}"
    return f"{star}{parameter.name}{annotation}{default}"


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


def _fields(kind: Any) -> Iterator[tuple[str, str, str]]:
    """List the fields of a value with their types and documentation."""
    if not (dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")):
        return
    names = (
        [field.name for field in dataclasses.fields(kind)]
        if dataclasses.is_dataclass(kind)
        else list(kind._fields)
    )
    texts: dict[str, str] = {}
    types: dict[str, str] = {}
    inherited: set[str] = set()
    for base in reversed(kind.__mro__):
        if base is object or base.__module__.partition(".")[0] != "chunkwise":
            continue
        if base is not kind and base.__module__ == options.__name__:
            inherited |= {field.name for field in dataclasses.fields(base)}
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(tree, ast.ClassDef)
        last = ""
        for node in tree.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                last = node.target.id
                types[last], help = _described(node.annotation)
                texts |= {last: help} if help else {}
            elif last and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                texts[last] = _prose(str(node.value.value))
            else:
                last = ""
    for name in names:
        if not name.startswith("_") and name not in inherited:
            yield name, _spelled_out(types.get(name, ""), kind.__module__), texts.get(name, "")


def _described(annotation: ast.expr) -> tuple[str, str]:
    """Return the type of a field, and the help of a declared option."""
    match annotation:
        case ast.Subscript(
            ast.Name("Annotated"),
            ast.Tuple([kind, ast.Call(ast.Name("Option"), [ast.Constant(help)])]),
        ):
            return _plain_type(kind), str(help)
    return ast.unparse(annotation), ""


def _plain_type(annotation: ast.expr) -> str:
    """Return a type without its bounds."""
    match annotation:
        case ast.Subscript(ast.Name("Annotated"), ast.Tuple([kind, *_])):
            return ast.unparse(kind)
    return ast.unparse(annotation)


def _spelled_out(annotation: str, module: str) -> str:
    """Replace names of literal types by their values."""
    names = vars(sys.modules[module])

    def values(word: re.Match[str]) -> str:
        kind = names.get(word[0])
        return repr(kind).removeprefix("typing.") if get_origin(kind) is Literal else word[0]

    return re.sub(r"\w+", values, annotation)


def _defaults(kind: Any) -> dict[str, str]:
    """Return ` = VALUE` for each field, empty for required ones."""
    if not dataclasses.is_dataclass(kind):
        values = dict(kind._field_defaults)
    else:
        values = {
            field.name: field.default_factory()
            if field.default_factory is not dataclasses.MISSING
            else field.default
            for field in dataclasses.fields(kind)
        }
    return {
        name: f" = {_default(values[name])}"
        if values.get(name, dataclasses.MISSING) is not dataclasses.MISSING
        else ""
        for name in getattr(kind, "_fields", values)
    }


def _first(text: str) -> str:
    return _prose(text.partition("\n\n")[0])


def _prose(text: str) -> str:
    """Join the lines of each paragraph."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n") if part.strip())
