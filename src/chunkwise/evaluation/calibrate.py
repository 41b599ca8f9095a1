"""A judge compared with what is known: passages whose relevance somebody has settled, asked about and measured."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, zip_longest
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import as_set, counted, thousands
from chunkwise.chunkers.chunk import StrategyLike
from chunkwise.core import Document, Hit, OnProgress, Passage, Query, Score
from chunkwise.documents import LoadOptions, leaving_out
from chunkwise.evaluation.judge_calibrations import (
    Calibration,
    Cost,
    Threshold,
    Verdict,
    best_threshold,
    calibration,
    same_calibration,
)
from chunkwise.evaluation.sources import (
    Skipped,
    documents_of,
    no_documents,
    questions_read,
)
from chunkwise.metrics.claims.text_normalization import holds, plain_form
from chunkwise.metrics.judges.judge import Judge, judge_identity
from chunkwise.metrics.judges.llm_judge import LlmJudge
from chunkwise.metrics.judges.relevance_judges import balance_by_place, cosine_scores
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.llm.cost import LlmUsage
from chunkwise.options import Against, CalibrationOptions
from chunkwise.retrieval.indexes import index
from chunkwise.testsets.testset import hash_of
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
    """Labeled places left out because people disagree about them."""
    strategy: str = ""
    """What cut the passages presumed irrelevant; empty: there are none."""

    def __len__(self) -> int:
        return sum(map(len, self.hits))


def known_pairs(
    queries: Sequence[Query],
    documents: Sequence[Document],
    options: CalibrationOptions = CalibrationOptions(),
) -> KnownPairs:
    """`count` passages, half of them relevant where there are as many, spread over the questions.

    Against labels where a question has any, else against references. A smaller count is a part of a larger one.
    """
    chosen = options.against or ("labels" if any(query.labels for query in queries) else "spans")
    texts = {document.id: document for document in documents}
    disagreed, label = 0, ""
    if chosen == "labels":
        relevant, irrelevant, disagreed = _labeled(queries)
    else:
        answered = [query for query in queries if query.references]
        relevant = {query.id: _references(query) for query in answered}
        irrelevant, label = _hard(answered, documents, options.strategy)
    if not any(relevant.values()) and not any(irrelevant.values()):
        wanted = "labeled passage" if chosen == "labels" else "reference"
        raise ChunkwiseError(
            f"no question has a {wanted}; compare with human labels (--against labels) or "
            f"references (--against spans)"
        )
    order = [query.id for query in queries]
    random.Random(options.seed).shuffle(order)
    drawn = _balanced(_in_turn(order, relevant), _in_turn(order, irrelevant), options.count)
    asked, hits, truths = _by_question(queries, texts, drawn, options.seed)
    return KnownPairs(asked, hits, truths, chosen, hash_of(queries), disagreed, label)


Places = dict[str, list[Passage]]
"""By question."""


def _labeled(queries: Sequence[Query]) -> tuple[Places, Places, int]:
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
    places = (
        Passage(reference.doc_id, reference.start, reference.end) for reference in query.references
    )
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
        known = [place for reference in query.references for place in reference.places]
        said = {texts[place.doc_id][place.start : place.end] for place in known}
        known += [Passage(*label[:3]) for label in query.labels]
        free = (
            Passage(hit.doc_id, hit.start, hit.end)
            for hit in sorted(hits, key=lambda hit: hit.rank)
            if not any(place.overlaps(hit) for place in known)
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


def _touches_copy(hit: Hit, text: str) -> bool:
    """Whether the text stands in the hit, or around one of its ends, in these words."""
    # What stands in so wide a place, and is as long as the text, has at least a character of the hit.
    around = hit.document.text[max(0, hit.start - len(text) + 1) : hit.end + len(text) - 1]
    return holds(plain_form(around), plain_form(text))


Drawn = tuple[str, Passage]


def _in_turn(order: Sequence[str], places: Mapping[str, list[Passage]]) -> list[Drawn]:
    """The first passage of every question, then every second one, and so on."""
    depth = max((len(place) for place in places.values()), default=0)
    return [
        (id, own[at]) for at in range(depth) for id in order if at < len(own := places.get(id, []))
    ]


def _balanced(
    relevant: Sequence[Drawn], irrelevant: Sequence[Drawn], count: int
) -> Iterator[tuple[Drawn, bool]]:
    """Half of each; where one kind has too few, more of the other."""
    first = min(len(relevant), max((count + 1) // 2, count - len(irrelevant)))
    yield from ((pair, True) for pair in relevant[:first])
    yield from ((pair, False) for pair in irrelevant[: count - first])


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


_AT_ONCE = 32
"""Questions given to a judge that asks nobody."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A passage about which the judge says the opposite of what is so."""

    question: str
    doc_id: str
    start: int
    end: int
    text: str
    is_relevant: bool
    """What people or references say; the judge says the contrary."""
    cosine: float | None = None
    """For a judge by similarity."""


