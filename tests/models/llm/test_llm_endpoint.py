"""A chat endpoint as servers really are: other spellings, other ways to ask for JSON, thoughts, refusals, keys."""

import json
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.models import get_language_model
from chunkwise.models.cache import ModelCache
from chunkwise.models.http_client import EndpointError
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.endpoint import EndpointModel
from chunkwise.models.llm.language_model import LanguageModel, Request, read_completion
from models.chat_server import ChatServer, asked, chat_server, completion
from models.endpoint_server import Answer
from tables import cases
from untimed import HANG

SCHEMA = {
    "type": "object",
    "properties": {"label": {"enum": ["yes", "no"]}},
    "required": ["label"],
    "additionalProperties": False,
}
KEY = "sk-veryverysecret0123456789"


def model(server: ChatServer, **more: Any) -> EndpointModel:
    return EndpointModel(server.url, "tester", **{"backoff": 0.0, **more})


def client(server: ChatServer, folder: Path, **more: Any) -> LlmClient:
    return LlmClient(model(server), cache=ModelCache(folder / "kept.sqlite"), **more)


def said(status: int, message: str) -> tuple[int, Any]:
    return status, {"error": {"message": message, "type": "invalid_request_error"}}


def test_is_a_language_model() -> None:
    made = EndpointModel("http://localhost:1/v1", "m")
    assert isinstance(made, LanguageModel)
    assert pickle.loads(pickle.dumps(made)).identity == made.identity


def test_a_name_says_where_the_model_is(tmp_path: Path) -> None:
    named = get_language_model("http://localhost:8080/v1#model.gguf")
    assert named.identity == "endpoint:localhost:8080/v1/chat/completions#'model.gguf'"
    assert (
        get_language_model("openai:x").identity == "endpoint:api.openai.com/v1/chat/completions#'x'"
    )
    assert get_language_model(named) is named
    with pytest.raises(InvalidParameter, match="has no model; expected"):
        get_language_model("http://localhost:8080/v1")
    with pytest.raises(InvalidParameter, match="environment variable"):
        get_language_model(f"https://x:{KEY}@host/v1#m")
    with pytest.raises(UnknownName, match="did you mean openai:NAME"):
        get_language_model("openai:")
    for wrong in ("gpt-4o", ""):
        with pytest.raises(UnknownName, match="known: local"):
            get_language_model(wrong)
    with pytest.raises(InvalidParameter, match="concurrency is 0"):
        EndpointModel("http://localhost/v1", "m", concurrency=0)
    with pytest.raises(InvalidParameter, match="model name"):
        EndpointModel("http://localhost/v1", "")
    own = tmp_path / "mine.py"
    own.write_text(
        "class Mine:\n    identity = 'mine:1'\n    price_name, window, concurrency = 'local', None, 1\n"
        "    def complete(self, request, stop=None): ...\n"
    )
    assert get_language_model(f"{own}:Mine").identity == "mine:1"


def test_a_key_that_is_needed_and_not_set_is_told_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    asking = LlmClient(get_language_model("openai:x"), cache=ModelCache(tmp_path / "kept"))
    with pytest.raises(EndpointError, match="export OPENAI_API_KEY"):
        asking.ask_all([Request("", "a"), Request("", "b")])


@cases("refused", [0, 1, 2])
def test_json_is_asked_for_as_strictly_as_the_server_takes_it(refused: int, tmp_path: Path) -> None:
    forms = ["json_schema", "json_object", None]

    def rule(payload: dict[str, Any]) -> Any:
        form = payload.get("response_format", {}).get("type")
        if forms.index(form) < refused:
            return said(400, f"'response_format.type' {form} is not supported")
        return '{"label": "yes"}'

    with chat_server(rule) as server:
        asking = client(server, tmp_path)
        replies = [asking.ask(Request("", f"{n}?", schema=SCHEMA)) for n in range(3)]
        assert [each.value for each in replies] == [{"label": "yes"}] * 3
        # The refusals are met once; what was learnt holds for the others.
        assert len(server.requests) == 3 + refused
        last = server.requests[-1]
        assert last.get("response_format", {}).get("type") == forms[refused]
        if not refused:
            assert last["response_format"]["json_schema"]["schema"] == SCHEMA
        else:
            assert json.dumps(SCHEMA) in asked(last)


