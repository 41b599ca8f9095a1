"""What a person said, once: a grade of a passage, a gold span, nothing answers it, a skip, an undo."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import did_you_mean
from chunkwise.core import Passage

EventKind = Literal["grade", "gold", "nothing", "skip", "undo", "adjudicate"]
KINDS: tuple[EventKind, ...] = get_args(EventKind)
WITH_PLACE: tuple[EventKind, ...] = ("grade", "gold", "adjudicate")
WITH_GRADE: tuple[EventKind, ...] = ("grade", "adjudicate")
GRADES = {
    0: "not about it",
    1: "about it, no answer",
    2: "answers a part",
    3: "answers it",
}
"""What each grade says of a passage."""
RELEVANT = 2
"""The least grade of a passage that holds an answer or a part of one."""
LONGEST_NAME = 80


class LabelProblem(ChunkwiseError):
    """Labels cannot be read or written; the message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelEvent:
    """Something a person said; never changed afterwards."""

    key: str
    """Of this event alone, chosen by whoever sends it: what is sent twice is kept once."""
    kind: EventKind
    query_id: str
    query: str
    """The question as it was read."""
    who: str
    when: str
    """In UTC."""
    doc_id: str = ""
    start: int = 0
    end: int = 0
    text: str = ""
    """What stood at the place: by it the place is found again in a document that has changed."""
    grade: int | None = None
    seconds: float | None = None
    """From when it was shown until this was said."""
    pool: str = ""
    """The key of the pool the passage came from; empty: the person found it."""
    undoes: str = ""
    """The key of the event that counts no more."""

    @property
    def place(self) -> Passage:
        return Passage(self.doc_id, self.start, self.end)


def new_key() -> str:
    return secrets.token_hex(12)


def check_event(event: LabelEvent) -> None:
    """Raises where an event says what none can say."""
    if event.kind not in KINDS:
        hint = did_you_mean(str(event.kind), KINDS, f"allowed: {', '.join(KINDS)}")
        raise InvalidParameter(f"kind is {event.kind!r:.80}; {hint}")
    check_name(event.who)
    for name in ("key", "query_id"):
        if not getattr(event, name).strip():
            raise InvalidParameter(f"{name} is empty; every label has one")
    if event.kind in WITH_PLACE and (not event.doc_id or not 0 <= event.start < event.end):
        raise InvalidParameter(
            f"the place is {event.doc_id!r:.80}, {event.start} to {event.end}; a document and two offsets are needed, "
            "the second behind the first"
        )
    if (event.kind in WITH_GRADE) != (event.grade is not None) or event.grade not in (
        None,
        *GRADES,
    ):
        allowed = (
            "a grade is 0, 1, 2 or 3" if event.kind in WITH_GRADE else "only a passage has a grade"
        )
        raise InvalidParameter(f"grade is {event.grade!r:.20} for {event.kind}; {allowed}")
    if event.seconds is not None and not (math.isfinite(event.seconds) and event.seconds >= 0):
        raise InvalidParameter(f"seconds is {event.seconds!r}; 0 or more is needed")
    if (event.kind == "undo") != bool(event.undoes):
        raise InvalidParameter("an undo names the event that it undoes, and nothing else does")


def check_name(who: str) -> None:
    """Names are shown in tables and compared as they are written."""
    if not who.strip() or who != who.strip() or len(who) > LONGEST_NAME or not who.isprintable():
        raise InvalidParameter(
            f"who is {who!r:.100}; a name is needed, on one line, with {LONGEST_NAME} characters at most"
        )


def standing(events: Iterable[LabelEvent]) -> list[LabelEvent]:
    """What counts now, in order: undone events are left out, and so is what the same person said of it before."""
    known = list(events)
    gone = {event.undoes for event in known if event.kind == "undo"}
    found: dict[tuple[object, ...], LabelEvent] = {}
    for event in known:
        if event.kind == "undo" or event.key in gone:
            continue
        # A question is skipped, or nothing answers it, as a whole; a passage is graded by itself.
        about = ("whole",) if event.kind in ("nothing", "skip") else (event.kind, *event.place)
        about_all = (event.query_id, event.who, *about)
        found.pop(about_all, None)
        found[about_all] = event
    return list(found.values())
