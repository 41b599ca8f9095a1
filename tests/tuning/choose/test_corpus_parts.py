"""Parts of a corpus that want a setting of their own, and parts that do not."""

import numpy as np
import pytest

from chunkwise.core import Document
from chunkwise.tuning.sweep_result import Outcome, SweepResult
from made_outcomes import noisy, outcome, questions, sweep, tuned

IDS = ("corpus/papers/a.md", "corpus/recipes/b.txt", "corpus/c.md")


def made(
    lift: float, count: int = 150, objective: str = "recall@1000t"
) -> tuple[list[Outcome], np.ndarray]:
    """The first configuration is best, except for recipes: there the second is, by the lift."""
    table = noisy(1, count, [0.25, 0.0])
    table[1::3, 1] += 0.25 + lift
    outcomes = [outcome(f"s{at}", table[:, at], objective=objective) for at in (0, 1)]
    return outcomes, table


def parts_of(
    outcomes: list[Outcome],
    ids: tuple[str, ...] = IDS,
    count: int = 150,
    test_share: float = 0.5,
) -> SweepResult:
    documents = [
        Document(id, "text", format="markdown" if id.endswith("md") else "text") for id in ids
    ]
    asked = sweep(test_share=test_share)
    return tuned(outcomes, questions(count, IDS), documents=documents, of=asked)


def test_a_part_that_gains_is_worth_a_setting_of_its_own() -> None:
    outcomes, table = made(0.3)
    found = parts_of(outcomes)
    assert found.chosen == outcomes[0].configuration.key
    parts = {part.name: part for part in found.parts}
    assert list(parts) == ["./", "papers/", "recipes/"]
    recipes = parts["recipes/"]
    assert (recipes.best, recipes.questions) == (outcomes[1].configuration.key, 50)
    judged = [row for row, side in enumerate(found.splits) if side == "test" and row % 3 == 1]
    assert recipes.best_mean == pytest.approx(table[judged, 1].mean())
    assert recipes.gain == pytest.approx((table[judged, 1] - table[judged, 0]).mean())
    assert recipes.low > 0
    assert recipes.worth_it
    for name in ("./", "papers/"):
        assert parts[name].best == found.chosen
        assert (parts[name].gain, parts[name].worth_it) == (0, False)


def test_a_part_that_does_not_gain_is_not() -> None:
    found = parts_of(made(0.0)[0])
    assert not any(part.worth_it for part in found.parts)


def test_without_test_questions_folds_of_the_part_judge() -> None:
    outcomes, table = made(0.3)
    parts = {part.name: part for part in parts_of(outcomes, test_share=0.0).parts}
    recipes = parts["recipes/"]
    assert (recipes.best, recipes.questions) == (outcomes[1].configuration.key, 50)
    # Every fold finds the same: what it gains on the folds left out is what it gains on all.
    assert recipes.gain == pytest.approx((table[1::3, 1] - table[1::3, 0]).mean())
    assert recipes.worth_it
    assert not parts["papers/"].worth_it
    assert not any(part.worth_it for part in parts_of(made(0.0)[0], test_share=0.0).parts)


def test_in_one_folder_formats_are_the_parts() -> None:
    outcomes, _ = made(0.3)
    queries = questions(150, ["a.md", "b.txt", "c.md"])
    documents = [
        Document("a.md", "", format="markdown"),
        Document("b.txt", ""),
        Document("c.md", "", format="markdown"),
    ]
    found = tuned(outcomes, queries, documents=documents)
    assert {part.name: part.worth_it for part in found.parts} == {"markdown": False, "text": True}
    same = [Document(id, "") for id in ("a.md", "b.txt", "c.md")]
    assert tuned(outcomes, queries, documents=same).parts == ()


def test_parts_with_few_questions_or_unknown_documents_are_left_out() -> None:
    outcomes, _ = made(0.3, 24)
    few = parts_of(outcomes, count=24)
    assert few.parts == ()
    assert few.small_parts == {"./": 8, "papers/": 8, "recipes/": 8}
    outcomes, _ = made(0.3)
    found = parts_of(outcomes, ("corpus/papers/a.md", "corpus/recipes/b.txt"))
    assert [part.name for part in found.parts] == ["papers/", "recipes/"]
    assert found.small_parts == {}


def test_less_can_be_better() -> None:
    outcomes, _ = made(0.3, objective="failure@20")
    documents = [Document(id, "") for id in IDS]
    found = tuned(outcomes, questions(150, IDS), of=sweep("failure@20"), documents=documents)
    parts = {part.name: part for part in found.parts}
    assert all(part.low <= part.gain <= part.high for part in parts.values())
    assert any(part.gain > 0.05 and part.worth_it for part in parts.values())
