"""The grids of a sweep, the usual ones and those asked for: values combined, and what is left out with the reason."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any, NamedTuple, TypeVar

from chunkwise.base import parameters, spec
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.registry import Registry
from chunkwise.base.wording import counted, thousands
from chunkwise.chunkers import Strategy, get_strategy, strategies
from chunkwise.chunkers.parent_child import ParentChildChunker
from chunkwise.chunkers.semantic import EmbeddingChunker
from chunkwise.core import WRITTEN_CONTEXTS, WrittenContext
from chunkwise.models import DEFAULT
from chunkwise.retrieval.retrievers import (
    Bm25Retriever,
    ChunkRetriever,
    MultiscaleRetriever,
    Retriever,
    get_retriever,
)
from chunkwise.retrieval.retrievers import registry as retrievers
from chunkwise.retrieval.settings import CONTEXTS, Context
from chunkwise.tuning.sweep import Grid, Sweep, SweepValue

T = TypeVar("T")


class NotTried(NamedTuple):
    """One line of the plan: the values as they were written, and why they are left out."""

    what: str
    why: str


class NotTriedLog:
    """Lines in the order they came up, each once."""

    def __init__(self) -> None:
        self._lines: dict[NotTried, None] = {}

    def add(self, what: str, why: str) -> None:
        self._lines[NotTried(what, why)] = None

    @property
    def lines(self) -> tuple[NotTried, ...]:
        return tuple(self._lines)


MOST = 100_000
"""Combinations of one grid: a slip of the pen makes millions, and nobody waits for those."""


def check_amount(grid: Grid) -> None:
    """Refuses a grid that no run would come to the end of."""
    amount = len(grid.names) * prod(len(values) for _, values in grid.values)
    if amount > MOST:
        raise InvalidParameter(
            f"the grid has {counted(amount, 'combination')}; the maximum is {thousands(MOST)}: "
            "use fewer values, or several smaller grids"
        )


def components(
    grid: Grid,
    registry: Registry,
    make: Callable[[str], T],
    left_out: NotTriedLog,
    *,
    beside: Collection[str],
    further: Callable[[str, Any, Collection[str]], Sequence[Mapping[str, SweepValue]]],
) -> Iterator[tuple[str, T]]:
    """Bare names with what `make` gives for every combination; one that cannot be made is left out.

    `beside` are keys of the grid that are no parameters; `further` gives values that are tried beside those of the
    grid, by bare name, class and the parameters that are named.
    """
    check_amount(grid)
    values = tuple((key, group) for key, group in grid.values if key not in beside)
    for name in grid.names:
        bare, own = spec.parse(name)
        cls = registry.get(bare)
        chosen = combinations(Grid((name,), values), name, own, parameter_names(cls), left_out)
        more = further(bare, cls, {*own, *dict(values)})
        for record, other in product(chosen, more):
            written = written_out(name, {**record, **other})
            try:
                made = make(written)
            except ChunkwiseError as error:
                left_out.add(written, str(error))
            except Exception as error:  # somebody else's class
                if bare in registry.builtin:
                    raise
                left_out.add(written, f"it can't be created: {type(error).__name__}: {error}")
            else:
                yield bare, made


def combinations(
    grid: Grid,
    name: str,
    own: Collection[str],
    known: Collection[str] | None,
    left_out: NotTriedLog,
) -> Iterator[dict[str, SweepValue]]:
    """Every choice of values for one name of a grid: `own` parameters it says itself, `known` are all it takes.

    A parameter it does not take is left out, not the name with it. None: what it takes is not known.
    """
    taken: list[tuple[str, tuple[SweepValue, ...]]] = []
    for key, values in grid.values:
        text = f"{key} = {', '.join(map(repr, values))} of {name}"
        if key in own:
            left_out.add(text, f"{name} uses its own {key} from the plan")
        elif known is not None and key not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            left_out.add(text, f"{name} has no parameter {key!r} ({has}); tried without it")
        else:
            taken.append((key, tuple(map(plain_number, values))))
    for chosen in product(*(values for _, values in taken)):
        yield dict(zip((key for key, _ in taken), chosen, strict=True))


def parameter_names(cls: object) -> tuple[str, ...] | None:
    """The parameters of a part, other names for them included; None: it does not say."""
    fields = parameters.fields(cls) if isinstance(cls, type) else ()
    if not fields and not hasattr(cls, "__dataclass_fields__"):
        return None
    others = [other for field in fields for other in parameters.bounds(field).aliases]
    return (*(field.name for field in fields), *others)


def plain_number(value: SweepValue) -> SweepValue:
    """1.0 is 1: labels are compared as texts."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def written_out(name: str, values: dict[str, SweepValue]) -> str:
    """A combination as the user would write it by itself."""
    text = ", ".join(f"{key}={value!r}" for key, value in values.items())
    if not text:
        return name
    return f"{name[:-1]}, {text})" if name.endswith(")") else f"{name}({text})"


