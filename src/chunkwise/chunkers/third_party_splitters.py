"""Splitters of LangChain, LlamaIndex and Haystack as strategies: their texts, each with its place in the document.

`langchain:RecursiveCharacterTextSplitter(chunk_size=1000)` names a class of the installed package; its parameters are
plain values. What these splitters say of places is often wrong or missing, so that each text is looked for.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.metadata import version
from typing import Any, ClassVar, NamedTuple

from chunkwise.base.errors import InvalidParameter, MissingExtra, UnknownName, warn_user
from chunkwise.base.wording import counted, did_you_mean, one_or_many, thousands
from chunkwise.chunkers.chunk_offsets import StatedChunk, find_in_own, stands
from chunkwise.core import Document, Piece, Span
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import get_tokenizer

_PLAIN = (str, int, float, bool, tuple, list, type(None))
_NOT_OURS_TO_SAY = ("callback_manager", "id_func", "add_start_index", "include_prev_next_rel")
"""What does not change where a text is cut."""


class _SplitText(NamedTuple):
    """A text that a splitter gave, with the place it claims, if that is worth looking at."""

    text: str
    start: int | None = None


class _Library(NamedTuple):
    """Where the splitters of a framework are, and how one is used."""

    extra: str
    package: str
    module: str
    method: str
    """What a class that splits has."""
    split: Callable[[Any, str], Iterable[_SplitText]]


def _langchain(splitter: Any, text: str) -> Iterator[_SplitText]:
    for found in splitter.split_text(text):
        yield _SplitText(found if isinstance(found, str) else found.page_content)


def _llamaindex(splitter: Any, text: str) -> Iterator[_SplitText]:
    from llama_index.core.node_parser import get_leaf_nodes
    from llama_index.core.schema import Document as LlamaDocument

    if hasattr(splitter, "split_text"):
        yield from map(_SplitText, splitter.split_text(text))
        return
    # Of a hierarchy the leaves: those above them have the same text again.
    for node in get_leaf_nodes(splitter.get_nodes_from_documents([LlamaDocument(text=text)])):
        yield _SplitText(node.get_content())


def _haystack(splitter: Any, text: str) -> Iterator[_SplitText]:
    from haystack import Document as HaystackDocument

    if hasattr(splitter, "warm_up"):
        splitter.warm_up()
    for found in splitter.run(documents=[HaystackDocument(content=text)])["documents"]:
        if not found.meta.get("__children_ids"):
            yield _SplitText(found.content or "", found.meta.get("split_idx_start"))


_LIBRARIES = {
    "langchain": _Library(
        "langchain", "langchain-text-splitters", "langchain_text_splitters", "split_text", _langchain
    ),
    "llamaindex": _Library(
        "llamaindex", "llama-index-core", "llama_index.core.node_parser", "get_nodes_from_documents", _llamaindex
    ),
    "haystack": _Library(
        "haystack", "haystack-ai", "haystack.components.preprocessors", "run", _haystack
    ),
}  # fmt: skip


class OtherSplitter:
    """A splitter of another framework; a subclass with its parameters as fields is made for each of them."""

    library: ClassVar[str]
    splitter: ClassVar[str]
    package: ClassVar[str]
    """With its version, which belongs to what an index was made with."""

    def split(self, document: Analyzed) -> Sequence[Piece]:
        """The places of its texts, in order; a text that stands nowhere is told in a warning and left out."""
        result = list(_LIBRARIES[self.library].split(self._made, document.text))
        result = [row for row in result if row.text.strip()]
        places = _located(result, document.document, self._overlap)
        lost = [row.text for row, place in zip(result, places, strict=True) if place is None]
        if lost:
            they = one_or_many(len(lost), "it has", "they have")
            warn_user(
                f"{self.library}:{self.splitter} gave {counted(len(result), 'text')} for "
                f"{document.document.id}, and {thousands(len(lost))} of them "
                f"{one_or_many(len(lost), 'stands', 'stand')} nowhere in it, as {lost[0][:60]!r}: "
                f"left out, since {they} no place"
            )
        return [Piece(*place) for place in sorted({span for span in places if span is not None})]

    @cached_property
    def _made(self) -> Any:
        given = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.default is dataclasses.MISSING or value != field.default:
                given[field.name] = _argument(field.name, value)
        try:
            return _constructor(_splitter_class(self.library, self.splitter))(**given)
        except (ValueError, TypeError, ImportError) as error:
            raise InvalidParameter(f"it can't be created: {error}") from error

    @property
    def _overlap(self) -> _Overlap | None:
        """How much of a chunk the next one may repeat, where the splitter says so."""
        made = self._made
        amount = getattr(made, "_chunk_overlap", getattr(made, "chunk_overlap", None))
        tokenizer = getattr(made, "_tokenizer", None)
        count = getattr(made, "_length_function", None)
        if tokenizer is not None:
            encode = getattr(tokenizer, "encode_ordinary", tokenizer)
            count = lambda text: len(encode(text)) if callable(encode) else 0  # noqa: E731
        if not isinstance(amount, int) or count is None:
            return None
        return _Overlap(amount, count)

    def __post_init__(self) -> None:
        self._made  # noqa: B018 - a wrong parameter is an error now, not with the first document

    def __reduce__(self) -> tuple[object, ...]:
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        return _remade, (self.library, self.splitter, values)


def _remade(library: str, name: str, values: Mapping[str, object]) -> OtherSplitter:
    return splitter_class(library, name)(**values)


@cache
def splitter_class(library: str, name: str) -> type[OtherSplitter]:
    """The strategy that a splitter of this library is."""
    result = _splitter_class(library, name)
    own = [(item, object, field) for item, field in _fields(result).items()]
    package = _LIBRARIES[library].package
    purpose = " ".join((inspect.getdoc(result) or "").partition("\n\n")[0].split())
    made: type[OtherSplitter] = dataclasses.make_dataclass(
        name,
        own,
        bases=(OtherSplitter,),
        frozen=True,
        kw_only=True,
        repr=False,
        namespace={
            "library": library,
            "splitter": name,
            "package": f"{package} {version(package)}",
            "__doc__": f"{purpose}\n\nA {package} splitter; its texts are located in the document.",
        },
    )
    return made


def _splitter_class(library: str, name: str) -> Any:
    """The class of this name that the package offers to all."""
    where = _LIBRARIES[library]
    try:
        module = importlib.import_module(where.module)
    except ImportError as error:
        raise MissingExtra(f"the strategy {library}:{name}", where.extra) from error
    offered = [item for item in getattr(module, "__all__", ()) or dir(module) if item[0].isupper()]
    if name not in offered:
        known = [item for item in offered if "Split" in item or "Parser" in item]
        hint = did_you_mean(name, known, f"it has: {', '.join(known)}")
        raise UnknownName(f"{where.package} has no splitter {name!r}; {hint}")
    try:
        result = getattr(module, name)
    except ImportError as error:
        raise InvalidParameter(f"{library}:{name} cannot be loaded: {error}") from error
    if inspect.isabstract(result) or not callable(getattr(result, where.method, None)):
        raise UnknownName(f"{name} of {where.package} isn't a splitter: it has no `{where.method}`")
    return result


def _constructor(splitter: Any) -> Callable[..., Any]:
    """What makes one of plain values: some classes of LlamaIndex need objects, and have a function that makes these."""
    own = "__init__" in vars(splitter)
    return splitter if own else getattr(splitter, "from_defaults", splitter)


def _fields(splitter: Any) -> dict[str, Any]:
    """Its parameters with their defaults: those that can be written as plain values."""
    result: dict[str, Any] = {}
    made: Any = _constructor(splitter)
    inits = [made] if inspect.ismethod(made) else [each.__init__ for each in splitter.__mro__]
    for init in inits:
        parameters = inspect.signature(init).parameters.values()
        for parameter in parameters:
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                result.setdefault(parameter.name, parameter.default)
        if not any(item.kind is item.VAR_KEYWORD for item in parameters):
            break
    fields: dict[str, Any] = {}
    for name, default in result.items():
        if name == "self" or name.startswith("_") or name in _NOT_OURS_TO_SAY:
            continue
        if default is inspect.Parameter.empty:
            fields[name] = dataclasses.field()
        elif isinstance(default, _PLAIN):
            fields[name] = dataclasses.field(
                default=tuple(default) if isinstance(default, list) else default
            )
        else:
            fields[name] = dataclasses.field(
                default=None
            )  # an object of theirs, when it is not said
    return fields


def _argument(name: str, value: object) -> object:
    """As their classes take it: lists as lists, and what counts by the name of one of our tokenizers."""
    if isinstance(value, tuple):
        return [_argument("", group) if isinstance(group, list) else group for group in value]
    if isinstance(value, str) and name == "length_function":
        return get_tokenizer(value).count
    if isinstance(value, str) and name == "tokenizer":
        offsets = get_tokenizer(value).offsets
        return lambda text: offsets(text).tolist()
    return value


class _Overlap(NamedTuple):
    """The most that a chunk repeats of the one before, and what counts it."""

    amount: int
    count: Callable[[str], int]

    def first_start(self, text: str, before: Span) -> int:
        """Where the next chunk starts at the earliest: from there to the end of this one is no more than allowed."""
        if self.count is len or not self.amount:
            return max(before.start, before.end - self.amount)
        low, high = before.start, before.end
        while low < high:
            middle = (low + high) // 2
            if self.count(text[middle : before.end]) > self.amount:
                low = middle + 1
            else:
                high = middle
        return low


def _located(
    found: Sequence[_SplitText], document: Document, overlap: _Overlap | None
) -> list[Span | None]:
    """The place of each text; None: it stands nowhere.

    Texts come in the order of the document, and one may stand there many times: each repeats as much of the one before
    as the splitter says, or as little as it can, if all of them find a place so; else each is the first behind that.
    """
    stated = [StatedChunk(document.id, row.start, None, row.text) for row in found]
    for repeats_most in (True, False):
        if whole_way := _simple_way(stated, document.text, overlap, repeats_most):
            return whole_way
    return _nearly(found, _nearest_places(stated, document.text), document, overlap)


def _simple_way(
    stated: Sequence[StatedChunk], whole: str, overlap: _Overlap | None, repeats_most: bool
) -> list[Span | None]:
    """The places of all texts, if always taking the first that fits, or the last, leaves nothing out; else none."""
    places: list[Span | None] = []
    before: Span | None = None
    for chunk in stated:
        part = chunk.text or ""
        if chunk.start is not None and stands(chunk, whole):
            at = chunk.start
        elif before is None:
            at = whole.find(part)
        else:
            at = _next_start(part, whole, before, overlap, repeats_most)
        if at < 0:
            return []
        before = Span(at, at + len(part))
        places.append(before)
    return places if before and not _NOT_WHITE.search(whole, before.end) else []


def _nearest_places(stated: Sequence[StatedChunk], whole: str) -> list[Span | None]:
    """The first place of each text behind where the one before begins, else its first of all."""
    places: list[Span | None] = []
    behind = 0
    for chunk in stated:
        part = chunk.text or ""
        at = chunk.start if chunk.start is not None and stands(chunk, whole) else -1
        at = at if at >= 0 else whole.find(part, behind)
        at = at if at >= 0 else whole.find(part)
        places.append(Span(at, at + len(part)) if at >= 0 else None)
        behind = at + 1 if at >= 0 else behind
    return places


def _window(part: str, whole: str, before: Span) -> tuple[int, int]:
    """Where a text stands that follows another: from its first start on, and with its end before this."""
    rest = _NOT_WHITE.search(whole, before.end)
    limit = (rest.start() if rest else len(whole)) + len(part)
    # One that is longer may begin with all of the one before.
    longer = len(part) > before.end - before.start
    return before.start + (not longer), limit


def _next_start(
    part: str, whole: str, before: Span, overlap: _Overlap | None, repeats_most: bool
) -> int:
    """Where a text begins that follows another: at the first place that fits, or the last; -1: nowhere."""
    low, limit = _window(part, whole, before)
    if not repeats_most:
        return whole.rfind(part, low, limit)
    first = whole.find(part, low, limit)
    if first < 0 or whole.find(part, first + 1, limit) < 0:
        return first  # the usual case, in which nothing is counted
    allowed = max(low, overlap.first_start(whole, before)) if overlap else low
    at = whole.find(part, allowed, limit)
    return (
        first if at < 0 else at
    )  # it may repeat more than the splitter says, which counts in another way


_NOT_WHITE = re.compile(r"\S")


def _nearly(
    found: Sequence[_SplitText],
    places: Sequence[Span | None],
    document: Document,
    overlap: _Overlap | None,
) -> list[Span | None]:
    """The same with those that stand there but for white space, quotes and dashes, case or Markdown's marks."""
    lost = [(0, each.text) for each, place in zip(found, places, strict=True) if place is None]
    near = find_in_own(lost, [document])
    behind = 0
    all_places: list[Span | None] = []
    for row, place in zip(found, places, strict=True):
        if place is None and (others := near.get((0, row.text))):
            place = Span(*others.next_from(behind))
        if place is not None and lost:
            behind = overlap.first_start(document.text, place) if overlap else place.start + 1
        all_places.append(place)
    return all_places
