"""A difference between runs is divided exactly: into questions, documents, settings and versions, or said not to be."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.tracking.explain_difference import (
    DividedDifference,
    changes_between,
    difference_of,
    divided_scores,
)
from chunkwise.tracking.run import KeptFigure, KeptRun
from how_many import examples
from tables import cases
from tracking.made_runs import kept_run

IDS = [f"q{number}" for number in range(8)]
SCORES = st.one_of(st.none(), st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.1, 1 / 3]))
RUN = st.dictionaries(st.sampled_from(IDS), SCORES)
SOME = st.sets(st.sampled_from(IDS))


@pytest.mark.usefixtures("large_inputs")
@given(RUN, RUN, SOME, SOME)
@settings(max_examples=examples(300))
def test_the_parts_are_those_of_a_naive_recomputation_and_add_up(
    before: dict[str, float | None], after: dict[str, float | None], same: set[str], seeing: set[str]
) -> None:  # fmt: skip
    found = divided_scores(before, after, same, seeing)
    first = {id: Fraction(score) for id, score in before.items() if score is not None}
    second = {id: Fraction(score) for id, score in after.items() if score is not None}
    if not first or not second:
        assert found is None
        return
    assert found is not None

    def mean(scores: dict[str, Fraction], ids: list[str]) -> Fraction:
        return sum((scores[id] for id in ids), Fraction(0)) / len(ids)

    assert (found.before, found.after) == (mean(first, [*first]), mean(second, [*second]))
    assert found.questions + found.documents + found.rest == found.after - found.before
    common = [id for id in IDS if id in first and id in second and id in same]
    assert found.common == len(common)
    if not common:
        assert (found.documents, found.rest) == (0, 0)
        return
    assert found.questions == (found.after - mean(second, common)) - (found.before - mean(first, common))  # fmt: skip
    # What remains when only these questions would have changed.
    kept = {id: second[id] if id in seeing else first[id] for id in common}
    assert found.documents == mean(kept, common) - mean(first, common)
    assert found.rest == mean(second, common) - mean(kept, common)


DOCUMENTS = ("a.md", "b.md", "c.md")
CORPUS = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from(["1", "2"]))
HITS = st.fixed_dictionaries({id: st.sampled_from(DOCUMENTS) for id in IDS})
MADE_WITH = st.sampled_from([{"k": 1}, {"k": 2}])


@pytest.mark.usefixtures("large_inputs")
@given(RUN, RUN, CORPUS, CORPUS, HITS, HITS, MADE_WITH, MADE_WITH)
@settings(max_examples=examples(300))
def test_runs_are_divided_as_the_page_says(
    first: dict[str, float | None], second: dict[str, float | None], corpus: dict[str, str], other: dict[str, str],
    hits: dict[str, str], others: dict[str, str], made: dict[str, Any], remade: dict[str, Any],
) -> None:  # fmt: skip
    """From the runs themselves, question by question."""
    before = kept_run(first, documents=corpus, hits=hits, settings=made)
    after = kept_run(second, documents=other, hits=others, settings=remade)
    found = difference_of(before, after).metrics.get("recall@5")
    scored = [
        {id: score for id, score in run.items() if score is not None} for run in (first, second)
    ]
    if not all(scored):
        assert found is None or not found.common
        return
    assert found is not None
    means = [sum(run.values()) / len(run) for run in scored]
    assert found.difference == pytest.approx(means[1] - means[0])
    assert sum(part.amount for part in found.parts) == pytest.approx(found.difference, abs=1e-12)
    moved = {id for id in DOCUMENTS if corpus.get(id) != other.get(id)}
    common = [id for id in scored[0] if id in scored[1]]
    parts = {"questions": found.difference, "seeing": 0.0, "rest": 0.0}
    for id in common:
        change = (scored[1][id] - scored[0][id]) / len(common)
        parts["seeing" if moved & {"a.md", hits[id], others[id]} else "rest"] += change
        parts["questions"] -= change
    names = {
        (True, True): ("documents or settings", "settings"), (True, False): ("documents", "documents"),
        (False, True): ("settings", "settings"), (False, False): ("not known", "not known"),
    }[bool(moved), made != remade]  # fmt: skip
    expected = {"questions": parts["questions"]}
    for name, part in zip(names, ("seeing", "rest"), strict=True):
        expected[name] = expected.get(name, 0.0) + parts[part]
    given = causes(found)
    assert {name: given.get(name, 0.0) for name in expected} == pytest.approx(expected, abs=1e-8)
    assert given.keys() <= expected.keys()


def told(before: KeptRun, after: KeptRun) -> DividedDifference:
    return difference_of(before, after).metrics["recall@5"]


def causes(found: DividedDifference) -> dict[str, float]:
    return {part.cause: round(part.amount, 9) for part in found.parts}


def test_new_questions_and_changed_documents_as_the_sentence_says() -> None:
    before = kept_run({f"q{n}": 0.5 for n in range(10)}, hits={"q1": "b.md"})
    scores = {f"q{n}": 0.5 for n in range(10)} | {"q1": 0.4, "q2": 0.5, "n1": 0.0, "n2": 0.3}
    after = kept_run(scores, documents={"a.md": "1", "b.md": "other"}, hits={"q1": "b.md"})
    found = told(before, after)
    assert found.words == "−6.7 pts: −5.7 pts by 2 new questions, −1.0 pts by changed documents"
    assert causes(found).keys() == {"questions", "documents"}
    assert found.common == 10
    assert found.paired is not None
    assert found.paired.mean == pytest.approx(-0.01)
    assert difference_of(before, after).changes.words == ("documents ~1", "questions +2")


CHANGES: dict[str, tuple[dict[str, Any], dict[str, float]]] = {
    "settings alone": ({"settings": {"strategy": "structure", "k": 9}}, {"settings": 0.25}),
    "versions alone": ({"versions": {"chunkwise": "0.2.0"}}, {"versions": 0.25}),
    "both at once": (
        {"settings": {"k": 9}, "versions": {"chunkwise": "0.2.0"}},
        {"settings or versions": 0.25},
    ),
    "nothing that is known": ({}, {"unknown": 0.25}),
    "documents that no question sees": ({"documents": {"a.md": "1"}}, {"documents": 0.25}),
    "documents that are not known one by one": (
        {"documents": None, "documents_hash": "other"}, {"documents": 0.25},
    ),
    "these, and settings": (
        {"documents": None, "documents_hash": "other", "settings": {"k": 9}},
        {"documents or settings": 0.25},
    ),
}  # fmt: skip


@cases("name", CHANGES)
def test_what_alone_changed_is_named_and_what_cannot_be_told_apart_is_said(name: str) -> None:
    changed, expected = CHANGES[name]
    after = replace(kept_run({"q1": 1.0, "q2": 1.0}), **changed)
    found = told(kept_run(), after)
    assert causes(found) == expected
    if " or " in next(iter(expected)):
        assert "cannot be separated" in found.parts[0].note


def test_one_setting_is_named_with_its_values() -> None:
    after = kept_run({"q1": 1.0, "q2": 1.0}, settings={"strategy": "structure", "k": 9})
    assert told(kept_run(), after).words == "+25.0 pts by k 5 → 9"


def test_settings_beside_documents_are_said_to_mix() -> None:
    before = kept_run({"q1": 0.5, "q2": 0.5}, hits={"q1": "b.md"})
    after = kept_run(
        {"q1": 0.7, "q2": 0.9}, hits={"q1": "b.md"}, documents={"a.md": "1", "b.md": "new"}, settings={"k": 9}
    )  # fmt: skip
    found = told(before, after)
    assert causes(found) == {"documents or settings": 0.1, "settings": 0.2}
    assert found.parts[0].note == "documents and settings changed together and cannot be separated"


def test_a_question_in_other_words_or_with_another_answer_is_another_question() -> None:
    before = kept_run({"q1": 0.5, "q2": 0.5, "q3": 0.5})
    asked = [
        replace(before.questions[0], text="Something else?"),
        replace(before.questions[1], fingerprint="another passage"),
        before.questions[2],
    ]
    after = replace(before, questions=tuple(asked), scores={"recall@5": (1.0, 1.0, 0.5)})
    assert changes_between(before, after).questions.changed == ("q1", "q2")  # type: ignore[union-attr]
    found = told(before, after)
    assert found.common == 1
    assert causes(found) == {"questions": round(1 / 3, 9)}
    assert found.words.endswith("by 2 changed questions")
    # Its document says something else now: that is the document's doing.
    moved = replace(after, documents={"a.md": "new", "b.md": "2"})
    assert changes_between(before, moved).questions.changed == ("q1",)  # type: ignore[union-attr]


def test_a_question_scored_once_counts_with_the_questions() -> None:
    found = told(kept_run({"q1": 0.5, "q2": 1.0}), kept_run({"q1": 0.5, "q2": None}))
    assert causes(found) == {"questions": -0.25}
    assert found.words == "−25.0 pts by 1 question scored in only one run"


def test_without_a_common_question_nothing_is_told_apart() -> None:
    found = told(kept_run({"q1": 0.5}), kept_run({"q9": 1.0}, settings={"k": 9}))
    assert causes(found) == {"questions": 0.5}
    assert "no question is scored in both runs" in found.parts[0].note
    assert found.paired is None


def test_a_figure_of_the_whole_is_not_divided_by_questions() -> None:
    def of(value: float, **more: Any) -> KeptRun:
        return kept_run(
            {}, kind="lint", figures={"recall@5": KeptFigure(value)}, questions_hash="", **more
        )  # fmt: skip

    assert causes(told(of(3), of(5, documents={"a.md": "9"}))) == {"documents": 2}
    both = told(of(3), of(5, documents={"a.md": "9"}, settings={"k": 2}))
    assert both.words == "+2 by changed documents or settings"
    assert told(of(3), of(3)).parts == ()


def test_questions_change_no_figure_of_chunks_alone() -> None:
    def of(value: float, **more: Any) -> KeptRun:
        figures = {name: KeptFigure(value) for name in ("boundary_issues", "split_references")}
        return replace(kept_run({"q1": 0.5}, **more), figures=figures)

    before, after = of(0.2), replace(of(0.1, settings={"k": 9}), questions=(), scores={})
    found = difference_of(before, after).metrics
    assert causes(found["boundary_issues"]) == {"settings": -0.1}
    assert causes(found["split_references"]) == {"questions or settings": -0.1}


def test_metrics_of_one_run_alone_are_named() -> None:
    found = difference_of(kept_run(), kept_run(metric="mrr@5"))
    assert (found.only_before, found.only_after) == (("recall@5",), ("mrr@5",))
    assert not found.metrics
