"""Which drafts of questions are dropped, one filter after the other, each with its reason."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from chunkwise.core import (
    SECTION_SEPARATOR,
    Document,
    Fact,
    Hit,
    OnProgress,
    Passage,
    Query,
    Reference,
)
from chunkwise.metrics.claims.claim_support import FEW, supports
from chunkwise.metrics.claims.hit_texts import is_named
from chunkwise.metrics.claims.numbers import has_number, read_numbers
from chunkwise.metrics.claims.text_normalization import (
    Readable,
    brings_number,
    plain_form,
    sentences,
)
from chunkwise.retrieval.indexes import Index, index
from chunkwise.testsets.generate.candidate import (
    Candidate,
    ProposedQuestion,
    Reason,
    references_of,
    words_in,
)
from chunkwise.testsets.generate.plan import EASY, QuestionType
from chunkwise.testsets.generate.source_passages import SourcePassage, SourcePassages

LONGEST = 300
"""Characters of a question."""
LONGEST_ANSWER = 1000
_LEAST_WORDS = 3
_END = 20
"""Characters among which the mark of a question is looked for."""
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>|\{\{|\}\}|```|\]\(|[{}\[\]]\s*\"|\"\s*:")
# A Greek question ends in a semicolon, a Chinese or Japanese one may end in the word that asks and a full stop.
_ASKS = re.compile(
    "(?:[?？؟\u037e]|[\u0370-\u03ff\u1f00-\u1fff][\"'”»)]*;|(?:か|吗|呢|嗎)。)[ \"'”»」』）)]*$"
)
_IDEOGRAPHS = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\u0e00-\u0eff]{4}")


def is_malformed(question: str, answer: str) -> bool:
    """Markup, JSON inside JSON, a heap of letters, no question mark."""
    words = len(question.split()) if not _IDEOGRAPHS.search(question) else _LEAST_WORDS
    return (
        not answer
        or len(answer) > LONGEST_ANSWER
        or words < _LEAST_WORDS
        or len(question) > LONGEST
        or _ASKS.search(question[-_END:]) is None
        or _MARKUP.search(question) is not None
    )


COPIED = 0.8
"""Share of the evidence's content terms from which a question is a copy of it."""
_FEW = 4
"""Terms of evidence under which any question about it has most of them."""


def gives_away(candidate: Candidate) -> bool:
    """Whether nothing in the answer is new to whoever reads the question."""
    language = candidate.language
    asked = words_in(candidate.question, language)
    answered = words_in(candidate.answer, language)
    if answered and answered <= asked:
        return True
    proof = words_in("\n".join(candidate.evidence), language)
    return len(proof) >= _FEW and len(asked & proof) >= COPIED * len(proof)


