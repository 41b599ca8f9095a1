"""Evaluations that a language model judges, held against the rule it judges by."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chunkwise.answering.cited_answer import CitedAnswer, answer_row
from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.core import Document, Fact, Hit, Query, Reference, Score
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.evaluation.evaluate_system import QuestionSet, evaluate_system
from chunkwise.evaluation.judge_calibrations import Verdict, calibration, keep_calibration
from chunkwise.evaluation.results import Results, read_results, results_text
from chunkwise.evaluation.scoring import Listeners, Measures
from chunkwise.evaluation.system_under_test import hits_system
from chunkwise.evaluation.verdicts_and_advice import four_questions
from chunkwise.metrics.claims.text_normalization import sentences
from chunkwise.metrics.judges.llm_judge import LlmJudge
from chunkwise.metrics.registry import chosen, known_metrics
from chunkwise.models import get_language_model
from chunkwise.models import home_folder as home_module
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import Price
from chunkwise.options import ScoreOptions
from chunkwise.report.evaluation_report import evaluation_report
from chunkwise.report.to_html import report_page
from metrics.judges.rule_model import RuleModel, by_rule_over_http, fenced_texts, helps, says
from models.chat_server import ChatServer, asked, chat_server

THINGS = ("lamp", "rope", "anchor", "ladder", "barrel", "compass")
KEEPERS = ("Orla", "Piet")
DOCUMENTS = [
    Document(
        f"{keeper}.txt",
        " ".join(
            f"The {thing} belonging to {keeper} hangs from hook {10 * number + at + 20}."
            for at, thing in enumerate(THINGS)
        ),
    )
    for number, keeper in enumerate(KEEPERS)
]
BY_ID = {document.id: document for document in DOCUMENTS}


def query(number: int) -> Query:
    keeper, thing = KEEPERS[number % 2], THINGS[number]
    text = BY_ID[f"{keeper}.txt"].text
    start = text.index(f"The {thing}")
    end = text.index(".", start) + 1
    return Query(
        f"q{number}", f"Which hook holds the {thing} belonging to {keeper}?",
        (Reference(f"{keeper}.txt", start, end),),
        answer=None if number == 5 else text[start:end], facts=(Fact("hook"),),
    )  # fmt: skip


QUERIES = [query(number) for number in range(6)]
SETTINGS: dict[str, Any] = {
    "strategy": "sentences(max_tokens=16, overlap=0)", "embedder": "none", "retriever": "bm25", "k": 2,
    "listeners": Listeners(on_bad=lambda line: None),  # a citation leads nowhere
}  # fmt: skip
BY_LLM = [each.name for each in known_metrics().values() if each.asks == "llm"]
LLM_ONLY = ",".join(BY_LLM)


@pytest.fixture(autouse=True)
def home_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts of one test must not be known to another."""
    monkeypatch.setenv(home_module.HOME_VARIABLE, str(tmp_path / "home"))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server(by_rule_over_http) as found:
        yield found


@pytest.fixture
def answers(tmp_path: Path) -> str:
    """Right and cited, wrong and wrongly cited, about something else; the others are not answered."""
    first, second = QUERIES[0].references[0], QUERIES[1].references[0]
    rows = [
        {
            "query_id": "q0", "answer": f"{QUERIES[0].answer} Nobody sells pearls here.",
            "citations": [
                {"claim": QUERIES[0].answer, "doc_id": "Orla.txt", "start": first.start, "end": first.end},
                {"claim": "Nobody sells pearls here.", "doc_id": "Orla.txt", "start": 0, "end": 30},
            ],
        },
        {
            "query_id": "q1", "answer": "Pearls are sold on Sunday.",
            "citations": [
                {"claim": "Pearls are sold", "doc_id": "Piet.txt", "start": second.start, "end": second.end},
                {"claim": "Pearls are sold", "doc_id": "nowhere.txt", "start": 0, "end": 4},
            ],
        },
        {"query_id": "q2", "answer": " "},
    ]  # fmt: skip
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(rows))
    return str(path)


def run(llm: object, **more: Any) -> Results:
    given = SETTINGS | {"metrics": LLM_ONLY, "judge": "llm", "llm": llm} | more
    return evaluate(DOCUMENTS, QUERIES, **given)


def text_at(results: Results, number: int) -> list[str]:
    return [BY_ID[hit.doc_id].text[hit.start : hit.end] for hit in results.questions[number].hits]


