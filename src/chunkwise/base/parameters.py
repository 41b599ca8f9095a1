"""Parameters as dataclass fields: unit, bounds and meaning stand in one place and everything else reads them there."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from types import MappingProxyType, UnionType
from typing import Any, NamedTuple, ParamSpec, TypeVar, get_args

from chunkwise.base.allow_hosts_and_code_from_files import trust_caller
from chunkwise.base.errors import InvalidParameter, UnknownParameter
from chunkwise.base.wording import did_you_mean, shown


class ParameterBounds(NamedTuple):
    """What a parameter means and may be; read by validation, help and sweeps."""

    help: str
    unit: str = ""
    low: float | None = None
    """A bound with a decimal point makes the parameter a fraction; else it is a whole number."""
    high: float | None = None
    choices: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    share: bool = False
    """Whether a share of another parameter, such as '10%', may stand for the number; then the class checks it."""

    @property
    def fraction(self) -> bool:
        return isinstance(self.low, float)

    @property
    def needed(self) -> str:
        """What kind of number, with an example."""
        if self.fraction:
            return f"a number is needed, such as {self.high}"
        return f"a whole number is needed, such as {max(self.low or 0, 100)}"


def param(
    default: Any,
    help: str,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    share: bool = False,
) -> Any:
    """A dataclass field that carries its `ParameterBounds`."""
    return dataclasses.field(
        default=default,
        metadata={"bounds": ParameterBounds(help, unit, low, high, choices, aliases, share)},
    )


def bounds(field: dataclasses.Field[Any]) -> ParameterBounds:
    """A field's bounds; a third party's plain field has none."""
    found = field.metadata.get("bounds")
    return found if isinstance(found, ParameterBounds) else ParameterBounds("")


def fields(cls: type) -> tuple[dataclasses.Field[Any], ...]:
    """The parameters of a strategy class; a class that is no dataclass has none."""
    return dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()


def check(value: object) -> None:
    """Check every numeric and choice field of a dataclass instance against its bounds."""
    for field in fields(type(value)):
        given, allowed = getattr(value, field.name), bounds(field)
        if isinstance(field.default, bool) and not isinstance(given, bool):
            raise InvalidParameter(f"{field.name} is {given!r}; allowed: True, False")
        if allowed.choices and given not in allowed.choices:
            raise InvalidParameter(
                f"{field.name} is {given!r}; allowed: {', '.join(map(repr, allowed.choices))}"
            )
        unbounded = allowed.share or (allowed.low is None and allowed.high is None)
        if unbounded or (given is None and field.default is None):
            continue
        kind = int | float if allowed.fraction else int
        if isinstance(given, bool) or not isinstance(given, kind) or given != given:
            raise InvalidParameter(f"{field.name} is {given!r}; {allowed.needed}")
        if allowed.low is not None and given < allowed.low:
            raise InvalidParameter(f"{field.name} is {given}; the least allowed is {allowed.low}")
        if allowed.high is not None and given > allowed.high:
            raise InvalidParameter(f"{field.name} is {given}; the most allowed is {allowed.high}")


def build(cls: Callable[..., Any], name: str, given: Mapping[str, object]) -> Any:
    """Make an instance from keyword values, aliases resolved; an unknown name lists the known ones."""
    known = {field.name: field for field in fields(cls)} if isinstance(cls, type) else {}
    alias = {other: key for key, field in known.items() for other in bounds(field).aliases}
    values: dict[str, object] = {}
    spelled: dict[str, str] = {}
    for key, value in given.items():
        target = alias.get(key, key)
        if target not in known and dataclasses.is_dataclass(cls):
            has = f"it has: {', '.join(known)}" if known else "it has none"
            raise InvalidParameter(
                f"{name} has no parameter {key!r}; {did_you_mean(key, known, has)}"
            )
        if target in spelled:
            raise InvalidParameter(
                f"{name}: {spelled[target]!r} and {key!r} are the same parameter; give one"
            )
        spelled[target] = key
        values[target] = value
    try:
        return cls(**values)
    except InvalidParameter as error:
        raise InvalidParameter(f"{name}: {error}") from None
    except TypeError as error:  # a class that is no dataclass says itself what it takes
        raise InvalidParameter(f"{name}: {error}") from error


_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_TEXTS = frozenset(("source", "queries", "question", "text"))
"""Parameters of verbs that name no parts."""
_OF_STRATEGIES = ("chunk_size", "chunk_overlap", "max_tokens", "overlap")
"""Parameters of strategies that people give to a verb: no name of the verb's own is meant."""
_ELSEWHERE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("top_k", "topk", "n_results", "similarity_top_k", "limit", "n"), ("k",)),
        **dict.fromkeys(("filter", "filters", "metadata"), ("where",)),
        **dict.fromkeys(("query", "query_text", "question", "questions", "test_set"), ("queries",)),
        **dict.fromkeys(("embedding", "embeddings", "embedding_function", "embed_model", "model"), ("embedder",)),
        **dict.fromkeys(("chunker", "splitter", "text_splitter"), ("strategy",)),
        **dict.fromkeys(("docs", "documents", "corpus", "path", "inputs"), ("source",)),
        **dict.fromkeys(("persist_directory", "directory"), ("into", "output")),
        **dict.fromkeys(("n_jobs", "num_workers", "max_workers", "workers"), ("jobs",)),
    }
)  # fmt: skip
"""Parameters by the names that other libraries have for them."""


