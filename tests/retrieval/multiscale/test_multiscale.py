"""Several sizes at once: against loops over lists, and what must hold whatever the documents are."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import ThreadpoolController

from chunkwise.base.errors import InvalidParameter
from chunkwise.models.embed.quantized_vectors import QuantizedVectors, rotated
from chunkwise.retrieval.bm25 import TermTable
from chunkwise.retrieval.multiscale import (
    AtomCandidates,
    AtomTexts,
    BestWindows,
    Multiscale,
    ScoredSpan,
    atom_votes,
    window_votes,
)
from chunkwise.retrieval.multiscale import assemble as assemble_candidates
from chunkwise.retrieval.multiscale import multiscale as multiscale_module
from chunkwise.retrieval.multiscale.select import WholeBlockAtoms
from chunkwise.retrieval.multiscale.window_votes import whole_documents, window_lengths, windows_of
from chunkwise.retrieval.searchable import AtomTable
from chunkwise.retrieval.tables_lists_code import HEADS
from chunkwise.text.terms import TermCounts
from how_many import examples
from retrieval.multiscale import naive_multiscale as naive
from retrieval.multiscale.naive_multiscale import Atom
from tables import cases

DIMENSIONS = 4


def table(atoms: list[Atom], vectors: bool = True) -> AtomTable:
    """The arrays of an index with these atoms."""
    counts = [dict(sorted((t, atom.terms.count(t)) for t in set(atom.terms))) for atom in atoms]
    terms = TermCounts(
        np.cumsum([0, *map(len, counts)]).astype(np.int64),
        np.array([term for row in counts for term in row], np.uint64),
        np.array([times for row in counts for times in row.values()], np.int32),
    )
    columns = list(zip(*(atom[:4] for atom in atoms), strict=True)) or [(), (), (), ()]
    return AtomTable(
        document=np.array(columns[0], np.int32),
        start=np.array(columns[1], np.int64),
        end=np.array(columns[2], np.int64),
        tokens=np.array(columns[3], np.int32),
        section=np.array([atom.section for atom in atoms], np.int32),
        flags=np.array([HEADS if atom.lead else 0 for atom in atoms], np.uint8),
        terms=TermTable.of(terms),
        vectors=stored([atom.vector for atom in atoms]) if vectors else None,
    )


def stored(rows: Sequence[Sequence[float]]) -> QuantizedVectors:
    """These numbers, from -7 to 7, as an index keeps them: the vectors are already turned."""
    half = len(rows[0]) // 2 if len(rows) else DIMENSIONS // 2
    pairs = [
        [(int(row[j]) % 16) + (int(row[j + half]) % 16) * 16 for j in range(half)] for row in rows
    ]
    return QuantizedVectors(
        np.array(pairs, np.uint8).reshape(-1, half), np.ones(len(rows), np.float32)
    )


def direction(*numbers: float) -> np.ndarray:
    """The vector of a question that is turned to these numbers."""
    axes = rotated(np.eye(len(numbers), dtype=np.float32))
    return (axes @ np.array(numbers))[None].astype(np.float32)


def assemble(
    atoms: AtomTable,
    points: np.ndarray,
    budget: int,
    least: int = 0,
    texts: AtomTexts | None = None,
) -> list[ScoredSpan]:
    blocks = WholeBlockAtoms(atoms, texts, budget)
    return assemble_candidates(atoms, AtomCandidates.of(points, budget), budget, blocks, least)


class Said:
    """What is asked of the texts; those without a term say nothing."""

    def __init__(self, atoms: list[Atom]) -> None:
        self.atoms = atoms

    def says(self, atom: int) -> bool:
        return bool(self.atoms[atom].terms)

    def blocks(self, atom: int) -> list[range]:
        return []

    def parts(self, atom: int) -> list[range]:
        return []


def query(*terms: int) -> np.ndarray:
    return np.array(terms, np.uint64)


def of(*sizes: int, document: int = 0, terms: tuple[tuple[int, ...], ...] = ()) -> list[Atom]:
    """Atoms of one document with these numbers of tokens, a character a token."""
    ends = np.cumsum(sizes).tolist()
    words = terms or tuple((number,) for number in range(len(sizes)))
    return [
        Atom(document, end - size, end, size, own, (1, number % 5 - 2, 0, 3))
        for number, (size, end, own) in enumerate(zip(sizes, ends, words, strict=True))
    ]


@st.composite
def indexes(draw: st.DrawFn) -> list[Atom]:
    atoms: list[Atom] = []
    for document in range(draw(st.integers(1, 4))):
        at = 0
        for _ in range(draw(st.integers(1, 9))):
            tokens = draw(st.integers(1, 12))
            terms = tuple(draw(st.lists(st.integers(0, 6), max_size=4)))
            vector = tuple(draw(st.lists(st.integers(-4, 4), min_size=4, max_size=4)))
            section = atoms[-1].section + draw(st.sampled_from([0, 0, 1])) if at else 0
            lead = draw(st.sampled_from([False, False, True]))
            atoms.append(Atom(document, at, at + tokens * 3, tokens, terms, vector, section, lead))
            at += tokens * 3
    return atoms


@given(indexes(), st.lists(st.integers(1, 30), min_size=1, max_size=3, unique=True))
@settings(deadline=None)
def test_windows_are_those_of_the_loop(atoms: list[Atom], sizes: list[int]) -> None:
    columns = table(atoms)
    for size in sizes:
        found = windows_of(columns.document, columns.tokens, size)
        held = [list(range(a, b)) for a, b in zip(found.first, found.stop, strict=True)]
        assert held == naive.windows(atoms, size)
        assert sorted({i for window in held for i in window}) == list(range(len(atoms)))
    found = whole_documents(columns.document)
    held = [list(range(a, b)) for a, b in zip(found.first, found.stop, strict=True)]
    assert held == naive.windows(atoms, None)


@given(
    indexes(),
    st.lists(st.integers(1, 30), min_size=1, max_size=3, unique=True),
    st.lists(st.integers(0, 8), max_size=5),
    st.one_of(st.none(), st.lists(st.sampled_from([-0.5, 0.0, 0.5]), min_size=4, max_size=4)),
    st.integers(0, 60),
    st.sampled_from([0.25, 0.5, 2.0]),
    st.data(),
)
@settings(max_examples=examples(40), deadline=None)
def test_spans_are_those_of_the_loop(
    atoms: list[Atom],
    sizes: list[int],
    terms: list[int],
    vector: list[float] | None,
    budget: int,
    dense: float,
    data: st.DataObject,
) -> None:
    allowed = data.draw(st.lists(st.booleans(), min_size=len(atoms), max_size=len(atoms)))
    question = None if vector is None else np.array([vector], np.float32)
    # In the steps in which products are counted: what is equal there has to be equal here.
    asked = None if question is None else tuple(np.rint(rotated(question)[0] * 2**15) / 2**15)
    least = data.draw(st.sampled_from([0, 3, 12]))
    retriever = Multiscale(sizes=tuple(sizes), dense=dense, least=least)
    [found] = retriever.search(
        table(atoms),
        [query(*terms)],
        question,
        budget,
        np.array(allowed, np.bool_),
        Said(atoms),
    )
    expected = naive.atom_votes(atoms, tuple(sizes), set(terms), asked, dense, allowed)
    # Where votes are nearly equal, rounding may choose another atom: then only the promises are checked.
    votes_given = sorted(vote for vote in expected if vote > 0)
    gaps = [b - a for a, b in pairwise(votes_given)]
    if all(gap == 0 or gap > 1e-4 for gap in gaps) and all(v > 1e-4 for v in votes_given):
        taken = naive.worth_reading(atoms, expected, budget, least)
        assert covered(atoms, found) == taken
        for span in found:
            inside = [i for i in taken if atoms[i].document == span.document]
            inside = [i for i in inside if span.start <= atoms[i].start < span.end]
            assert span.score == pytest.approx(max(expected[i] for i in inside), abs=1e-4)
            if len({expected[i] for i in inside}) == len(
                inside
            ):  # no rounding makes one of them the best
                assert span.section == naive.section(atoms, expected, inside)
        # The best alone, larger than the budget, is handed out in part, whatever it heads.
        within = naive.cost(atoms, taken) <= budget
        if within and any(atoms[i].terms for i in naive.fill(atoms, expected, budget)):
            assert not any(naive.heads_next(atoms, run[-1]) for run in naive.runs(atoms, taken))
    check_promises(atoms, found, budget, allowed)


@given(
    indexes(),
    st.lists(st.integers(1, 30), min_size=1, max_size=3, unique=True),
    st.lists(st.integers(0, 8), max_size=5),
    st.one_of(st.none(), st.lists(st.sampled_from([-0.5, 0.0, 0.5]), min_size=4, max_size=4)),
)
def test_the_votes_that_are_told_add_up_to_those_that_decide(
    atoms: list[Atom], sizes: list[int], terms: list[int], vector: list[float] | None
) -> None:
    question = None if vector is None else np.array(vector, np.float32)
    asked = None if question is None else tuple(np.rint(rotated(question[None, :])[0] * 2**15) / 2**15)  # fmt: skip
    retriever = Multiscale(sizes=tuple(sizes), dense=0.5)
    votes = retriever.votes(retriever.prepare(table(atoms)), query(*terms), question)
    told = np.zeros(len(atoms))
    for each in votes:
        assert each.size in (*sizes, 0)
        assert ((each.share >= 0) & (each.share <= 1)).all()
        told += {"words": 1.0, "vectors": 0.5}[each.signal] * each.share
    told /= (len(sizes) + 1) * (1.0 if question is None else 1.5)
    allowed = [True] * len(atoms)
    expected = naive.atom_votes(atoms, tuple(sizes), set(terms), asked, 0.5, allowed)
    assert told.tolist() == pytest.approx(expected, abs=1e-4)


def test_what_joins_two_spans_is_free_even_when_the_budget_is_full() -> None:
    sizes = [1, 8, 1, 4, 1]
    ends = np.cumsum(sizes).tolist()
    atoms = [
        Atom(0, end - size, end, size, (), (0, 0, 0, 0))
        for size, end in zip(sizes, ends, strict=True)
    ]
    # 8 and 4 tokens and one more for each span that opens inside the text: 14, as with the atom between them.
    [span] = assemble(table(atoms), np.array([0, 0.5, 0.1, 0.9, 0]), 14)
    assert (span.start, span.end) == (1, 14)


@cases(
    "beside, budget, span",
    [
        (1, 11, (5, 15)),  # 6 and 4 tokens, and one for the span that opens inside the text
        (1, 10, (9, 15)),
        (3, 10, (9, 18)),
        (3, 9, (9, 15)),
    ],
)
def test_what_goes_before_or_behind_a_span_opens_no_other(
    beside: int, budget: int, span: tuple[int, int]
) -> None:
    points = np.array([0, 0, 0.9, 0, 0])
    points[beside] = 0.5
    [found] = assemble(table(of(5, 4, 6, 3, 2)), points, budget)
    assert (found.start, found.end) == span


def test_how_many_dimensions_are_added_at_once_changes_no_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of an index of millions of atoms it is one."""
    atoms = table(of(5, 4, 6, 3, 2))
    sizes = [windows_of(atoms.document, atoms.tokens, 9), whole_documents(atoms.document)]
    usual = window_lengths(atoms, sizes)
    monkeypatch.setattr(window_votes, "_NUMBERS_AT_ONCE", 1)
    for one, other in zip(window_lengths(atoms, sizes), usual, strict=True):
        assert one.tolist() == pytest.approx(other.tolist())


