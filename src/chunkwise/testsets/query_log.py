"""What people really asked: a log of questions, each counted once however it is spelled, grouped, and sampled."""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.secrets import mask
from chunkwise.base.wording import counted, thousands
from chunkwise.core import OnProgress
from chunkwise.models.embed.embedder import Embedder
from chunkwise.records.fields import field_of, kind, listed
from chunkwise.records.json import without_half_characters
from chunkwise.records.read import BrokenList, Shape, rows, shown_name
from chunkwise.testsets.question_record import LIST_FIELDS, TEXT
from chunkwise.text.language import UNKNOWN, language_of_text
from chunkwise.text.terms import AUTO, NONE, check_language, folded, text_terms

QUERY_FIELDS = (
    *TEXT, "q", "search", "search_query", "search_term", "prompt", "input", "message", "utterance", "keywords",
)  # fmt: skip
COUNT_FIELDS = ("count", "asked", "frequency", "freq", "times", "occurrences")
LONGEST = 500
"""Characters of a question: what is longer is a pasted text, or junk."""
_MOST_TIMES = 1_000_000_000
SAME_WORDS, SAME_VECTORS = 0.95, 0.97
"""Similarity from which on two questions are one: by their words, and by their vectors."""
NEAR_WORDS, NEAR_VECTORS = 0.4, 0.7
"""Similarity to the most asked question of a cluster that a question of it has at least."""
_BETWEEN_NOTES = 1000
_LANGUAGE_FROM = 500
"""Questions that are looked at to tell the language of all."""
_WORDINGS = 5
_EMBEDDED_AT_ONCE = 256
_SHAPE = Shape(LIST_FIELDS, by_id=True, what="questions", plain=True)

