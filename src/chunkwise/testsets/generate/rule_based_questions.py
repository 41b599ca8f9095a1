"""Questions by rules, where there is no model: definitions, amounts and headings, each with where its answer stands."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from chunkwise.core import Query, Span
from chunkwise.testsets.generate.candidate import question_id, reference_at, words_in
from chunkwise.testsets.generate.plan import (
    FALLBACK,
    NamedPlace,
    QuestionType,
    by_size,
    shared_names,
)
from chunkwise.testsets.generate.source_passages import SourcePassage, SourcePassages
from chunkwise.testsets.locate import trimmed
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.names import name_hash, name_key

_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|\(?[a-z]\))\s+")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"\*{1,3}|`+|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)|\\(?=[^\w\s])")


class RuleQuestion(NamedTuple):
    """One question, its answer where one sentence is it, and the evidence."""

    question: str
    answer: str | None
    span: Span
    kind: QuestionType
    subject: str = ""
    """What has to be rare for the question to make sense; empty: it says itself what is meant."""


def without_marks(text: str) -> str:
    """On one line, without marks of lists, emphasis and links."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", _BULLET.sub("", text))).split())


def said_at(text: str, start: int, end: int) -> Span:
    """Without white space around it, and without the mark of a list before it."""
    mark = _BULLET.match(text[start:end])
    return trimmed(text, start + (mark.end() if mark else 0), end)


_OPENINGS = frozenset(
    "it this that these those there they he she we you i who what which where when why how here nobody somebody"
    " everyone everybody nothing everything all each every both none some many most few one two three if in on at for"
    " from with no not only as by to of and or but so then because although since while after before during until"
    " under over between the a an any such another other its their his her our my your note example result reason"
    " problem question answer everything"
    " es dies diese dieser dieses das der die er sie wir ihr man wer wo wann wie warum hier dort alle jeder jede"
    " niemand im am auf für mit von bei nach vor seit wenn weil aber und oder ein eine kein keine nur"
    " monday tuesday wednesday thursday friday saturday sunday".split()
)


def opens_anything(word: str) -> bool:
    """Whether any sentence could begin with it."""
    return word.lower() in _OPENINGS


def is_name(term: str, text: str) -> bool:
    """Several words with capitals, or one that has its capital inside sentences, too."""
    if " " in term:
        return True
    return re.search(rf"[^\W\d_,;] {re.escape(term)}\b", text) is not None


def as_inside(subject: str, text: str) -> str:
    """As it is written inside a sentence: with a small letter, unless it is a name."""
    first = subject.split(maxsplit=1)[0]
    small = first.lower()
    if small in ("the", "a", "an") or re.search(rf"\b{re.escape(small)}\b", text):
        return small + subject[len(first) :]
    return subject


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
_NOT_IN_SUBJECTS = frozenset(
    "in on at by to and or is are was were that which who when than as for not".split()
)
"""Of a subject that has one of these, too much would have to be understood."""


def amount_questions(analyzed: Analyzed) -> Iterator[RuleQuestion]:
    """English alone: the order of words is that of its questions."""
    text = analyzed.text
    for start, end in pairwise([*analyzed.sentences.tolist(), len(text)]):
        plain = without_marks(text[start:end])
        match = _SAYS.match(plain)
        if match is None or not plain.endswith(".") or not _is_subject(match["subject"]):
            continue
        if _NOT_IN_SUBJECTS.intersection(match["unit"].split()):
            continue
        subject = as_inside(match["subject"], text)
        question = f"How many {match['unit']} {_VERBS[match['verb']].format(subject)}?"
        yield RuleQuestion(question, plain, said_at(text, start, end), "numeric", subject)


def _is_subject(subject: str) -> bool:
    words = subject.split()
    if not subject[0].isupper() or _NOT_IN_SUBJECTS.intersection(subject.lower().split()):
        return False
    own = words[1:] if words[0] in ("The", "A", "An") else words
    return bool(own) and not opens_anything(own[0])