def covered(atoms: list[Atom], spans: list[ScoredSpan]) -> set[int]:
    return {
        i
        for span in spans
        for i, atom in enumerate(atoms)
        if atom.document == span.document and span.start <= atom.start and atom.end <= span.end
    }


def check_promises(
    atoms: list[Atom], spans: list[ScoredSpan], budget: int, allowed: list[bool]
) -> None:
    taken = covered(atoms, spans)
    assert sum(span.tokens for span in spans) == sum(atoms[i].tokens for i in taken)
    assert naive.cost(atoms, taken) <= budget or (
        len(taken) == 1 and atoms[min(taken)].tokens > budget > 0
    )
    assert all(allowed[i] for i in taken)
    assert all(0 < span.score <= 1 + 1e-6 for span in spans)
    order = [span.document for span in spans]
    assert len(set(order)) == sum(a != b for a, b in zip([-1, *order], order, strict=False))
    for one, other in pairwise(spans):
        if one.document == other.document:
            assert one.end < other.start  # in document order, and neighbors are one span
    tops = [max(s.score for s in spans if s.document == d) for d in dict.fromkeys(order)]
    assert tops == sorted(tops, reverse=True)


def test_question_without_known_term_and_vector_finds_nothing() -> None:
    atoms = table(of(5, 5, 5), vectors=False)
    vector = np.ones((1, DIMENSIONS), np.float32)
    assert Multiscale().search(atoms, [query(99), query()], None, 100) == [[], []]
    assert Multiscale().search(atoms, [query(99)], vector, 100) == [[]]


