"""Searching: limits that hold, questions of any kind, the same answer every time."""

import random
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnknownName
from chunkwise.core import Document, Hit, Query
from chunkwise.options import SearchOptions
from chunkwise.retrieval import index
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.indexes import Index
from chunkwise.retrieval.search.search import search
from chunkwise.retrieval.searchable import CandidateSpan, QueryBatch, Searchable
from chunkwise.text.tokens.tokenizers import TokenizerLike, get_tokenizer
from how_many import examples
from retrieval.tiny_embedder import Tiny
from retrieval.tiny_index import HashedWords, TinyIndex, documents
from tables import cases

HARBOUR = (
    "The lamp of the harbour is lit at dusk. Gulls sleep on the roof. The keeper has a ladder. "
)
KITCHEN = (
    "Salt the fish on both sides. Leave it for a day. Wash the salt off and dry it in the wind. "
)
LEAVE = "Leave is asked for in writing. The keeper answers in a week. A day of leave is paid. "
INDEX = TinyIndex(documents(HARBOUR * 3, KITCHEN * 3, LEAVE * 3))
WHOLE = index(documents(HARBOUR * 3, KITCHEN * 3, LEAVE * 3), embedder=Tiny())
MANY_WORDS = [f"w{number}" for number in range(60)]
HOSTILE = [
    "'; DROP TABLE chunks; --", "%_\\", "\x00\x1b[31m\x07", "\ud800", "מתי נדלק הפנס؟ \u202e", "?" * 50, "👩‍👩‍👧",
    "AND OR NOT (", "{}[]<script>", "\n\t\r", "a", "SELECT 1/0", "\u0000lamp\u0000",
]  # fmt: skip


def made(found: Sequence[Hit]) -> list[tuple[str, int, int, float, int]]:
    return [(hit.doc_id, hit.start, hit.end, hit.score, hit.rank) for hit in found]


def ask(question: str, **options: object) -> list[Hit]:
    (hits,) = search(INDEX, question, SearchOptions(**options), embedder=lambda: INDEX.embedder)  # type: ignore[arg-type]
    return hits


@cases("retriever", ["bm25", "dense", "hybrid", "hybrid(fusion=rrf)"])
def test_every_retriever_finds_the_document(retriever: str) -> None:
    for question, doc_id in (("who lights the lamp", "d0"), ("salt the fish", "d1")):
        hits = ask(question, retriever=retriever, k=3)
        assert hits[0].doc_id == doc_id
        assert [hit.rank for hit in hits] == [1, 2, 3]
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        for hit in hits:
            chunk = next(
                c for n, c in INDEX.found if c.doc_id == hit.doc_id and c.index == hit.chunk
            )
            assert (hit.start, hit.end, hit.token_count) == (chunk.start, chunk.end, chunk.token_count)  # fmt: skip


def test_the_default_is_five_hits_of_both_sides() -> None:
    assert made(ask("the keeper")) == made(ask("the keeper", k=5, retriever="hybrid"))
    words = TinyIndex(documents(HARBOUR * 3), vectors="none")
    (hits,) = search(words, "keeper")
    assert made(hits) == made(search(words, "keeper", SearchOptions(k=5, retriever="bm25"))[0])
    (within,) = search(words, "keeper", SearchOptions(budget=40, retriever="bm25"))
    assert 0 < sum(hit.token_count for hit in within) <= 40


def test_a_batch_is_its_questions_one_by_one() -> None:
    questions = ["lamp", "", "leave in writing", "lamp", "  ", "zzz"]
    together = search(INDEX, questions, SearchOptions(k=4), embedder=lambda: INDEX.embedder)
    assert [made(hits) for hits in together] == [made(ask(each, k=4)) for each in questions]
    assert together[1] == together[4] == []
    queries = [Query(str(number), text) for number, text in enumerate(questions)]
    assert search(INDEX, queries, SearchOptions(k=4), embedder=lambda: INDEX.embedder) == together
    assert search(INDEX, []) == []


def test_a_batch_is_embedded_once_each_text_once_and_only_when_needed() -> None:
    embedder = HashedWords()
    search(
        INDEX,
        ["lamp", "salt", "lamp", ""],
        SearchOptions(retriever="hybrid"),
        embedder=lambda: embedder,
    )
    assert embedder.calls == [["lamp", "salt"]]
    search(
        INDEX, ["lamp"], SearchOptions(retriever="bm25"), embedder=lambda: pytest.fail("not wanted")
    )


