"""Questions of two hops: what one document says of a name that is left out of a sentence of another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from chunkwise.core import Query, Span
from chunkwise.testsets.generate.candidate import question_id, reference_at
from chunkwise.testsets.generate.definitions import (
    DefinedTerm,
    definitions_in,
    said_at,
    without_marks,
)
from chunkwise.testsets.generate.plan import EXTRACTED, NamedPlace, shared_names
from chunkwise.testsets.generate.source_passages import SourcePassages
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.names import name_hash, name_key


def two_hop_questions(source_passages: SourcePassages) -> Iterator[tuple[Query, str]]:
    """What one document says of a name that is left out of a sentence of another, which is the first hop."""
    names = shared_names(source_passages)
    sentences: dict[int, list[int]] = {}

    def left_out(name: int, at: int) -> tuple[NamedPlace, str, Span] | None:
        """A sentence of another document that says the name."""
        for place in names.said.get(name, ()):
            own = place.passage.at
            if own != at:
                if own not in sentences:
                    analyzed = Analyzed(place.passage.document)
                    sentences[own] = [*analyzed.sentences.tolist(), len(analyzed.text)]
                if (result := _left_out(place, sentences[own])) is not None:
                    return place, *result
        return None

    first = {passage.at: passage for passage in reversed(source_passages.passages)}
    for at, passage in first.items() if names.said else ():
        if passage.document.format == "code" or passage.language not in ("en", "de"):
            continue
        analyzed = Analyzed(passage.document)
        for term in definitions_in(analyzed):
            if term.subject and term.subject in term.question:
                hop = left_out(name_hash(name_key(term.subject)), at)
                if hop is not None:
                    yield _two_hop(term, at, hop, source_passages), passage.language
    for name, about in names.about.items():
        passage = about[0]
        hop = left_out(name, passage.at)
        if hop is not None and passage.language in ("en", "de"):
            german = passage.language == "de"
            asked = "was wird darüber gesagt?" if german else "what is said about it?"
            span = Span(passage.start, passage.end)
            term = DefinedTerm(asked, "", span)
            yield _two_hop(term, passage.at, hop, source_passages), passage.language


_LONGEST_SENTENCE, _LEAST_WORDS = 200, 4
"""Characters and words of a sentence that tells a name by what is left of it."""


def _left_out(place: NamedPlace, bounds: list[int]) -> tuple[str, Span] | None:
    """The sentence without the name, and where it stands; None: it says too little, or too much."""
    text = place.passage.document.text
    at = bisect_right(bounds, place.start) - 1
    span = said_at(text, bounds[at], bounds[at + 1])
    name = text[place.start : place.end]
    plain = without_marks(text[span.start : span.end].replace(name, "…"))
    texts = plain.replace("…", " ").split()
    if len(texts) < _LEAST_WORDS or len(plain) > _LONGEST_SENTENCE or not plain.endswith("."):
        return None
    return plain.rstrip("."), span


def _two_hop(
    term: DefinedTerm,
    at: int,
    hop: tuple[NamedPlace, str, Span],
    source_passages: SourcePassages,
) -> Query:
    place, sentence, span = hop
    asked = term.question.replace(term.subject, "it", 1) if term.subject else term.question
    asked = asked[0].lower() + asked[1:]
    question = (
        f"Wofür steht „…“ in „{sentence}“, und {asked.replace(' it?', ' das?')}"
        if asked.startswith("was ")
        else f"What does “…” stand for in “{sentence}”, and {asked}"
    )
    documents = source_passages.documents
    references = (
        reference_at(place.passage.document, span, documents),
        reference_at(documents[at], term.span, documents),
    )
    name = question_id(question, [reference.places[0] for reference in references])
    return Query(name, question, references, term.answer or None, (), (EXTRACTED, "two-hop"))