def test_vectors_answer_where_words_cannot() -> None:
    [found] = Multiscale(sizes=(5,)).search(
        table(of(5, 5, 5)), [query(99)], direction(0, 1, 0, 0), 6
    )
    assert found == [ScoredSpan(0, 10, 15, 5, found[0].score, 0)]


def test_a_question_without_a_direction_has_no_voice_of_meaning() -> None:
    atoms = table(of(5, 5, 5))
    vectors = np.concatenate([direction(0, near, 0, 0) for near in (0, 1, 0)])
    nothing, near, words = Multiscale(sizes=(5,)).search(
        atoms, [query(99), query(99), query(1)], vectors, 100
    )
    assert nothing == []
    assert near
    [alone] = Multiscale(sizes=(5,)).search(atoms, [query(1)], None, 100)
    assert [span[:4] for span in words] == [span[:4] for span in alone]


def test_empty_index_and_no_questions() -> None:
    empty = table([])
    vectors = np.ones((1, DIMENSIONS), np.float32)
    assert Multiscale().search(empty, [query(1)], vectors, 100) == [[]]
    assert Multiscale().search(table(of(3, 3)), [], None, 100) == []
    nothing_allowed = np.zeros(2, np.bool_)
    assert Multiscale().search(table(of(3, 3)), [query(1)], vectors, 9, nothing_allowed) == [[]]


