"""Drift of documents and questions, as figures of their own."""

import numpy as np

from chunkwise.core import Document, Hit, Query
from chunkwise.metrics.metric import CutCounts
from chunkwise.tracking.drift import corpus_drift, corpus_state, question_drift
from chunkwise.tracking.explain_difference import changes_between
from tables import cases
from tracking.made_runs import kept_run

TEAMS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda omega".split()
TESTS = [Query(name, f"Who approves the leave of team {name}?") for name in TEAMS]


def embed(texts: object) -> np.ndarray:  # type: ignore[type-arg]
    """Leave in one direction, everything else in another; a little of each text's own."""
    rows = []
    for number, text in enumerate(texts):  # type: ignore[arg-type, var-annotated]
        row = np.zeros(40)
        row[0 if "leave" in text else 1] = 1.0
        row[2 + number % 30] = 0.2
        rows.append(row / np.linalg.norm(row))
    return np.array(rows)


def search(queries: object) -> list[list[Hit]]:
    document = Document("leave.md", "Leave is approved.")
    found = []
    for query in queries:  # type: ignore[attr-defined]
        score = 1.0 + len(query.text) % 5 / 10
        if "parking" in query.text:
            score = 0.1
        hit = Hit(document, 0, 5, score, 1, 1)
        found.append([] if "rocket" in query.text else [hit])
    return found


def test_live_questions_are_held_against_the_test_questions() -> None:
    live = [
        Query("a", "Who approves the leave of team beta?"), Query("b", "Where is parking for visitors?"),
        Query("c", "How does a rocket start?"), Query("d", "who approved my leave 17"),
    ]  # fmt: skip
    found = question_drift(live, TESTS, embed=embed, search=search)
    assert (found.questions, found.far, found.unlike) == (4, 0.5, 0.5)
    assert found.new_words == 0.5
    assert found.found_nothing == 0.25
    assert found.low_scores == 0.25
    assert found.words == "50% of 4 live questions are unlike any test question"
    assert {each.text for each in found.examples} == {live[1].text, live[2].text}
    parking = next(each for each in found.examples if "parking" in each.text)
    assert parking.documents == ("leave.md",)
    assert set(parking.new_words) == {"parking", "visitors"}
    assert parking.nearest
    assert "rocket" in found.frequent_new_words


def test_without_vectors_and_search_words_decide() -> None:
    live = [Query("a", "parking space?"), Query("b", "leave of team beta?")]
    found = question_drift(live, TESTS)
    assert (found.far, found.found_nothing, found.low_scores) == (None, None, None)
    assert found.unlike == 0.5
    assert found.examples[0].similarity is None


def test_at_most_ten_examples_the_furthest_first() -> None:
    live = [Query(str(n), f"unknown thing number{n} here") for n in range(30)]
    found = question_drift(live, TESTS, embed=embed)
    assert len(found.examples) == 10
    similarities = [each.similarity or 0.0 for each in found.examples]
    assert similarities == sorted(similarities)


def test_no_questions_at_all_are_no_drift() -> None:
    assert question_drift([], TESTS, embed=embed, search=search).unlike == 0.0
    assert question_drift([Query("a", "?!")], []).unlike == 0.0


def test_the_corpus_then_and_now() -> None:
    cuts = CutCounts(10, 2, {}, ())
    english = "# Leave\n\nWho wants to have leave asks for it in time, and it is approved by the office.\n"
    german = "# Urlaub\n\nWer Urlaub haben will, bittet rechtzeitig darum, und er wird vom Amt genehmigt.\n"
    before = corpus_state([Document("a.md", english)], cuts)
    after = corpus_state(
        [Document("a.md", english), Document("b.md", german * 3)], CutCounts(10, 5, {}, ())
    )
    changes = changes_between(kept_run(), kept_run(documents={"a.md": "1", "b.md": "x"}))
    words = [each.words for each in corpus_drift(before, after, changes)]
    assert words[0] == "documents 1 → 2 (+100%)"
    assert words[1].startswith("tokens ")
    assert "boundary issues 20% → 50%" in words
    assert "documents added, changed or removed: 50%" in words
    assert any(word.startswith("language de 0% → 50%") for word in words)
    assert corpus_drift(before, before) == ()
    assert corpus_drift({}, after) == ()
    assert corpus_drift({"documents": "many", "languages": [1]}, after) == ()


@cases("cuts", [None, CutCounts(0, 0, {}, ())])
def test_a_corpus_without_chunks_has_no_share_of_issues(cuts: CutCounts | None) -> None:
    assert "boundary_issues" not in corpus_state([Document("a", "A text.")], cuts)