def test_every_figure_is_what_the_rule_says(server: ChatServer, answers: str) -> None:
    results = run(server.name(), score=ScoreOptions(answers=answers))
    told = [question.scores for question in results.questions]
    for number, (each, scores) in enumerate(zip(QUERIES, told, strict=True)):
        texts = text_at(results, number)
        relevant = [helps(each.text, text) for text in texts]
        assert scores["retrieval_precision.llm"] == sum(relevant) / len(relevant)
        assert [hit.relevant["llm"] for hit in results.questions[number].hits] == relevant
        reference = each.references[0]
        expected = each.answer or BY_ID[reference.doc_id].text[reference.start : reference.end]
        statements = [claim.text for claim in sentences(expected)]
        held = [any(says(text, claim) for text in texts) for claim in statements]
        assert scores["context_recall.llm"] == sum(held) / len(held)
        assert scores["completeness.llm"] == float(says("\n".join(texts), expected))
    assert told[0]["faithfulness.llm"] == 0.5
    assert told[0]["answer_correctness.llm"] == pytest.approx(2 * 0.5 * 1 / 1.5)
    assert told[0]["answer_relevancy.llm"] == 1
    assert told[0]["citation_accuracy.llm"] == 0.5
    assert [told[1][name] for name in BY_LLM[3:]] == [0, 0, 0, 0]
    assert told[2]["faithfulness.llm"] is None
    assert told[2]["answer_correctness.llm"] == 0
    assert told[3]["faithfulness.llm"] is None
    assert results.questions[3].unscored["faithfulness.llm"] == "no answer"
    assert results.summary["faithfulness.llm"].scored == 2


@pytest.mark.unwatched
def test_the_same_passage_is_never_judged_twice(server: ChatServer) -> None:
    """Counted at the server: not with another k, another retriever, another chunking that has the same spans."""
    run(server.name(), metrics="retrieval_precision.llm")
    assert len(server.requests) == len(QUERIES)  # all hits of a question in one call
    run(server.name(), metrics="retrieval_precision.llm")
    assert len(server.requests) == len(QUERIES)
    run(server.name(), metrics="retrieval_precision.llm", k=1)
    assert len(server.requests) == len(QUERIES)
    again = run(server.name(), metrics="retrieval_precision.llm", k=4)
    new = server.requests[len(QUERIES) :]
    assert len(new) == len(QUERIES)
    for number, payload in enumerate(_by_question(new)):
        shown = sorted(fenced_texts(asked(payload))["passage"].values())
        assert shown == sorted(text_at(again, number)[2:])
    # Sentences one by one are the same places.
    before = len(server.requests)
    run(
        server.name(),
        metrics="retrieval_precision.llm",
        strategy="sentences(max_tokens=17, overlap=0)",
    )
    assert len(server.requests) == before


