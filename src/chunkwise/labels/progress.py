"""How far labelling is: of everybody how much and how fast, of the whole what is left, and how far people agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from chunkwise.core import Query
from chunkwise.labels.agreement import LabelAgreement, label_agreement
from chunkwise.labels.assign import SHARE, people_needed
from chunkwise.labels.event import standing
from chunkwise.labels.judged import question_labels
from chunkwise.labels.store import LabelStore


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
    by_id = {each.query_id: each for each in labels}
    ids = [query.id for query in queries] or list(by_id)
    names = sorted({event.who for event in events})
    people = []
    for who in names:
        own = [each for each in now if each.who == who]
        times = [each.seconds for each in own if each.seconds is not None]
        people.append(
            PersonProgress(
                who,
                sum(
                    who in (*each.people, *each.skipped) and each.is_done_by(who) for each in labels
                ),
                len(own),
                sum(each.kind == "undo" and each.who == who for each in events),
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
        sum(len(each.pool.passages) for each in labels if each.pool), sum(len(each.unjudged) for each in labels),
        tuple(people), label_agreement(labels),
    )  # fmt: skip
