"""Names that lead from one passage to another of a different document: what questions of two hops are made along."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from chunkwise.testsets.generate.source_passages import SourcePassage, SourcePassages
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.names import MENTION, TITLE, document_names

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
        found: list[tuple[NamedPlace, SourcePassage]] = []
        used: set[int] = set()
        order = sorted(
            self.said, key=lambda name: (name not in self.about, len(self.said[name]), name)
        )
        for name in order:
            targets = self.about.get(name) or [each.passage for each in self.said[name]]
            for place in self.said[name]:
                if place.passage.number in used:
                    continue
                other = next(
                    (
                        each
                        for each in targets
                        if each.at != place.passage.at and each.number not in used
                    ),
                    None,
                )
                if other is not None:
                    used |= {place.passage.number, other.number}
                    found.append((place, other))
        return found


def shared_names(source_passages: SourcePassages) -> SharedNames:
    """Reads every document once more; linear in their mentions."""
    said: defaultdict[int, dict[int, NamedPlace]] = defaultdict(dict)
    about: defaultdict[int, dict[int, SourcePassage]] = defaultdict(dict)
    of_document: defaultdict[int, list[SourcePassage]] = defaultdict(list)
    for passage in source_passages.passages:
        of_document[passage.at].append(passage)
    for passages in of_document.values():
        analyzed = Analyzed(passages[0].document)
        mentions = document_names(analyzed, analyzed.atoms(), passages[0].language)
        starts = np.array([each.start for each in passages], np.int64)
        of_section: defaultdict[int, list[SourcePassage]] = defaultdict(list)
        for each in passages:
            of_section[each.section].append(each)
        sections = analyzed.sections.at(mentions.start).tolist()
        rows = zip(*(column.tolist() for column in mentions), strict=True)
        for (start, end, name, kind), section in zip(rows, sections, strict=True):
            if kind == MENTION:
                at = int(starts.searchsorted(start, "right")) - 1
                inside = at >= 0 and end <= passages[at].end
                if inside and end - start >= _LEAST and len(said[name]) <= _COMMON:
                    said[name].setdefault(passages[at].number, NamedPlace(passages[at], start, end))
            elif len(about[name]) <= _COMMON:
                own = passages if kind == TITLE else of_section[section]
                about[name] |= {each.number: each for each in own[:_COMMON]}
    return SharedNames(
        {name: list(own.values()) for name, own in said.items() if 0 < len(own) <= _COMMON},
        {name: list(own.values()) for name, own in about.items() if own},
    )
