"""What follows from all events: of each question the grades of its passages by person, its gold, what nobody judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from chunkwise.core import Passage
from chunkwise.labels.store import RELEVANT, WITH_PLACE, LabelEvent, LabelStore, Pool, standing


@dataclass(frozen=True, slots=True)
class JudgedPassage:
    """A passage with what each person said of it."""

    place: Passage
    text: str
    grades: Mapping[str, int]
    """By person."""
    adjudicated: int | None = None
    """What was decided where people disagreed."""

    @property
    def grade(self) -> int | None:
        """The decision, else the lower middle of the majority; None: as many call it relevant as not."""
        if self.adjudicated is not None:
            return self.adjudicated
        yes = sorted(number for number in self.grades.values() if number >= RELEVANT)
        no = sorted(number for number in self.grades.values() if number < RELEVANT)
        if len(yes) == len(no):
            return None
        side = yes if len(yes) > len(no) else no
        return side[(len(side) - 1) // 2]

    @property
    def is_disputed(self) -> bool:
        """Whether people gave it different grades and nobody has decided."""
        return self.adjudicated is None and len(set(self.grades.values())) > 1

    @property
    def is_relevance_disputed(self) -> bool:
        """Whether they disagree on more than how well it answers."""
        return self.is_disputed and len({grade >= RELEVANT for grade in self.grades.values()}) > 1


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """A place that somebody selected as the answer."""

    place: Passage
    text: str
    who: str


@dataclass(frozen=True, slots=True)
class QuestionLabels:
    """All that people said of one question."""

    query_id: str
    query: str
    passages: tuple[JudgedPassage, ...] = ()
    gold: tuple[GoldSpan, ...] = ()
    nothing: tuple[str, ...] = ()
    """People who say that nothing in the documents answers it."""
    skipped: tuple[str, ...] = ()
    pool: Pool | None = None
    """What was to be judged; None: people found all passages themselves."""
    unjudged: tuple[Passage, ...] = field(default=())
    """Passages of the pool that nobody has graded: a state, and no grade of 0."""

    @property
    def people(self) -> tuple[str, ...]:
        """Who said anything of it, skips apart."""
        graded = [who for passage in self.passages for who in passage.grades]
        return tuple(dict.fromkeys([*graded, *(span.who for span in self.gold), *self.nothing]))

    def is_done_by(self, who: str) -> bool:
        """Whether a person has nothing left to say: all of the pool graded, nothing answers it, or skipped."""
        if who in self.nothing or who in self.skipped:
            return True
        graded = {passage.place for passage in self.passages if who in passage.grades}
        if self.pool is None:
            return bool(graded) or any(span.who == who for span in self.gold)
        return all(
            Passage(passage.doc_id, passage.start, passage.end) in graded
            for passage in self.pool.passages
        )


def labels_of(store: LabelStore, query_id: str | None = None) -> list[QuestionLabels]:
    """Of all questions that somebody labeled or that have a pool, or of one."""
    return question_labels(store.events(query_id), store.pools(query_id))


def question_labels(
    events: Iterable[LabelEvent], pools: Iterable[Pool] = ()
) -> list[QuestionLabels]:
    """By question, in the order in which they were first spoken of."""
    by_key = {pool.key: pool for pool in pools}
    last = {pool.query_id: pool for pool in by_key.values()}
    own: dict[str, list[LabelEvent]] = {}
    for event in standing(events):
        own.setdefault(event.query_id, []).append(event)
    return [
        _labels(query_id, own.get(query_id, []), last.get(query_id), by_key)
        for query_id in dict.fromkeys([*own, *last])
    ]


def _labels(
    query_id: str, events: list[LabelEvent], pool: Pool | None, pools: Mapping[str, Pool]
) -> QuestionLabels:
    grades: dict[Passage, dict[str, int]] = {}
    texts: dict[Passage, str] = {}
    decided: dict[Passage, int] = {}
    for event in events:
        if event.kind in WITH_PLACE:
            texts.setdefault(event.place, event.text)
        if event.kind == "grade" and event.grade is not None:
            grades.setdefault(event.place, {})[event.who] = event.grade
        elif event.kind == "adjudicate" and event.grade is not None:
            grades.setdefault(event.place, {})
            decided[event.place] = event.grade
    for event in events:
        if event.kind == "nothing" and (judged := pools.get(event.pool)) is not None:
            # Who has read the pool and says that nothing answers it has said so of every passage.
            for passage in judged.passages:
                place = Passage(passage.doc_id, passage.start, passage.end)
                texts.setdefault(place, passage.text)
                grades.setdefault(place, {}).setdefault(event.who, 0)
    waiting = [] if pool is None else [Passage(p.doc_id, p.start, p.end) for p in pool.passages]
    return QuestionLabels(
        query_id,
        events[-1].query if events else pool.query if pool else "",
        tuple(JudgedPassage(place, texts[place], said, decided.get(place)) for place, said in grades.items()),
        tuple(GoldSpan(gold.place, gold.text, gold.who) for gold in events if gold.kind == "gold"),
        tuple(skipped.who for skipped in events if skipped.kind == "nothing"),
        tuple(label_event.who for label_event in events if label_event.kind == "skip"),
        pool,
        tuple(place for place in waiting if place not in grades),
    )  # fmt: skip
