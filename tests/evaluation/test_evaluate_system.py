"""What the hits do not hold, and how far down it stands."""

from chunkwise.core import Document, Hit, Passage, Query, Reference, Score
from chunkwise.evaluation.evaluate_system import figures, missed
from chunkwise.metrics.scorer import ScoreColumn

TEXT = Document("a", "x" * 2000)
OTHER = Document("b", "y" * 2000)


def hit(start: int, end: int, rank: int, document: Document = TEXT) -> Hit:
    return Hit(document, start, end, 1.0, rank, end - start)


def test_a_rank_counts_the_hits_together() -> None:
    query = Query("q", "?", (Reference("a", 0, 1000),))
    tenths = [hit(100 * n, 100 * n + 100, n + 2) for n in range(10)]
    [found] = missed(query, [], [hit(0, 2000, 1, OTHER), *tenths], {"a": TEXT})
    assert found.rank == 6  # five tenths are half
    [found] = missed(query, [], tenths[:4], {"a": TEXT})
    assert found.rank is None


def test_only_what_is_missing_is_told_of_the_best_covered_place() -> None:
    reference = Reference("a", 0, 100, alternatives=(Passage("b", 0, 200),))
    query = Query("q", "?", (reference,))
    found = missed(
        query, [hit(20, 100, 1)], [hit(20, 100, 1), hit(0, 15, 2)], {"a": TEXT, "b": OTHER}
    )
    assert [(each.passage, each.rank) for each in found] == [(Passage("a", 0, 20), 2)]
    assert missed(query, [hit(0, 200, 1, OTHER)], [], {"a": TEXT, "b": OTHER}) == ()


def test_no_figure_is_excellent_that_most_questions_lack() -> None:
    scores = [Score(1.0)] * 20 + [Score(None, "no expected facts")] * 20
    column = {"completeness.facts": ScoreColumn.of(scores)}
    assert figures(column)["completeness.facts"].verdict == "excellent"
    column = {"completeness.facts": ScoreColumn.of(scores[1:])}
    assert figures(column)["completeness.facts"].verdict == "good"
