"""MaxSim of windows: against loops over tokens, and the same whatever else is asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.models.embed.quantized_vectors import decode_rows
from chunkwise.retrieval.multiscale import Multiscale, late_interaction
from chunkwise.retrieval.multiscale import multiscale as search_module
from chunkwise.retrieval.multiscale.late_interaction import QueryTokens, atom_maxima, window_scores
from chunkwise.retrieval.multiscale.window_votes import whole_documents, windows_of
from chunkwise.retrieval.searchable import AtomTable, TokenTable
from how_many import examples
from retrieval.multiscale.naive_multiscale import Atom
from retrieval.multiscale.test_multiscale import query, table
from tables import cases

DIMENSIONS = 8


def token_table(sizes: list[int], seed: int) -> TokenTable:
    chance = np.random.default_rng(seed)
    codes = chance.integers(0, 256, (sum(sizes), DIMENSIONS // 4)).astype(np.uint8)
    return TokenTable(np.append(0, np.cumsum(sizes)).astype(np.int64), codes)


def asked(seed: int, tokens: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(tokens, DIMENSIONS)).astype(np.float32)


def naive_score(tokens: TokenTable, low: int, high: int, vectors: np.ndarray) -> float:
    """The sum over the question's tokens of the best cosine to a token of the atoms from `low` to `high - 1`."""
    rows = decode_rows(tokens.codes)[tokens.first[low] : tokens.first[high]].tolist()
    total = 0.0
    for vector in QueryTokens.of(vectors).numbers.tolist():
        best = -np.inf
        for row in rows:
            product = sum(x * y for x, y in zip(row, vector, strict=True))
            lengths = sum(x * x for x in row) * sum(y * y for y in vector)
            best = max(best, product / lengths**0.5)
        total += best
    return total


sizes_of_atoms = st.lists(st.integers(0, 5), min_size=1, max_size=14)


@settings(max_examples=examples(40))
@given(sizes_of_atoms, st.integers(0, 10**6), st.integers(1, 4), st.data())
def test_the_score_of_any_window_is_that_of_a_loop_over_its_tokens(
    sizes: list[int], seed: int, words: int, data: st.DataObject
) -> None:
    tokens, vectors = token_table(sizes, seed), asked(seed + 1, words)
    edge = st.integers(0, len(sizes))
    windows = data.draw(st.lists(st.tuples(edge, edge).map(sorted), min_size=1, max_size=10))
    low, high = np.array(windows, np.int64).T
    maxima = atom_maxima(tokens, np.arange(len(sizes)), QueryTokens.of(vectors))
    found = window_scores(maxima, low, high)
    expected = [naive_score(tokens, lo, hi, vectors) for lo, hi in windows]
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)


@settings(max_examples=examples(20))
@given(sizes_of_atoms, st.integers(0, 10**6), st.integers(1, 9))
def test_how_much_is_looked_at_together_changes_no_bit(
    sizes: list[int], seed: int, at_once: int
) -> None:
    tokens, asking = token_table(sizes, seed), QueryTokens.of(asked(seed, 3))
    every = np.arange(len(sizes))
    whole = atom_maxima(tokens, every, asking)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(late_interaction, "_TOKENS_AT_ONCE", at_once)
        assert np.array_equal(atom_maxima(tokens, every, asking), whole)
    some = every[seed % 2 :: 2]
    assert np.array_equal(atom_maxima(tokens, some, asking), whole[some])


def test_the_numbers_of_a_question_are_near_its_vectors() -> None:
    vectors = asked(5, 20)
    vectors[7] = 0
    found = QueryTokens.of(vectors)
    assert len(found) == 19
    kept = np.delete(vectors, 7, axis=0)
    cosine = (found.numbers * kept).sum(axis=1) / (found.length * np.linalg.norm(kept, axis=1))
    assert cosine.min() > 0.9999
    assert len(QueryTokens.of(vectors[:0])) == 0


def corpus(sizes: list[int], seed: int) -> AtomTable:
    """Two documents, a term an atom, ten tokens each."""
    half = (len(sizes) + 1) // 2
    atoms = [
        Atom(int(at >= half), 10 * (at % half), 10 * (at % half) + 10, 10, (at % 3,), (0, 0, 0, 1))
        for at in range(len(sizes))
    ]
    return replace(table(atoms), token_vectors=token_table(sizes, seed))