@given(st.text(max_size=60) | st.sampled_from(HOSTILE), st.integers(1, 20), st.integers(1, 150))
@settings(max_examples=examples(20))
def test_any_question_is_answered_within_both_limits(question: str, k: int, budget: int) -> None:
    shallow = "hybrid(depth=3)"  # fewer than there are chunks, and than are asked for
    for retriever in ("bm25", "dense", "hybrid", shallow, f"{shallow[:-1]}, fusion=rrf)"):
        hits = ask(question, k=k, budget=budget, retriever=retriever)
        assert len(hits) <= k
        assert sum(hit.token_count for hit in hits) <= budget
        assert made(hits) == made(ask(question, k=k, budget=budget, retriever=retriever))
        more = ask(question, k=k, retriever=retriever)
        assert len(more) <= k
        assert made(more) == made(ask(question, k=k + 3, retriever=retriever))[:k]


@given(st.text(max_size=60) | st.sampled_from(HOSTILE), st.integers(1, 20), st.integers(1, 150))
@settings(max_examples=examples(20))
def test_any_question_is_answered_at_several_sizes(question: str, k: int, budget: int) -> None:
    hits = WHOLE.search(question, k=k, budget=budget)
    assert len(hits) <= k
    assert sum(hit.token_count for hit in hits) <= budget
    assert hits == WHOLE.search(question, k=k, budget=budget, retriever="multiscale")
    # What has neither a word nor a direction is answered by nothing, whoever is asked.
    if not WHOLE.search(question):
        assert hits == []


@cache  # no fixture: those are watched
def many() -> Index:
    draw = random.Random(3)
    texts = [" ".join(draw.choices(MANY_WORDS, k=8)).capitalize() + "." for _ in range(450)]
    few = [" ".join(texts[at : at + 30]) for at in range(0, 450, 30)]  # a document takes its time
    made = index(documents(*few), "sentences(max_tokens=30, overlap=0)", embedder=Tiny())
    assert made.source.chunk_count == 450
    return made


@pytest.mark.unwatched
@pytest.mark.parametrize("retriever", ["hybrid", "hybrid(fusion=rrf)", "hybrid(depth=30)"])
def test_more_hits_do_not_change_those_before(retriever: str) -> None:
    question = " ".join(random.Random(retriever).choices(MANY_WORDS, k=4))
    every = many().search(question, k=450, retriever=retriever)
    assert len({(hit.doc_id, hit.chunk) for hit in every}) == 450
    assert [hit.score for hit in every] == sorted((hit.score for hit in every), reverse=True)
    for k in (1, 30, 31, 400, 401):
        assert many().search(question, k=k, retriever=retriever) == every[:k]


@pytest.mark.unwatched
def test_a_question_of_a_hundred_kilobytes() -> None:
    question = "lamp of the harbour \u202e\x00 " * 4_000
    assert ask(question, k=3)[0].doc_id == "d0"


def test_the_order_of_a_batch_changes_nothing() -> None:
    questions = [*HOSTILE, "lamp", "salt and leave", "keeper"]
    shuffled = random.Random(7).sample(questions, len(questions))
    for options in ({"k": 6}, {"budget": 60, "retriever": "hybrid"}, {"k": 9, "neighbors": 1}):
        answers = {}
        for order in (questions, shuffled):
            options_now = SearchOptions(**options)  # type: ignore[arg-type]
            found = search(INDEX, order, options_now, embedder=lambda: INDEX.embedder)
            answers[order is questions] = dict(zip(order, map(made, found), strict=True))
        assert answers[True] == answers[False]