_UNITS = {"overlap_words": "words", "overlap_sentences": "sentences"}


def levers_of_chunks(
    strategy: Strategy,
    context: Context | WrittenContext,
    retriever: str,
    neighbors: int,
    *,
    share: str | None = None,
) -> dict[str, str]:
    """Of a chunking and how it is searched; `share` is the overlap as it was written, where it was one."""
    result = {"boundaries": strategy.name}
    if strategy.limit is not None:
        result["size"] = f"{strategy.limit[1]} {strategy.unit}"
    repeated = strategy.repeated
    if repeated is not None:
        result["overlap"] = _overlap_words(strategy, *repeated, share)
    result["context"] = context
    # A parent is what others get by asking for neighbors: the same lever, another position.
    around = "parent" if isinstance(strategy.chunker, ParentChildChunker) else "none"
    result["neighbors"] = str(neighbors) if neighbors else around
    return result | {"one size or multi-scale": "one"} | retriever_levers(retriever)


def levers_of_spans(retriever: str) -> dict[str, str]:
    """Of several sizes at once: what belongs to chunks is not there."""
    return {"one size or multi-scale": "several"} | retriever_levers(retriever)


def _overlap_words(strategy: Strategy, name: str, amount: int, share: str | None) -> str:
    if not amount:
        return "none"
    if share is not None:
        return f"{share.rstrip('%').strip()} %"
    return f"{amount} {_UNITS.get(name, strategy.unit)}"


_WORD_LEVERS = ("k1", "b")


def retriever_levers(label: str) -> dict[str, str]:
    """The name, the weights where they are not the usual ones, and BM25's k1 and b where they were given."""
    name, values = spec.parse(label)
    written = ", ".join(
        f"{key} {value}" for key, value in values.items() if key not in _WORD_LEVERS
    )
    own = {key: str(values[key]) for key in _WORD_LEVERS if key in values}
    return {"retriever": name, "weights": written or "usual", **own}


BASELINES = {
    "recursive 1000/200 characters": "recursive(max_tokens=1000, overlap=200, tokenizer='characters')",
    "sentences 1024/200": "sentences(max_tokens=1024, overlap=200)",
}
"""The common defaults everything is compared with."""
YOUR_INDEX = "your index"
"""What takes their place where the documents of an index are tuned: how that is cut and searched."""


@dataclass(frozen=True, slots=True)
class PlannedChunking:
    """A chunking with what is indexed beside its chunks."""

    strategy: Strategy
    context: Context | WrittenContext
    share: str | None = None
    """Of overlap, as it was written: it says more in a table than what it comes to."""
    baseline: str = ""
    in_plan: bool = True
    """Whether the plan names it; a baseline is in without."""