def test_a_schema_that_is_not_taken_does_not_loosen_the_others(tmp_path: Path) -> None:
    odd = {**SCHEMA, "title": "odd"}

    def rule(payload: dict[str, Any]) -> Any:
        form = payload.get("response_format", {})
        if form.get("json_schema", {}).get("schema") == odd:
            return said(400, "Invalid schema for response_format 'answer'")
        return '{"label": "no"}'

    with chat_server(rule) as server:
        asking = client(server, tmp_path)
        assert asking.ask(Request("", "a", schema=odd)).value == {"label": "no"}
        assert asking.ask(Request("", "b", schema=SCHEMA)).is_answered
        assert server.requests[-1]["response_format"]["type"] == "json_schema"
        assert asking.ask(Request("", "c", schema=odd)).is_answered
        assert len(server.requests) == 4


def test_threads_that_are_refused_at_once_take_one_step_only(tmp_path: Path) -> None:
    gate = threading.Barrier(4)

    def rule(payload: dict[str, Any]) -> Any:
        if payload["response_format"]["type"] == "json_schema":
            gate.wait(HANG)
            return said(400, "response_format json_schema is not supported")
        return '{"label": "yes"}'

    with chat_server(rule) as server:
        asking = client(server, tmp_path, concurrency=4)
        replies = asking.ask_all([Request("", f"{n}", schema=SCHEMA) for n in range(4)])
        assert all(each.is_answered for each in replies)
        assert {each["response_format"]["type"] for each in server.requests[4:]} == {"json_object"}


def test_newer_models_want_other_words(tmp_path: Path) -> None:
    def rule(payload: dict[str, Any]) -> Any:
        if "max_tokens" in payload:
            return said(
                400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            )
        if "temperature" in payload:
            return said(
                400, "Unsupported value: 'temperature' does not support 0.0 with this model."
            )
        return "fine"

    with chat_server(rule) as server:
        asking = client(server, tmp_path)
        assert asking.ask(Request("", "one", max_tokens=77)).value == "fine"
        assert server.requests[-1]["max_completion_tokens"] == 77
        assert asking.ask(Request("", "two")).value == "fine"
        assert len(server.requests) == 4
        assert "max_tokens" not in server.requests[-1]
        assert "temperature" not in server.requests[-1]


def test_a_refusal_of_the_request_itself_is_no_endless_loop(tmp_path: Path) -> None:
    with chat_server(lambda payload: said(400, "temperature max_tokens response_format")) as server:
        with pytest.raises(EndpointError, match="answered 400"):
            model(server).complete(Request("", "hm", schema=SCHEMA))
        assert len(server.requests) <= 6


@cases(
    "wrote, text",
    [
        ('<think>it is yes, {"label": "no"}</think>\n\n{"label": "yes"}', '{"label": "yes"}'),
        ("\n<think>\n\n</think>fine", "fine"),
        ("<think>never ends", ""),
        ("say <think> and </think> as they are", "say <think> and </think> as they are"),
        ([{"type": "text", "text": "in "}, {"type": "text", "text": "parts"}], "in parts"),
        (None, ""),
    ],
)
def test_thoughts_are_no_part_of_the_answer(wrote: Any, text: str) -> None:
    answer = {"choices": [{"message": {"content": wrote, "reasoning_content": "hm"}}]}
    assert read_completion(answer, "here").text == text


@cases(
    "answer",
    [None, [], {}, {"choices": []}, {"choices": [{}]}, {"choices": [None]}, {"choices": [{"message": "x"}]},
     {"choices": [{"message": {"role": "assistant"}}]}, {"error": "no"}, "text"],
)  # fmt: skip
def test_what_is_no_completion_is_told(answer: Any) -> None:
    with pytest.raises(EndpointError, match="without a message"):
        read_completion(answer, "here")


@cases("usage", [None, "x", {}, {"prompt_tokens": -1, "completion_tokens": 2},
                                   {"prompt_tokens": True, "completion_tokens": 1},
                                   {"prompt_tokens": 0, "completion_tokens": 0}])  # fmt: skip
def test_tokens_nobody_counted_are_not_taken_for_none(usage: Any) -> None:
    answer = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    assert not read_completion(answer, "here").is_counted


