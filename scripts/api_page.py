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
Values have `to_dict()` (plain values, ready for JSON), a short `repr`, and draw themselves in notebooks. In signatures:
"""

MEANS = {
    "accept": '"documents" or "questions", which may be others in one of the runs',
    "advance": "is called with the work done since the last call, and a note, as it goes on",
    "answers": "a file of answers with citations, to be scored, too",
    "budget": "the most tokens that are handed out for a question, all hits together",
    "chunks": "chunks that are there: `Chunk`s, rows with a document and start and end or a text, or a file of such "
    "rows; nothing is cut then",
    "context": 'what is indexed beside each chunk: "none", "headings", or "neighbors" and "document", which a '
    "language model writes",
    "document": "what is cut",
    "embedder": 'makes vectors: a name ("minilm", "openai:NAME", an address; "none": words alone), or an object with '
    "`identity`, `dimensions` and `embed(texts, kind)`",
    "exact": "embed every chunk of every configuration by itself, which takes longer",
    "form": '"claims" (each with its passage and quote) or "plain" sentences; what suits the model, where it is not '
    "said",
    "format": '"text", "markdown" or "auto"',
    "hits": "a file of another system's hits, which are evaluated instead of a search",
    "id": "of the document that the text becomes",
    "into": "a folder, or a database (docs/how-to/databases.md) [default: memory]",
    "jobs": 'processes that share the work, or a cluster: `RayCluster("auto")`',
    "judge": '"llm", the name of another judge, a `Judge`, or several',
    "k": "the most hits for a question",
    "keep_others": "leave documents that are not among these where they are",
    "kinds": "kinds of boundary issues that are looked for; all, where it is not said",
    "language": 'of the words: a code such as "de", or "auto", which finds it out document by document',
    "llm": 'the language model: a name ("local", PATH.gguf, "openai:NAME"), a model, or a client with a limit on what '
    "may be spent",
    "listeners": "functions that are told how the work goes on: `Listeners`",
    "live": "how a retriever of your own is asked: `LiveOptions`",
    "lower": "says of a metric whether less of it is better",
    "min_effect": "the margin: what differs by no more does not fail",
    "no_new_zero": "whether a single question that finds nothing any more fails",
    "fails_by_tests": "whether a run that is shown to be worse fails",
    "max_calls": "the most requests to the language model",
    "max_cost": "the most dollars that may be spent",
    "metrics": "metrics: their names, those of groups, or `Metric` objects; all, where it is not said",
    "embedders": "other models than `embedder`, which the best are tried with, too",
    "rerankers": "names of models that may read the hits of the best once more",
    "pipeline": "what builds a pipeline of your own, whose declared parameters are tried: ./mine.py:build",
    "prior": "whether what levers did on public question sets counts for some questions",
    "mmr": "0 to 1: how much hits that resemble each other are avoided, 1 not at all",
    "n": "the most questions that are made",
    "name": 'a strategy: "name(parameter=value, …)", or an object with `split`',
    "neighbors": "chunks before and behind each hit that are handed out with it",
    "objective": 'the metric that is made high: "recall@1000t", "ndcg@10", …',
    "on_bad": "gets a line for each row or question that cannot be used; a warning, where it is not given",
    "on_document": "is called with every document as it is read",
    "on_outcome": "gets each configuration's outcome as soon as it is known",
    "on_unreadable": '"warn" (an error, where nothing at all can be read), "raise", "ignore", or a function that gets '
    "each document that cannot be read",
    "only": "a `Filter`: documents, sections, pages, metadata or levels that are searched",
    "options": "how documents are read: which files of a folder, encoding, fields of records, loader, OCR",
    "output": "the file or folder that results are written to",
    "parameters_given": "of the strategy, where they are not in its name",
    "path": "the file",
    "results": "what `evaluate` returned",
    "queries": "the questions: a file of any known format, `Query` values, texts for a search",
    "question": "what you want to know",
    "rebuild": "make the whole index again; what is not said stays as it was",
    "graph": "whether it is kept where names stand, which the retriever `graph` walks along",
    "names": 'what finds names beside the rules of a graph: "spacy", "lac", or an object with `identity` and '
    "`names(text)`",
    "maxsim": 'what gives a vector a token, which `multiscale` then compares: "colbert-small", or an object with '
    "`token_vectors` and `query_vectors`",
    "reranker": 'orders the best hits anew: a name ("local", "cohere:NAME", an address), or an object with '
    "`identity` and `scores(query, texts)`",
    "retriever": '"bm25", "dense", "hybrid" or "multiscale", with parameters in brackets; where it is evaluated, one '
    "of your own, too: a function, an object, ./file.py:name, an address or a command",
    "runs": "results, or files of them; each is held against the first",
    "scoring": "how scores are made: `ScoringRules`",
    "seed": "of what is drawn by chance: resamples, orders",
    "source": 'files, folders, globs, archives, "-" for standard input, `Document`s, or a list of them',
    "sources": "what tables call the runs",
    "split": "evaluate only the questions of this split of the test set",
    "strategy": 'how documents are cut: "name(parameter=value, …)", or an object with `split`',
    "text": "what is cut",
    "time": 'what may be spent, such as "10 min", or a number of seconds',
    "tokenizer": "what tokens are counted by",
    "types": "shares of the types of questions",
    "vectors": '"late" (one pass over a document), "own" (each chunk by itself), "both", or "none": words alone',
    "where": "conditions on the metadata of documents: `{'year': 2024, 'price': {'>=': 10}}`, or `'price>=10'`",
    "with_vectors": "write the vector of each chunk, too",
    "wait": "seconds that another writer of the index is waited for",
}
"""What a parameter means, wherever it occurs."""

MEANS_HERE = {
    "chunkwise.open_index.source": "a folder, or a database (docs/how-to/databases.md)",
    "chunkwise.history.path": "a file, or postgresql://user@host/database; that of the project, where it is not said",
    "chunkwise.Index.export.output": "the file: .parquet, .jsonl or .csv",
    "chunkwise.tune.source": "files, folders, globs, archives, `Document`s, or a plan: `sweep.toml`",
    "chunkwise.push.source": "an `Index` or the place of one, a file of chunks (.parquet, .jsonl, .csv), or `Chunk`s",
    "chunkwise.push.to": 'the database: "chroma:///folder", "qdrant://host:6333/NAME" … (docs/how-to/databases.md)',
    "chunkwise.push.collection": "its collection, where the address does not name it",
    "chunkwise.push.prune": "remove what earlier pushes wrote of these documents and this one has no longer",
    "chunkwise.push.on_bad": "is told, in a line, what was not pushed",
    "chunkwise.generate_questions.output": "a file that every question is written to as soon as it is kept",
}


TYPES = {
    "Inputs": "the path of a file, folder or archive, a glob, `-`, a `Document`, or an iterable of them",
    "StrategyLike": "the name of a strategy with its parameters, an object with `split`, or what `get_strategy` gives",
    "ChunksSource": "a path, or an iterable of `Chunk`s or of mappings",
    "TestQueries": "a path, a test set, or an iterable of `Query` values",
    "Where": "conditions by key, a text such as `price>=10`, or several of them",
    "WhenUnreadable": '`"warn"`, `"raise"`, or a function that takes an `UnreadableDocument`',
    "OnProgress": "a function that takes the work done since the last call, and a note",
    "OnBadRow": "a function that takes a line of text",
    "Embedder, Reranker, LanguageModel, Judge, Retriever": "objects of your own: see [extending](how-to/extend.md)",
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
    rows = [f"| `{each.name}` | {_meaning(name, each, doc)} |" for each in _parameters(function)]
    if rows:
        lines += ["| parameter | |", "|---|---|", *rows, ""]
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
    lines = [f"### {name}", "", _prose(inspect.getdoc(found) or ""), ""]
    fields = list(_fields(found))
    if fields:
        lines += ["| field | | default | |", "|---|---|---|---|"]
        usual = _defaults(found)
        lines += [
            f"| `{own}` | `{_cell(kind)}` | {_cell(usual[own])} | {_cell(told)} |"
            for own, kind, told in fields
        ]
        lines.append("")
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


def _meaning(name: str, parameter: inspect.Parameter, doc: str) -> str:
    described = arguments(doc).get(parameter.name)
    return _cell(
        described or MEANS_HERE.get(f"{name}.{parameter.name}") or MEANS.get(parameter.name, "")
    )


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
    for base in reversed(found.__mro__):
        if base is object or base.__module__.partition(".")[0] != "chunkwise":
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
    for name in (each for each in names if not each.startswith("_")):
        yield name, _spelled_out(kinds.get(name, ""), found.__module__), told.get(name, "")


def _described(annotation: ast.expr) -> tuple[str, str]:
    """The type of a field, and the help of a declared option."""
    match annotation:
        case ast.Subscript(
            ast.Name("Annotated"),
            ast.Tuple([kind, ast.Call(ast.Name("option"), [ast.Constant(help)])]),
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
    """Of each field, what it is where nothing is said, or that it has to be said."""
    if not dataclasses.is_dataclass(found):
        own = found._field_defaults
        return {
            name: f"`{_default(own[name])}`" if name in own else _REQUIRED for name in found._fields
        }
    usual = {}
    for field in dataclasses.fields(found):
        if field.default is not dataclasses.MISSING:
            usual[field.name] = f"`{_default(field.default)}`"
        elif field.default_factory is not dataclasses.MISSING:
            usual[field.name] = f"`{_default(field.default_factory())}`"
        else:
            usual[field.name] = _REQUIRED
    return usual


_REQUIRED = "required"


def _first(told: str) -> str:
    return _prose(told.partition("\n\n")[0])


def _prose(told: str) -> str:
    """Paragraphs, each on one line."""
    return "\n\n".join(" ".join(part.split()) for part in told.split("\n\n") if part.strip())


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")
