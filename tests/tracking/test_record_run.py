"""What is remembered of a run is what the verb found out, and fingerprints follow what really changed."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document, Fact, Label, Query, Reference
from chunkwise.documents.document_hash import documents_hash
from chunkwise.options import IndexOptions
from chunkwise.tracking.import_runs import run_of_file
from chunkwise.tracking.record_run import run_of, run_of_results
from chunkwise.tracking.run import document_fingerprints, question_fingerprint
from made_results import results
from report.made_tuning import made_tuning
from tables import cases
from tracking.made_runs import kept_run

TEXT = "The lamp is lit at dusk. The keeper trims it at dawn."
QUERY = Query("q", "When is the lamp lit?", (Reference("a.md", 0, 24),), "at dusk", (Fact("dusk"),))


@given(st.text(max_size=20))
def test_a_passage_that_only_moved_is_the_same_question(above: str) -> None:
    at = len(above)
    moved = replace(QUERY, references=(Reference("a.md", at, at + 24),))
    assert question_fingerprint(moved, {"a.md": above + TEXT}) == question_fingerprint(
        QUERY, {"a.md": TEXT}
    )


@cases(
    "other",
    [
        replace(QUERY, text="When?"), replace(QUERY, answer="dusk"), replace(QUERY, facts=()),
        replace(QUERY, references=(Reference("a.md", 0, 20),)),
        replace(QUERY, references=(Reference("b.md", 0, 24),)),
        replace(QUERY, labels=(Label("a.md", 0, 4, True),)),
    ],
)  # fmt: skip
def test_another_question_or_another_answer_has_another_fingerprint(other: Query) -> None:
    texts = {"a.md": TEXT, "b.md": TEXT}
    assert question_fingerprint(other, texts) != question_fingerprint(QUERY, texts)
    assert question_fingerprint(other) != question_fingerprint(QUERY)


def test_fingerprints_of_documents_are_those_of_the_corpus_hash() -> None:
    documents = [Document("a.md", TEXT), Document("b.md", "x")]
    prints = document_fingerprints(documents)
    changed = document_fingerprints([Document("a.md", TEXT + "!"), documents[1]])
    assert [id for id in prints if prints[id] != changed[id]] == ["a.md"]
    assert documents_hash(documents) != documents_hash(documents[:1])


def test_a_file_of_results_is_the_run_that_wrote_it(tmp_path: Path) -> None:
    found = results()
    found.save(tmp_path / "a.json")
    kept, read = run_of_results(found), run_of_file(tmp_path / "a.json")
    assert kept.key == read.key
    assert (kept.figures, kept.scores, kept.settings) == (read.figures, read.scores, read.settings)
    assert read.source == "a.json"
    assert read.origin.user == ""


def test_figures_have_intervals_counts_and_what_can_be_shown() -> None:
    figure = run_of_results(results()).figures["recall@5"]
    found = results().summary["recall@5"]
    assert (figure.mean, figure.low, figure.high) == (found.mean, found.low, found.high)
    assert (figure.scored, figure.questions, figure.detectable) == (40, 40, 0.09)


def test_which_metrics_are_looked_at_is_no_setting() -> None:
    found = replace(results(), configuration={"k": 5, "metrics": ["recall@5"]})
    assert run_of_results(found).settings == {"k": 5}


def test_a_sweep_is_its_choice_on_the_questions_that_did_not_choose() -> None:
    sweep = made_tuning()
    run = run_of(sweep)
    chosen = next(own for own in sweep.outcomes if own.configuration.key == sweep.chosen)
    test = [
        score
        for score, split in zip(chosen.scores[sweep.objective], sweep.splits, strict=True)
        if split == "test" and score is not None
    ]
    assert run.figures[sweep.objective].mean == pytest.approx(sum(test) / len(test))
    assert run.figures[sweep.objective].scored == len(test)
    assert run.figures[sweep.objective].questions == sweep.splits.count("test")
    assert run.label == chosen.configuration.label


def test_questions_of_a_sweep_stand_in_the_order_of_their_scores() -> None:
    sweep = made_tuning()
    queries = [Query(id, f"What of {id}?", (Reference("a.md", 0, 4),)) for id in sweep.questions]
    plain = run_of(sweep, queries=queries)
    for other in (queries[::-1], queries[5:], [*queries, Query("more", "More?", ())]):
        run = run_of(sweep, queries=other)
        assert [each.id for each in run.questions] == [*sweep.questions]
        assert run.scores == plain.scores
        asked = {query.id: query.text for query in other}
        assert [each.text for each in run.questions] == [
            asked.get(id, "") for id in sweep.questions
        ]


def test_questions_that_did_not_choose_are_counted_scored_or_not() -> None:
    sweep = made_tuning()
    at = next(at for at, own in enumerate(sweep.outcomes) if own.configuration.key == sweep.chosen)
    scores = sweep.outcomes[at].scores[sweep.objective]
    first = sweep.splits.index("test")
    fewer = {sweep.objective: (*scores[:first], None, *scores[first + 1 :])}
    outcomes = (*sweep.outcomes[:at], replace(sweep.outcomes[at], scores=fewer), *sweep.outcomes[at + 1 :])  # fmt: skip
    figure = run_of(replace(sweep, outcomes=outcomes)).figures[sweep.objective]
    assert figure.questions == sweep.splits.count("test") == figure.scored + 1


def test_every_question_has_a_score_or_none() -> None:
    with pytest.raises(InvalidParameter, match="recall@5 has 2 scores for 1 question"):
        replace(kept_run(), questions=kept_run().questions[:1])


def test_in_python_as_on_the_command_line(tmp_path: Path) -> None:
    documents = [Document("a.md", TEXT), Document("b.md", "Bread is baked before dawn.")]
    history = chunkwise.history(tmp_path / "runs.db")
    assert len(history) == 0
    found = chunkwise.evaluate(
        documents, [QUERY], retriever="bm25", index=IndexOptions(vectors="none")
    )
    kept = history.keep(found, documents=documents, queries=[QUERY])
    assert (kept.number, kept.kind) == (1, "evaluate")
    other = [documents[0], Document("b.md", "Bread is baked at noon.")]
    again = chunkwise.evaluate(other, [QUERY], retriever="bm25", index=IndexOptions(vectors="none"))
    history.keep(again, documents=other, queries=[QUERY])
    assert history.changes(1, 2).words == ("documents ~1",)
    assert history.keep(chunkwise.lint(documents), documents=documents).kind == "lint"
    assert history.keep(chunkwise.profile(documents)).kind == "profile"
    assert history.keep(chunkwise.compare(found, again)).kind == "compare"
    assert repr(history) == f"<History {tmp_path / 'runs.db'}: 5 runs>"
    assert "documents ~1" in history._repr_html_()
    with pytest.raises(InvalidParameter, match="run is str"):
        history.keep("results")  # type: ignore[arg-type]


def test_counts_are_amounts_and_shares_are_none() -> None:
    run = run_of(chunkwise.profile([Document("a.md", TEXT)]))
    assert run.figures["documents"].is_amount
    assert run.figures["tables"].is_nothing
    assert not run_of_results(results()).figures["recall@5"].is_amount


def test_the_repr_of_a_run_is_a_line() -> None:
    run = kept_run({"q1": 1.0, "q2": 0.0})
    assert repr(run).startswith(f"<KeptRun {run.label}; recall@5 50%")
    assert "q1" not in repr(run)