# "The context menu", "the statement of account", "the author Selma Lagerlöf" are things of their own.
_NAMED = r"(?!\s+(?-i:[A-ZÀ-ÞΑ-ΩА-Я])|\s+of\b)"
_TEXT = (
    rf"(?:text|passages?|excerpts?|extract|paragraph|article|authors?|writer|speaker|narrator|snippet){_NAMED}|"
    rf"(?:quotes?|sentence|statement|marks){_NAMED}|"
    r"context(?!\s+(?:menus?|windows?|switch\w*|managers?|variables?|lengths?|keys?)\b)"
)
_PART = "document|section|table|list|chapter|page"
_POINTED = "given|above|provided|following|same|present|attached|accompanying|shown|quoted|first|second|last|two"
"""What may stand before a part of a text that is pointed at: "the waiting list" is a list of its own."""
_TIME = "day|week|month|season|year|morning|evening|night|summer|winter|spring|autumn"
_WEEKDAY = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_POINTING = re.compile(
    rf"""\b(?:
    (?:according\s+to|in|from|by|of|based\s+on|per)\s+(?:the|this|that|these|both)\s+
      (?:(?:{_POINTED})\s+)?(?:{_TEXT}|(?:{_PART})(?!\s+of\b))\b
    | (?:the|this|these|both|two)\s+(?:given\s+|above\s+|provided\s+|following\s+|two\s+)?(?:{_TEXT})\b
    | (?:mentioned|described|discussed|listed|provided|given|shown|stated|said)\s+
      (?:above|below|here|in\s+(?:the|this)\s+(?:{_TEXT}|{_PART}))\b
    | the\s+(?:above|below|aforementioned|preceding|former|latter|following)\b
      (?!\s+(?:{_TIME}|{_WEEKDAY})s?\b)
    | (?:mentioned|above|below)\s*\?$
    | (?:passage|text|document|section|quote)\s+[12]\b
    | (?:this|these)\s+(?!year\b)\w+ | such\s+(?!as\b)\w+ | those\s+(?!who\b|whose\b|that\b|which\b|of\b|in\b)\w+
    | (?:im|laut|aus)\s+(?:dem\s+)?(?:text|abschnitt|absatz|dokument|auszug)\b
    | (?:dieser|diese|dieses|diesem|diesen)\s+\w+ | der\s+autor(?:in)?\b
    | (?:dans|selon|d['’]après)\s+(?:le|ce|cette|la)\s+(?:texte|passage|section|document|extrait) | l['’]auteur\b
    | (?:en|según)\s+(?:el|este|esta|la)\s+(?:texto|pasaje|sección|documento|fragmento) | el\s+autor\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|hers?|er|ihn|ihm|ihr|ihre|ihnen|ils|elles|lui|leur)\b",
    re.IGNORECASE,
)
# "Is it allowed to …", "How long does it take to …": the word stands for nothing.
_STATE = "possible|allowed|permitted|forbidden|necessary|required|safe|legal|true"
_EMPTY = re.compile(
    rf"\bit\s+(?:take|cost|likely|mean|happen|rain|{_STATE})\b"
    rf"|\b(?:is|was|will|can|may|must)\s+it\s+(?:be\s+)?(?:{_STATE})\b",
    re.IGNORECASE,
)

IsRare = Callable[[frozenset[int]], bool]
"""Whether one of these terms is rare enough to say by itself what is meant."""


def needs_passage(question: str, language: str, is_rare: IsRare) -> bool:
    """Whether it points at a text, has a pronoun for something it does not name, or names nothing."""
    if _POINTING.search(question):
        return True
    named = words_in(question, language)
    # One ordinary word ("What is required?") could be about anything.
    if not named or (len(named) == 1 and not is_rare(named)):
        return True
    plain = _EMPTY.sub(" ", question)
    pronoun = _PRONOUN.search(plain)
    if pronoun is None:
        return False
    before = words_in(plain[: pronoun.start()], language)
    # Two content words before it: one of them can be what it stands for. "What color is it?" has one.
    return len(before) < 2 and not (before and is_rare(before))


_NUMBER = re.compile(r"\d[\d.,]*")


def is_unsupported(candidate: Candidate) -> bool:
    """Whether a sentence of the answer, or a number in it, is not in the evidence.

    What the question says already need not stand there again, as long as it stands in the passage.
    """
    language = candidate.language
    proof = "\n".join(candidate.evidence)
    known = read_numbers(plain_form(f"{candidate.question}\n{proof}"), language)
    if not all(
        has_number(known, number) for number in read_numbers(plain_form(candidate.answer), language)
    ):
        return True
    claims = sentences(candidate.answer)
    read = Readable(proof)
    return not claims or not all(_holds(read, claim, candidate) for claim in claims)


def named_facts(candidate: Candidate) -> tuple[str, ...]:
    """The facts that stand in the evidence: no others can be looked for in what a search finds."""
    plain = plain_form("\n".join(candidate.evidence))
    return tuple(fact for fact in candidate.draft.facts if is_named(Fact(fact), plain))


def _holds(proof: Readable, claim: Readable, candidate: Candidate) -> bool:
    if supports(proof, claim):
        return True
    language = claim.language
    # Numbers were looked for already, and may be digits here and words there.
    words = words_in(_NUMBER.sub(" ", claim.text), language)
    new = words - words_in(candidate.question, language)
    if not new <= proof.terms(language) or not (new or claim.numbers):
        return False
    if len(claim.terms(language)) < FEW:
        return True
    return any(supports(Readable(_around(passage)), claim) for passage in candidate.draft.passages)


def _around(passage: SourcePassage) -> str:
    """Under its headings: they name what it is about."""
    return f"{SECTION_SEPARATOR.join(passage.path)}\n\n{passage.text}"


ALIKE = 0.85
"""Share of the terms of two questions that both have, from which they are one."""
ALIKE_HERE = 0.6
"""The same where their references overlap."""


class AskedQuestions:
    """Questions so far; a new one is compared with those it shares a term with."""

    def __init__(self) -> None:
        self._terms: list[frozenset[int]] = []
        self._references: list[tuple[Reference, ...]] = []
        self._having: defaultdict[int, list[int]] = defaultdict(list)

    def add(self, question: str, references: tuple[Reference, ...], language: str) -> None:
        terms = words_in(question, language)
        for term in terms:
            self._having[term].append(len(self._terms))
        self._terms.append(terms)
        self._references.append(references)

    def has(self, question: str, references: tuple[Reference, ...], language: str) -> bool:
        """Whether one like it was asked."""
        terms = words_in(question, language)
        shared = Counter(number for term in terms for number in self._having.get(term, ()))
        return any(
            count >= self._least(number, references) * len(terms | self._terms[number])
            for number, count in shared.items()
        )

    def _least(self, number: int, references: tuple[Reference, ...]) -> float:
        return ALIKE_HERE if overlap(references, self._references[number]) else ALIKE


def overlap(some: Iterable[Reference], others: Iterable[Reference]) -> bool:
    """Whether half of a reference, the smaller one, lies in one of the others."""
    known = list(others)
    return any(
        one.doc_id == other.doc_id
        and 2 * (min(one.end, other.end) - max(one.start, other.start))
        >= min(one.end - one.start, other.end - other.start)
        for one in some
        for other in known
    )


STRATEGIES = (
    "sentences(max_tokens=200)",
    "recursive(max_tokens=1000, overlap=200, tokenizer='characters')",
    "structure",
)
DEPTH = 5
_COVERED = 0.95
"""Of a reference's characters: blanks at an edge belong to no chunk."""


class WordSearch:
    """The documents, cut in the usual ways, each searched by words alone."""

    def __init__(self, documents: Sequence[Document], advance: OnProgress | None = None) -> None:
        self._indexes: list[Index] = []
        for number, strategy in enumerate(STRATEGIES, 1):
            if advance is not None:
                advance(0, f"chunking the documents for BM25, {number} of {len(STRATEGIES)}")
            self._indexes.append(index(documents, strategy, vectors="none", advance=advance))

    def first_place(self, question: str) -> Passage | None:
        """What the first hits of all ways have in common; None: nothing."""
        hits = [
            next(iter(item.search(question, k=1, retriever="bm25")), None) for item in self._indexes
        ]
        places = [Passage(hit.doc_id, hit.start, hit.end) for hit in hits if hit is not None]
        if len(places) < len(hits) or len({place.doc_id for place in places}) > 1:
            return None
        start, end = max(place.start for place in places), min(place.end for place in places)
        return Passage(places[0].doc_id, start, end) if start < end else None

    def finds(self, query: Query) -> bool:
        """Whether every reference is among the first few chunks of every strategy."""
        return all(
            _covers(query, item.search(query.text, k=DEPTH, retriever="bm25"))
            for item in self._indexes
        )


def _covers(query: Query, hits: Sequence[Hit]) -> bool:
    return all(
        any(_share(place, hits) >= _COVERED for place in reference.places)
        for reference in query.references
    )


def _share(place: Passage, hits: Sequence[Hit]) -> float:
    spans = sorted(
        (max(hit.start, place.start), min(hit.end, place.end))
        for hit in hits
        if place.overlaps(hit)
    )
    covered, reached = 0, place.start
    for start, end in spans:
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return covered / max(1, place.end - place.start)


OTHER_WORDS = 0.5
"""Share of a question's content terms that may stand in the evidence where it is told as a paraphrase."""
_LIST = re.compile(r",\s|;\s|\n|、|\b(?:and|und|et|y)\b")


def verified_kinds(candidate: Candidate, facts: tuple[str, ...]) -> tuple[QuestionType, ...]:
    """The kind asked for where it is one, numeric where the answer has a number; single-concept where it is neither."""
    kind = candidate.draft.kind
    is_one = (
        (kind == "cross-document" and needs_both(candidate))
        or (kind == "two-hop" and needs_both(candidate) and has_bridge(candidate))
        or (kind == "paraphrase" and _is_paraphrase(candidate))
        or (kind == "list" and len(facts) > 1 and bool(_LIST.search(candidate.answer)))
    )
    result: list[QuestionType] = [kind] if is_one else []
    if brings_number(candidate.question, candidate.answer, candidate.language):
        result.append("numeric")
    return tuple(result) or ("single-concept",)


def _terms_by_document(candidate: Candidate) -> list[set[int]]:
    """The words of the evidence in each document."""
    documents: dict[str, set[int]] = {}
    for reference, text in zip(candidate.references, candidate.evidence, strict=True):
        terms = words_in(text, candidate.language)
        documents.setdefault(reference.doc_id, set()).update(terms)
    return list(documents.values())


def needs_both(candidate: Candidate) -> bool:
    """Whether evidence of two documents has a part of the answer each that the other has not."""
    documents = _terms_by_document(candidate)
    if len(documents) < 2 or any(reference.alternatives for reference in candidate.references):
        return False
    language = candidate.language
    answered = words_in(candidate.answer, language) | words_in(candidate.question, language)
    parts = [answered & terms for terms in documents]
    return all(
        part - set().union(*(group for group in parts if group is not part)) for part in parts
    )


def has_bridge(candidate: Candidate) -> bool:
    """Whether the evidence of both documents says something that the question does not: it has to be found first."""
    language = candidate.language
    both = set.intersection(*_terms_by_document(candidate))
    return bool(
        both - words_in(candidate.question, language) - words_in(candidate.answer, language)
    )


def _is_paraphrase(candidate: Candidate) -> bool:
    language = candidate.language
    asked = words_in(candidate.question, language)
    proof = words_in("\n".join(candidate.evidence), language)
    return len(asked & proof) <= OTHER_WORDS * len(asked)


class FilterChain:
    """Knows the documents and what was asked before."""

    def __init__(self, source_passages: SourcePassages, words: WordSearch) -> None:
        self._source_passages = source_passages
        self.words = words
        self._texts = {document.id: document.text for document in source_passages.documents}
        self.asked = AskedQuestions()

    def passed(
        self, draft: ProposedQuestion, is_known: Callable[[str], bool]
    ) -> Query | Reason | None:
        """The question, located and tagged, or why it is dropped; what passes counts as asked.

        None: `is_known` says of its id that it is there already.
        """
        if is_malformed(draft.question, draft.answer):
            return "no question"
        about = f"{draft.question} {draft.answer}"
        references = references_of(
            draft.quotes, draft.passages, self._source_passages.documents, about
        )
        if references is None:
            return "quote not in the passage"
        evidence = tuple(
            self._texts[reference.doc_id][reference.start : reference.end]
            for reference in references
        )
        candidate = Candidate(draft, references, evidence)
        if is_known(candidate.id):
            return None
        if needs_passage(draft.question, draft.language, self._source_passages.is_rare):
            return "needs the passage"
        if gives_away(candidate):
            return "answer given away"
        if is_unsupported(candidate):
            return "answer not supported"
        facts = named_facts(candidate)
        query = candidate.query(facts, verified_kinds(candidate, facts))
        return self._unlike(query, draft.language)

    def made_by_rule(self, query: Query, language: str) -> Query | Reason:
        """The same for a question whose evidence is where a rule found it."""
        if needs_passage(query.text, language, self._source_passages.is_rare):
            return "needs the passage"
        return self._unlike(query, language)

    def _unlike(self, query: Query, language: str) -> Query | Reason:
        """The question, tagged, unless one like it was asked."""
        if self.asked.has(query.text, query.references, language):
            return "near-duplicate"
        self.asked.add(query.text, query.references, language)
        if self.words.finds(query):
            return replace(query, types=(*query.types, EASY))
        return query