def named_list(name: str, given: object) -> list[Any]:
    """What is given where a list of names is needed: a text, and what cannot be gone through, are none."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        example = f": [{given!r}]" if isinstance(given, str) else ""
        raise InvalidParameter(f"{name} is {shown(given)}; a list of names is needed{example}")
    return list(given)


def takes(
    **kinds: type[Any] | UnionType,
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Refuses keywords that a function does not have, and what is no value of the class of a parameter,
    `takes(options=LoadOptions)`; the default always fits."""

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        signature = inspect.signature(function)
        declared = list(signature.parameters.values())
        keywords = frozenset(
            each.name
            for each in declared
            if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        )
        checked = [
            (at, each, kinds[each.name]) for at, each in enumerate(declared) if each.name in kinds
        ]

        @wraps(function)
        def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
            trust_caller(*args[1:], *(kwargs[name] for name in kwargs.keys() - _TEXTS))
            if not keywords.issuperset(kwargs):
                unknown = next(name for name in kwargs if name not in keywords)
                given = signature.bind_partial(*args).arguments
                given |= {name: value for name, value in kwargs.items() if name in keywords}
                why = _unknown_keyword(signature, unknown, kwargs[unknown], given, kinds)
                raise UnknownParameter(f"{function.__name__}() has no parameter {unknown!r}; {why}")
            for at, parameter, kind in checked:
                usual = parameter.default
                value = args[at] if at < len(args) else kwargs.get(parameter.name, usual)
                if value is not usual and not isinstance(value, kind):
                    told = _no_value_of(parameter.name, value, kind)
                    given = signature.bind_partial(*args).arguments | kwargs
                    raise InvalidParameter(f"{told}{_misplaced(function, given, kind)}")
            return function(*args, **kwargs)

        return call

    return decorate


def _unknown_keyword(
    signature: inspect.Signature,
    unknown: str,
    value: object,
    given: Mapping[str, object],
    kinds: Mapping[str, type[Any] | UnionType],
) -> str:
    """Where a value of this name belongs, else which parameters there are."""
    known = [name for name in signature.parameters if name != "self"]
    here = [name for name in _ELSEWHERE.get(unknown, ()) if name in known]
    if here:
        return f"here it is called {' or '.join(here)}"
    for name, kind in kinds.items():
        if isinstance(kind, type) and unknown in {field.name for field in fields(kind)}:
            inside = f"chunkwise.{kind.__name__}({unknown}={shown(value)})"
            return f"it is part of {name}: {name}={inside}"
    listed = f"it has: {', '.join(known)}"
    strategy = signature.parameters.get("strategy")
    if strategy is None:
        return did_you_mean(unknown, known, listed)
    if unknown in _OF_STRATEGIES:
        known = []
    named = given.get("strategy", strategy.default)
    written = named.partition("(")[0] if isinstance(named, str) else "structure"
    written = f"{written}({unknown}={shown(value)})"
    return did_you_mean(
        unknown,
        known,
        f"{listed}; a parameter of the strategy stands in its name: strategy={written!r}"
        if isinstance(value, int | float | str)
        else f"{listed}; a parameter of the strategy goes to it: strategy=get_strategy('…', {unknown}=…)",
    )


def _misplaced(
    function: Callable[..., Any], given: Mapping[str, object], kind: type[Any] | UnionType
) -> str:
    """Where the value that is needed was given instead; empty: nowhere."""
    other = next((name for name, value in given.items() if isinstance(value, kind)), None)
    if other is None or not dataclasses.is_dataclass(kind):
        return ""
    order = ", ".join(inspect.signature(function).parameters)
    return f"; {other} has one: {function.__name__}({order})"


def _no_value_of(name: str, value: object, kind: type[Any] | UnionType) -> str:
    if not dataclasses.is_dataclass(kind):
        several = get_args(kind) or (kind,)
        needed = " or ".join(getattr(each, "__name__", str(each)) for each in several)
        return f"{name} is {shown(value)}; {needed} is needed"
    called = f"chunkwise.{getattr(kind, '__name__', kind)}"
    declared = dataclasses.fields(kind)
    if any(
        each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        for each in declared
    ):  # nobody writes one out
        return f"{name} is {shown(value)}; a {called} is needed"
    known = [field.name for field in declared]
    meant = (
        ", ".join(f"{key}=…" for key in value if key in known) if isinstance(value, dict) else ""
    )
    return (
        f"{name} is {shown(value)}; {called} is needed: "
        f"{name}={called}({meant or f'{known[0]}=…'}), which has {', '.join(known)}"
    )
