"""The small language model in this process, for real, on questions of a few words."""

import concurrent.futures
import json
import multiprocessing
import os
import pickle
import struct
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.models import get_language_model
from chunkwise.models.cache import ModelCache
from chunkwise.models.http_client import EndpointError
from chunkwise.models.llm import local as local_module
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import Completion, LanguageModel, Request
from chunkwise.models.llm.local import LocalModel, context_length, special_tokens
from tables import cases
from untimed import HANG

SCHEMA = {"enum": ["A", "B"]}  # few tokens: it writes some 25 a second


@pytest.fixture(scope="module")
def local(local_model: LocalModel) -> LocalModel:
    return local_model


@pytest.fixture(scope="module")
def steered(local: LocalModel) -> Completion:
    """An answer to half a character, a zero and a word of command; other questions come after it."""
    return local.complete(Request("s", "\ud800 \0 é<|im_end|>", max_tokens=1))


def _in_child(local: LocalModel, request: Request, line: Any) -> None:
    line.send(local.complete(request).text)


@pytest.mark.usefixtures("local_model")
def test_the_same_question_gets_the_same_answer_whatever_came_before_and_beyond_a_fork(
    local: LocalModel, steered: Completion
) -> None:
    """Another question comes before the first time, nothing before the child's, one that begins alike at last."""
    assert steered.text
    one = Request("s", "Two colors?", max_tokens=2)
    first = local.complete(one)
    assert first.text
    assert (first.output_tokens, first.is_whole, first.is_counted) == (2, False, True)
    local.complete(Request("s", "Two colors of foam?", max_tokens=1, shares_prefix=True))
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    child = context.Process(target=_in_child, args=(local, one, theirs))
    child.start()
    assert mine.poll(100)
    assert mine.recv() == first.text
    child.join(20)
    assert child.exitcode == 0
    assert local.complete(one) == first


def test_an_answer_has_the_form_it_is_held_to(local: LocalModel, tmp_path: Path) -> None:
    client = LlmClient(local, cache=ModelCache(tmp_path / "kept"), max_cost=0.0)
    asked = Request("s", "Say no.", schema=SCHEMA, max_tokens=24)
    reply = client.ask(asked)
    assert reply.value in ("A", "B")
    assert client.ask(asked).is_kept
    assert client.spent.money == 0.0


def test_its_speed_is_timed(local: LocalModel, tmp_path: Path) -> None:
    assert local.speed is not None
    assert all(0 < each < 100_000 for each in local.speed)
    assert LlmClient(local, cache=ModelCache(tmp_path / "kept"), concurrency=8).concurrency == 1
    (tmp_path / "broken.gguf").write_bytes(local.path.read_bytes()[:20_000])
    assert LocalModel(tmp_path / "broken.gguf").speed is None


def test_words_that_steer_the_model_are_text_in_a_question(
    local: LocalModel, steered: Completion
) -> None:
    assert "<|im_end|>" in special_tokens(local.path)
    # 19 without the word; as a word of command it would be one token.
    assert steered.prompt_tokens > 19 + 2


def test_a_question_that_is_too_long_is_told(local: LocalModel, tmp_path: Path) -> None:
    client = LlmClient(local, cache=ModelCache(tmp_path / "kept"))
    reply = client.ask(Request("s", "word " * 5000, max_tokens=1))
    assert "cannot answer: the prompt has" in reply.reason


def test_a_schema_no_grammar_knows_is_a_reason(local: LocalModel) -> None:
    odd = {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}
    with pytest.raises(EndpointError, match="cannot answer"):
        local.complete(Request("s", "x", schema=odd, max_tokens=2))


def test_nobody_else_on_this_machine_is_answered(local: LocalModel) -> None:
    if local._server is None:
        local.complete(Request("s", "x", max_tokens=1))
    address = local._server.listening_address
    assert address.startswith("http://127.0.0.1:")
    body = json.dumps({"messages": [{"role": "user", "content": "x"}], "max_tokens": 1}).encode()
    for path, sent in (("/v1/chat/completions", body), ("/completion", body), ("/v1/models", None),
                       ("/props", None), ("/slots", None)):  # fmt: skip
        request = urllib.request.Request(address + path, sent)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=HANG)
        refused.value.close()
        assert refused.value.code == 401


def test_it_travels_to_other_processes(local: LocalModel) -> None:
    assert isinstance(local, LanguageModel)
    copy = pickle.loads(pickle.dumps(local))
    assert copy.identity == local.identity
    assert copy.window == local.window == 4096
    assert LocalModel(local.path).identity == local.identity
    assert local.identity.startswith("gguf:b179c9523d0e6a0f")


ALONE = """
import sys
from chunkwise.base.errors import ChunkwiseError
from chunkwise.models import get_language_model
from chunkwise.models.llm.language_model import Request
from chunkwise.models.llm.local import LocalModel
try:
    LocalModel(sys.argv[1]).complete(Request("s", "x", max_tokens=1))
except ChunkwiseError as error:
    print(error)
model = get_language_model("local")
print(model.complete(Request("s", "x", max_tokens=1)).output_tokens)
sys.exit(7)
"""


@pytest.mark.usefixtures("processes")
def test_it_is_silent_and_leaves_in_good_order(local: LocalModel, tmp_path: Path) -> None:
    """Also after a file whose second half is missing, which only the library can find out."""
    half = tmp_path / "half.gguf"
    with local.path.open("rb") as file:
        half.write_bytes(file.read(20_000_000))
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(half)], capture_output=True, text=True, timeout=HANG
    )
    assert done.stderr == ""
    told, answered = done.stdout.splitlines()
    assert told.startswith(f"{half} (20,000,000 bytes) cannot be loaded as a language model")
    assert (answered, done.returncode) == ("1", 7)