def test_nothing_is_cut_to_fit() -> None:
    atoms = table(of(30, 4, 30, terms=((1,), (1,), (2,))))
    # Not even the shortest fits: the best is left to the reader to cut.
    [found] = Multiscale().search(atoms, [query(2)], None, 3)
    assert [(span.start, span.end) for span in found] == [(30, 34)]
    # The atom that holds the term is too long; a shorter one beside it fits.
    [found] = Multiscale(sizes=(40,), least=0).search(atoms, [query(2)], None, 20)
    assert [(span.start, span.end) for span in found] == [(30, 34)]


def test_documents_of_one_atom() -> None:
    atoms = [Atom(d, 0, 10, 4, (d % 3,), (d, 1, 0, 0)) for d in range(7)]
    [found] = Multiscale().search(table(atoms), [query(2)], None, 100)
    assert [span.document for span in found] == [2, 5]
    assert all(span.score == 1 for span in found)


def test_one_atom_of_100_000_tokens() -> None:
    atoms = [
        *of(100_000, terms=((1,),)),
        *of(10, 100_000, 10, document=1, terms=((2,), (1,), (3,))),
    ]
    for windows in (windows_of(table(atoms).document, table(atoms).tokens, n) for n in (40, 800)):
        assert sorted(set(windows.first.tolist())) == [0, 1, 2, 3]
    [found] = Multiscale().search(table(atoms), [query(1)], None, 1000)
    assert {span.tokens for span in found} <= {10}
    [found] = Multiscale().search(table(atoms), [query(1)], None, 100_001)
    assert found[0].tokens == 100_000


