"""What a language model reads of names: statements that link two of them, kept where their quote is in the text."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from chunkwise.base.wording import counted, main_reason, thousands
from chunkwise.core import Document, OnProgress
from chunkwise.models.llm.client import LlmClient, cleaned_answer
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.models.llm.language_model import Request, Schema
from chunkwise.models.llm.prompt import fenced, load_prompt
from chunkwise.retrieval.indexed_document import NameDescription, Relation, StatedRelations
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.find_passages import Tolerance, occurrences
from chunkwise.text.names import name_key

PROMPT = "relations"
SEGMENT_TOKENS = 600
"""Of a document that is read at a time, in whole sentences."""
_SMALL_WINDOW = 8_192
"""A model that holds no more is a small one: shorter segments, fewer statements, and quotes to choose from."""
_SMALL_SEGMENT = 120
_LONGEST = 12_000
"""Characters of a segment: a sentence may be as long as somebody likes."""
_MOST = 12
"""Names, and relations, that are asked for in a segment."""
_MOST_OF_SMALL = 3
_SMALL_ANSWER = 600
_MOST_KEPT = 4 * _MOST
_ANSWER_TOKENS = 1_200
_WORDS, _NAME, _SAID = 12, 120, 300
"""Words of a name, and characters of a name and of what is said."""
_SHORT = 60
"""Characters of anything that a small model says."""
_LAST_WORD = regex.compile(r"(?r)(?<=\S)\s")
"""The blank before it, from behind."""
_NO_QUOTE = "its quote isn't in the text"
_NO_NAME = "the text doesn't contain the names"
_NOT_TWO = "it isn't a relation between two names"
_NAMES_NEITHER = "its quote contains neither name"


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _schema(most: int, text: Schema, quote: Schema) -> Schema:
    """The quote first: what is written of it then follows the text."""
    relation = _object(quote=quote, subject=text, relation=text, object=text)
    lists = {
        "relations": relation,
        "names": _object(name=text, description=text),
    }
    return _object(
        **{
            name: {"type": "array", "items": record, "maxItems": most}
            for name, record in lists.items()
        }
    )


_TEXT: Schema = {"type": "string"}
SCHEMA = _schema(_MOST, _TEXT, _TEXT)


def _small_schema(sentences: Sequence[str]) -> Schema:
    """For a small model, which would write on without an end: quotes are sentences, and everything has a bound."""
    text = {"type": "string", "minLength": 2, "maxLength": _SHORT}
    return _schema(_MOST_OF_SMALL, text, {"type": "string", "enum": list(sentences)})


class RelationSegment(NamedTuple):
    """Part of a document that is read at a time."""

    start: int
    end: int


def segments(
    analyzed: Analyzed, tokenizer: str, most_tokens: int = SEGMENT_TOKENS
) -> list[RelationSegment]:
    """They tile the text, in whole atoms but for one that is too long; those without a letter are left out."""
    starts = analyzed.atoms(tokenizer)
    if not len(starts):
        return []
    before = analyzed.measure(tokenizer).starts.searchsorted(starts)
    first = np.flatnonzero(np.diff(before // most_tokens, prepend=-1))
    bounds = [*starts[first].tolist(), len(analyzed.text)]
    relation_segments = (
        RelationSegment(low, min(low + _LONGEST, end))
        for begin, end in itertools.pairwise(bounds)
        for low in range(begin, end, _LONGEST)
    )
    return [row for row in relation_segments if any(map(str.isalpha, analyzed.text[slice(*row)]))]


class RelationTally:
    """Grows while segments are read."""

    def __init__(self) -> None:
        self.kept = 0
        self.dropped: Counter[str] = Counter()
        self.unread: Counter[str] = Counter()
        """Stretches without a usable answer, by the reason."""

    def add(self, more: RelationTally) -> None:
        self.kept += more.kept
        self.dropped.update(more.dropped)
        self.unread.update(more.unread)

    @property
    def note(self) -> str:
        """How far it is."""
        return f"{counted(self.kept, 'relation')} found"

    def notes(self) -> tuple[str, ...]:
        """What a user should know of what is missing."""
        result = []
        if self.kept or self.dropped:
            text = f"{counted(self.kept, 'relation')} with quotes"
            why = ", ".join(
                f"{thousands(count)} since {reason}" for reason, count in self.dropped.most_common()
            )
            result.append(
                f"{text}; skipped {thousands(self.dropped.total())} more: {why}" if why else text
            )
        if self.unread:
            passages = counted(self.unread.total(), "passage")
            why = main_reason(self.unread)
            result.append(f"relations of {passages} failed: {why}; the next update retries them")
        return tuple(result)


class RelationReader:
    """Asks one model about segments of documents; what it has answered before is not asked again."""

    def __init__(self, client: LlmClient, tokenizer: str) -> None:
        self.client = client
        self.tally = RelationTally()
        self.tokenizer = tokenizer
        self._prompt = load_prompt(PROMPT)
        window = client.model.window
        self._is_small = window is not None and window <= _SMALL_WINDOW

    def read(
        self, documents: Sequence[Analyzed], advance: OnProgress | None = None
    ) -> list[tuple[StatedRelations, bool]]:
        """What the model says of each document, and whether all of it was read.

        What a call counts goes into the tally when it ends: one that fails is made again by somebody.
        """
        tally = RelationTally()
        asked = [
            (number, row)
            for number, analyzed in enumerate(documents)
            for row in self._segments(analyzed)
        ]
        requests = [self._request(documents[number], segment) for number, segment in asked]
        answers: list[Mapping[str, Any] | None] = [None] * len(asked)
        with closing(self.client.ask_each(requests)) as replies:
            for at, reply in replies:
                if reply.is_answered:
                    answers[at] = reply.value
                else:
                    tally.unread[reply.reason] += 1
                if advance:
                    advance(asked[at][1].end - asked[at][1].start, self.tally.note)
        parts: list[list[StatedRelations]] = [[] for _ in documents]
        whole = [True] * len(documents)
        # In the order of the text, whichever answer came first.
        for (number, segment), answer in zip(asked, answers, strict=True):
            if answer is None:
                whole[number] = False
            else:
                parts[number].append(self._checked(documents[number], segment, answer, tally))
        self.tally.add(tally)
        return [(_joined(own), is_whole) for own, is_whole in zip(parts, whole, strict=True)]

    def estimate(self, analyzed: Analyzed) -> LlmEstimate:
        """What `read` would ask about a document; nothing is sent."""
        llm_estimate = LlmEstimate()
        for segment in self._segments(analyzed):
            llm_estimate += self.client.estimate([self._request(analyzed, segment)])
        return llm_estimate

    def _segments(self, analyzed: Analyzed) -> list[RelationSegment]:
        most = _SMALL_SEGMENT if self._is_small else SEGMENT_TOKENS
        return segments(analyzed, self.tokenizer, most)

    def _form(self, analyzed: Analyzed, segment: RelationSegment) -> tuple[Schema, int]:
        """What an answer looks like, and how long it may be."""
        if not self._is_small:
            return SCHEMA, _ANSWER_TOKENS
        starts = analyzed.atoms(self.tokenizer)
        first = starts.searchsorted(segment.start, "right")
        inside = starts[first : starts.searchsorted(segment.end)].tolist()
        bounds = itertools.pairwise([segment.start, *inside, segment.end])
        sentences = (_first_words(analyzed.text[low:high].strip()) for low, high in bounds)
        sent = (sentence.encode("utf-8", "replace").decode() for sentence in sentences)
        return _small_schema(list(dict.fromkeys(filter(None, sent)))), _SMALL_ANSWER

    def _request(self, analyzed: Analyzed, segment: RelationSegment) -> Request:
        title = " ".join(analyzed.document.title.split())[:200]
        text = analyzed.text[segment.start : segment.end]
        system, user = self._prompt.filled(
            place=fenced(f"Title: {title}" if title else "(without a title)", "place"),
            passage=fenced(text, "passage"),
            most=str(_MOST_OF_SMALL if self._is_small else _MOST),
        )
        user = user.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be sent
        schema, most = self._form(analyzed, segment)
        return Request(system, user, schema, most, version=self._prompt.version)

    def _checked(
        self,
        analyzed: Analyzed,
        segment: RelationSegment,
        answer: Mapping[str, Any],
        tally: RelationTally,
    ) -> StatedRelations:
        """What of an answer the text bears out; an answer is as untrusted as any text."""
        rows = [
            {
                key: _line(text, _SAID if key in ("relation", "quote") else _NAME)
                for key, text in row.items()
            }
            | {"quote": row["quote"].strip()}
            for row in answer["relations"][:_MOST_KEPT]
        ]
        told = [
            (_line(row["name"], _NAME), _line(row["description"], _SAID))
            for row in answer["names"][:_MOST_KEPT]
        ]
        passage = analyzed.text[segment.start : segment.end]
        quotes = _places([row["quote"] for row in rows], passage, "signs")
        names = [name for row in rows for name in (row["subject"], row["object"])]
        standing = _places([*names, *(name for name, _ in told)], passage, "case")
        known = {name_key(analyzed.document.title)}
        relations = []
        for row in rows:
            quote = quotes.get(row["quote"])
            both = [row["subject"], row["object"]]
            if quote is None:
                tally.dropped[_NO_QUOTE] += 1
            elif not row["relation"] or name_key(both[0]) == name_key(both[1]):
                tally.dropped[_NOT_TWO] += 1
            elif not all(
                _is_name(name) and (name in standing or name_key(name) in known) for name in both
            ):
                tally.dropped[_NO_NAME] += 1
            elif not any(_is_in(standing.get(name, ()), quote[0]) for name in both):
                tally.dropped[_NAMES_NEITHER] += 1
            else:
                start, end = (segment.start + at for at in quote[0])
                relations.append(
                    Relation(row["subject"], row["relation"], row["object"], start, end)
                )
        descriptions = [
            NameDescription(name, said, *(segment.start + at for at in standing[name][0]))
            for name, said in told
            if said and _is_name(name) and name in standing
        ]
        tally.kept += len(relations)
        return StatedRelations(tuple(dict.fromkeys(relations)), tuple(dict.fromkeys(descriptions)))


def _first_words(text: str) -> str:
    """As many whole words as a quote may have: half a word stands nowhere in the text."""
    if len(text) <= _SAID:
        return text
    last = _LAST_WORD.search(text, 0, _SAID + 1)
    return text[: last.start() if last else _SAID].rstrip()


def _line(text: str, most: int) -> str:
    return " ".join(cleaned_answer(text).split())[:most].strip()


def _is_name(name: str) -> bool:
    key = name_key(name)
    return len(key) > 1 and key.count(" ") < _WORDS


_Places = Sequence[tuple[int, int]]


def _places(texts: Sequence[str], passage: str, tolerance: Tolerance) -> dict[str, _Places]:
    """Of each text that stands there, cutting no word, its places in order."""
    wanted = [text for text in dict.fromkeys(texts) if text]
    result: dict[str, list[tuple[int, int]]] = {}
    for occurrence in occurrences(wanted, [Document("passage", passage)], tolerance):
        own = result.setdefault(wanted[occurrence.passage], [])
        kept = zip(
            occurrence.start[occurrence.whole].tolist(),
            occurrence.end[occurrence.whole].tolist(),
            strict=True,
        )
        own += kept
    return {text: sorted(own) for text, own in result.items() if own}


def _is_in(places: _Places, around: tuple[int, int]) -> bool:
    return any(around[0] <= start and end <= around[1] for start, end in places)


def _joined(parts: Sequence[StatedRelations]) -> StatedRelations:
    return StatedRelations(
        tuple(relation for part in parts for relation in part.relations),
        tuple(description for part in parts for description in part.descriptions),
    )


def related_places(
    stated: StatedRelations, text: str, starts: NDArray[np.int64]
) -> Iterator[tuple[int, int, str, bool]]:
    """Where each relation stands for its two names: start, end, the name, whether the sentence is about it.

    A name that the quote does not say ("she") stands at the quote's beginning, without a length, and where the text
    says it next to there; no place runs over its atom.
    """
    ends = np.append(starts[1:], len(text))
    names = [name for relation in stated.relations for name in (relation.subject, relation.object)]
    standing = _places(names, text, "case")

    def within_atom(start: int, end: int) -> tuple[int, int]:
        return start, min(end, int(ends[int(starts.searchsorted(start, "right")) - 1]))

    for relation in stated.relations:
        for name, about in ((relation.subject, True), (relation.object, False)):
            places, key = standing.get(name, ()), name_key(name)
            at = bisect_left(places, (relation.start, relation.start))
            if at < len(places) and places[at][1] <= relation.end:
                yield *within_atom(*places[at]), key, about
                continue
            yield relation.start, relation.start, key, about
            near = places[max(at - 1, 0) : at + 1]
            if near:
                yield (
                    *within_atom(*min(near, key=lambda own: abs(own[0] - relation.start))),
                    key,
                    False,
                )
