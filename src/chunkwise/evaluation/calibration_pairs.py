"""Passages whose relevance is known, to hold a judge against: labelled ones, or references and the best of the rest."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import median

from chunkwise.base.errors import ChunkwiseError
from chunkwise.chunkers.chunk import StrategyLike
from chunkwise.core import Document, Hit, Passage, Query
from chunkwise.metrics.claims.plain_form import holds, plain_form
from chunkwise.metrics.judges.calibration import Against
from chunkwise.metrics.judges.labels import balance_by_place
from chunkwise.retrieval.indexes import index
from chunkwise.testsets.reading import hash_of
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer

DEEP = 30
"""Hits of a question among which passages are looked for that are near to it and no answer."""
_SIZES = (24, 400)
_LONGER = 1.5
"""Such a passage has at most so many times the tokens of a usual reference: most are shorter than they may be, and
the two kinds must not be told apart by their length."""


@dataclass(frozen=True, slots=True)
class KnownPairs:
    """Passages by question, and what is so of each."""

    queries: tuple[Query, ...]
    hits: tuple[tuple[Hit, ...], ...]
    is_relevant: tuple[tuple[bool, ...], ...]
    against: Against
    question_set: str
    """A hash of all questions these were drawn from."""
    disagreed: int = 0
    """Labelled places left out because people disagree about them."""
    strategy: str = ""
    """What cut the passages presumed irrelevant; empty: there are none."""

    def __len__(self) -> int:
        return sum(map(len, self.hits))


def known_pairs(
    queries: Sequence[Query],
    documents: Sequence[Document],
    *,
    against: Against | None = None,
    count: int = 100,
    seed: int = 0,
    strategy: StrategyLike | None = None,
) -> KnownPairs:
    """`count` passages, half of them relevant where there are as many, spread over the questions.

    Against labels where a question has any, else against references. A smaller count is a part of a larger one.
    """
    chosen = against or ("labels" if any(query.labels for query in queries) else "spans")
    texts = {document.id: document for document in documents}
    disagreed, label = 0, ""
    if chosen == "labels":
        relevant, irrelevant, disagreed = _labelled(queries)
    else:
        answered = [query for query in queries if query.references]
        relevant = {query.id: _references(query) for query in answered}
        irrelevant, label = _hard(answered, documents, strategy)
    if not any(relevant.values()) and not any(irrelevant.values()):
        wanted = "labelled passage" if chosen == "labels" else "reference"
        raise ChunkwiseError(
            f"no question has a {wanted}; a judge is held against people's labels (--against labels) or against "
            "references (--against spans)"
        )
    order = [query.id for query in queries]
    random.Random(seed).shuffle(order)
    drawn = _balanced(_in_turn(order, relevant), _in_turn(order, irrelevant), count)
    asked, hits, truths = _by_question(queries, texts, drawn, seed)
    return KnownPairs(asked, hits, truths, chosen, hash_of(queries), disagreed, label)


Places = dict[str, list[Passage]]
"""By question."""


def _labelled(queries: Sequence[Query]) -> tuple[Places, Places, int]:
    """Places most people call relevant, places most call irrelevant, and how many have no majority."""
    relevant: Places = {}
    irrelevant: Places = {}
    disagreed = 0
    for query in queries:
        balance = balance_by_place(query.labels)
        relevant[query.id] = [place for place, votes in balance.items() if votes > 0]
        irrelevant[query.id] = [place for place, votes in balance.items() if votes < 0]
        disagreed += sum(votes == 0 for votes in balance.values())
    return relevant, irrelevant, disagreed


def _references(query: Query) -> list[Passage]:
    places = (Passage(each.doc_id, each.start, each.end) for each in query.references)
    return list(dict.fromkeys(places))


def _hard(
    queries: Sequence[Query], documents: Sequence[Document], strategy: StrategyLike | None
) -> tuple[Places, str]:
    """As many passages a question as it has references, the best by their words that touch nothing known, nor a place
    that says the same as a reference."""
    texts = {document.id: document.text for document in documents}
    made = index(documents, strategy or _usual(queries, documents), vectors="none")
    places: Places = {}
    for query, hits in zip(queries, made.search(queries, k=DEEP, retriever="bm25"), strict=True):
        known = [place for each in query.references for place in each.places]
        said = {texts[place.doc_id][place.start : place.end] for place in known}
        known += [Passage(*label[:3]) for label in query.labels]
        free = (
            Passage(hit.doc_id, hit.start, hit.end)
            for hit in sorted(hits, key=lambda hit: hit.rank)
            if not any(_touch(hit, place) for place in known)
            and not any(_touches_copy(hit, text) for text in said)
        )
        places[query.id] = list(islice(free, len(_references(query))))
    return places, made.settings.strategy


def _usual(queries: Sequence[Query], documents: Sequence[Document]) -> str:
    tokenizer = get_tokenizer(DEFAULT_TOKENIZER)
    texts = {document.id: document.text for document in documents}
    sizes = [
        tokenizer.count(texts[place.doc_id][place.start : place.end])
        for query in queries
        for place in _references(query)
    ]
    least, most = _SIZES
    size = round(_LONGER * median(sizes)) if sizes else least
    return f"sentences(max_tokens={min(max(size, least), most)}, overlap=0)"


def _touch(hit: Hit, place: Passage) -> bool:
    return hit.doc_id == place.doc_id and hit.start < place.end and place.start < hit.end


def _touches_copy(hit: Hit, text: str) -> bool:
    """Whether the text stands in the hit, or around one of its ends, in these words."""
    # What stands in so wide a place, and is as long as the text, has at least a character of the hit.
    around = hit.document.text[max(0, hit.start - len(text) + 1) : hit.end + len(text) - 1]
    return holds(plain_form(around), plain_form(text))


Drawn = tuple[str, Passage]


def _in_turn(order: Sequence[str], places: Mapping[str, list[Passage]]) -> list[Drawn]:
    """The first passage of every question, then every second one, and so on."""
    depth = max((len(own) for own in places.values()), default=0)
    return [
        (id, own[at]) for at in range(depth) for id in order if at < len(own := places.get(id, []))
    ]


def _balanced(
    relevant: Sequence[Drawn], irrelevant: Sequence[Drawn], count: int
) -> Iterator[tuple[Drawn, bool]]:
    """Half of each; where one kind has too few, more of the other."""
    first = min(len(relevant), max((count + 1) // 2, count - len(irrelevant)))
    yield from ((each, True) for each in relevant[:first])
    yield from ((each, False) for each in irrelevant[: count - first])


def _by_question(
    queries: Sequence[Query],
    texts: Mapping[str, Document],
    drawn: Iterable[tuple[Drawn, bool]],
    seed: int,
) -> tuple[tuple[Query, ...], tuple[tuple[Hit, ...], ...], tuple[tuple[bool, ...], ...]]:
    places: dict[str, list[tuple[Passage, bool]]] = {}
    for (id, place), is_relevant in drawn:
        places.setdefault(id, []).append((place, is_relevant))
    asked = tuple(query for query in queries if query.id in places)
    count = get_tokenizer(DEFAULT_TOKENIZER).count
    for id, own in places.items():
        # The order must not tell which is which; it depends on nothing but the question.
        random.Random(f"{seed} {id}").shuffle(own)
    hits = tuple(
        tuple(
            _hit(texts[place.doc_id], place, rank, count)
            for rank, (place, _) in enumerate(places[query.id], 1)
        )
        for query in asked
    )
    truths = tuple(tuple(is_relevant for _, is_relevant in places[query.id]) for query in asked)
    return asked, hits, truths


def _hit(document: Document, place: Passage, rank: int, count: Callable[[str], int]) -> Hit:
    text = document.text[place.start : place.end]
    return Hit(document, place.start, place.end, 1.0 / rank, rank, count(text))