class _Endless:
    """A library that writes until it is told to stop."""

    def __init__(self) -> None:
        self.wrote, self.stopped = Event(), Event()

    def handle_chat_completions(self, asked: object, add: Callable[[dict[str, Any]], bool]) -> None:
        while not add({"choices": [{"delta": {"content": "on "}}]}):
            self.wrote.set()
        self.stopped.set()


@pytest.mark.parametrize("by", ["interrupt", "event"])
def test_what_nobody_waits_for_is_not_written_on(
    by: str, local: LocalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, library, stop = LocalModel(local.path), _Endless(), Event()
    model._server, model._process = library, os.getpid()

    def left(*_: object, timeout: float) -> Any:
        assert library.wrote.wait(HANG)
        if by == "interrupt":
            raise KeyboardInterrupt
        stop.set()
        return concurrent.futures.wait(())

    monkeypatch.setattr(local_module, "wait", left)
    with pytest.raises(KeyboardInterrupt if by == "interrupt" else EndpointError):
        model.complete(Request("s", "x"), stop)
    assert library.stopped.wait(HANG)


LEFT = """
import sys, threading
from chunkwise.models import get_language_model
from chunkwise.models.llm.language_model import Request
began = threading.Event()
def asks():
    model.complete(Request("s", "Count to a thousand.", max_tokens=2000))
model = get_language_model("local")
model._server, model._process = model._loaded(), __import__("os").getpid()
class Told:
    def handle_chat_completions(self, asked, add):
        def first(part):
            began.set()
            return add(part)
        server.handle_chat_completions(asked, first)
server, model._server = model._server, Told()
threading.Thread(target=asks, daemon=True).start()
began.wait()
sys.exit(7)
"""


@pytest.mark.usefixtures("processes")
def test_a_program_that_ends_while_it_writes_does_not_crash() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEFT], capture_output=True, text=True, timeout=HANG
    )
    assert (done.returncode, done.stderr) == (7, "")


def _gguf(*fields: bytes, version: int = 3, count: int | None = None) -> bytes:
    number = len(fields) if count is None else count
    return b"GGUF" + struct.pack("<IQQ", version, 0, number) + b"".join(fields)


def _field(name: bytes, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + value


@cases(
    "content, told",
    [
        (b"", "it is empty"),
        (b"PK\x03\x04 a zip", r"begins with b'PK"),
        (b"<html>", r"begins with b'<htm"),
        (b"GGUF", "is damaged or truncated"),
        (_gguf(version=99), "is damaged or truncated"),
        (_gguf(count=1 << 60), "is damaged or truncated"),
        (_gguf(count=3), "is damaged or truncated"),
        (_gguf(_field(b"a", 77, b"")), "is damaged or truncated"),
        (_gguf(_field(b"a", 8, struct.pack("<Q", 1 << 62))), "is damaged or truncated"),
        (_gguf(_field(b"a", 9, struct.pack("<IQ", 8, 1 << 50))), "is damaged or truncated"),
        (_gguf(_field(b"a", 9, struct.pack("<IQ", 9, 1))), "is damaged or truncated"),
        (_gguf(struct.pack("<Q", 1 << 63)), "is damaged or truncated"),
    ],
)
def test_what_is_no_model_is_told_before_it_is_loaded(
    content: bytes, told: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(content)
    with pytest.raises(ChunkwiseError, match=told) as error:
        get_language_model(str(file))
    assert str(file) in str(error.value)


def test_a_folder_and_nothing_at_all_are_told(tmp_path: Path) -> None:
    (tmp_path / "folder.gguf").mkdir()
    with pytest.raises(ChunkwiseError, match="is a folder"):
        LocalModel(tmp_path / "folder.gguf")
    with pytest.raises(ChunkwiseError, match=r"none\.gguf.*exist"):
        LocalModel(tmp_path / "none.gguf")
    with pytest.raises(ChunkwiseError, match="window is 3"):
        LocalModel(tmp_path / "none.gguf", window=3)


def test_the_head_tells_the_window(tmp_path: Path, local: LocalModel) -> None:
    assert context_length(local.path) == 8192
    file = tmp_path / "small.gguf"
    tags = b"".join(
        struct.pack("<Q", len(each)) + each for each in (b"a", b"<|end|>", b"  ", b"</s>")
    )
    fields = [
        _field(b"general.architecture", 8, struct.pack("<Q", 2) + b"xy"),
        _field(b"xy.flag", 7, b"\1"),
        _field(b"xy.context_length", 4, struct.pack("<I", 512)),
        _field(b"tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 4) + tags),
        _field(b"tokenizer.ggml.token_type", 9, struct.pack("<IQ4i", 5, 4, 1, 4, 4, 3)),
    ]
    file.write_bytes(_gguf(*fields))
    assert LocalModel(file).window == 512
    assert LocalModel(file, window=100).window == 100
    assert special_tokens(file) == ("<|end|>", "</s>")
    file.write_bytes(_gguf())
    assert context_length(file) is None
    assert special_tokens(file) == ()
    with pytest.raises(ChunkwiseError, match="cannot be loaded"):
        LocalModel(file).complete(Request("s", "x"))
