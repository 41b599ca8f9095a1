"""What was varied in a configuration, in the words of its tables."""

from __future__ import annotations

from chunkwise import parameters, spec
from chunkwise.chunkers import Strategy
from chunkwise.chunkers.parent_child import ParentChild
from chunkwise.chunkers.sized import Sized, overlap_tokens
from chunkwise.retrieval.settings import Context

_UNITS = {"overlap_words": "words", "overlap_sentences": "sentences"}


def levers_of_chunks(
    strategy: Strategy,
    context: Context,
    retriever: str,
    neighbours: int,
    *,
    share: str | None = None,
) -> dict[str, str]:
    """Of a chunking and how it is searched; `share` is the overlap as it was written, where it was one."""
    found = {"boundaries": strategy.name}
    if strategy.limit is not None:
        found["size"] = f"{strategy.limit[1]} {strategy.unit}"
    repeated = overlap_of(strategy)
    if repeated is not None:
        found["overlap"] = _overlap_words(strategy, *repeated, share)
    found["context"] = context
    # A parent is what others get by asking for neighbours: the same lever, another position.
    around = "parent" if isinstance(strategy.chunker, ParentChild) else "none"
    found["neighbours"] = str(neighbours) if neighbours else around
    return found | {"one size or several": "one"} | _retriever_words(retriever)


def levers_of_spans(retriever: str) -> dict[str, str]:
    """Of several sizes at once: what belongs to chunks is not there."""
    return {"one size or several": "several"} | _retriever_words(retriever)


def overlap_of(strategy: Strategy) -> tuple[str, int] | None:
    """The parameter that decides the overlap and its amount, defaults resolved; None: the strategy has none."""
    chunker = strategy.chunker
    if isinstance(chunker, Sized):
        for name in ("overlap", *_UNITS):
            given = getattr(chunker, name)
            if given is not None:
                amount = overlap_tokens(given, chunker.max_tokens) if name == "overlap" else given
                return (name, amount) if amount else ("overlap", 0)
        name, amount = chunker.default_overlap
        return name, min(amount, chunker.max_tokens // 4) if name == "overlap" else amount
    given = getattr(chunker, "overlap", None)
    if isinstance(given, bool) or not isinstance(given, int | str) or strategy.limit is None:
        return None
    return "overlap", overlap_tokens(given, strategy.limit[1])


def _overlap_words(strategy: Strategy, name: str, amount: int, share: str | None) -> str:
    if not amount:
        return "none"
    if share is not None:
        return f"{share.rstrip('%').strip()} %"
    return f"{amount} {_UNITS.get(name, strategy.unit)}"


def _retriever_words(label: str) -> dict[str, str]:
    """The name, and the weights where they are not the usual ones."""
    name, values = spec.parse(label)
    said = ", ".join(f"{key} {value}" for key, value in values.items())
    return {"retriever": name, "weights": said or "usual"}


def same_cuts(strategy: Strategy) -> tuple[object, ...]:
    """Equal for strategies that cut every document alike, however their overlap is written."""
    repeated = overlap_of(strategy)
    if repeated is None:
        return (strategy.label,)
    shown = [
        (field.name, repr(getattr(strategy.chunker, field.name)))
        for field in parameters.fields(type(strategy.chunker))
        if field.name not in ("overlap", *_UNITS)
    ]
    return (strategy.name, *repeated, *shown)