_LONGEST = 400
"""Characters of a definition that is taken whole; a longer one is cut behind a sentence."""
_MOST_WORDS = 6
"""Of what is defined."""
_WORD = r"[A-ZÄÖÜ][\w'’\-]*"
_TERM = rf"{_WORD}(?: (?:(?:of|the|and|von|der|des|für) )?{_WORD}| [a-zäöüß][\w'’\-]*){{0,2}}"
_NAME = rf"{_WORD}(?: (?:(?:of|the|von|der|des) )?{_WORD}){{0,3}}"
_ARTICLE = r"(?:(?:The|A|An|Die|Der|Das) )?"
# **Amber.** The state of …   **Leave year** means …   - **Key**: what opens …
_BOLD = re.compile(
    r"\s*(?:[-*+•]\s+)?\*\*(?P<term>[^*\n]{2,50}?)(?:[.:,]?\*\*|\*\*[:.])\s*(?:\([^)]{1,40}\)\s*)?[:–—-]?\s*"
    r"(?P<rest>[^\W\d_].{20,})",
    re.DOTALL,
)
_QUOTED = re.compile(
    r"[\"“„](?P<term>[^\"”“„\n]{2,50})[\"”“]\s+(?P<verb>means|bedeutet|heißt)\s+.{10}"
)
_MEANS = re.compile(
    rf"{_ARTICLE}(?P<term>{_TERM}) (?P<verb>means|refers to|stands for|bedeutet|bezeichnet) .{{10}}"
)
_IS = re.compile(
    rf"(?P<term>{_NAME})(?: \([^)]{{1,30}}\))? (?P<verb>is|are|ist|sind) "
    r"(?:an?|the|one of|eine?|der|die|das) (?!only\b|same\b|einzige|gleiche).{10}"
)
_LABEL = re.compile(
    r"(?:fig|figure|table|note|notes|danger|warning|caution|important|example|abb|tab|hinweis|achtung)\b",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"(.+), (the|der|die|das)", re.IGNORECASE)
_GERMAN = frozenset({"bedeutet", "bezeichnet", "heißt", "ist", "sind"})


def definition_questions(analyzed: Analyzed) -> Iterator[RuleQuestion]:
    """Of every paragraph and list item what its bold opening names, else what its sentences define."""
    text = analyzed.text
    starts = analyzed.sentences.tolist()
    blocks = analyzed.blocks.spans("paragraph", "item").tolist()
    openings = [_BOLD.match(text[start:end]) for start, end in blocks]
    times = Counter(match["term"] for match in openings if match)
    for (start, end), match in zip(blocks, openings, strict=True):
        inner = starts[bisect_right(starts, start) : bisect_left(starts, end)]
        bounds = [start, *inner, end]
        # What opens several entries is a label: Added, Breaking.
        if match and times[match["term"]] == 1 and _is_term(match["term"]):
            yield _bold(text, match, bounds)
            continue
        for first, last in pairwise(bounds):
            if (found := _sentence(text, first, last)) is not None:
                yield found


def _bold(text: str, match: re.Match[str], bounds: list[int]) -> RuleQuestion:
    start, rest = bounds[0], bounds[0] + match.start("rest")
    end = max((each for each in bounds if rest < each <= start + _LONGEST), default=bounds[-1])
    answer = without_marks(text[rest:end])
    term = _BEHIND.sub(r"\2 \1", without_marks(match["term"]))
    verb = answer.split(maxsplit=1)[0]
    german = verb in _GERMAN
    if german or verb in ("means", "is", "are"):
        answer = f"{term} {answer}"
    return RuleQuestion(_meaning(term, german), answer, said_at(text, start, end), "single-concept")


def _sentence(text: str, start: int, end: int) -> RuleQuestion | None:
    plain = without_marks(text[start:end])
    if not plain.endswith((".", ";", "!", '."', ".”", "; and")) or len(plain) > _LONGEST:
        return None
    span = said_at(text, start, end)
    for pattern in (_QUOTED, _MEANS):
        if (match := pattern.match(plain)) and _is_term(match["term"]):
            question = _meaning(match["term"], match["verb"] in _GERMAN)
            return RuleQuestion(question, plain, span, "single-concept")
    match = _IS.match(plain)
    if match is None or not _is_term(match["term"]) or not is_name(match["term"], text):
        return None
    asked = "Was" if match["verb"] in _GERMAN else "What"
    question = f"{asked} {match['verb']} {match['term']}?"
    return RuleQuestion(question, plain, span, "single-concept", match["term"])


