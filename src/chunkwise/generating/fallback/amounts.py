"""Sentences that say how many: only those of so simple a form that the question cannot go wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from chunkwise.generating.fallback.plain_question import PlainQuestion, said_at, without_marks
from chunkwise.generating.fallback.subjects import as_inside, opens_anything
from chunkwise.text.analysis import Analyzed

_VERBS = {
    "has": "does {} have", "have": "do {} have", "had": "did {} have",
    "holds": "does {} hold", "hold": "do {} hold", "held": "did {} hold",
    "takes": "does {} take", "take": "do {} take", "took": "did {} take",
    "employs": "does {} employ", "employed": "did {} employ",
    "covers": "does {} cover", "contains": "does {} contain", "needs": "does {} need",
    "carries": "does {} carry", "carried": "did {} carry", "counted": "did {} count",
    "lasts": "does {} last", "lasted": "did {} last", "weighs": "does {} weigh",
    "receives": "does {} receive", "uses": "does {} use", "serves": "does {} serve",
}  # fmt: skip
_NUMBER = (
    r"(?:\d[\d,.]*\d|\d|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|"
    r"forty|fifty|sixty)"
)
_SAYS = re.compile(
    rf"(?P<subject>[\w'’\-]+(?: [\w'’\-]+){{0,4}}) (?P<verb>{'|'.join(_VERBS)}) "
    rf"(?:about |at least |at most |up to |only |some |exactly )?{_NUMBER} "
    r"(?P<unit>(?:[a-z\-]+ )?(?:[a-z\-]{2,}[^s\W]s|people|children|feet))(?=[ ,.;:])"
)
_SMALL = frozenset(
    "in on at by to and or is are was were that which who when than as for not".split()
)
"""Of a subject that has one of these, too much would have to be understood."""


def amounts(analyzed: Analyzed) -> Iterator[PlainQuestion]:
    """English alone: the order of words is that of its questions."""
    text = analyzed.text
    for start, end in pairwise([*analyzed.sentences.tolist(), len(text)]):
        plain = without_marks(text[start:end])
        match = _SAYS.match(plain)
        if match is None or not plain.endswith(".") or not _is_subject(match["subject"]):
            continue
        if _SMALL.intersection(match["unit"].split()):
            continue
        subject = as_inside(match["subject"], text)
        question = f"How many {match['unit']} {_VERBS[match['verb']].format(subject)}?"
        yield PlainQuestion(question, plain, said_at(text, start, end), "numeric", subject)


def _is_subject(subject: str) -> bool:
    words = subject.split()
    if not subject[0].isupper() or _SMALL.intersection(subject.lower().split()):
        return False
    own = words[1:] if words[0] in ("The", "A", "An") else words
    return bool(own) and not opens_anything(own[0])
