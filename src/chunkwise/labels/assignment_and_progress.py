"""Who labels what next, and how far labeling is: what is left, how fast people are, and how far they agree."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Hit, Passage, Query
from chunkwise.labels.annotator_agreement import LabelAgreement, label_agreement
from chunkwise.labels.question_labels import QuestionLabels, question_labels
from chunkwise.labels.store import LabelStore, Pool, PooledPassage, standing

SHARE = 0.2
"""Of the questions that go to two people: agreement is measured on them."""


def people_needed(query_id: str, share: float = SHARE) -> int:
    """1 or 2, by the question alone: the same for everybody and at any time."""
    if not 0 <= share <= 1:
        raise InvalidParameter(
            f"share is {share}; expected 0 (no question has two labelers) to 1 (all do)"
        )
    drawn = int.from_bytes(hashlib.sha256(query_id.encode("utf-8", "replace")).digest()[:8], "big")
    return 2 if drawn < share * 2**64 else 1


def next_questions(
    queries: Sequence[Query],
    labels: Mapping[str, QuestionLabels],
    who: str,
    *,
    share: float = SHARE,
    informative: Mapping[str, float] | None = None,
    opened: Mapping[str, str] | None = None,
) -> list[str]:
    """The ids of the questions that wait for this person, the most useful first.

    `informative`: by question how much its labels would tell (`tells_apart`). `opened`: by person the question each
    is at: what somebody else is at comes last.
    """
    busy = {query_id for other, query_id in (opened or {}).items() if other != who}
    waiting = []
    for at, query in enumerate(queries):
        known = labels.get(query.id)
        done = (
            set()
            if known is None
            else {person for person in _people(known) if known.is_done_by(person)}
        )
        if who in done:
            continue
        left = people_needed(query.id, share) - len(done)
        if left <= 0:
            continue
        # A question that its first person has done is measured by a second one: it is to be seen soon, not at the end.
        told = (informative or {}).get(query.id, 0.0)
        waiting.append((query.id in busy and left == 1, -told, at, query.id))
    return [id for *_, id in sorted(waiting)]


def _people(labels: QuestionLabels) -> set[str]:
    return {*labels.people, *labels.skipped}


def tells_apart(
    first: Sequence[Hit | Passage], second: Sequence[Hit | Passage], judged: Sequence[Passage] = ()
) -> float:
    """How much of what two configurations retrieve is found by one of them alone and not judged yet: 0 to 1.

    Where both find the same, or people have judged all of it, a label moves neither figure against the other.
    """
    one, other = _covered(first), _covered(second)
    known = _covered(judged)
    both = one | other
    return len((one ^ other) - known) / len(both) if both else 0.0


_GRAIN = 32
"""Characters that are looked at as one."""


def _covered(places: Sequence[Hit | Passage]) -> set[tuple[str, int]]:
    return {
        (place.doc_id, part)
        for place in places
        for part in range(
            place.start // _GRAIN, (max(place.end, place.start + 1) - 1) // _GRAIN + 1
        )
    }


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """What one person did."""

    who: str
    questions: int
    """Those that are done."""
    labels: int
    """That count now."""
    undone: int
    seconds: float | None
    """In the middle, for a label; None: no label says how long it took."""


@dataclass(frozen=True, slots=True)
class LabelProgress:
    """Of all people and questions."""

    questions: int
    done: int
    """Questions that as many people have done as are wanted."""
    twice: int
    """Questions that go to two people."""
    labels: int
    events: int
    pooled: int
    """Passages that were to be judged."""
    unjudged: int
    people: tuple[PersonProgress, ...]
    agreement: LabelAgreement


def label_progress(
    store: LabelStore, queries: Sequence[Query] = (), *, share: float = SHARE
) -> LabelProgress:
    """Of these questions, or of those that have labels."""
    events = store.events()
    now = standing(events)
    labels = question_labels(events, store.pools())
    by_id = {label.query_id: label for label in labels}
    ids = [query.id for query in queries] or list(by_id)
    names = sorted({event.who for event in events})
    people = []
    for who in names:
        label_events = [label_event for label_event in now if label_event.who == who]
        times = [
            label_event.seconds for label_event in label_events if label_event.seconds is not None
        ]
        people.append(
            PersonProgress(
                who,
                sum(
                    who in (*label.people, *label.skipped) and label.is_done_by(who)
                    for label in labels
                ),
                len(label_events),
                sum(
                    label_event.kind == "undo" and label_event.who == who for label_event in events
                ),
                round(median(times), 2) if times else None,
            )
        )
    done = 0
    for id in ids:
        known = by_id.get(id)
        if known is not None:
            finished = sum(known.is_done_by(who) for who in {*known.people, *known.skipped})
            done += finished >= people_needed(id, share)
    return LabelProgress(
        len(ids), done, sum(people_needed(id, share) == 2 for id in ids), len(now), len(events),
        sum(len(label.pool.passages) for label in labels if label.pool), sum(len(label.unjudged) for label in labels),
        tuple(people), label_agreement(labels),
    )  # fmt: skip


def shuffled(pool: Pool, who: str) -> list[PooledPassage]:
    """In an order of this person's own, the same each time: nothing is told by the place in the list."""
    order = list(pool.passages)
    random.Random(f"{pool.key}\n{who}").shuffle(order)
    return order