def _meaning(term: str, german: bool) -> str:
    return f"Was bedeutet „{term}“?" if german else f"What does “{term}” mean?"


def _is_term(term: str) -> bool:
    """A name or a noun, not the opening of any sentence, nor what stands under a picture."""
    words = re.findall(r"[^\W_]+", term)
    return (
        0 < len(words) <= _MOST_WORDS
        and len(term) > 2
        and not opens_anything(words[0])
        and not _LABEL.match(term)
    )


_NUMBERING = re.compile(
    r"^(?:(?:item|section|chapter|part|annex|appendix|abschnitt|kapitel)\s+)?"
    r"(?:\d+(?:\.\d+)*|[IVXLC]+|[A-Z])[.):]?\s+(?=\S)",
    re.IGNORECASE,
)
_WHO = re.compile(r"(?:who|wer)\s", re.IGNORECASE)
_ASKS = re.compile(
    r"(?:what|when|where|why|how|which|was|wann|wo|warum|wie|welche[rs]?)\s", re.IGNORECASE
)
_GENERIC = frozenset(
    "introduction overview scope notes note summary abstract conclusion conclusions discussion methods results general"
    " references contents index appendix background definitions about more other others misc miscellaneous faq example"
    " examples usage license licence changelog einleitung vorbemerkung übersicht zusammenfassung anhang allgemeines"
    " added changed fixed removed deprecated ingredients method preface foreword actions".split()
)
_SMALL_IN_TITLES = frozenset(
    "of the and a an in on at by for to from or with der die das und von".split()
)
_LEAST_LETTERS = 4


def heading_questions(passages: Sequence[SourcePassage]) -> Iterator[RuleQuestion]:
    """One for each section of a document but its title, with its first passage as evidence; German where it is."""
    if not passages:
        return
    seen: set[int] = set()
    whole = _whole(passages)
    for passage in passages:
        if passage.section in seen or not passage.path:
            continue
        seen.add(passage.section)
        title = _title(passage.path[-1])
        is_generic = title.lower() in _GENERIC or sum(map(str.isalpha, title)) < _LEAST_LETTERS
        if is_generic or _words(title) == _words(whole):
            continue
        if question := _question(title, whole, passage):
            yield RuleQuestion(question, None, Span(passage.start, passage.end), "single-concept")


def _whole(passages: Sequence[SourcePassage]) -> str:
    """What the document is called: its title, else its first heading where that is at the top."""
    first = passages[0]
    return first.document.title or (
        _title(first.path[0]) if first.path and first.section < 2 else ""
    )


def _title(heading: str) -> str:
    """Without its number, and not in capitals."""
    title = _NUMBERING.sub("", heading).strip(" .:")
    if not title.isupper():
        return title
    words = title.lower().split()
    return " ".join(
        word if at and word in _SMALL_IN_TITLES else word.capitalize()
        for at, word in enumerate(words)
    )


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _question(title: str, whole: str, passage: SourcePassage) -> str:
    """Empty where nothing says what it is about: who is covered by what?"""
    if title.endswith("?"):
        return title
    over = _title(passage.path[-2]) if len(passage.path) > 1 else whole
    if over.lower() in _GENERIC:  # every document has a "Scope"
        over = whole
    if _WHO.match(title):
        return f"{over}: {title[0].lower()}{title[1:]}?" if over else ""
    german = passage.language == "de"
    about = f"„{title}“" if german else f"“{title}”"
    if _ASKS.match(title):
        about = f"{title[0].lower()}{title[1:]}"
    if whole:
        return (
            f"Was steht in „{whole}“ über {about}?"
            if german
            else f"What does “{whole}” say about {about}?"
        )
    return f"Was wird über {about} gesagt?" if german else f"What is said about {about}?"


MADE_BY = "rules: definitions, amounts, headings"


def rule_questions(source_passages: SourcePassages) -> Iterator[tuple[Query, str]]:
    """With the language of their document; documents take turns by size, definitions come before headings."""
    passages: defaultdict[int, list[SourcePassage]] = defaultdict(list)
    for passage in source_passages.passages:
        passages[passage.at].append(passage)
    lines = {at: _of_document(own, source_passages) for at, own in passages.items()}
    sizes = {at: len(source_passages.documents[at].text) for at in lines}
    for at, found in by_size(lines, sizes):
        yield _query(found, at, source_passages), passages[at][0].language


