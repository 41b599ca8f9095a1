"""Hits cut to a number of tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.core import Document, Query, Reference
from chunkwise.metrics.registry import parse
from chunkwise.metrics.scorer import span_scores
from chunkwise.metrics.span_tables import Gold, HitTable
from chunkwise.metrics.token_budget import TokenCut, first_hits, in_tokens, within
from chunkwise.text.tokens.openai import OpenAITokenizer
from how_many import examples
from metrics.spans import naive_spans
from metrics.spans.naive_spans import Place
from metrics.spans.span_cases import DOCUMENTS, Case, found_of, queries_and_hits

TEXT = "The lamp is lit at dusk, and it burns til"  # of the length all cases have
TEXTS = [Document(name, TEXT[:40]) for name in DOCUMENTS]


def told(found: HitTable) -> list[list[tuple[int, int, int]]]:
    rows = list(zip(found.start.tolist(), found.end.tolist(), found.tokens.tolist(), strict=True))
    bounds = found.hit.searchsorted(found.first).tolist()
    return [rows[a:b] for a, b in pairwise(bounds)]


@settings(deadline=None)
@given(
    queries_and_hits(), st.integers(1, 40), st.sampled_from(["words", "o200k_base", "characters"])
)
def test_cuts_equal_the_naive_ones(case: Case, budget: int, tokenizer: str) -> None:
    cut = TokenCut(TEXTS, tokenizer)
    starts = {name: cut.starts(number).tolist() for number, name in enumerate(DOCUMENTS)}
    got = told(within(case.found, budget, cut))
    for hits, own in zip(case.hits, got, strict=True):
        expected = naive_spans.cut_at(hits, budget, starts)
        assert [hit[:2] for hit in own] == [(hit.start, hit.end) for hit in expected]
        assert sum(hit[2] for hit in own) <= budget


def test_the_hit_that_crosses_is_cut_at_a_token_and_the_rest_dropped() -> None:
    hits = [Place("a", 0, 8, 2), Place("a", 9, 24, 4), Place("a", 25, 28, 1)]
    cut = TokenCut(TEXTS, "words")
    assert told(within(found_of([hits, hits[:1], []]), 5, cut)) == [
        [(0, 8, 2), (9, 19, 3)],  # "is lit at " of "is lit at dusk,"
        [(0, 8, 2)],
        [],
    ]
    assert told(within(found_of([hits]), 2, cut)) == [[(0, 8, 2)]]
    assert told(within(found_of([hits]), 7, cut)) == [[(0, 8, 2), (9, 24, 4), (25, 28, 1)]]


def test_a_hit_that_begins_inside_a_token_pays_for_it() -> None:
    cut = TokenCut(TEXTS, "words")
    assert told(within(found_of([[Place("a", 5, 24, 6)]]), 1, cut)) == [[(5, 9, 1)]]


def test_context_that_was_paid_for_is_not_text() -> None:
    """A hit may cost more than its own text: it is never made longer by the cut."""
    cut = TokenCut(TEXTS, "words")
    assert told(within(found_of([[Place("a", 0, 8, 50)]]), 20, cut)) == [[(0, 8, 20)]]


class Recording(OpenAITokenizer):
    """Notes how many characters it was asked to look at."""

    def __init__(self) -> None:
        super().__init__("o200k_base")
        self.characters = 0

    def offsets(self, text: str) -> NDArray[np.int64]:
        self.characters += len(text)
        return super().offsets(text)


def test_only_what_needs_a_cut_is_tokenized() -> None:
    """The work is counted: the hits that cross a budget, not their documents."""
    tokenizer = Recording()
    cut = TokenCut([Document(name, f"{TEXT} " * 5000) for name in DOCUMENTS], tokenizer)
    hits = [Place("a", 0, 84, 20), Place("b", 4200, 4300, 25), Place("c", 0, 84, 20)]
    within(found_of([hits] * 10), 30, cut)
    assert 10 * 100 <= tokenizer.characters <= 10 * (100 + 2 * 64)
    within(found_of([hits[:1]] * 10), 20, cut)
    assert tokenizer.characters <= 10 * (100 + 2 * 64)


LONG = st.lists(
    st.sampled_from([TEXT, "abcdefghij" * 20, " ", "  \n", "天地玄黃宇宙洪荒" * 12, "don't!?", "👨‍👩‍👧 ", "\n\n/"]),
    min_size=1, max_size=8,
).map("".join)  # fmt: skip


@settings(deadline=None)
@given(LONG, st.data(), st.sampled_from(["words", "o200k_base", "characters"]))
def test_a_cut_from_nearby_is_the_cut_from_the_whole_document(
    text: str, data: st.DataObject, tokenizer: str
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    tokens = data.draw(st.integers(0, 30))
    near, whole = (TokenCut([Document("a", text)], tokenizer) for _ in range(2))
    whole.starts(0)
    place = [np.array([value]) for value in (0, start, end, tokens)]
    assert near.ends(*place).tolist() == whole.ends(*place).tolist()


def test_a_tokenizer_that_never_restarts_reads_the_whole_document_once() -> None:
    asked = []

    def encode(text: str) -> list[int]:
        asked.append(text)
        return [len(word) for word in text.split()]

    cut = TokenCut(TEXTS, encode)
    hits = found_of([[Place("a", 0, 24, 6)]] * 5)
    alike = told(within(hits, 3, cut))
    assert len({str(own) for own in alike}) == 1
    assert set(cut._starts) == {0}


def test_first_hits_of_each_question() -> None:
    hits = [Place("a", 0, 8, 2), Place("b", 0, 24, 6)]
    assert told(first_hits(found_of([hits, [], hits[:1]]), 1)) == [[(0, 8, 2)], [], [(0, 8, 2)]]


@settings(max_examples=examples(30), deadline=None)
@given(queries_and_hits(summarized=False))
def test_in_tokens_starts_and_ends_with_whole_tokens(case: Case) -> None:
    starts = TokenCut(TEXTS, "o200k_base").starts(0).tolist()
    found = in_tokens(case.gold, case.found, None, TEXTS).found
    flat = [hit for own in case.hits for hit in own]
    for hit, first, last in zip(flat, found.start.tolist(), found.end.tolist(), strict=True):
        assert first == max(n for n, start in enumerate(starts) if start <= hit.start)
        assert last == (sum(s < hit.end for s in starts) if hit.start < hit.end else first)


@settings(max_examples=examples(20), deadline=None)
@given(queries_and_hits(summarized=False), st.integers(1, 12))
def test_measures_in_tokens_equal_sets_of_tokens(case: Case, budget: int) -> None:
    """The naive measures, told the places as ranges of token numbers."""
    starts = TokenCut(TEXTS, "o200k_base").starts(0).tolist()

    def mapped(start: int, end: int) -> tuple[int, int]:
        inside = max(n for n, each in enumerate(starts) if each <= start)
        return inside, sum(each < end for each in starts) if start < end else inside

    tables = in_tokens(case.gold, case.found, case.chunking, TEXTS)
    names = [f"recall@{budget}t", "recall@3", "precision@3", "density@3", "iou@3"]
    got = span_scores([parse(n) for n in names], *tables)
    numbers = {name: list(range(len(starts))) for name in DOCUMENTS}
    for number, (query, hits) in enumerate(zip(case.queries, case.hits, strict=True)):
        if not query.references:
            continue
        own = [
            hit._replace(start=a, end=b) for hit in hits for a, b in [mapped(hit.start, hit.end)]
        ]
        renamed = _renamed(query, mapped)
        expected = {f"{n}@3": v for n, v in naive_spans.spans(renamed, own[:3]).items()}
        cut = naive_spans.cut_at(own, budget, numbers)
        expected[names[0]] = naive_spans.spans(renamed, cut)["recall"]
        assert {n: got[n][number] for n in names} == pytest.approx({n: expected[n] for n in names})


def _renamed(query: Query, mapped: Callable[[int, int], tuple[int, int]]) -> Query:
    return replace(
        query,
        references=tuple(
            replace(
                each,
                start=mapped(each.start, each.end)[0],
                end=mapped(each.start, each.end)[1],
                alternatives=tuple(p._replace(start=a, end=b) for p in each.alternatives
                                   for a, b in [mapped(p.start, p.end)]),
            )
            for each in query.references
        ),
    )  # fmt: skip


def test_a_reference_in_a_document_that_is_not_there_keeps_its_length() -> None:
    gone = Query("q", "?", (Reference("a", 0, 8), Reference("gone", 0, 8)))
    gold = Gold.of([gone], {"a": 0})
    tables = in_tokens(gold, found_of([[Place("a", 0, 8, 2)]]), None, TEXTS)
    assert 0 < span_scores([parse("recall@5")], *tables)["recall@5"][0] < 1


def test_tokens_that_start_at_the_same_character_are_all_counted() -> None:
    family = "\U0001f468\u200d\U0001f469 x"
    cut = TokenCut([Document("a", family)], "o200k_base")
    starts = cut.starts(0)
    assert len(np.unique(starts)) < len(starts)
    zero = np.zeros(1, dtype=np.int64)
    assert cut.first_token(zero, zero).tolist() == [0]
    last = zero + len(family)
    ends = [int(cut.ends(zero, zero, last, zero + n)[0]) for n in range(len(starts) + 2)]
    assert ends == [*starts.tolist(), len(family), len(family)]
    # The first token alone is no whole character: nothing of the hit is left.
    assert told(within(found_of([[Place("a", 0, 3, 9)]]), 1, cut)) == [[]]


def test_a_hit_that_ends_inside_a_token_is_cut_as_the_document_is() -> None:
    """By itself "unquestiona" would be two tokens; in the document it is a part of one."""
    cut = TokenCut([Document("a", "It is unquestionably so.")], "o200k_base")
    assert told(within(found_of([[Place("a", 0, 17, 4)]]), 3, cut)) == [[(0, 17, 3)]]
