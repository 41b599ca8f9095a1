"""Kinds of question that are made, how many of each, and out of which passages; pairs of them share a name."""

from __future__ import annotations

import heapq
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple, TypeVar, get_args

import numpy as np

from chunkwise.base.errors import InvalidParameter
from chunkwise.testsets.generate.source_passages import (
    SourcePassage,
    SourcePassages,
    passage_pairs,
)
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.names import HEADING, MENTION, TITLE
from chunkwise.text.names_by_rules import document_names

_COMMON = 8
"""Passages; a name that more of them mention ties nothing together."""
_LEAST = 3
"""Letters of a name."""


class NamedPlace(NamedTuple):
    """Where a passage says a name."""

    passage: SourcePassage
    start: int
    end: int
    """In the text of its document."""


@dataclass(frozen=True, slots=True)
class SharedNames:
    """Names in few passages, and the passages that are about one: under its title or heading."""

    said: dict[int, list[NamedPlace]]
    """By the hash of the name, once a passage."""
    about: dict[int, list[SourcePassage]]

    def links(self) -> list[tuple[NamedPlace, SourcePassage]]:
        """From a passage that says a name to one of another document that is about it, else that says it, too.

        Rare names first, no passage twice.
        """
        result: list[tuple[NamedPlace, SourcePassage]] = []
        used: set[int] = set()
        order = sorted(
            self.said, key=lambda name: (name not in self.about, len(self.said[name]), name)
        )
        for name in order:
            targets = self.about.get(name) or [row.passage for row in self.said[name]]
            for place in self.said[name]:
                if place.passage.number in used:
                    continue
                other = next(
                    (
                        target
                        for target in targets
                        if target.at != place.passage.at and target.number not in used
                    ),
                    None,
                )
                if other is not None:
                    used |= {place.passage.number, other.number}
                    result.append((place, other))
        return result


def shared_names(source_passages: SourcePassages) -> SharedNames:
    """Reads every document once more; linear in their mentions."""
    said: defaultdict[int, dict[int, NamedPlace]] = defaultdict(dict)
    about: defaultdict[int, dict[int, SourcePassage]] = defaultdict(dict)
    of_document: defaultdict[int, list[SourcePassage]] = defaultdict(list)
    for passage in source_passages.passages:
        of_document[passage.at].append(passage)
    short: defaultdict[int, list[list[SourcePassage]]] = defaultdict(list)
    for passages in of_document.values():
        analyzed = Analyzed(passages[0].document)
        mentions = document_names(analyzed, analyzed.atoms(), passages[0].language)
        starts = np.array([source_passage.start for source_passage in passages], np.int64)
        of_section: defaultdict[int, list[SourcePassage]] = defaultdict(list)
        for source_passage in passages:
            of_section[source_passage.section].append(source_passage)
        sections = analyzed.sections.at(mentions.start).tolist()
        rows = zip(*(column.tolist() for column in mentions), strict=True)
        for (start, end, name, kind), section in zip(rows, sections, strict=True):
            if kind == MENTION:
                at = int(starts.searchsorted(start, "right")) - 1
                inside = at >= 0 and end <= passages[at].end
                if inside and end - start >= _LEAST and len(said[name]) <= _COMMON:
                    said[name].setdefault(passages[at].number, NamedPlace(passages[at], start, end))
            elif kind == HEADING and start == end:
                short[name].append(passages)
            elif len(about[name]) <= _COMMON:
                own = passages if kind == TITLE else of_section[section]
                about[name] |= {
                    source_passage.number: source_passage for source_passage in own[:_COMMON]
                }
    for name, documents in short.items():
        if len(documents) == 1 and name not in about:
            about[name] = {document.number: document for document in documents[0][:_COMMON]}
    return SharedNames(
        {name: list(own.values()) for name, own in said.items() if 0 < len(own) <= _COMMON},
        {name: list(own.values()) for name, own in about.items() if own},
    )


QuestionType = Literal[
    "single-concept", "list", "numeric", "cross-document", "paraphrase", "two-hop"
]

QUESTION_TYPES: tuple[QuestionType, ...] = get_args(QuestionType)

SHARES: Mapping[QuestionType, float] = {
    "single-concept": 40,
    "numeric": 20,
    "list": 15,
    "cross-document": 15,
    "paraphrase": 10,
}
"""The usual mixture, in parts of a hundred; what the documents have no passages for is made up by the others.

Questions of two hops are made where they are asked for: not every search is to follow names.
"""

EXTRACTED = "extracted"
"""Tag of questions that no model wrote."""
EASY = "easy"
"""Tag of questions whose answer word search finds, however the documents are cut."""


def parse_types(text: str) -> dict[QuestionType, float]:
    """`numeric,list` in equal shares, or `numeric=3,list=1`."""
    types: dict[QuestionType, float] = {}
    for part in text.split(","):
        name, _, share = (item.strip() for item in part.partition("="))
        kind = next((item for item in QUESTION_TYPES if item == name), None)
        if kind is None:
            raise InvalidParameter(
                f"unknown question type {name!r}; known: {', '.join(QUESTION_TYPES)}"
            )
        if kind in types:
            raise InvalidParameter(f"the type {name} is given twice")
        types[kind] = _share(name, share) if share else 1.0
    return check_shares(types)


