"""Counting boundary issues document by document."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Document, Span
from chunkwise.metrics.cuts.boundary_issue_counts import CutTally, cuts_of
from chunkwise.metrics.cuts.boundary_issues import KINDS, find_issues
from chunkwise.metrics.evidence import Evidence
from chunkwise.metrics.registry import known_metrics
from chunkwise.metrics.scorer import whole_score
from chunkwise.metrics.span_tables import Chunking
from chunkwise.text.analyzed import Analyzed

Pair = tuple[Analyzed, list[Span]]


def cut(id: str, marked: str) -> Pair:
    """Cuts are written as ¦."""
    pieces = marked.split("¦")
    ends = [len("".join(pieces[: i + 1])) for i in range(len(pieces))]
    spans = [Span(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    return Analyzed(Document(id, "".join(pieces), format="markdown")), spans


GOOD = "The lamp was lit. ¦The boat left."
BAD = "The la¦mp was lit. ¦The bo¦at left."


def test_shares_and_counts() -> None:
    found = cuts_of([cut("a", GOOD), cut("b", BAD), cut("c", "")])
    assert (found.chunks, found.with_issues) == (2 + 4 + 1, 4)
    assert found.counts == dict.fromkeys(KINDS, 0) | {
        "mid_word": 2,
        "mid_sentence_end": 2,
        "mid_sentence_start": 2,
    }
    assert list(found.counts) == list(KINDS)


def test_the_score_is_the_share_of_the_chunks_with_issues() -> None:
    known = known_metrics()["boundary_issues"]
    pairs = [cut("a", GOOD), cut("b", BAD), cut("c", "")]
    documents = [analyzed.document for analyzed, _ in pairs]
    rows = [(n, *span, 1) for n, (_, spans) in enumerate(pairs) for span in spans]
    chunking = Chunking(*np.array(rows, np.int64).T)
    scored = whole_score(known, Evidence([], [], documents, chunking=chunking))
    assert (scored.score.value, scored.count) == (4 / 7, 7)
    assert scored.cuts == cuts_of(pairs)
    assert whole_score(known, Evidence([], [], documents)).score.value is None


def test_a_cut_is_counted_once_whatever_is_wrong_there_and_a_chunk_once_whichever_edge_is_bad() -> (
    None
):
    found = cuts_of([cut("b", BAD)])
    assert (found.with_issues, found.cuts_with_issues) == (4, 2)
    assert sum(found.counts.values()) == 6  # neither of them: two cuts of three kinds each
    told = find_issues(*cut("b", BAD))
    assert len({issue.cut for issue in told}) == 2
    assert {issue.kind for issue in told if issue.cut == told[0].cut} == {
        "mid_word", "mid_sentence_end", "mid_sentence_start",
    }  # fmt: skip


def test_where_chunks_overlap_there_is_one_cut_between_them() -> None:
    """The first ends amid a sentence, and the second begins amid it, before that: one boundary, two kinds."""
    text = "The lamp was lit. The boat left the quay at nine. The keeper slept."
    document = Analyzed(Document("a", text))
    spans = [Span(4, text.index("the quay")), Span(text.index("boat"), len(text))]
    found = cuts_of([(document, spans)])
    assert (found.chunks, found.with_issues, found.cuts_with_issues) == (
        2,
        2,
        2,
    )  # and the start of the first
    assert {kind for kind, count in found.counts.items() if count} == {
        "mid_sentence_end", "mid_sentence_start",
    }  # fmt: skip


@given(
    st.text(st.sampled_from("aB. \n-#|"), min_size=1, max_size=60),
    st.integers(1, 9),
    st.integers(0, 8),
)
def test_there_are_no_more_bad_cuts_than_boundaries(text: str, size: int, overlap: int) -> None:
    step = max(1, size - overlap)
    spans = [Span(at, min(at + size, len(text))) for at in range(0, len(text), step)]
    found = cuts_of([(Analyzed(Document("a", text)), spans)])
    assert found.cuts_with_issues is not None
    # A chunk of marks alone is bad by itself, the last one at its own end.
    assert found.cuts_with_issues <= len(spans)
    assert max(found.counts.values()) <= found.cuts_with_issues <= sum(found.counts.values())


def test_nothing_is_no_share() -> None:
    found = cuts_of([])
    assert (found.chunks, found.with_issues, found.examples) == (0, 0, ())
    assert CutTally().share is None


def test_examples_say_where_they_are() -> None:
    found = cuts_of([cut("b", "The la¦mp was lit.")])
    first = found.examples[0]
    assert (first.kind, first.doc_id, first.chunk, first.offset) == ("mid_word", "b", 0, 6)
    assert (first.before, first.after) == ("The la", "mp was lit.")


def test_examples_are_spread_over_the_documents() -> None:
    documents = [cut(f"{number:03}", BAD) for number in range(100)]
    found = cuts_of(iter(documents), most_examples=4)
    by_kind = Counter(example.kind for example in found.examples)
    assert by_kind == {"mid_word": 4, "mid_sentence_end": 4, "mid_sentence_start": 4}
    own = [int(each.doc_id) for each in found.examples if each.kind == "mid_word"]
    assert own == sorted(set(own))
    assert own[0] < 25
    assert own[-1] >= 60
    assert found == cuts_of(documents, most_examples=4)


def test_few_documents_give_several_examples_each() -> None:
    found = cuts_of([cut("a", "The la¦mp."), cut("b", BAD)], most_examples=3)
    own = [(each.doc_id, each.chunk) for each in found.examples if each.kind == "mid_word"]
    assert own == [("a", 0), ("b", 0), ("b", 2)]
    assert cuts_of([cut("b", BAD)], most_examples=0).examples == ()


def test_some_kinds_alone() -> None:
    tally = CutTally(["mid_word"])
    issues = tally.add(*cut("b", BAD))
    assert {issue.kind for issue in issues} == {"mid_word"}
    assert tally.cuts().cuts_with_issues == 2
    assert (tally.with_issues, tally.counts, tally.is_complete) == (4, {"mid_word": 2}, False)
    assert CutTally().is_complete


MARKED = st.text(st.sampled_from("aB. \n-#|¦"), max_size=40)


@settings(deadline=None)
@given(st.lists(MARKED, max_size=30), st.integers(1, 6))
def test_equal_to_counting_everything(texts: list[str], most: int) -> None:
    documents = [cut(str(number), text) for number, text in enumerate(texts)]
    found = cuts_of(documents, most)
    issues = [(pair[0].document.id, issue) for pair in documents for issue in find_issues(*pair)]
    counts = Counter(issue.kind for _, issue in issues if not issue.again)
    assert found.chunks == sum(len(spans) for _, spans in documents)
    assert found.with_issues == len({(id, issue.chunk) for id, issue in issues})
    assert found.cuts_with_issues == len({(id, issue.cut) for id, issue in issues})
    assert found.counts == {kind: counts[kind] for kind in KINDS}
    known = {(id, issue.kind, issue.chunk, issue.offset) for id, issue in issues}
    shown = [(each.doc_id, each.kind, each.chunk, each.offset) for each in found.examples]
    assert set(shown) <= known
    assert len(set(shown)) == len(shown)
    for kind, count in Counter(kind for _, kind, _, _ in shown).items():
        assert count <= most
        holders = {id for id, issue in issues if issue.kind == kind}
        shown_holders = {id for id, other, _, _ in shown if other == kind}
        assert len(shown_holders) == min(most, len(holders))