@dataclass(frozen=True, slots=True)
class CalibrationRun:
    """The figures of one judge, the passages it got wrong, and the better threshold of one by similarity."""

    calibration: Calibration
    disagreements: tuple[Disagreement, ...]
    """The clearest first: missed ones and false alarms in turn."""
    threshold: Threshold | None = None
    kept: int = 0
    """Verdicts that were known before: nobody was asked for them."""
    error: str = ""
    """Why a language model could not be asked, or not everything; empty: it was."""

    @property
    def of_the_judge(self) -> Calibration:
        """The figures without what nobody was asked about: that it has no verdict is not the judge's fault."""
        unscored = self.calibration.unscored
        rest = {why: count for why, count in unscored.items() if why != self.error}
        return replace(self.calibration, unscored=rest)


def documents_and_questions(
    inputs: Sequence[str],
    test_queries: str,
    left_out: Skipped,
    options: LoadOptions = LoadOptions(),
) -> tuple[list[Document], tuple[Query, ...]]:
    """What passages are drawn from; what cannot be read is left out with a line."""
    if not Path(test_queries).exists():
        raise ChunkwiseError(f"{test_queries} does not exist")
    reading = leaving_out(options, no_documents(inputs, test_queries))
    documents = documents_of(inputs[0] if len(inputs) == 1 else list(inputs), reading, left_out)
    testset = questions_read(test_queries, documents, left_out)
    if not testset.queries:
        raise ChunkwiseError(f"no usable questions in {testset.name}")
    return documents, testset.queries


def calibrate(
    judge: Judge,
    pairs: KnownPairs,
    *,
    identity: str = "",
    embedder: Embedder | None = None,
    seed: int = 0,
    advance: OnProgress | None = None,
) -> CalibrationRun:
    """Asks the judge about all pairs; `embedder` is what a judge by similarity compares with.

    What a language model said is kept as it comes: an interrupted run goes on where it stopped. `advance` is told of
    so many steps as `steps` says.
    """
    identity = identity or judge_identity(judge)
    watch = _Watch(judge, pairs)
    scores = list(chain.from_iterable(_verdicts_of(judge, pairs, advance)))
    verdicts = [
        Verdict(query.id, is_relevant, score)
        for (query, _, is_relevant), score in zip(_judged_pairs(pairs), scores, strict=True)
    ]
    known = same_calibration(identity, pairs.against, pairs.question_set)
    figures = calibration(
        verdicts, judge=identity, name=judge.name, against=pairs.against,
        question_set=pairs.question_set, seed=seed,
        cost=watch.cost(len(verdicts), known.cost if known else None),
    )  # fmt: skip
    cosines = None if embedder is None else _cosines(pairs, embedder)
    threshold = None
    if cosines is not None:
        truths = [verdict.is_relevant for verdict in verdicts]
        threshold = best_threshold(
            cosines.tolist(), truths, [verdict.question for verdict in verdicts]
        )
    wrong = tuple(_disagreements(pairs, scores, cosines))
    return CalibrationRun(figures, wrong, threshold, watch.kept, watch.error(figures))


def steps(judge: Judge, pairs: KnownPairs) -> int:
    """What `calibrate` tells `advance` of: the calls of a language model, questions of another judge."""
    if isinstance(judge, LlmJudge):
        return judge.calls(pairs.queries, pairs.hits)
    return len(pairs.queries)