def check_shares(shares: Mapping[QuestionType, float]) -> dict[QuestionType, float]:
    """Those above nothing, in the usual order; at least one."""
    unknown = [name for name in shares if name not in QUESTION_TYPES]
    if unknown:
        raise InvalidParameter(
            f"unknown question type {unknown[0]!r}; known: {', '.join(QUESTION_TYPES)}"
        )
    result = {kind: shares[kind] for kind in QUESTION_TYPES if shares.get(kind, 0) > 0}
    if not result:
        raise InvalidParameter("no question type has a share above 0; add one: numeric=1")
    return result


def turns(shares: Mapping[QuestionType, float]) -> Iterator[QuestionType]:
    """Kinds without end, each as often as its share says, evenly mixed."""
    given = dict.fromkeys(shares, 0)
    while True:
        # The one that is furthest behind; of equals the first.
        kind = min(shares, key=lambda share: (given[share] + 0.5) / shares[share])
        given[kind] += 1
        yield kind


def _share(name: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1e9:
        raise InvalidParameter(f"the share of {name} is {text!r}; expected a number, 0 or more")
    return share


T = TypeVar("T")


def spread_passages(passages: Sequence[SourcePassage], seed: int = 0) -> list[SourcePassage]:
    """All of them: every document has a turn before one has a second, then turns go by size.

    Within a document its sections take turns, each with its weightiest passage first.
    """
    documents: defaultdict[int, list[SourcePassage]] = defaultdict(list)
    for passage in passages:
        documents[passage.at].append(passage)
    chance = random.Random(seed)
    lines = {
        at: iter(_by_section(source_passages, chance)) for at, source_passages in documents.items()
    }
    sizes = {
        at: sum(len(source_passage.text) for source_passage in source_passages)
        for at, source_passages in documents.items()
    }
    return [passage for _, passage in by_size(lines, sizes)]


def by_size(lines: Mapping[int, Iterator[T]], sizes: Mapping[int, int]) -> Iterator[tuple[int, T]]:
    """What all lines have, each with the number of its line: one of every line, then by the lines' sizes."""
    # Highest averages: after k turns a line waits until its size over k + 1 is the largest.
    waiting = [(-1, -float(sizes[at]), at, 1) for at in lines]
    heapq.heapify(waiting)
    while waiting:
        _, _, at, turn = heapq.heappop(waiting)
        for line in islice(lines[at], 1):
            yield at, line
            heapq.heappush(waiting, (0, -sizes[at] / (turn + 1), at, turn + 1))


def _by_section(passages: Sequence[SourcePassage], chance: random.Random) -> list[SourcePassage]:
    sections: defaultdict[int, list[SourcePassage]] = defaultdict(list)
    for passage in passages:
        sections[passage.section].append(passage)
    lines = [
        sorted(section, key=lambda source_passage: (-source_passage.weight, source_passage.start))
        for section in sections.values()
    ]
    # Weighty sections first, but not the same ones for every seed.
    lines.sort(key=lambda line: -line[0].weight * chance.uniform(0.8, 1.25))
    depth = max(map(len, lines), default=0)
    return [line[turn] for turn in range(depth) for line in lines if turn < len(line)]


_ROUNDS = 3
"""Questions about one passage, each of another kind."""


@dataclass(frozen=True, slots=True)
class QuestionTask:
    """One question to be written."""

    kind: QuestionType
    passages: tuple[SourcePassage, ...]


def question_tasks(
    source_passages: SourcePassages, shares: Mapping[QuestionType, float], seed: int = 0
) -> Iterator[QuestionTask]:
    """As many as the passages give, the best first; the same for the same seed."""
    order = spread_passages(source_passages.passages, seed)
    used: Counter[int] = Counter()
    asked: set[tuple[QuestionType, int]] = set()
    for round in range(_ROUNDS):
        lines = {kind: _line(kind, source_passages, order, round) for kind in shares}
        for kind in turns(shares):
            if kind not in lines:
                if not lines:
                    break
                continue
            for passages in lines[kind]:
                first = passages[0].number
                if (kind, first) not in asked and all(
                    used[passage.number] <= round for passage in passages
                ):
                    used.update(passage.number for passage in passages)
                    asked.add((kind, first))
                    yield QuestionTask(kind, passages)
                    break
            else:
                del lines[kind]


def _line(
    kind: QuestionType, source_passages: SourcePassages, order: list[SourcePassage], round: int
) -> Iterator[tuple[SourcePassage, ...]]:
    """Passages that suit a kind of question."""
    if kind == "cross-document":
        return iter(passage_pairs(source_passages) if not round else ())
    if kind == "two-hop":
        links = shared_names(source_passages).links() if not round else []
        return ((place.passage, other) for place, other in links)
    return ((passage,) for passage in order if _suits(kind, passage))


def _suits(kind: QuestionType, passage: SourcePassage) -> bool:
    if kind == "numeric":
        return passage.has_numbers
    if kind == "list":
        return passage.has_list or passage.text.count(",") > 3
    return True