@cases("retriever", ["bm25", "dense", "hybrid"])
def test_no_hit_scores_less_than_asked_for(retriever: str) -> None:
    every = ask("keeper lamp", k=20, retriever=retriever)
    least = every[len(every) // 2].score
    assert ask("keeper lamp", k=20, retriever=retriever, min_score=least) == [
        hit for hit in every if hit.score >= least
    ]
    assert ask("keeper lamp", k=20, retriever=retriever, min_score=1e9) == []


def test_steps_together() -> None:
    options = {"k": 4, "mmr": 0.5, "neighbors": 1, "budget": 120}
    hits = ask("keeper leave", **options)
    assert 0 < len(hits) <= 4
    assert sum(hit.token_count for hit in hits) <= 120
    assert made(hits) == made(ask("keeper leave", **options))
    plain, mixed = ask("keeper", k=6), ask("keeper", k=6, mmr=0.2)
    assert made(plain)[0][:3] == made(mixed)[0][:3]
    assert len({hit.text for hit in mixed}) > len({hit.text for hit in plain})


@pytest.mark.unwatched
def test_many_chunks_that_make_few_hits_are_followed_down() -> None:
    """Tiny chunks: the first look into the ranking is not deep enough for the budget."""
    index = TinyIndex(
        documents("lamp lamp lamp lamp " * 300), "tokens(max_tokens=1, overlap=0)", "none"
    )
    (hits,) = search(index, "lamp", SearchOptions(budget=1000, retriever="bm25"))
    assert sum(hit.token_count for hit in hits) == 1000


class Longest:
    """A reranker that likes long texts."""

    identity = "longest"

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append((query, len(texts)))
        return np.array([len(text) for text in texts], np.float32)


def test_a_reranker_has_the_last_word_on_the_best() -> None:
    reranker = Longest()
    hits = ask("the keeper of the lamp", k=3, reranker=reranker)
    longest = sorted((len(chunk.text) for _, chunk in INDEX.found), reverse=True)[:3]
    assert [hit.score for hit in hits] == longest
    assert reranker.asked == [("the keeper of the lamp", len(INDEX.found))]

    class Wrong(Longest):
        def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.zeros(1, np.float32)

    with pytest.raises(ChunkwiseError, match=r"longest returned 1 score"):
        ask("keeper", reranker=Wrong())


def test_filters_reach_the_index() -> None:
    hits = ask("keeper", k=20, documents=("d2",))
    assert {hit.doc_id for hit in hits} == {"d2"}
    assert ask("keeper", documents=("nothing*",)) == []
    assert ask("keeper", pages=(1, 2)) == []


class Sentences:
    """Hands out the first atoms of the first document, a token too many when asked for few."""

    def spans(
        self, source: Searchable, questions: QueryBatch, budget: int, only: Filter
    ) -> list[list[CandidateSpan]]:
        atoms = source.atoms(0)
        count = int(np.cumsum(atoms.tokens).searchsorted(budget + 1, "right"))
        bounds = zip(atoms.start.tolist(), atoms.end.tolist(), strict=True)
        places = [CandidateSpan(0, start, end, float(start)) for start, end in list(bounds)[:count]]
        return [places for _ in questions.texts]


def test_a_retriever_of_spans_is_held_to_the_budget() -> None:
    for budget in (1, 5, 9, 20, 60):
        hits = ask("lamp", retriever=Sentences(), budget=budget)
        assert sum(hit.token_count for hit in hits) <= budget
        assert [hit.start for hit in hits] == sorted(hit.start for hit in hits)
    every = [hit.start for hit in ask("lamp", retriever=Sentences(), budget=1000)]
    best = ask("lamp", retriever=Sentences(), budget=1000, k=2)
    assert [hit.start for hit in best] == every[-2:]
    assert sum(hit.token_count for hit in ask("lamp", retriever=Sentences())) <= 1000
    with pytest.raises(InvalidParameter, match="neighbors needs chunks"):
        ask("lamp", retriever=Sentences(), neighbors=1)


@cases(
    "options, message",
    [
        ({"k": 0}, "k is 0; expected an integer >= 1"),
        ({"k": True}, "k is True"),
        ({"budget": -3}, "budget is -3"),
        ({"neighbors": -1}, "neighbors is -1"),
        ({"mmr": 1.5}, "mmr is 1.5"),
        ({"mmr": float("nan")}, "mmr is nan"),
        ({"retriever": "hybird"}, "did you mean hybrid?"),
        ({"retriever": object()}, "object is not a valid retriever"),
    ],
)
def test_wrong_values_say_what_is_allowed(options: dict[str, object], message: str) -> None:
    with pytest.raises((InvalidParameter, UnknownName)) as caught:
        ask("lamp", **options)
    assert message in str(caught.value)


def test_vectors_that_are_not_there_or_of_another_model() -> None:
    words = TinyIndex(documents(HARBOUR), vectors="none")
    for options in ({"retriever": "dense"}, {"retriever": "hybrid"}, {"mmr": 0.5}):
        with pytest.raises(InvalidParameter, match=r"(has no vectors|needs vectors).*rebuild"):
            search(words, "lamp", SearchOptions(**options))  # type: ignore[arg-type]

    class Other(HashedWords):
        identity = "other-model"

    with pytest.raises(InvalidParameter, match=r"'hashed-words'.*'other-model'"):
        search(INDEX, "lamp", embedder=Other)
    with pytest.raises(InvalidParameter, match="question 2 is int"):
        search(INDEX, ["lamp", 3])  # type: ignore[list-item]


@cases("weight", [0.5, 2.0])
def test_hybrid_is_the_weighted_sum_of_both_sides(weight: float) -> None:
    question = "keeper lamp ladder"
    everything = len(INDEX.found)
    (words,) = INDEX.words([question], 400, Filter())
    (near,) = INDEX.nearest(INDEX.embedder.embed([question]), 400, Filter())
    assert 1 < len(words.numbers) < everything == len(near.numbers)
    expected = dict.fromkeys(range(everything), 0.0)
    for number, score in zip(words.numbers.tolist(), words.scores.tolist(), strict=True):
        expected[number] += score / float(words.scores[0])  # the rest share no word: worth 0
    low, high = float(near.scores[-1]), float(near.scores[0])
    for number, score in zip(near.numbers.tolist(), near.scores.tolist(), strict=True):
        expected[number] += weight * (score - low) / (high - low)
    hits = ask(question, k=everything, retriever=f"hybrid(dense={weight})")
    place = {(chunk.doc_id, chunk.index): number for number, (_, chunk) in enumerate(INDEX.found)}
    for hit in hits:
        assert hit.chunk is not None
        assert hit.score == pytest.approx(expected[place[hit.doc_id, hit.chunk]], abs=1e-5)


def test_a_question_without_words_is_near_to_nothing() -> None:
    assert ask("?!", retriever="dense") == []
    assert ask("?!", retriever="hybrid") == []


def test_what_has_no_utf_8_form_reaches_no_model() -> None:
    embedder = HashedWords()
    search(INDEX, "lamp \ud800 \udfff", SearchOptions(retriever="dense"), embedder=lambda: embedder)
    assert embedder.calls == [["lamp \ufffd \ufffd"]]


@cases("tokenizer", ["cl100k_base", "words", "characters", len])
@cases("retriever", ["multiscale", "bm25"])
@cases("budget", [30, 300])
def test_a_budget_is_counted_by_the_tokenizer_that_is_named(
    tokenizer: TokenizerLike, retriever: str, budget: int
) -> None:
    text = "\n\n".join(
        f"The lamp numbered {n} is lit at dusk, and burns till dawn." for n in range(60)
    )
    made = index([Document("lamps.md", text)], vectors="none")
    hits = made.search(
        "lamp", budget=budget, retriever=retriever, options=SearchOptions(tokenizer=tokenizer)
    )
    count = get_tokenizer(tokenizer).count
    assert [hit.token_count for hit in hits] == [count(hit.text) for hit in hits]
    spent = sum(count(hit.text) for hit in hits)
    assert 0 < spent <= budget
    # As full as a budget of the index's own tokens is: the next sentence would not fit.
    sentence = count("The lamp numbered 59 is lit at dusk, and burns till dawn.\n\n")
    assert spent + 2 * sentence > budget or spent == count(text)


def test_a_tokenizer_that_is_none_is_told_with_the_nearest() -> None:
    made = index([Document("lamps.md", "The lamp is lit.")], vectors="none")
    with pytest.raises(UnknownName, match="did you mean cl100k_base"):
        made.search("lamp", budget=10, options=SearchOptions(tokenizer="cl100k"))


def test_a_retriever_that_is_named_asks_nothing_of_the_usual_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chunkwise.retrieval.search.search.default_retriever", pytest.fail)
    assert search(INDEX, ["lamp"], SearchOptions(retriever="bm25", k=1))[0][0].text


def test_no_tokenizer_is_loaded_to_show_whole_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ask("lamp salt leave", k=4, retriever="bm25")
    tokenizer = get_tokenizer(INDEX.settings.tokenizer)
    assert [hit.token_count for hit in before] == [tokenizer.count(hit.shown) for hit in before]
    monkeypatch.setattr(type(tokenizer), "count", None)
    assert ask("lamp salt leave", k=4, retriever="bm25") == before