def test_a_refusal_is_a_reason(tmp_path: Path) -> None:
    def rule(payload: dict[str, Any]) -> Any:
        return Answer(completion(None, payload, refusal="I will not read that."))

    with chat_server(rule) as server:
        asking = client(server, tmp_path)
        reply = asking.ask(Request("", "x", schema=SCHEMA))
        assert not reply.is_answered
        assert "I will not read that." in reply.reason
        assert len(server.requests) == 1
        assert asking.spent.calls == asking.spent.failed == 1
        assert not asking.ask(Request("", "x", schema=SCHEMA)).is_kept


def test_a_content_filter_is_a_reason(tmp_path: Path) -> None:
    def rule(payload: dict[str, Any]) -> Any:
        body = completion("half an", payload)
        body["choices"][0]["finish_reason"] = "content_filter"
        return Answer(body)

    with chat_server(rule) as server:
        assert "content filter" in client(server, tmp_path).ask(Request("", "x")).reason


@cases("wait", ["0.05", "Sun, 06 Nov 1994 08:49:37 GMT", "nonsense"])
def test_a_rate_limit_that_ends_is_waited_for(wait: str, tmp_path: Path) -> None:
    turns = iter([429, 503, 429])

    def rule(payload: dict[str, Any]) -> Any:
        status = next(turns, 200)
        return (
            Answer({"error": "slow down"}, status, {"Retry-After": wait})
            if status != 200
            else "well"
        )

    with chat_server(rule) as server:
        assert client(server, tmp_path).ask(Request("", "x")).value == "well"
        assert len(server.requests) == 4


def test_a_server_that_hangs_is_given_up(tmp_path: Path) -> None:
    with chat_server(lambda payload: Answer(hang=True)) as server:
        slow = model(server, timeout=0.1, attempts=2)
        with pytest.raises(EndpointError, match=r"did not answer within 0\.1 s"):
            LlmClient(slow, cache=ModelCache(tmp_path / "k")).ask(Request("", "x"))
        assert server.server.arrived(2) == 2


def test_the_key_is_in_the_header_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setenv("CHUNKWISE_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    turns = iter(
        [
            f"your key is {KEY}",
            Answer(None, 400, {}),
            Answer({"error": f"bad: {KEY}, Bearer {KEY[:12]}"}, 400),
            Answer({"odd": KEY}),
            Answer({"choices": [{"message": {"refusal": f"no, {KEY}", "content": None}}]}),
        ]
    )
    with chat_server(lambda payload: next(turns)) as server:
        asking = client(server, tmp_path)
        replies = [asking.ask(Request("", f"{n}")) for n in range(5)]
        assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
        shown = [repr(replies), repr(asking.model), repr(asking.spent), asking.identity]
        shown += [repr(vars(asking)), repr(vars(asking.model)), repr(pickle.dumps(asking.model))]
        shown += [str(each.message) for each in recwarn.list]
    assert sum(each.is_answered for each in replies) == 1
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"your key is" in written
    for everything in (" ".join(shown), written.decode("latin-1")):
        assert KEY[:10] not in everything
    with pytest.raises(EndpointError) as raised, chat_server(lambda payload: (401, KEY)) as server:
        client(server, tmp_path).ask(Request("", "x"))
    assert KEY[:10] not in repr(raised.value) + str(raised.value)
    assert os.environ["CHUNKWISE_API_KEY"] == KEY


STEERING = ["<|im_end|>", "<|im_start|>", "<|eot_id|>", "<｜User｜>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>",
            "<s>", "</s>", "<start_of_turn>", "<end_of_turn>", "<|endoftext|>"]  # fmt: skip


@cases("word", STEERING)
def test_words_that_steer_a_model_reach_no_server(word: str) -> None:
    from chunkwise.text.find_passages import same_but_for_signs

    text = f"He wrote {word}system in the book."
    with chat_server(lambda payload: "x") as server:
        EndpointModel(server.url, "m").complete(Request(text, text))
        for message in server.requests[0]["messages"]:
            assert word not in message["content"]
            # A quote with it is found in the document all the same.
            assert same_but_for_signs(message["content"], text)


@cases("text", ["a <| b |> c", "x <b>y</b>", "list[INT]", "<strong>", "1 < 2 | 3 > 1"])
def test_other_words_are_sent_as_they_are(text: str) -> None:
    with chat_server(lambda payload: "x") as server:
        EndpointModel(server.url, "m").complete(Request("", text))
        assert server.requests[0]["messages"][0]["content"] == text
