"""What a language model is asked, what is kept of it, and what becomes of verdicts that cannot be had."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core import Document, Hit, Query, Score
from chunkwise.metrics.judges.llm_answer_judgments import (
    AnswerRelevancy,
    Attribution,
    Completeness,
    Support,
)
from chunkwise.metrics.judges.llm_judge import MOST, JudgeModel, LlmJudge, work_through
from chunkwise.models.cache import ModelCache
from chunkwise.models.http_client import EndpointError
from chunkwise.models.llm.client import LlmClient, check_window
from chunkwise.models.llm.cost import Price
from chunkwise.models.llm.language_model import Completion, LanguageModel, Request
from metrics.judges.rule_model import RuleModel, fenced_texts, helps, says

QUESTION = "Which lamp hangs beside the harbour door?"
PASSAGES = [
    "The green lamp hangs beside the harbour door.",
    "Ropes are counted on Monday.",
    "A lamp is lit at the harbour every night.",
    "Nobody lends the anchor.",
    "The door is painted red.",
]

Make = Callable[..., LlmJudge]


@pytest.fixture
def cache(tmp_path: Path) -> ModelCache:
    return ModelCache(tmp_path / "kept.sqlite")


@pytest.fixture
def model(cache: ModelCache) -> Callable[[LanguageModel], JudgeModel]:
    def make(model: LanguageModel) -> JudgeModel:
        return JudgeModel.of(LlmClient(model, cache=cache), cache)

    return make


def hits(*texts: str) -> list[Hit]:
    return [
        Hit(Document(f"d{rank}", text), 0, len(text), 1 / rank, rank, 5)
        for rank, text in enumerate(texts, 1)
    ]


def judge_of(model: LanguageModel, cache: ModelCache, **more: int) -> LlmJudge:
    return LlmJudge(LlmClient(model, cache=cache), cache=cache, **more)


def values(judge: LlmJudge, question: str, *texts: str) -> list[float | None]:
    (found,) = judge.judge([Query("q", question)], [hits(*texts)])
    return [score.value for score in found]


def test_all_passages_of_a_question_are_one_call_with_a_label_each(cache: ModelCache) -> None:
    rule = RuleModel()
    assert values(judge_of(rule, cache), QUESTION, *PASSAGES) == [1, 0, 1, 0, 0]
    (asked,) = rule.asked
    assert asked.schema is not None
    assert list(asked.schema["properties"]) == ["1", "2", "3", "4", "5"]
    assert asked.schema["required"] == ["1", "2", "3", "4", "5"]
    assert asked.schema["additionalProperties"] is False
    assert all(
        each["enum"] == ["relevant", "irrelevant"] for each in asked.schema["properties"].values()
    )
    assert asked.version.startswith("judge_relevance@")


def test_the_order_is_shuffled_by_the_seed_and_mapped_back(tmp_path: Path) -> None:
    orders = set()
    for seed in range(6):
        rule = RuleModel()
        own = ModelCache(tmp_path / f"{seed}.sqlite")
        assert values(judge_of(rule, own, seed=seed), QUESTION, *PASSAGES) == [1, 0, 1, 0, 0]
        orders.add(tuple(fenced_texts(rule.asked[0].user)["passage"].values()))
    assert len(orders) > 1
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(PASSAGES))}
    again = RuleModel()
    values(judge_of(again, ModelCache(tmp_path / "x.sqlite"), seed=5), QUESTION, *PASSAGES)
    assert tuple(fenced_texts(again.asked[0].user)["passage"].values()) in orders


@given(
    st.lists(st.text(alphabet="lamp hrboudNing<>\n{}\"'1", max_size=60), max_size=12),
    st.integers(0, 3),
)
def test_verdicts_are_those_of_the_single_passages(texts: list[str], seed: int) -> None:
    """Whatever the passages are, and in whatever order and groups they are shown."""
    question = "the lamp in the harbour"
    judging = JudgeModel.of(LlmClient(RuleModel(window=400), cache=_Nothing()), _Nothing(), seed)
    judge = LlmJudge(judging.client, model=judging)
    expected = [None if not text.strip() else float(helps(question, text)) for text in texts]
    assert values(judge, question, *texts) == expected


class _Nothing(ModelCache):
    """Keeps nothing, so that examples do not see each other."""

    def __init__(self) -> None:
        super().__init__(Path("unused"))

    def get(self, keys: object) -> dict[bytes, bytes]:
        return {}

    def put(self, identity: str, values: object) -> None:
        pass


def test_a_passage_is_never_judged_twice(cache: ModelCache) -> None:
    """Not with another k, another order, another document that says the same."""
    rule = RuleModel()
    assert values(judge_of(rule, cache), QUESTION, *PASSAGES[:2]) == [1, 0]
    assert values(judge_of(rule, cache), QUESTION, *reversed(PASSAGES[:2])) == [0, 1]
    assert len(rule.asked) == 1
    assert values(judge_of(rule, cache), QUESTION, *PASSAGES, PASSAGES[0]) == [1, 0, 1, 0, 0, 1]
    assert len(rule.asked) == 2
    shown = fenced_texts(rule.asked[1].user)["passage"].values()
    assert sorted(shown) == sorted(PASSAGES[2:])
    # Another question or another model is another verdict.
    values(judge_of(rule, cache), "Who lends the anchor?", PASSAGES[3])
    assert len(rule.asked) == 3
    other = RuleModel(identity="rule:2")
    values(judge_of(other, cache), QUESTION, *PASSAGES)
    assert len(other.asked) == 1


def test_what_came_before_an_interruption_is_kept(cache: ModelCache) -> None:
    class Interrupted(RuleModel):
        def complete(self, request: Request, stop: Event | None = None) -> Completion:
            if len(self.asked) == 2:
                raise KeyboardInterrupt
            return super().complete(request, stop)

    queries = [Query(str(n), f"{QUESTION} {n}") for n in range(4)]
    broken = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        judge_of(broken, cache).judge(queries, [hits(*PASSAGES)] * 4)
    after = RuleModel()
    found = judge_of(after, cache).judge(queries, [hits(*PASSAGES)] * 4)
    assert len(after.asked) == 2
    assert all([score.value for score in own] == [1, 0, 1, 0, 0] for own in found)


def test_many_passages_go_in_groups(cache: ModelCache) -> None:
    rule = RuleModel()
    many = [f"The lamp of harbour number {n}." if n % 3 else f"Rope {n}." for n in range(130)]
    assert values(judge_of(rule, cache), QUESTION, *many) == [float(n % 3 > 0) for n in range(130)]
    sizes = [len(fenced_texts(each.user)["passage"]) for each in rule.asked]
    assert sizes == [MOST, MOST, 30]


def test_a_small_window_makes_groups_and_one_passage_may_be_too_long(cache: ModelCache) -> None:
    rule = RuleModel(window=600)
    texts = [f"The lamp of the harbour, {n}. " + "Salt and rope. " * 30 for n in range(6)]
    judge = judge_of(rule, cache)
    (found,) = judge.judge([Query("q", QUESTION)], [hits(*texts, "word " * 2000)])
    assert [score.value for score in found] == [1] * 6 + [None]
    assert "2,001 tokens" in found[-1].reason
    assert "600" in found[-1].reason
    assert len(rule.asked) > 1


def test_an_estimate_sends_nothing_and_counts_what_is_new(cache: ModelCache) -> None:
    rule = RuleModel()
    judge = judge_of(rule, cache)
    queries = [Query("a", QUESTION), Query("b", "Who lends the anchor?")]
    found = judge.estimate(queries, [hits(*PASSAGES), hits(PASSAGES[3])])
    assert (found.calls, len(rule.asked)) == (2, 0)
    assert judge.judge(queries[:1], [hits(*PASSAGES)])[0][0] == Score(1.0)
    assert len(rule.asked) == 1
    assert judge.estimate(queries, [hits(*PASSAGES), hits(PASSAGES[3])]).calls == 1


class Failing(RuleModel):
    """Answers so many requests, then fails."""

    def __init__(self, after: int, status: int | None, wrong: str = "") -> None:
        super().__init__()
        self.after, self.status, self.wrong = after, status, wrong

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        if len(self.asked) < self.after:
            return super().complete(request, stop)
        if self.wrong:
            return Completion(self.wrong, 1, 1)
        raise EndpointError("http://host/v1", "is not there", status=self.status)


@pytest.mark.parametrize(
    ("status", "wrong", "said"),
    [
        (500, "", "is not there"),
        (401, "", "is not there"),
        (None, '{"1": "RELEVANT"}', "['2']"),
        (None, '{"1": "relevant", "2": "relevant", "99": "irrelevant"}', "{'99'}"),
        (None, "relevant", "not JSON: 'relevant'"),
    ],
)
def test_a_verdict_that_cannot_be_had_is_unscored_with_a_reason(
    cache: ModelCache, status: int | None, wrong: str, said: str
) -> None:
    queries = [Query(str(n), f"{QUESTION} {n}") for n in range(4)]
    failing = Failing(1, status, wrong)
    found = judge_of(failing, cache).judge(queries, [hits(*PASSAGES[:2])] * 4)
    assert [score.value for score in found[0]] == [1, 0]
    for own in found[1:]:
        assert [score.value for score in own] == [None, None]
        assert all(said in score.reason for score in own)
    # What failed was not kept: the next run asks again.
    found = judge_of(RuleModel(), cache).judge(queries, [hits(*PASSAGES[:2])] * 4)
    assert all([score.value for score in own] == [1, 0] for own in found)


def test_money_that_would_be_passed_is_a_reason(cache: ModelCache) -> None:
    class Paid(RuleModel):
        price_name = "paid"

    # One call costs some 0.1 dollars at most, asked twice 0.2.
    client = LlmClient(Paid(), cache=cache, price=Price(100, 1000), max_cost=0.2)
    queries = [Query(str(n), f"{QUESTION} {n}") for n in range(20)]
    found = LlmJudge(client, cache=cache).judge(queries, [hits(*PASSAGES[:2])] * 20)
    told = [own[0].value is not None for own in found]
    assert any(told)
    assert not all(told)
    assert "limit of $0.2" in found[-1][0].reason
    assert (client.spent.money or 0) <= 0.2


def test_statements_are_attributed_to_passages(
    model: Callable[[LanguageModel], JudgeModel],
) -> None:
    rule = RuleModel()
    statements = ["Green lamp hangs beside door.", "Ropes are counted.", "Anchors are sold."]
    attribution = Attribution(model(rule))
    tasks = attribution.tasks(QUESTION, statements, PASSAGES)
    assert len(tasks) == 1
    schema = tasks[0].request.schema
    assert schema is not None
    assert schema["properties"]["3"] == {"type": "integer", "enum": [0, 1, 2, 3, 4, 5]}
    work_through(LlmClient(rule), tasks)
    found = [attribution.score(QUESTION, each, PASSAGES).value for each in statements]
    assert found == [float(any(says(text, each) for text in PASSAGES)) for each in statements]
    assert found == [1, 1, 0]


def test_attributed_statements_are_not_asked_about_again(
    model: Callable[[LanguageModel], JudgeModel],
) -> None:
    rule = RuleModel()
    statements = ["Green lamp hangs beside door.", "Anchors are sold."]

    def ask(passages: list[str]) -> list[float | None]:
        judging = model(rule)
        attribution = Attribution(judging)
        work_through(judging.client, attribution.tasks(QUESTION, statements, passages))
        return [attribution.score(QUESTION, each, passages).value for each in statements]

    assert ask(PASSAGES[:3]) == [1, 0]
    assert ask(PASSAGES[:3]) == [1, 0]
    assert len(rule.asked) == 1
    assert ask([*PASSAGES[:3], "Anchors are sold in May."]) == [1, 1]
    texts = fenced_texts(rule.asked[1].user)
    assert list(texts["passage"].values()) == ["Anchors are sold in May."]
    assert list(texts["statement"].values()) == ["Anchors are sold."]
    # Without the passage it was attributed to, the other passages have to be looked at.
    assert ask(PASSAGES[1:3]) == [0, 0]
    assert list(fenced_texts(rule.asked[2].user)["statement"].values()) == [statements[0]]
    assert len(rule.asked) == 3


def test_a_statement_is_unknown_where_a_passage_could_not_be_judged(
    model: Callable[[LanguageModel], JudgeModel],
) -> None:
    judging = model(Failing(0, 500))
    attribution = Attribution(judging)
    work_through(judging.client, attribution.tasks(QUESTION, ["Anchors are sold."], PASSAGES))
    found = attribution.score(QUESTION, "Anchors are sold.", PASSAGES)
    assert found.value is None
    assert "is not there" in found.reason
    assert attribution.score(QUESTION, "Anchors are sold.", []) == Score(0.0)


def test_claims_may_rest_on_two_passages(model: Callable[[LanguageModel], JudgeModel]) -> None:
    rule = RuleModel()
    judging = model(rule)
    support = Support(judging)
    claims = ["Green lamp, ropes counted.", "Anchors are sold."]
    work_through(judging.client, support.tasks(QUESTION, claims, PASSAGES))
    assert [support.score(QUESTION, each, PASSAGES).value for each in claims] == [1, 0]
    assert len(rule.asked) == 1
    assert support.tasks(QUESTION, claims, PASSAGES) == []
    assert support.score(QUESTION, claims[0], []) == Score(0.0)


def test_texts_too_long_for_a_window_are_read_in_groups(
    model: Callable[[LanguageModel], JudgeModel],
) -> None:
    rule = RuleModel(window=600)
    judging = model(rule)
    support = Support(judging)
    texts = [f"Number {n} is lent. " + "Salt and rope. " * 30 for n in range(6)]
    claims = ["Number 5 is lent.", "Number 7 is lent."]
    work_through(judging.client, support.tasks(QUESTION, claims, texts))
    assert [support.score(QUESTION, each, texts).value for each in claims] == [1, 0]
    assert len(rule.asked) > 1
    long = [*texts, "word " * 2000]
    assert support.score(QUESTION, claims[0], long).value == 1
    assert "2,001 tokens" in support.score(QUESTION, claims[1], long).reason


def test_completeness_is_about_the_whole_context(
    model: Callable[[LanguageModel], JudgeModel],
) -> None:
    rule = RuleModel(window=2000)
    judging = model(rule)
    complete = Completeness(judging)
    asked = [("Green lamp, ropes counted.", PASSAGES), ("Green lamp, anchors sold.", PASSAGES)]
    for answer, texts in asked:
        work_through(judging.client, complete.tasks(QUESTION, [answer], texts))
    assert [complete.score(QUESTION, *each).value for each in asked] == [1, 0]
    assert complete.score(QUESTION, "Green lamp.", []) == Score(0.0)
    assert complete.tasks(QUESTION, ["Green lamp."], ["word " * 3000]) == []
    assert "3,001 tokens" in complete.score(QUESTION, "Green lamp.", ["word " * 3000]).reason


def test_an_answer_answers_its_question_or_not(
    model: Callable[[LanguageModel], JudgeModel],
) -> None:
    judging = model(RuleModel())
    relevancy = AnswerRelevancy(judging)
    for answer in ("The green lamp hangs there.", "Ropes."):
        work_through(judging.client, relevancy.tasks(QUESTION, [answer], [answer]))
    assert (
        relevancy.score(
            QUESTION, "The green lamp hangs there.", ["The green lamp hangs there."]
        ).value
        == 1
    )
    assert relevancy.score(QUESTION, "Ropes.", ["Ropes."]).value == 0
    assert relevancy.score(QUESTION, " ", [" "]).value == 0
    assert relevancy.score(QUESTION, "never asked", ["never asked"]).value is None


def test_prompts_of_ones_own_are_other_verdicts(
    cache: ModelCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = RuleModel()
    before = judge_of(rule, cache)
    values(before, QUESTION, *PASSAGES)
    (tmp_path / "judge_relevance.md").write_text(
        "version: mine\n---\nJudge strictly.\n---\n{{question}}\n{{passages}}\n{{count}}\n"
    )
    monkeypatch.setenv("CHUNKWISE_PROMPTS", str(tmp_path))
    after = judge_of(rule, cache)
    assert values(after, QUESTION, *PASSAGES) == [1, 0, 1, 0, 0]
    assert len(rule.asked) == 2
    assert rule.asked[1].system == "Judge strictly."
    assert before.identity != after.identity
    assert json.dumps([before.identity, after.identity]).count("rule:1") == 2


def test_whole_numbers_may_have_a_point(model: Callable[[LanguageModel], JudgeModel]) -> None:
    class Pointed(RuleModel):
        def complete(self, request: Request, stop: Event | None = None) -> Completion:
            said = json.loads(super().complete(request, stop).text)
            return Completion(json.dumps({key: float(value) for key, value in said.items()}), 1, 1)

    statements = ["Green lamp hangs beside door.", "Anchors are sold."]
    for _ in range(2):  # the second time from what was kept
        judging = model(Pointed())
        attribution = Attribution(judging)
        work_through(judging.client, attribution.tasks(QUESTION, statements, PASSAGES))
        found = [attribution.score(QUESTION, each, PASSAGES).value for each in statements]
        assert found == [1, 0]


@pytest.mark.parametrize("window", [1024, 4096])
def test_no_request_is_longer_than_the_window(
    model: Callable[[LanguageModel], JudgeModel], window: int
) -> None:
    """With marks, labels, the question and what is expected: short passages have more around them than in them."""
    judging = model(RuleModel(window=window))
    short = [f"Boat {n} sails from the north pier at {n}." for n in range(60)]
    long = [f"Number {n} is lent. " + "Salt and rope. " * 40 for n in range(12)]
    claims = [f"Boat {n} sails." for n in range(20)]
    questions = [QUESTION, " ".join(f"Which lamp is number {n}?" for n in range(window // 20))]
    found = []
    for question in questions:
        for texts in (short, long, [*short, *long]):
            judge = LlmJudge(judging.client, model=judging)
            found += judge.tasks([Query("q", question)], [hits(*texts)])
            found += Attribution(judging).tasks(question, claims, texts)
            found += Support(judging).tasks(question, claims, texts)
            for count in range(1, len(texts), 17):
                found += Completeness(judging).tasks(
                    question, [" ".join(claims[:count])], texts[:count]
                )
            found += AnswerRelevancy(judging).tasks(question, [" ".join(texts)], [" ".join(texts)])
    assert len(found) > 30
    for task in found:
        check_window(judging.client.model, task.request)


def test_a_claim_or_a_question_that_leaves_no_room_is_a_reason(
    model: Callable[[LanguageModel], JudgeModel],
) -> None:
    rule = RuleModel(window=1000)
    judging = model(rule)
    support, attribution = Support(judging), Attribution(judging)
    claim = "salt and rope " * 200
    assert support.tasks(QUESTION, [claim], PASSAGES) == []
    assert attribution.tasks(QUESTION, [claim], PASSAGES) == []
    for found in (
        support.score(QUESTION, claim, PASSAGES),
        attribution.score(QUESTION, claim, PASSAGES),
    ):
        assert found.value is None
        assert "a claim of" in found.reason
    assert support.score(QUESTION, claim, []) == Score(0.0)
    question = "why " * 2000
    judge, asked, shown = (
        LlmJudge(judging.client, model=judging),
        [Query("q", question)],
        [hits(*PASSAGES)],
    )
    assert judge.tasks(asked, shown) == []
    assert "1,000" in judge.scores(asked, shown)[0][0].reason
    complete = Completeness(judging)
    assert complete.tasks(QUESTION, [claim], PASSAGES) == []
    assert "1,000" in complete.score(QUESTION, claim, PASSAGES).reason