_HIDDEN: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("key", re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*"
        r"|\b(?:sk|pk|rk)[-_][\w-]{16,}|\bgh[opsu]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
        r"|\bxox[abeprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bhf_\w{20,}"
        r"|\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?"
    )),
    ("key", re.compile(
        r"(?P<before>\b(?:passw(?:or)?d|pwd|passphrase|secret|token|api[ _-]?key|key|pin)\s*"
        r"(?:[:=]|\bis\b(?=\s+\S*\d))\s*)\S+",
        re.IGNORECASE,
    )),
    ("email", re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")),
    ("card", re.compile(r"\b\d(?:[ -]?\d){12,18}\b")),
    ("key", re.compile(r"(?<![\w/+-])(?=[\w/+-]*[0-9])(?=[\w/+-]*[A-Za-z])[\w/+-]{32,}={0,2}")),
)  # fmt: skip
"""What belongs into no file of questions; each kind is a word that stands in its place, in square brackets."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\s]+")  # fmt: skip
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


@dataclass(frozen=True, slots=True)
class LiveQuery:
    """A question that people asked, in one or several wordings."""

    text: str
    """In the wording that was used most."""
    asked: int
    """How often, in all wordings."""
    wordings: tuple[str, ...] = ()
    """Others that are the same question, the most used first."""
    cluster: int = 0
    """Questions about the same thing have the same number; 1 is asked most."""
    weight: float = 0.0
    """How many askings of the log it stands for in a sample: the sum of them is all that were asked."""

    @property
    def id(self) -> str:
        """The same whenever the same is asked."""
        return f"live-{sha256(_key(self.text).encode('utf-8', 'replace')).hexdigest()[:12]}"


@dataclass
class QueryLog:
    """The questions of a log, each spelling once with how often it was asked; and what was left out of it."""

    asked: dict[str, Counter[str]] = field(default_factory=dict)
    """By the folded text: the spellings."""
    rows: int = 0
    """Entries that were read."""
    hidden: Counter[str] = field(default_factory=Counter)
    """Keys, addresses and numbers of cards that were put out of sight, by their kind: in how many entries."""
    too_long: int = 0
    wordless: int = 0
    """Entries without a letter or a digit."""

    @property
    def total(self) -> int:
        """How often anything was asked."""
        return sum(count.total() for count in self.asked.values())

    def add(self, text: str, times: int = 1, longest: int = LONGEST) -> None:
        """One entry of a log."""
        self.rows += 1
        text = _UNSHOWN.sub(" ", without_half_characters(text)).strip()
        if len(text) > longest:
            self.too_long += 1
            return
        text, kinds = without_private(text)
        self.hidden.update(kinds)
        key = _key(text)
        if not key:
            self.wordless += 1
        else:
            self.asked.setdefault(key, Counter())[text] += times

    def spellings(self) -> list[LiveQuery]:
        """Each question as it is spelled most, the most asked first."""
        queries = [
            LiveQuery(_most_used(spelled), spelled.total()) for spelled in self.asked.values()
        ]
        return sorted(queries, key=_most_asked_first)


def _most_used(spelled: Counter[str]) -> str:
    return min(spelled, key=lambda text: (-spelled[text], text))


def _most_asked_first(query: LiveQuery) -> tuple[int, str]:
    return -query.asked, query.text


def _key(text: str) -> str:
    """Small letters, one spelling, nothing but words at the edges; empty: there is no word."""
    return _EDGES.sub("", " ".join(folded(text).split()))


def without_private(text: str) -> tuple[str, set[str]]:
    """Keys, passwords, e-mail addresses and numbers of cards replaced by what they are; and which there were."""
    kinds = set()
    if (shown := mask(text)) != text:
        text = shown
        kinds.add("key")

    def hide(found: re.Match[str], name: str) -> str:
        if (name == "card" and not _is_card(found[0])) or _UUID.fullmatch(found[0]):
            return found[0]
        kinds.add(name)
        return f"{found.groupdict().get('before', '')}[{name}]"

    for name, pattern in _HIDDEN:
        text = pattern.sub(lambda found, name=name: hide(found, name), text)  # type: ignore[misc]
    return text, kinds


def _is_card(text: str) -> bool:
    """By the check digit that numbers of cards end in (Luhn)."""
    digits = [int(item) for item in text if item.isdigit()][::-1]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1


OnBadEntry = Callable[[str], None]


def read_query_log(
    name: str,
    on_bad: OnBadEntry,
    *,
    query_field: str | None = None,
    count_field: str | None = None,
    longest: int = LONGEST,
    advance: OnProgress | None = None,
) -> QueryLog:
    """A file of JSON, JSON lines, CSV, Parquet or plain lines, `-` for standard input; a bad entry costs only itself.

    A field inside another is named with a full stop: request.query.
    """
    log = QueryLog()
    seen = bad = 0
    try:
        for row in rows(name, _SHAPE):
            if advance is not None and seen % _BETWEEN_NOTES == 0:
                advance(0, f"{counted(seen, 'entry')} read")
            seen += 1
            try:
                if row.problem:
                    raise ValueError(row.problem)
                text, times = _entry(row.value, query_field, count_field)
            except ValueError as error:
                bad += 1
                on_bad(f"{shown_name(name)}, {row.where}: {error}")
            else:
                log.add(text, times, longest)
    except BrokenList as error:
        on_bad(str(error))
    if bad and bad == seen:
        raise ChunkwiseError(
            f"no readable question in {shown_name(name)}; set its field: --query-field NAME "
            f"(nested: request.query)"
        )
    return log


def _entry(value: object, query_field: str | None, count_field: str | None) -> tuple[str, int]:
    if isinstance(value, str) and query_field is None:
        return value, 1
    if not isinstance(value, dict):
        raise ValueError(f"{kind(value)}, not a record with a question")
    text = _inside(value, QUERY_FIELDS, query_field, "a question")
    if not isinstance(text, str):
        raise ValueError(f"its question is {kind(text)}, not a text")
    if count_field is None and field_of(value, COUNT_FIELDS, None) is None:
        return text, 1
    times = _inside(value, COUNT_FIELDS, count_field, "a count")
    try:
        number = float(times)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 1 <= number <= _MOST_TIMES or number % 1 or isinstance(times, bool):
        raise ValueError(f"its count is {str(times)[:40]!r}; expected an integer, 1 or more")
    return text, int(number)


def _inside(
    record: Mapping[str, object], usual: tuple[str, ...], named: str | None, what: str
) -> object:
    """The value of a field, which may stand inside another."""
    if named is not None and named not in record and "." in named:
        outer, _, inner = named.partition(".")
        within = record.get(outer)
        if isinstance(within, dict):
            return _inside(within, usual, inner, what)
    result = field_of(record, usual, named)
    if result is None:
        wanted = f"no field {named!r}" if named else f"no field with {what}"
        raise ValueError(f"{wanted} among {listed(record)}")
    return record[result]


class QueryGroups(NamedTuple):
    """The questions of a log, the same ones joined, and those about the same thing numbered alike."""

    queries: list[LiveQuery]
    """By cluster, in each the most asked first."""
    language: str
    """In which words were compared; `none`: as they are."""

    @property
    def clusters(self) -> list[list[LiveQuery]]:
        """The one that is asked most first."""
        result: defaultdict[int, list[LiveQuery]] = defaultdict(list)
        for query in self.queries:
            result[query.cluster].append(query)
        return [result[number] for number in sorted(result)]


def grouped(
    log: QueryLog,
    *,
    embedder: Embedder | None = None,
    language: str = AUTO,
    advance: OnProgress | None = None,
) -> QueryGroups:
    """Near-duplicates joined and clusters made, by words, and by vectors where there is an embedder."""
    check_language(language)
    queries = log.spellings()
    if language == AUTO:
        message = language_of_text("\n".join(query.text for query in queries[:_LANGUAGE_FROM]))
        language = NONE if message == UNKNOWN else message
    note = advance or (lambda amount, note: None)
    note(0, f"{counted(len(queries), 'spelling')} compared by words")
    words = _Words([query.text for query in queries], language)
    queries = _joined(queries, words.leaders(SAME_WORDS))
    vectors = None
    if embedder is not None:
        vectors = _vectors([query.text for query in queries], embedder, note)
        same = _vector_leaders(vectors, SAME_VECTORS, note)
        chosen = sorted(set(same))
        queries, vectors = _joined(queries, same), vectors[chosen]
        near = _vector_leaders(vectors, NEAR_VECTORS, note)
    else:
        near = _Words([query.text for query in queries], language).leaders(NEAR_WORDS)
    return QueryGroups(_numbered(queries, near), language)


def _joined(queries: Sequence[LiveQuery], leaders: Sequence[int]) -> list[LiveQuery]:
    """One question for each leader, in the order of the leaders."""
    members: defaultdict[int, list[LiveQuery]] = defaultdict(list)
    for query, leader in zip(queries, leaders, strict=True):
        members[leader].append(query)
    live_queries = []
    for leader in sorted(members):
        first, *others = members[leader]
        more = [text for other in others for text in (other.text, *other.wordings)]
        wordings = (*first.wordings, *more)[:_WORDINGS]
        asked = sum(member.asked for member in members[leader])
        live_queries.append(replace(first, asked=asked, wordings=wordings))
    return live_queries


def _numbered(queries: Sequence[LiveQuery], leaders: Sequence[int]) -> list[LiveQuery]:
    sizes: Counter[int] = Counter()
    for query, leader in zip(queries, leaders, strict=True):
        sizes[leader] += query.asked
    order = sorted(sizes, key=lambda leader: (-sizes[leader], leader))
    number = {leader: at for at, leader in enumerate(order, 1)}
    live_queries = [
        replace(query, cluster=number[leader])
        for query, leader in zip(queries, leaders, strict=True)
    ]
    return sorted(
        live_queries, key=lambda live_query: (live_query.cluster, *_most_asked_first(live_query))
    )


class _Words:
    """Questions as sets of terms, rare ones weighing more."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        terms = [frozenset(text_terms(text, language).hash.tolist()) for text in texts]
        having = Counter(term for group in terms for term in group)
        weight = {term: math.log(1 + len(terms) / count) for term, count in having.items()}
        self._terms: list[list[tuple[int, float]]] = []
        """Of each question, rarest first, as a vector of length 1."""
        for own in terms:
            length = math.sqrt(sum(weight[term] ** 2 for term in own))
            ordered = sorted(own, key=lambda term: (-weight[term], term))
            self._terms.append([(term, weight[term] / length) for term in ordered])

    def leaders(self, least: float) -> list[int]:
        """Of each question the earlier one it is most like, if by at least this; else the question itself."""
        having: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
        result = []
        for number, own in enumerate(self._terms):
            leader = self._nearest(own, having, least)
            result.append(number if leader is None else leader)
            if leader is None:
                for term, weight in own:
                    having[term].append((number, weight))
        return result

    def _nearest(
        self,
        own: list[tuple[int, float]],
        having: Mapping[int, list[tuple[int, float]]],
        least: float,
    ) -> int | None:
        """What shares none of the rarest terms cannot be near: the rest of the vector is too short for that."""
        candidates: set[int] = set()
        rest = 1.0
        for term, weight in own:
            if math.sqrt(max(rest, 0.0)) < least:
                break
            candidates.update(number for number, _ in having.get(term, ()))
            rest -= weight**2
        mine = dict(own)
        best, result = least - 1e-9, None
        for number in sorted(candidates):
            near = sum(mine.get(term, 0.0) * weight for term, weight in self._terms[number])
            if near > best:
                best, result = near, number
        return result


