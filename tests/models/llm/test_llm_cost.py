"""What asking costs: foreseen, counted, and never more than allowed."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import as_set
from chunkwise.models.cache import ModelCache
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import (
    LimitReached,
    LlmBudget,
    LlmEstimate,
    Price,
    parse_price,
    price_of,
)
from chunkwise.models.llm.endpoint import EndpointModel
from chunkwise.models.llm.language_model import Completion, Request
from chunkwise.text.tokens.tokenizers import get_tokenizer
from models.chat_server import chat_server, completion
from models.endpoint_server import Answer
from tables import cases

DEAR = Price(1e4, 1e5)
"""A cent a token read, ten a token written."""


def client(server: Any, folder: Path, **more: Any) -> LlmClient:
    return LlmClient(
        EndpointModel(server.url, "m"), cache=ModelCache(folder / "kept.sqlite"), **more
    )


def test_what_the_server_counted_is_what_is_paid(tmp_path: Path) -> None:
    with chat_server(lambda payload: "two words") as server:
        asking = client(server, tmp_path, price=DEAR)
        asking.ask(Request("be brief", "one two three"))
        asking.ask(Request("be brief", "one two three"))
    spent = asking.spent
    assert (spent.calls, spent.kept, spent.prompt_tokens, spent.output_tokens) == (1, 1, 5, 2)
    assert spent.money == pytest.approx(0.05 + 0.2)
    assert not spent.is_estimated


def test_what_the_server_does_not_count_we_count(tmp_path: Path) -> None:
    def rule(payload: dict[str, Any]) -> Answer:
        return Answer({**completion("four words are written", payload), "usage": None})

    with chat_server(rule) as server:
        asking = client(server, tmp_path, price=DEAR)
        asking.ask(Request("be brief", "one two three"))
    spent = asking.spent
    assert spent.is_estimated
    assert spent.output_tokens == get_tokenizer("o200k_base").count("four words are written")
    assert 5 <= spent.prompt_tokens <= 10
    assert spent.money == pytest.approx(DEAR.of(spent.prompt_tokens, spent.output_tokens))


def test_a_price_nobody_knows_is_none_and_not_nothing(tmp_path: Path) -> None:
    with chat_server(lambda payload: "x") as server:
        asking = client(server, tmp_path)
        assert asking.estimate([Request("", "q")]).money is None
        asking.ask(Request("", "q"))
        assert asking.spent.money is None
        with pytest.raises(InvalidParameter, match="--price"):
            client(server, tmp_path, max_cost=1.0)


@cases("concurrency", [1, 8])
@cases("limit", [0.0, 5.0, 31.0])
def test_the_limit_is_never_passed(limit: float, concurrency: int, tmp_path: Path) -> None:
    """Every answer is as long as it may be, which is the worst there can be."""

    def rule(payload: dict[str, Any]) -> str:
        time.sleep(0.005)
        return "word " * payload["max_tokens"]

    with chat_server(rule) as server:
        asking = client(server, tmp_path, price=DEAR, max_cost=limit, concurrency=concurrency)
        replies = asking.ask_all([Request("", f"number {n}", max_tokens=10) for n in range(40)])
        assert asking.spent.money is not None
        assert asking.spent.money <= limit
        answered = sum(each.is_answered for each in replies)
        assert answered == len(server.requests) == asking.spent.calls
        reasons = {each.reason for each in replies if each.reason}
        assert all(f"${as_set(limit)}" in each for each in reasons)
        # One request costs about a dollar and may cost 2.40 by the strictest count: the rest is used.
        assert answered >= (limit - 2.5) / 1.05
        assert bool(reasons) == (answered < 40)


def test_a_second_try_is_within_the_limit_too(tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["a"]}
    with chat_server(lambda payload: "no json " * 3) as server:
        asking = client(server, tmp_path, price=DEAR, max_cost=2.6)
        reply = asking.ask(Request("", "q", schema=schema, max_tokens=6))
        assert "limit" in reply.reason
        assert len(server.requests) == 1


def test_what_was_sent_and_not_answered_counts_as_charged(tmp_path: Path) -> None:
    """A server that works on and on is asked again only as long as the limit allows for every attempt."""

    with chat_server(lambda payload: Answer(hang=True)) as server:
        model = EndpointModel(server.url, "m", timeout=0.1, attempts=5, backoff=0.0)
        asking = LlmClient(model, cache=ModelCache(tmp_path / "k"), price=DEAR, max_cost=6.0)
        reply = asking.ask(Request("", "number", max_tokens=10))
        sent = server.server.arrived(2)
    assert "the limit of $6" in reply.reason
    assert sent == asking.spent.lost == 2  # one may cost 2.36
    assert asking.spent.unasked == 1
    assert 2 < (asking.spent.money or 0) <= 6
    assert asking.spent.is_estimated


@pytest.mark.parametrize("usage", [{"prompt_tokens": 40, "completion_tokens": 30}, None])
def test_an_answer_of_no_use_is_paid_for(usage: Any, tmp_path: Path) -> None:
    with chat_server(lambda payload: (200, {"choices": [], "usage": usage})) as server:
        asking = client(server, tmp_path, price=DEAR, max_cost=5.0)
        replies = asking.ask_all([Request("", f"{n}", max_tokens=10) for n in range(9)])
        assert 0 < len(server.requests) == asking.spent.lost <= 3
    assert all("without a message" in each.reason or "limit" in each.reason for each in replies)
    if usage:
        assert asking.spent.money == pytest.approx(asking.spent.lost * (0.4 + 3.0))


def test_a_host_that_was_never_reached_costs_nothing(tmp_path: Path) -> None:
    with chat_server(lambda payload: "x") as server:
        url = server.url
    model = EndpointModel(url, "m", attempts=2, backoff=0.0)
    asking = LlmClient(model, cache=ModelCache(tmp_path / "k"), price=DEAR, max_cost=9.0)
    with pytest.raises(ChunkwiseError, match="ConnectError"):
        asking.ask(Request("", "q", max_tokens=1))
    assert (asking.spent.lost, asking.spent.money) == (0, 0.0)


def test_one_limit_for_two_clients(tmp_path: Path) -> None:
    with chat_server(lambda payload: "word " * payload["max_tokens"]) as server:
        budget = LlmBudget(5.0)
        both = [client(server, tmp_path / name, price=DEAR, budget=budget) for name in "ab"]
        for each in both:
            each.ask_all([Request("", f"number {n}", max_tokens=10) for n in range(9)])
    assert sum(each.spent.money or 0 for each in both) <= 5.0
    assert both[1].spent.unasked == 9


def test_a_server_is_not_free_for_what_it_calls_its_model(tmp_path: Path) -> None:
    asking = LlmClient(EndpointModel("https://paid.example/v1", "local"))
    assert asking.price is None
    with pytest.raises(InvalidParameter, match=r"paid\.example.*--price"):
        LlmClient(EndpointModel("https://paid.example/v1", "local"), max_cost=1.0)


def test_time_is_not_divided_by_more_than_a_model_does_at_once(tmp_path: Path) -> None:
    class OneByOne:
        identity, price_name, window, concurrency = "one", "local", None, 1
        speed = (10.0, 10.0)

        def complete(self, request: Request, stop: object = None) -> Completion:
            raise AssertionError

    requests = [Request("", f"{n}", max_tokens=100) for n in range(8)]
    one = LlmClient(OneByOne(), cache=ModelCache(tmp_path / "k"))
    four = LlmClient(OneByOne(), cache=ModelCache(tmp_path / "k"), concurrency=4)
    assert four.estimate(requests).seconds == pytest.approx(one.estimate(requests).seconds / 4)  # type: ignore[operator]
    assert four.estimate(requests, 2).seconds == pytest.approx(one.estimate(requests).seconds / 2)  # type: ignore[operator]
    OneByOne.most_at_once = 1  # type: ignore[attr-defined]
    bound = LlmClient(OneByOne(), cache=ModelCache(tmp_path / "k"), concurrency=4)
    assert bound.concurrency == 1
    assert bound.estimate(requests).seconds == one.estimate(requests).seconds


def test_what_is_kept_costs_nothing(tmp_path: Path) -> None:
    with chat_server(lambda payload: "x") as server:
        client(server, tmp_path, price=DEAR).ask(Request("", "q"))
        assert client(server, tmp_path, price=DEAR, max_cost=0.0).ask(Request("", "q")).is_kept


def test_a_free_model_has_no_limit(tmp_path: Path) -> None:
    with chat_server(lambda payload: "x") as server:
        asking = client(server, tmp_path, price=Price(0, 0), max_cost=0.0)
        assert asking.ask(Request("", "q")).is_answered


def test_an_estimate_sends_nothing_and_counts_what_is_new_once(tmp_path: Path) -> None:
    with chat_server(lambda payload: "x") as server:
        asking = client(server, tmp_path, price=Price(1.0, 2.0))
        requests = [Request("s", "one", max_tokens=100), Request("s", "two", max_tokens=100)]
        asking.ask(requests[0])
        told = asking.estimate([*requests, requests[1]])
        assert len(server.requests) == 1
    assert (told.calls, told.kept, told.output_tokens) == (1, 2, 100)
    assert told.money == pytest.approx((told.prompt_tokens + 200) / 1e6)
    assert told.seconds is not None
    assert told + told == LlmEstimate(
        2, 4, 2 * told.prompt_tokens, 200, 2 * (told.money or 0), 2 * told.seconds
    )
    assert (told + LlmEstimate(1, 0, 1, 1, None, None)).money is None


@given(st.lists(st.floats(0.01, 5.0), min_size=1, max_size=12), st.floats(0.0, 10.0))
def test_a_budget_waits_for_what_is_under_way_and_holds(costs: list[float], limit: float) -> None:
    budget, paid, lock = LlmBudget(limit), [0.0], threading.Lock()

    def work(most: float) -> None:
        try:
            with budget.aside(most):
                budget.pay(most / 2)
                with lock:
                    paid[0] += most / 2
        except LimitReached:
            pass

    threads = [threading.Thread(target=work, args=(most,)) for most in costs]
    for each in threads:
        each.start()
    for each in threads:
        each.join(10)
        assert not each.is_alive()
    assert paid[0] <= limit
    if sum(costs) <= limit:
        assert paid[0] == pytest.approx(sum(costs) / 2)


def test_a_failed_request_gives_its_money_back() -> None:
    budget = LlmBudget(1.0)
    for _ in range(5):
        with pytest.raises(KeyError), budget.aside(1.0):
            raise KeyError
    with budget.aside(1.0):
        pass


def test_prices_are_found_by_name_and_date_only() -> None:
    assert price_of("local") == Price(0, 0)
    assert price_of("gpt-4o-mini") == price_of("gpt-4o-mini-2024-07-18") == Price(0.15, 0.60)
    assert price_of("gpt-4o-audio-preview") is None
    assert price_of("") is None


def test_a_table_of_ones_own_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "prices.toml"
    monkeypatch.setenv("CHUNKWISE_PRICES", str(table))
    table.write_text('[prices]\n"gpt-4o" = [1, 2]\n"mine" = [3, 4.5]\n')
    assert price_of("gpt-4o") == Price(1, 2)
    assert price_of("mine") == Price(3, 4.5)
    assert price_of("gpt-4.1") == Price(2, 8)


@pytest.mark.parametrize("wrong", ["[prices", '[prices]\nx = 3', '[prices]\nx = [1]', '[prices]\nx = [-1, 2]',
                                   '[prices]\nx = [nan, 2]', '[prices]\nx = ["a", 2]', "prices = 3"])  # fmt: skip
def test_a_table_that_cannot_be_read_is_told(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(wrong)
    monkeypatch.setenv("CHUNKWISE_PRICES", str(table))
    with pytest.raises(ChunkwiseError, match=r"prices\.toml cannot be read"):
        price_of("x")
    table.unlink()
    with pytest.raises(ChunkwiseError, match="cannot be read"):
        price_of("x")


@cases("wrong", ["", "1", "1/2/3", "a/b", "-1/2", "nan/1", "1/inf", "0.15"])
def test_a_price_is_in_and_out(wrong: str) -> None:
    assert parse_price("0.15/0.60") == Price(0.15, 0.60)
    with pytest.raises(InvalidParameter, match=r"0\.15/0\.60"):
        parse_price(wrong)


def test_the_worst_case_is_no_less_than_any_tokenizer_counts(tmp_path: Path) -> None:
    """A model that makes a token of every byte, and writes all it may, stays within the limit."""

    class Bytes:
        identity, price_name, window, concurrency = "bytes", "local", None, 4

        def complete(self, request: Request, stop: object = None) -> Completion:
            read = len(f"{request.system}{request.user}".encode())
            return Completion("x" * request.max_tokens, read, request.max_tokens)

    asking = LlmClient(Bytes(), cache=ModelCache(tmp_path / "k"), price=DEAR, max_cost=40.0)
    replies = asking.ask_all([Request("", f"日本語 {n}" * 9, max_tokens=20) for n in range(30)])
    assert 0 < (asking.spent.money or 0) <= 40.0
    assert any(each.is_answered for each in replies)