def test_an_atom_that_says_what_is_asked_is_found_by_its_tokens_alone() -> None:
    atoms = corpus([4] * 30, 3)
    assert atoms.token_vectors is not None
    wanted = 17
    first = atoms.token_vectors.first[wanted]
    vectors = decode_rows(atoms.token_vectors.codes[first : first + 4])
    retriever = Multiscale(words=0, dense=0, maxsim=1, sizes=(10,), least=0)
    (found,) = retriever.search(atoms, [query(9)], None, 25, tokens=[vectors])
    best = max(found, key=lambda span: span.score)
    assert best.score == pytest.approx(1.0)
    assert best.document == 1
    assert best.start <= 20 < best.end


def test_a_question_is_answered_the_same_alone_and_among_others() -> None:
    atoms = corpus([4, 0, 3] * 20, 8)
    retriever = Multiscale(sizes=(20, 40))
    queries, vectors = [query(n % 3) for n in range(40)], [asked(n, 3) for n in range(40)]
    together = retriever.search(atoms, queries, None, 50, tokens=vectors)
    for at in (0, 13, 39):
        alone = retriever.search(atoms, queries[at : at + 1], None, 50, tokens=vectors[at : at + 1])
        assert alone == together[at : at + 1]


def test_in_a_large_index_the_best_so_far_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    atoms = corpus([4] * 60, 5)
    retriever, vectors = Multiscale(sizes=(20, 40)), [asked(2, 3)]
    exact = retriever.search(atoms, [query(1)], None, 40, tokens=vectors)
    seen: list[int] = []
    maxima = search_module.atom_maxima
    monkeypatch.setattr(
        search_module, "atom_maxima", lambda t, a, q: seen.append(len(a)) or maxima(t, a, q)
    )
    monkeypatch.setattr(late_interaction, "_COMPARED", 100)
    assert retriever.search(atoms, [query(1)], None, 40, tokens=vectors)
    # A question that no other voice has a vote for is compared with all.
    assert retriever.search(atoms, [query(99)], None, 40, tokens=vectors)
    assert seen == [25, 60]
    monkeypatch.setattr(late_interaction, "_COMPARED", 240)
    assert retriever.search(atoms, [query(1)], None, 40, tokens=vectors) == exact


def test_what_a_filter_keeps_out_is_neither_compared_nor_found() -> None:
    atoms = corpus([4] * 30, 3)
    allowed = atoms.document == 0
    (found,) = Multiscale(words=0, dense=0, maxsim=1).search(
        atoms, [query(1)], None, 300, allowed, tokens=[asked(1, 4)]
    )
    assert {span.document for span in found} == {0}


def test_tokens_without_a_direction_have_no_vote() -> None:
    atoms = corpus([4] * 30, 3)
    for nothing in (np.zeros((0, DIMENSIONS), np.float32), np.zeros((2, DIMENSIONS), np.float32)):
        (found,) = Multiscale(words=0, dense=0, maxsim=1).search(
            atoms, [query(1)], None, 100, tokens=[nothing]
        )
        assert found == []


@cases("weight", [-1, float("inf"), True, "1"])
def test_a_weight_that_is_none_is_refused(weight: object) -> None:
    with pytest.raises(InvalidParameter, match="maxsim is"):
        Multiscale(maxsim=weight)  # type: ignore[arg-type]


def test_windows_of_sizes_and_documents_are_scored_alike() -> None:
    atoms = corpus([3, 1, 0, 4] * 8, 21)
    assert atoms.token_vectors is not None
    vectors = asked(4, 5)
    maxima = atom_maxima(atoms.token_vectors, np.arange(len(atoms)), QueryTokens.of(vectors))
    for windows in (windows_of(atoms.document, atoms.tokens, 40), whole_documents(atoms.document)):
        expected = [
            naive_score(atoms.token_vectors, lo, hi, vectors)
            for lo, hi in zip(windows.first, windows.stop, strict=True)
        ]
        assert window_scores(maxima, windows.first, windows.stop) == pytest.approx(
            expected, rel=1e-5
        )
