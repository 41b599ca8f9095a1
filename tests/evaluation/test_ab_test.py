"""Two configurations on live questions: a fair draft, logs of three kinds, and verdicts that hold."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.core import Document, Passage, Query, Reference
from chunkwise.evaluation.ab_test import LiveLog, ab_test, credited, read_live_log, team_draft
from chunkwise.evaluation.results import Results
from made_results import of_questions, question

rankings = st.lists(st.integers(0, 30), unique=True, max_size=15).map(
    lambda starts: [Passage("d", 10 * start, 10 * start + 10) for start in starts]
)


@given(rankings, rankings, st.integers(0, 99))
def test_a_draft_gives_both_as_many_hits_and_shows_none_twice(
    first: list[Passage], second: list[Passage], seed: int
) -> None:
    drafted = team_draft(first, second, random.Random(seed))
    hits = [hit for hit, _ in drafted]
    assert len(set(hits)) == len(hits) <= 10
    teams = [team for _, team in drafted]
    assert teams.count("a") == teams.count("b")
    for team, own in (("a", first), ("b", second)):
        mine = [hit for hit, whose in drafted if whose == team]
        assert mine == sorted(mine, key=own.index)
    assert drafted == team_draft(first, second, random.Random(seed))


def test_equal_rankings_win_equally_often() -> None:
    ranking = [Passage("d", 10 * at, 10 * at + 10) for at in range(6)]
    won = [
        credited(team_draft(ranking, ranking, random.Random(seed)), [ranking[seed % 3]])
        for seed in range(2000)
    ]
    assert set(won) == {-1.0, 1.0}
    assert abs(sum(won)) < 120  # less than three deviations


def test_a_click_goes_to_whom_the_hit_belongs() -> None:
    drafted = [(Passage("d", 0, 50), "a"), (Passage("e", 0, 50), "b"), (Passage("e", 50, 90), "b")]
    assert credited(drafted, [Passage("d", 10, 12)]) == -1  # type: ignore[arg-type]
    assert credited(drafted, [Passage("d", 10, 12), Passage("e", 0, 9)]) == 0  # type: ignore[arg-type]
    assert credited(drafted, [Passage("d", 10, 12), Passage("e", 0, 9), Passage("e", 60, 61)]) == 1  # type: ignore[arg-type]
    assert credited(drafted, [Passage("f", 0, 9)]) == 0  # type: ignore[arg-type]


DOCUMENTS = [
    Document("a.md", "The head of the station approves leave."),
    Document("b.md", "Tea at four."),
]


def read(tmp_path: Path, rows: list[object]) -> tuple[LiveLog, list[str]]:
    file = tmp_path / "live.jsonl"
    file.write_text(
        "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in rows)
    )
    bad: list[str] = []
    return read_live_log(str(file), DOCUMENTS, bad.append), bad


def test_a_log_says_itself_what_it_holds(tmp_path: Path) -> None:
    labels, bad = read(
        tmp_path, [{"query": "who?", "relevant_text": "The head of the station"}, {"query": "q"}]
    )
    assert (labels.kind, bad) == ("labels", [])
    assert [query.references for query in labels.queries] == [(Reference("a.md", 0, 23),), ()]
    clicks, bad = read(tmp_path, [
        {"query": "who?", "clicks": ["b.md", {"doc_id": "a.md", "start": 4, "end": 8}], "time": "2026-01-05"},
        {"query": "tea?", "clicks": []},
    ])  # fmt: skip
    assert (clicks.kind, bad) == ("clicks", [])
    assert [query.references for query in clicks.queries] == [
        (Reference("b.md", 0, 12), Reference("a.md", 4, 8)),
        (),
    ]
    assert clicks.when["1"] == "2026-01-05"
    teams, bad = read(tmp_path, [
        {"query": "x", "clicks_a": 1, "clicks_b": 0}, {"query": "x", "clicks_a": 0, "clicks_b": ["b.md"]},
        {"winner": "tie"},
    ])  # fmt: skip
    assert (teams.kind, teams.outcomes, bad) == ("teams", [-1.0, 1.0, 0.0], [])


def test_a_bad_entry_costs_only_itself(tmp_path: Path) -> None:
    log, bad = read(tmp_path, [
        {"query": "who?", "clicks": ["a.md"]}, "{broken", {"clicks": ["a.md"]}, {"query": "w", "clicks": ["none.md"]},
        {"query": "w", "clicks": [{"doc_id": "a.md", "start": 5, "end": 9999}]}, {"query": "w", "clicks": 7}, [1],
        {"query": "last", "clicks": ["b.md"]},
    ])  # fmt: skip
    assert [query.text for query in log.queries] == ["who?", "last"]
    assert len(bad) == 6
    teams, bad = read(
        tmp_path, [{"winner": "b"}, {"winner": "c"}, {"clicks_a": -1, "clicks_b": 2}, {"x": 1}]
    )
    assert teams.outcomes == [1.0]
    assert len(bad) == 3
    with pytest.raises(ChunkwiseError, match="no readable entries"):
        read(tmp_path, ["{broken", "{again"])


def made(score: float, asked: list[str]) -> "tuple[object, list[str]]":
    """A configuration that has this recall on every question, and notes which it was asked."""

    def answer(queries: "list[Query]") -> Results:
        asked.extend(query.id for query in queries)
        return of_questions(tuple(
            replace(question(number, {"recall@5": score, "failure@5": 1 - score}), id=query.id, text=query.text)
            for number, query in enumerate(queries)
        ))  # fmt: skip

    return answer, asked


def live(count: int, different: int = 20) -> LiveLog:
    queries = [
        Query(str(n), f"question {n % different}", (Reference("leave.md", 0, 40),))
        for n in range(1, count + 1)
    ]
    return LiveLog("labels", queries, [], {})


def test_the_better_one_is_found_and_a_question_is_answered_once() -> None:
    asked: list[str] = []
    found = ab_test(live(300), made(0.5, asked)[0], made(0.8, [])[0], metric="recall@5")  # type: ignore[arg-type]
    assert len(asked) == 20
    assert len(found.sequence) == 300
    assert found.state == "higher"
    assert found.sequence.mean[-1] == pytest.approx(0.3)
    assert (found.to_dict()["state"], len(found.to_dict()["looks"])) == ("higher", 300)
    lower = ab_test(live(300), made(0.5, [])[0], made(0.8, [])[0], metric="failure@5")  # type: ignore[arg-type]
    assert lower.state == "higher"
    assert (
        ab_test(live(300), made(0.8, [])[0], made(0.5, [])[0], metric="recall@5").state == "lower"
    )  # type: ignore[arg-type]
    alike = ab_test(
        live(400), made(0.5, [])[0], made(0.5, [])[0], metric="recall@5", tolerance=0.05
    )  # type: ignore[arg-type]
    assert alike.state == "alike"


def test_a_longer_log_changes_no_earlier_coin() -> None:
    short = ab_test(live(40, 40), made(0.5, [])[0], made(0.8, [])[0], how="interleaved")  # type: ignore[arg-type]
    long = ab_test(live(80, 80), made(0.5, [])[0], made(0.8, [])[0], how="interleaved")  # type: ignore[arg-type]
    assert short.metric == "wins"
    assert list(long.sequence.mean[:39]) == list(short.sequence.mean[:39])


def test_a_question_asked_again_and_again_is_no_evidence_of_its_own() -> None:
    same = made(0.5, [])[0]
    states = [
        ab_test(live(150, 2), same, same, how="interleaved", seed=seed).state  # type: ignore[arg-type]
        for seed in range(20)
    ]
    assert states.count("higher") + states.count("lower") <= 3  # one in twenty is expected at most


def test_a_log_of_teams_needs_no_configuration() -> None:
    found = ab_test(LiveLog("teams", [], [1.0, 0.0, 1.0] * 30, {"1": "Monday"}))
    assert (found.state, found.metric, found.when[0]) == ("higher", "wins", "Monday")
    with pytest.raises(
        InvalidParameter, match="missing a and b; only a log with the hits of both can omit them"
    ):
        ab_test(live(3))