def chunking_grid(sweep: Sweep, left_out: NotTriedLog) -> list[list[PlannedChunking]]:
    """The baselines, then what was asked for; those that differ in their context alone stand together."""
    result: dict[str, dict[Context | WrittenContext, PlannedChunking]] = {}
    for name, label in BASELINES.items():
        strategy = get_strategy(label)
        result[strategy.label] = {
            "none": PlannedChunking(strategy, "none", None, name, in_plan=False)
        }
    for grid in sweep.chunkers:
        contexts = _contexts(grid, sweep.llm, left_out)
        for strategy, share in _strategies(grid, sweep.embedder, left_out):
            known = result.setdefault(strategy.label, {})
            for context in contexts:
                before = known.get(context)
                if before is None:
                    known[context] = PlannedChunking(strategy, context, share)
                elif not before.in_plan:
                    known[context] = replace(before, in_plan=True, share=share)
    return _spread([list(group.values()) for group in result.values() if group])


def _spread(groups: list[list[PlannedChunking]]) -> list[list[PlannedChunking]]:
    """The baselines, then a chunking of every strategy in turn: a sweep that runs out of time has seen a bit of all."""
    waiting: dict[str, list[list[PlannedChunking]]] = {}
    for group in groups[len(BASELINES) :]:
        waiting.setdefault(group[0].strategy.name, []).append(group)
    longest = max(map(len, waiting.values()), default=0)
    turns = [group[at] for at in range(longest) for group in waiting.values() if at < len(group)]
    return groups[: len(BASELINES)] + turns


ANY_CONTEXT = (*CONTEXTS, *WRITTEN_CONTEXTS)


def _contexts(grid: Grid, llm: str, left_out: NotTriedLog) -> list[Context | WrittenContext]:
    contexts: dict[Any, None] = dict.fromkeys(dict(grid.values).get("context", ("none",)))
    for value in [each for each in contexts if each in WRITTEN_CONTEXTS and not llm]:
        left_out.add(f"context = {value!r}", "needs a language model (llm)")
        del contexts[value]
    return list(contexts)


def _strategies(
    grid: Grid, model: str, left_out: NotTriedLog
) -> Iterator[tuple[Strategy, str | None]]:
    """Each with its overlap, where that was written as a share."""

    def further(bare: str, cls: Any, named: Collection[str]) -> list[dict[str, SweepValue]]:
        by_meaning = isinstance(cls, type) and issubclass(cls, EmbeddingChunker)
        if not by_meaning or "model" in named:
            return [{}]
        if not model:
            left_out.add(bare, f"{bare} needs an embedding model")
        return [{"model": model}] if model else []

    for _, strategy in components(
        grid, strategies, get_strategy, left_out, beside=("context",), further=further
    ):
        overlap = getattr(strategy.chunker, "overlap", None)
        yield strategy, overlap if isinstance(overlap, str) else None


WEIGHTS: tuple[Mapping[str, SweepValue], ...] = (
    {"dense": 0}, {"dense": 0.25}, {}, {"dense": 1}, {"dense": 2}, {"words": 0},
)  # fmt: skip
"""Of words and vectors at several sizes, from words alone to vectors alone: few, so that they can be fitted."""


@dataclass(frozen=True, slots=True)
class PlannedSearch:
    """A retriever with what is handed out around its hits."""

    label: str
    retriever: Retriever
    neighbors: int = 0

    @property
    def of_chunks(self) -> bool:
        """Otherwise it hands out spans, whatever the chunks are."""
        return isinstance(self.retriever, ChunkRetriever)

    @property
    def by_vectors(self) -> bool:
        if isinstance(self.retriever, MultiscaleRetriever):
            return self.retriever.dense > 0
        return not isinstance(self.retriever, Bm25Retriever)


def retriever_grid(sweep: Sweep, left_out: NotTriedLog) -> list[PlannedSearch]:
    """In the order they were written."""
    result: dict[tuple[str, int], PlannedSearch] = {}
    for grid in sweep.retrieval:
        neighbors = dict.fromkeys(map(int, dict(grid.values).get("neighbors", (0,))))
        for search in _retrievers(grid, left_out):
            if search.by_vectors and not sweep.embedder:
                left_out.add(search.label, "needs an embedding model")
            else:
                for count in neighbors if search.of_chunks else (0,):
                    planned = PlannedSearch(search.label, search.retriever, count)
                    result.setdefault((search.label, count), planned)
    return list(result.values())