def _of_document(
    passages: list[SourcePassage], source_passages: SourcePassages
) -> Iterator[RuleQuestion]:
    """The kinds take turns, each in reading order."""
    analyzed = Analyzed(passages[0].document)
    if analyzed.document.format == "code":
        return
    language = passages[0].language
    kinds = [
        (
            each
            for each in definition_questions(analyzed)
            if _says_what(each, language, source_passages)
        ),
        (
            each
            for each in amount_questions(analyzed)
            if language == "en" and _says_what(each, language, source_passages)
        ),
        heading_questions(passages),
    ]
    open_kinds = [iter(each) for each in kinds]
    while open_kinds:
        for each in list(open_kinds):
            found = next(each, None)
            if found is None:
                open_kinds.remove(each)
            else:
                yield found


def _says_what(found: RuleQuestion, language: str, source_passages: SourcePassages) -> bool:
    """Whether its subject is a rare thing, not a word of every page."""
    return not found.subject or source_passages.is_rare(words_in(found.subject, language))


def _query(found: RuleQuestion, at: int, source_passages: SourcePassages) -> Query:
    document = source_passages.documents[at]
    reference = reference_at(document, found.span, source_passages.documents)
    name = question_id(found.question, reference.places[:1])
    return Query(name, found.question, (reference,), found.answer, (), (FALLBACK, found.kind))


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
                if (found := _left_out(place, sentences[own])) is not None:
                    return place, *found
        return None

    first = {passage.at: passage for passage in reversed(source_passages.passages)}
    for at, passage in first.items() if names.said else ():
        if passage.document.format == "code" or passage.language not in ("en", "de"):
            continue
        analyzed = Analyzed(passage.document)
        for found in (*definition_questions(analyzed), *amount_questions(analyzed)):
            if found.subject and found.subject in found.question:
                hop = left_out(name_hash(name_key(found.subject)), at)
                if hop is not None:
                    yield _two_hop(found, at, hop, source_passages), passage.language
    for name, about in names.about.items():
        passage = about[0]
        hop = left_out(name, passage.at)
        if hop is not None and passage.language in ("en", "de"):
            german = passage.language == "de"
            asked = "was wird darüber gesagt?" if german else "what is said about it?"
            span = Span(passage.start, passage.end)
            found = RuleQuestion(asked, None, span, "two-hop")
            yield _two_hop(found, passage.at, hop, source_passages), passage.language


_LONGEST_SENTENCE, _LEAST_WORDS = 200, 4
"""Characters and words of a sentence that tells a name by what is left of it."""


def _left_out(place: NamedPlace, bounds: list[int]) -> tuple[str, Span] | None:
    """The sentence without the name, and where it stands; None: it says too little, or too much."""
    text = place.passage.document.text
    at = bisect_right(bounds, place.start) - 1
    span = said_at(text, bounds[at], bounds[at + 1])
    name = text[place.start : place.end]
    plain = without_marks(text[span.start : span.end].replace(name, "…"))
    said = plain.replace("…", " ").split()
    if len(said) < _LEAST_WORDS or len(plain) > _LONGEST_SENTENCE or not plain.endswith("."):
        return None
    return plain.rstrip("."), span


def _two_hop(
    found: RuleQuestion,
    at: int,
    hop: tuple[NamedPlace, str, Span],
    source_passages: SourcePassages,
) -> Query:
    place, sentence, span = hop
    asked = found.question.replace(found.subject, "it", 1) if found.subject else found.question
    asked = asked[0].lower() + asked[1:]
    question = (
        f"Wofür steht „…“ in „{sentence}“, und {asked.replace(' it?', ' das?')}"
        if asked.startswith("was ")
        else f"What does “…” stand for in “{sentence}”, and {asked}"
    )
    documents = source_passages.documents
    references = (
        reference_at(place.passage.document, span, documents),
        reference_at(documents[at], found.span, documents),
    )
    name = question_id(question, [each.places[0] for each in references])
    return Query(name, question, references, found.answer, (), (FALLBACK, "two-hop"))