def _vectors(texts: Sequence[str], embedder: Embedder, note: OnProgress) -> NDArray[np.float32]:
    parts = []
    for at in range(0, len(texts), _EMBEDDED_AT_ONCE):
        note(0, f"{thousands(at)} of {counted(len(texts), 'question')} embedded")
        parts.append(embedder.embed(texts[at : at + _EMBEDDED_AT_ONCE], "query"))
    return np.concatenate(parts) if parts else np.zeros((0, embedder.dimensions), np.float32)


def _vector_leaders(vectors: NDArray[np.float32], least: float, note: OnProgress) -> list[int]:
    """As of words, by the cosine."""
    heads = np.empty_like(vectors)
    numbers: list[int] = []
    leaders = []
    for at, own in enumerate(vectors):
        if at % _BETWEEN_NOTES == 0:
            note(0, f"{thousands(at)} of {counted(len(vectors), 'question')} compared by vectors")
        near = heads[: len(numbers)] @ own
        best = int(near.argmax()) if len(near) else -1
        if best >= 0 and near[best] >= least:
            leaders.append(numbers[best])
        else:
            heads[len(numbers)] = own
            numbers.append(at)
            leaders.append(at)
    return leaders


def sampled(queries: Sequence[LiveQuery], count: int | None, *, seed: int = 0) -> list[LiveQuery]:
    """As many questions, each with a chance as large as its share of what was asked; None: all of them.

    They are drawn at even distances through the clusters, so each cluster has its share of the sample. What is asked so
    often that it would be drawn twice is certain to be in it.
    """
    if count is not None and count < 1:
        raise InvalidParameter(f"the number of questions is {count}; expected 1 or more, or all")
    if count is None or count >= len(queries):
        return [replace(query, weight=float(query.asked)) for query in queries]
    certain: set[int] = set()
    while True:
        rest = sum(query.asked for at, query in enumerate(queries) if at not in certain)
        places = count - len(certain)
        more = {
            at
            for at, query in enumerate(queries)
            if at not in certain and query.asked * places >= rest
        }
        if not more or len(certain) + len(more) > count:
            break
        certain |= more
    places = count - len(certain)
    distance = rest / places if places else math.inf
    reached, next_at = 0.0, random.Random(seed).random() * distance
    live_queries = []
    for at, query in enumerate(queries):
        if at in certain:
            live_queries.append(replace(query, weight=float(query.asked)))
            continue
        reached += query.asked
        if reached > next_at and len(live_queries) < count:
            live_queries.append(replace(query, weight=distance))
            next_at += distance
    return live_queries