def test_document_of_100_000_atoms() -> None:
    rng = np.random.default_rng(5)
    terms = [(int(t),) for t in rng.integers(0, 5000, 100_000)]
    atoms = table(of(*[3] * 100_000, terms=tuple(terms)), vectors=False)
    [found] = Multiscale().search(atoms, [query(4, 7)], None, 300)
    assert 0 < sum(span.tokens for span in found) <= 300
    shown = {terms[at] for span in found for at in range(span.start // 3, span.end // 3)}
    assert shown & {(4,), (7,)}


def test_repeated_words_of_a_question_count_once() -> None:
    atoms = table(of(5, 5, 5, 5, terms=((1,), (2,), (1, 2), (3,))), vectors=False)
    once, twice = Multiscale().search(atoms, [query(1, 2), query(2, 1, 1, 1)], None, 10)
    assert once == twice


@pytest.mark.unwatched
def test_a_question_gets_the_same_whatever_else_is_asked() -> None:
    rng = np.random.default_rng(3)
    atoms = many(rng, 3000)
    queries = [rng.integers(0, 60, 6).astype(np.uint64) for _ in range(80)]
    vectors = rng.normal(size=(80, DIMENSIONS)).astype(np.float32)
    retriever = Multiscale()
    prepared = retriever.prepare(atoms)
    together = retriever.search(prepared, queries, vectors, 200)
    assert together == retriever.search(atoms, queries, vectors, 200)
    for number in range(0, 80, 5):
        alone = retriever.search(prepared, [queries[number]], vectors[[number]], 200)
        assert alone == [together[number]]


def many(rng: np.random.Generator, count: int) -> AtomTable:
    document = np.sort(rng.integers(0, 20, count))
    atoms = [
        Atom(int(d), n * 10, n * 10 + 10, int(rng.integers(1, 50)), tuple(rng.integers(0, 60, 5).tolist()),
             tuple(rng.integers(-7, 8, DIMENSIONS).tolist()))
        for n, d in enumerate(document)
    ]  # fmt: skip
    return table(atoms)


_THREADS = """
import pickle, sys
from chunkwise.retrieval.multiscale import Multiscale
print(Multiscale(dense=1.0).search(*pickle.load(sys.stdin.buffer), 200))
"""


@pytest.mark.usefixtures("processes")
def test_threads_change_nothing() -> None:
    rng = np.random.default_rng(3)
    vectors = QuantizedVectors.of(rng.normal(size=(2000, 384)).astype(np.float32))
    atoms = replace(many(rng, 2000), vectors=vectors)
    queries = [rng.integers(0, 60, 6).astype(np.uint64) for _ in range(20)]
    given = pickle.dumps((atoms, queries, rng.normal(size=(20, 384)).astype(np.float32)))

    def told(threads: str) -> bytes:
        variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        done = subprocess.run(
            [sys.executable, "-c", _THREADS], input=given, capture_output=True, check=True,
            env={"PATH": "", **dict.fromkeys(variables, threads)},
        )  # fmt: skip
        return done.stdout

    alone = told("1")
    assert alone == told("4")
    assert b"ScoredSpan" in alone


def test_blas_adds_no_threads_to_ours_and_gets_its_own_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blas = ThreadpoolController().select(user_api="blas")
    monkeypatch.setattr(multiscale_module, "cores", lambda: 2)

    def threads() -> set[int]:
        return {each["num_threads"] for each in blas.info()}

    inside = []

    def answer(low: int, high: int) -> list[AtomCandidates]:
        inside.append(threads())
        return []

    with blas.limit(limits=2):
        multiscale_module._in_blocks(answer, 64, 32)
        assert inside == [{1}, {1}]
        assert threads() == {2}


def test_only_what_is_allowed_decides_what_is_best() -> None:
    """A filter leaves windows out before scores are compared: the others must not dwarf them."""
    atoms = [*of(5, 5, terms=((1, 2, 3), (9,))), *of(5, 5, document=1, terms=((1,), (9,)))]
    allowed = np.array([False, False, True, True])
    [found] = Multiscale(sizes=(5,)).search(table(atoms), [query(1, 2, 3)], None, 5, allowed)
    assert [(span.document, span.start, span.score) for span in found] == [(1, 0, 1.0)]


def test_fragments_make_room_for_what_can_be_read() -> None:
    """A short span is left out, and what it leaves is filled; a short document and a small budget keep theirs."""
    atoms = table([*of(20, 3, 20, 15, 20), *of(3, document=1)])
    points = np.array([0.0, 0.9, 0.0, 0.5, 0.0, 0.8])
    assert [tuple(span)[:3] for span in assemble(atoms, points, 40)][:1] == [(0, 20, 23)]
    found = assemble(atoms, points, 40, least=12)
    assert [tuple(span)[:3] for span in found] == [(1, 0, 3), (0, 43, 58)]
    only = np.array([0.0, 0.9, 0.0, 0.0, 0.0, 0.0])
    assert [tuple(span)[:3] for span in assemble(atoms, only, 40, least=12)] == [(0, 20, 23)]
    assert [tuple(span)[:3] for span in assemble(atoms, points, 10, least=12)] == [
        (0, 20, 23),
        (1, 0, 3),
    ]


def test_no_span_ends_with_a_heading_whose_text_is_left_out() -> None:
    atoms = [atom._replace(section=number >= 2) for number, atom in enumerate(of(20, 20, 5, 20))]
    points = np.array([0.0, 0.9, 0.5, 0.1])
    for least in (0, 4):
        for budget, spans in ((30, [(0, 20, 40)]), (60, [(0, 20, 65)])):
            found = assemble(table(atoms), points, budget, least)
            assert [tuple(span)[:3] for span in found] == spans


def test_a_header_of_a_table_comes_with_a_row_or_not_at_all() -> None:
    """A heading, a header and two rows behind a sentence: as many of what heads the rows as fits, the nearest first."""
    atoms = [
        atom._replace(section=number >= 1) for number, atom in enumerate(of(12, 3, 16, 12, 11))
    ]
    atoms[2] = atoms[2]._replace(lead=True)
    points = np.array([0.9, 0.9, 0.9, 0.8, 0.7])
    told = {
        18: [(0, 12)],
        31: [(0, 12), (31, 43)],
        40: [(0, 12), (31, 54)],
        42: [
            (0, 12),
            (15, 43),
        ],  # with the header: 12 + 16 + 12 and one for the span that opens inside the text
        43: [(0, 43)],
        54: [(0, 54)],
    }
    for budget, spans in told.items():
        found = assemble(table(atoms), points, budget, texts=Said(atoms))
        assert [(span.start, span.end) for span in found] == spans, budget


def test_a_heading_alone_is_better_than_nothing() -> None:
    atoms = [atom._replace(section=number >= 1) for number, atom in enumerate(of(20, 3, 20, 1))]
    atoms[3] = atoms[3]._replace(terms=())
    points = np.array([0.8, 0.9, 0.7, 0.1])
    found = assemble(table(atoms), points, 5, texts=Said(atoms))
    assert [(span.start, span.end) for span in found] == [(20, 23)]


def test_the_section_is_that_of_the_best_atom_not_of_the_first() -> None:
    atoms = [atom._replace(section=number // 2) for number, atom in enumerate(of(5, 5, 3, 9, 2, 8))]
    for points, section in (
        ([0.1, 0.5, 0.5, 0.9, 0.3, 0.2], 1),
        ([0.9, 0.5, 0.5, 0.8, 0.3, 0.2], 0),
        ([0.9, 0.9, 0.9, 0.9, 0.3, 0.2], 1),  # most tokens of the best ones
        ([0.5, 0.9, 0.3, 0.3, 0.2, 0.9], 2),
    ):
        (span,) = assemble(table(atoms), np.array(points), 100)
        assert (span.start, span.end, span.section) == (0, 32, section)


def test_windows_from_elsewhere_give_the_same_spans() -> None:
    """A server's best windows, atoms without a vote left out: votes and spans come from the same two functions."""
    atoms = table(of(5, 5, 5, 5, 5, 5))
    best_windows = [
        BestWindows(
            np.array([1, 4]), np.array([3, 5]), np.array([3.0, 2.0], np.float32), floor=0.0
        ),
        BestWindows(
            np.array([2, 0]), np.array([3, 1]), np.array([0.9, 0.4], np.float32), weight=0.5
        ),
    ]
    points = atom_votes(best_windows, 6)
    assert points.tolist() == pytest.approx([0, 1, 1.5, 0, 2 / 3, 0])
    whole = assemble(atoms, points, 17)
    assert [(span.start, span.end) for span in whole] == [(5, 15), (20, 25)]
    kept = np.array([1, 2, 4])
    part = replace(
        atoms, document=atoms.document[kept], start=atoms.start[kept], end=atoms.end[kept],
        tokens=atoms.tokens[kept],
    )  # fmt: skip
    assert assemble(part, points[kept], 17) == whole


@cases(
    "given_, said",
    [
        ({"sizes": (40, 40)}, "expected distinct token counts, such as"),
        ({"sizes": (0,)}, "expected distinct token counts, such as"),
        ({"sizes": 40}, "expected distinct token counts, such as"),
        ({"dense": -1}, "dense is -1"),
        ({"words": True}, "words is True"),
        ({"dense": 0, "words": 0}, "both 0"),
        ({"depth": 0}, "depth is 0"),
    ],
)
def test_wrong_parameters_are_named(given_: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        Multiscale(**given_)  # type: ignore[arg-type]