def _by_question(payloads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Several were under way at once."""
    place = {query.text: number for number, query in enumerate(QUERIES)}
    return sorted(payloads, key=lambda payload: place[fenced_texts(asked(payload))["question"][0]])


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
def test_results_are_the_same_bytes_whether_verdicts_were_kept_or_not(
    server: ChatServer, answers: str, tmp_path: Path
) -> None:
    first = run(server.name(), metrics="all", score=ScoreOptions(answers=answers))
    sent = len(server.requests)
    second = run(server.name(), metrics="all", score=ScoreOptions(answers=answers))
    assert len(server.requests) == sent
    assert first.timing["llm_calls"] == sent
    assert first.timing["llm_prompt_tokens"] > 0
    assert second.timing["llm_calls"] == 0
    assert second.timing["llm_kept"] > first.timing["llm_kept"] == 0
    texts = [results_text(each).partition('"timing"')[0] for each in (first, second)]
    assert texts[0] == texts[1]
    first.save(tmp_path / "results.json")
    assert read_results(tmp_path / "results.json") == first
    assert first.configuration["llm"] == get_language_model(server.name()).identity
    prompts = first.configuration["judge_prompts"]
    assert isinstance(prompts, list)
    assert [str(each).partition("@")[0] for each in prompts] == [
        "judge_answer", "judge_attribution", "judge_completeness", "judge_relevance", "judge_support",
    ]  # fmt: skip
    assert {"llm"} <= {name for pair in first.agreement for name in (pair.first, pair.second)}


def test_nothing_is_asked_without_a_judge(server: ChatServer, answers: str) -> None:
    plain = evaluate(
        DOCUMENTS,
        QUERIES,
        **SETTINGS,
        metrics="all",
        score=ScoreOptions(answers=answers),
    )
    assert not set(BY_LLM).intersection(plain.summary)
    assert not any(name.endswith(".llm") for name in chosen("all", 5, None))
    assert "llm" not in plain.configuration
    assert plain.summary["faithfulness.words"].mean == pytest.approx(0.25)
    assert plain.summary["answer_correctness.words"].scored == 2
    assert plain.summary["answer_relevancy.similarity"].scored == 2
    assert server.requests == []
    with pytest.raises(InvalidParameter, match="unused; add judge='llm'"):
        evaluate(DOCUMENTS, QUERIES, **SETTINGS, llm=server.name())
    with pytest.raises(UnknownName, match="unknown judge 'people'; known: labels"):
        evaluate(DOCUMENTS, QUERIES, **SETTINGS, judge="people")
    with pytest.raises(InvalidParameter, match="--judge llm --llm local"):
        evaluate(DOCUMENTS, QUERIES, **SETTINGS, metrics="faithfulness.llm")
    with pytest.raises(InvalidParameter, match=r"retrieval_precision\.llm"):
        run(server.name(), metrics="recall")
    assert server.requests == []


@pytest.mark.unwatched
def test_a_model_and_a_client_are_taken_as_they_are() -> None:
    rule = RuleModel()
    by_model = run(rule)
    assert rule.asked
    client = LlmClient(RuleModel())
    assert run(client).summary == by_model.summary
    assert client.spent.calls == 0


def test_a_dead_endpoint_leaves_the_other_figures(tmp_path: Path) -> None:
    with chat_server(lambda payload: (401, {"error": {"message": "no such key"}})) as server:
        results = run(server.name(), metrics=f"recall,{LLM_ONLY}")
    assert results.summary["recall@2"].mean is not None
    figure = results.summary["retrieval_precision.llm"]
    assert figure.mean is None
    assert sum(figure.unscored.values()) == len(QUERIES)
    assert "no such key" in " ".join(figure.unscored)
    assert results.summary["completeness.llm"].mean is None
    assert len(server.requests) <= 8  # those under way when the first came back


@pytest.mark.unwatched
def test_single_failures_are_counted_beside_the_figure(server: ChatServer) -> None:
    def sometimes(payload: dict[str, Any]) -> str:
        if "lamp" in fenced_texts(asked(payload))["question"][0]:
            return "I would rather not say."
        return by_rule_over_http(payload)

    with chat_server(sometimes) as other:
        results = run(other.name(), metrics="retrieval_precision.llm,context_recall.llm")
    for name in ("retrieval_precision.llm", "context_recall.llm"):
        assert results.summary[name].scored == len(QUERIES) - 1
        assert results.questions[0].scores[name] is None
        assert "I would rather not say." in results.questions[0].unscored[name]


@pytest.mark.unwatched
def test_money_ends_the_asking_in_time(server: ChatServer) -> None:
    model = get_language_model(server.name())
    client = LlmClient(model, price=Price(100, 1000), max_cost=0.3, concurrency=1)
    results = run(client)
    assert 0 < (client.spent.money or 0) <= 0.3
    assert results.summary["retrieval_precision.llm"].scored > 0
    last = results.summary["context_recall.llm"]
    assert any("the limit of $0.3" in why for why in last.unscored)
    assert results.timing["llm_money"] == pytest.approx(client.spent.money)
    timing, paid = results.timing, client.spent.money or 0.0
    assert timing["llm_money_per_100_questions"] == pytest.approx(100 * paid / len(QUERIES))
    for what, whole in (("money", paid), ("calls", client.spent.calls)):
        own = [value for name, value in timing.items() if name.startswith(f"llm_{what}.")]
        assert sum(own) == pytest.approx(whole)
    assert timing["llm_calls.retrieval_precision.llm"] > 0


@pytest.mark.unwatched
def test_what_asking_takes_is_known_before_anything_is_sent(server: ChatServer) -> None:
    class Enough(Exception):
        pass

    told = []

    def stop(estimate: object) -> None:
        told.append(estimate)
        raise Enough

    with pytest.raises(Enough):
        run(server.name(), listeners=Listeners(on_estimate=stop, on_bad=lambda line: None))
    assert server.requests == []
    run(server.name(), listeners=Listeners(on_estimate=told.append))
    assert told[0] == told[1]
    assert told[0].calls == len(server.requests) > 0  # type: ignore[attr-defined]
    run(server.name(), listeners=Listeners(on_estimate=told.append))
    assert told[2].calls == 0  # type: ignore[attr-defined]
    assert told[2].kept > 0  # type: ignore[attr-defined]


def test_what_is_known_of_a_judge_stands_in_the_results(server: ChatServer) -> None:
    results = run(server.name())
    judges = results.data["judges"]
    assert isinstance(judges, dict)
    assert isinstance(judges["llm"], dict)
    assert results.calibrations == {}
    judge = LlmJudge(LlmClient(get_language_model(server.name())))
    assert judges["llm"]["identity"] == judge.identity
    said = judge.judge(QUERIES[:1], [[]])
    assert said == [[]]
    pairs = [(True, 1.0), (True, 0.0), (False, 0.0), (False, 0.0)]
    verdicts = [Verdict("q", truth, Score(value)) for truth, value in pairs]
    keep_calibration(calibration(verdicts, judge=judge.identity, name="llm", against="labels"))
    again = run(server.name())
    known = again.calibrations["llm"]
    assert (known.accuracy, known.verdicts) == (0.75, 4)
    assert known.kappa == pytest.approx(0.5)
    # What another machine knows of the judge is no part of the result.
    assert again == results
    texts = [results_text(each).partition('"calibrations"')[0] for each in (again, results)]
    assert texts[0] == texts[1]


@pytest.mark.unwatched
def test_what_a_weak_judge_praises_is_not_praised(server: ChatServer) -> None:
    judge = LlmJudge(LlmClient(get_language_model(server.name())))
    verdicts = [Verdict("q", truth, Score(1.0)) for truth in (True, False) * 10]
    keep_calibration(calibration(verdicts, judge=judge.identity, name="llm", against="labels"))
    results = run(server.name(), metrics="retrieval_precision")
    assert results.summary["retrieval_precision.llm"].verdict in ("excellent", "good", "below")
    answered = {each.metric: each for each in four_questions(results)}
    figures = answered["retrieval_precision"].figures
    assert figures["llm"].verdict == "weak judge"
    assert figures["spans"].verdict != "weak judge"
    assert "weak judge" in report_page(evaluation_report(results))


def test_without_a_name_the_local_model_is_meant() -> None:
    class Enough(Exception):
        pass

    def stop(estimate: object) -> None:
        raise Enough

    with pytest.raises(Enough):
        evaluate(
            DOCUMENTS, QUERIES, **{**SETTINGS, "listeners": Listeners(on_estimate=stop)},
            metrics=LLM_ONLY, judge="llm",
        )  # fmt: skip


def test_two_questions_of_the_same_words_both_have_a_verdict() -> None:
    """The first is answered by a passage the second was not shown: the others have to be asked about again."""
    said = DOCUMENTS[0].text
    places = [Reference("Orla.txt", 0, said.index(".") + 1), Reference("Orla.txt", 0, 5)]
    text = QUERIES[0].text
    queries = [
        Query(str(n), text, (each,), answer=QUERIES[0].answer) for n, each in enumerate(places)
    ]
    lamp, rest = said.index(".") + 1, len(said)
    rows = {"0": [(0, lamp), (lamp, rest)], "1": [(lamp, rest)]}
    subject = hits_system(
        DOCUMENTS,
        queries,
        [
            [Hit(DOCUMENTS[0], *span, 1 / rank, rank, 9) for rank, span in enumerate(own, 1)]
            for own in rows.values()
        ],
        {},
    )
    rule = RuleModel()
    names = ("context_recall.llm",)
    measuring = Measures(names, 2, llm=LlmClient(rule))
    results = evaluate_system(subject, QuestionSet(queries), measuring)
    found = [question.scores["context_recall.llm"] for question in results.questions]
    assert found == [1, 0]
    assert len(rule.asked) == 2


def test_that_the_documents_do_not_say_it_claims_nothing(
    server: ChatServer, tmp_path: Path
) -> None:
    """`chunkwise ask` says so of what it cannot find; what it writes is what is evaluated."""
    rows = [
        answer_row(CitedAnswer(QUERIES[0].text, query_id="q0")),
        {"query_id": "q1", "answer": "not in THESE documents"},
        {"query_id": "q2", "answer": "I did not find it.", "found": False},
        {"query_id": "q3", "answer": "Pearls are sold on Sunday.", "found": True},
    ]
    path = tmp_path / "refused.json"
    path.write_text(json.dumps(rows))
    results = run(
        server.name(), metrics="answers,citation_accuracy", score=ScoreOptions(answers=str(path))
    )
    why = "the answer is that the documents don't contain it"
    names = ("faithfulness.words", "faithfulness.llm", "citation_recall", "citation_precision")
    for question in results.questions[:3]:
        assert [question.scores[name] for name in names] == [None] * 4
        assert {question.unscored[name] for name in names} == {why}
    last = results.questions[3]
    assert [last.scores[name] for name in names[:3]] == [0, 0, 0]
    # It says nothing of what it should have said.
    assert results.questions[0].scores["answer_correctness.words"] == 0