def _retrievers(grid: Grid, left_out: NotTriedLog) -> Iterator[PlannedSearch]:
    def further(bare: str, cls: Any, named: Collection[str]) -> Sequence[Mapping[str, SweepValue]]:
        is_weighed = bare != "multiscale" or {"words", "dense"} & set(named)
        return [{}] if is_weighed else WEIGHTS

    for bare, made in components(
        grid, retrievers, get_retriever, left_out, beside=("neighbors", "k"), further=further
    ):
        yield PlannedSearch(spec.describe(bare, made), made)


SIZES = (100, 200, 400, 800)
"""Tokens: each twice the last, for what is found changes with the size's order, not with its last digit."""
_SMALL = SIZES[:-1]
"""Of chunks that are handed out with their parents, which are not much larger than 800."""
_TYPICAL = 200
OVERLAPS: tuple[SweepValue, ...] = (0, "25%")

NOT_TRIED_BY_DEFAULT = (
    NotTried(
        "semantic, cluster",
        "they embed every sentence, a second pass over the documents; to try them, name them in "
        "a plan",
    ),
    NotTried(
        "neighbors",
        "they double the searches, and parent_child also returns surrounding text; to try them, "
        "name them in a plan",
    ),
)
"""What a plan of one's own can have, and the usual one has not."""

ONE_MODEL = NotTried(
    "rerankers, other embedders, token vectors",
    "they take minutes per configuration; to try them: --reranker local, --embedder minilm "
    "--embedder NAME, --maxsim colbert-small; installed models: chunkwise models",
)

NO_HEADINGS = NotTried("sections, context = 'headings'", "the documents have no headings")


def default_sweep(
    documents: Sequence[str], test_queries: str | None, *, has_headings: bool, **options: Any
) -> Sweep:
    """About thirty chunkings; an empty `embedder`: BM25 only."""
    searched = default_retrieval(options.get("embedder", DEFAULT))
    return Sweep(
        tuple(documents), test_queries, default_chunkers(has_headings), searched, **options
    )


def default_chunkers(has_headings: bool) -> tuple[Grid, ...]:
    """Sections and headings only where there are some."""
    sized, lapped = ("max_tokens", SIZES), ("overlap", OVERLAPS)
    once: tuple[tuple[str, tuple[SweepValue, ...]], ...] = (
        ("max_tokens", (_TYPICAL,)), ("overlap", (0,)), ("context", ("headings",)),
    )  # fmt: skip
    by_sentences = (
        ("sentences", "recursive", "sections") if has_headings else ("sentences", "recursive")
    )
    result = (
        Grid(by_sentences, (sized, lapped)),
        # Whole paragraphs, lists and tables: what is repeated of one tells little about the next.
        Grid(("structure",), (sized, ("overlap", (0,)))),
        # Counted by tokens like the others, so that sizes can be compared.
        Grid(
            ("parent_child",),
            (("max_tokens", _SMALL), ("overlap", (0,)), ("tokenizer", ("o200k_base",))),
        ),
    )
    return (*result, Grid((*by_sentences, "structure"), once)) if has_headings else result


def default_retrieval(model: str) -> tuple[Grid, ...]:
    """By words, by vectors, by both, and at several sizes at once."""
    if not model:
        return (Grid(("bm25", "multiscale(dense=0)")),)
    return (Grid(("bm25", "dense", "hybrid", "multiscale")),)


def not_tried_by_default(has_headings: bool) -> tuple[NotTried, ...]:
    """What the usual sweep leaves out, for its plan."""
    return NOT_TRIED_BY_DEFAULT if has_headings else (*NOT_TRIED_BY_DEFAULT, NO_HEADINGS)
