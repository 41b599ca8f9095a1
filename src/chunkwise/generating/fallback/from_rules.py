"""All questions that rules find in the documents, spread over them."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator
from hashlib import blake2b

from chunkwise.core import Query
from chunkwise.generating.candidate import words_in
from chunkwise.generating.fallback.amounts import amounts
from chunkwise.generating.fallback.definitions import definitions
from chunkwise.generating.fallback.headings import headings
from chunkwise.generating.fallback.plain_question import PlainQuestion
from chunkwise.generating.ground import Ground, SourcePassage
from chunkwise.generating.locating import reference_at
from chunkwise.generating.question_types import FALLBACK
from chunkwise.text.analysis import Analyzed

MADE_BY = "rules: definitions, amounts, headings"


def rule_questions(ground: Ground) -> Iterator[tuple[Query, str]]:
    """With the language of their document; documents take turns by size, definitions come before headings."""
    passages: defaultdict[int, list[SourcePassage]] = defaultdict(list)
    for passage in ground.passages:
        passages[passage.at].append(passage)
    lines = {at: _of_document(own, ground) for at, own in passages.items()}
    waiting = [(-1, -float(len(ground.documents[at].text)), at, 1) for at in lines]
    heapq.heapify(waiting)
    while waiting:
        _, _, at, turn = heapq.heappop(waiting)
        found = next(lines[at], None)
        if found is None:
            continue
        yield _query(found, at, ground), passages[at][0].language
        heapq.heappush(waiting, (0, -len(ground.documents[at].text) / (turn + 1), at, turn + 1))


def _of_document(passages: list[SourcePassage], ground: Ground) -> Iterator[PlainQuestion]:
    """The kinds take turns, each in reading order."""
    analyzed = Analyzed(passages[0].document)
    if analyzed.document.format == "code":
        return
    language = passages[0].language
    kinds = [
        (each for each in definitions(analyzed) if _says_what(each, language, ground)),
        (
            each
            for each in amounts(analyzed)
            if language == "en" and _says_what(each, language, ground)
        ),
        headings(passages),
    ]
    open_kinds = [iter(each) for each in kinds]
    while open_kinds:
        for each in list(open_kinds):
            found = next(each, None)
            if found is None:
                open_kinds.remove(each)
            else:
                yield found


def _says_what(found: PlainQuestion, language: str, ground: Ground) -> bool:
    """Whether its subject is a rare thing, not a word of every page."""
    return not found.subject or ground.is_rare(words_in(found.subject, language))


def _query(found: PlainQuestion, at: int, ground: Ground) -> Query:
    document = ground.documents[at]
    reference = reference_at(document, found.span, ground.documents)
    said = repr((found.question, reference.places[0]))
    name = blake2b(said.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
    return Query(
        f"q-{name}", found.question, (reference,), found.answer, (), (FALLBACK, found.kind)
    )