def _verdicts_of(judge: Judge, pairs: KnownPairs, advance: OnProgress | None) -> list[list[Score]]:
    """The verdicts, a list a question."""
    if isinstance(judge, LlmJudge):
        return judge.judge(pairs.queries, pairs.hits, advance)
    verdicts: list[list[Score]] = []
    for low in range(0, len(pairs.queries), _AT_ONCE):
        some = pairs.queries[low : low + _AT_ONCE]
        verdicts += judge.judge(some, pairs.hits[low : low + _AT_ONCE])
        if advance:
            advance(
                len(some),
                f"{thousands(len(verdicts))} of {counted(len(pairs.queries), 'question')}",
            )
    return verdicts


class _Watch:
    """What a judge takes from now on."""

    def __init__(self, judge: Judge, pairs: KnownPairs) -> None:
        self._llm = judge if isinstance(judge, LlmJudge) else None
        self.kept = 0
        """Verdicts that are known already."""
        if self._llm is not None:
            before = chain.from_iterable(self._llm.scores(pairs.queries, pairs.hits))
            self.kept = sum(score.value is not None for score in before)
        self._before = self._spent
        self._began = time.monotonic()

    @property
    def _spent(self) -> LlmUsage:
        return self._llm.model.client.spent if self._llm is not None else LlmUsage()

    def error(self, figures: Calibration) -> str:
        """Why the asking ended early, or why it never began: a limit of money, passages that are too long."""
        if self._llm is None or self._llm.error:
            return self._llm.error if self._llm else ""
        took, reasons = self._spent.since(self._before), figures.unscored
        if took.unasked:
            limit = f"limit of ${as_set(self._llm.model.client.max_cost or 0.0)}"
            return next((why for why in reasons if limit in why), "")
        asked = figures.confusion.scored or took.calls or took.kept
        return "" if asked else max(reasons, key=lambda why: reasons[why], default="")

    def cost(self, verdicts: int, known: Cost | None) -> Cost | None:
        """Per 1,000 verdicts that had to be asked for; as it is known where all were kept; None: not known."""
        took = self._spent.since(self._before)
        new: float = verdicts - self.kept
        if self._llm is not None:
            # An answer may be kept while the verdict is not: then it took no call.
            new *= took.calls / max(took.calls + took.kept, 1)
        if not new:
            return known
        each = 1000 / new
        minutes = each * (time.monotonic() - self._began) / 60
        if self._llm is None and known is not None:
            # Vectors that are kept take no time: the run that made them says what they took.
            minutes = max(minutes, known.minutes or 0.0)
        return Cost(
            each * took.calls, each * took.prompt_tokens, each * took.output_tokens,
            None if took.money is None else each * took.money, minutes,
        )  # fmt: skip


def _judged_pairs(pairs: KnownPairs) -> Iterator[tuple[Query, Hit, bool]]:
    for query, hits, truths in zip(pairs.queries, pairs.hits, pairs.is_relevant, strict=True):
        for hit, is_relevant in zip(hits, truths, strict=True):
            yield query, hit, is_relevant


def _cosines(pairs: KnownPairs, embedder: Embedder) -> NDArray[np.float64]:
    """Of every pair; NaN where one of the two has no vector. Texts were embedded before and are in the cache."""
    texts = [(query.text, hit.text) for query, hit, _ in _judged_pairs(pairs)]
    # NumPy makes NaN of None.
    return np.array([near.value for near in cosine_scores(texts, embedder)], dtype=np.float64)


def _disagreements(
    pairs: KnownPairs, scores: Sequence[Score], cosines: NDArray[np.float64] | None
) -> Iterator[Disagreement]:
    wrong: dict[bool, list[Disagreement]] = {True: [], False: []}
    for at, ((query, hit, is_relevant), score) in enumerate(
        zip(_judged_pairs(pairs), scores, strict=True)
    ):
        if score.value is not None and (score.value == 1) != is_relevant:
            cosine = None if cosines is None else float(cosines[at])
            wrong[is_relevant].append(
                Disagreement(query.text, hit.doc_id, hit.start, hit.end, hit.text, is_relevant, cosine)
            )  # fmt: skip
    wrong[True].sort(key=lambda disagreement: disagreement.cosine or 0.0)
    wrong[False].sort(key=lambda disagreement: -(disagreement.cosine or 0.0))
    for both in zip_longest(wrong[True], wrong[False]):
        yield from (item for item in both if item is not None)
