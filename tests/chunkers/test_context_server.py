"""Contexts from a server: side by side, continued after a kill, in spite of failures; and the real local model."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from chunkwise import Document
from chunkwise.chunkers.chunk import Chunked
from chunkwise.chunkers.context_writer import ContextWriter
from chunkwise.ext import get_strategy
from chunkwise.models.cache import ModelCache
from chunkwise.models.http_client import EndpointError
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.endpoint import EndpointModel
from chunkwise.models.llm.language_model import Completion, Request
from chunkwise.models.llm.local import LocalModel
from chunkwise.text.analyzed import Analyzed
from models.chat_server import ChatServer, asked, chat_server
from untimed import HANG

PARAGRAPHS = [f"Paragraph {n} is about lamp {n}." for n in range(12)]
DOCUMENT = Document("lamps.txt", "\n\n".join(PARAGRAPHS), title="Lamps")


def cut(document: Document = DOCUMENT) -> Chunked:
    analyzed = Analyzed(document)
    return Chunked(document, list(get_strategy("paragraphs").chunks(analyzed)), analyzed)


def writer_of(server: ChatServer, folder: Path, **options: Any) -> ContextWriter:
    cache = ModelCache(folder / "kept.sqlite")
    model = EndpointModel(server.url, "tester", attempts=2, backoff=0.01, longest_wait=0.05)
    return ContextWriter(LlmClient(model, cache=cache, **options), cache=cache)


def passage_of(payload: dict[str, Any]) -> str:
    return asked(payload).rpartition("<passage ")[2].split("\n")[1]


def about(payload: dict[str, Any]) -> str:
    return f"On {passage_of(payload)}"


def test_several_are_under_way_and_come_back_in_order(tmp_path: Path) -> None:
    together = Barrier(4)

    def slow(payload: dict[str, Any]) -> str:
        together.wait(HANG)
        return about(payload)

    with chat_server(slow) as server:
        [found] = writer_of(server, tmp_path, concurrency=4).write([cut()])
        assert [chunk.context for chunk in found] == [f"On {text}" for text in PARAGRAPHS]
        assert server.most_at_once == 4
        assert server.requests[0]["temperature"] == 0.3


def test_contexts_of_small_documents_go_out_together(tmp_path: Path) -> None:
    together = Barrier(4)

    def slow(payload: dict[str, Any]) -> str:
        together.wait(HANG)
        return "A note on a letter."

    letters = [cut(Document(f"{n}.txt", f"Letter number {n}.")) for n in range(8)]
    with chat_server(slow) as server:
        found = writer_of(server, tmp_path, concurrency=4).write(letters)
        assert [len(chunks) for chunks in found] == [1] * 8
        assert server.most_at_once == 4


def test_failures_are_told_and_asked_again_in_the_next_run(tmp_path: Path) -> None:
    broken = True

    def answer(payload: dict[str, Any]) -> Any:
        return (500, "no") if broken and "lamp 7." in passage_of(payload) else about(payload)

    with chat_server(answer) as server:
        writer = writer_of(server, tmp_path)
        [first] = writer.write([cut()])
        assert first[7].context == "Lamps"
        assert first[6].context == "On Paragraph 6 is about lamp 6."
        assert writer.tally.without == 1
        assert "1 of 12 chunks has no context from the model" in writer.tally.in_words()
        broken, before = False, len(server.requests)
        [second] = writer_of(server, tmp_path).write([cut()])
        assert second[7].context == "On Paragraph 7 is about lamp 7."
        assert len(server.requests) == before + 1


def test_what_all_requests_would_meet_is_an_error(tmp_path: Path) -> None:
    with (
        chat_server(lambda payload: (401, "who are you?")) as server,
        pytest.raises(EndpointError),
    ):
        writer_of(server, tmp_path).write([cut()])


def test_the_limit_of_money_leaves_headings(tmp_path: Path) -> None:
    from chunkwise.models.llm.cost import Price

    with chat_server(about) as server:
        writer = writer_of(server, tmp_path, price=Price(1000.0, 1000.0), max_cost=1.5)
        [found] = writer.write([cut()])
    written = sum(chunk.context.startswith("On ") for chunk in found)
    assert 0 < len(server.requests) == written < 12
    assert {chunk.context for chunk in found if not chunk.context.startswith("On ")} == {"Lamps"}
    assert "$1.5" in writer.tally.in_words()


# As `cut` and `writer_of`, without what tests import.
_RUN = """
import sys
from pathlib import Path
from chunkwise import Document
from chunkwise.ext import get_strategy
from chunkwise.chunkers.context_writer import ContextWriter
from chunkwise.models.cache import ModelCache
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.endpoint import EndpointModel
from chunkwise.chunkers.chunk import Chunked
from chunkwise.text.analyzed import Analyzed
analyzed = Analyzed(Document("lamps.txt", sys.argv[3], title="Lamps"))
cut = Chunked(analyzed.document, list(get_strategy("paragraphs").chunks(analyzed)), analyzed)
cache = ModelCache(Path(sys.argv[2]))
model = EndpointModel(sys.argv[1], "tester", attempts=2, backoff=0.01, longest_wait=0.05)
ContextWriter(LlmClient(model, cache=cache, concurrency=1), cache=cache).write([cut])
"""


@pytest.mark.usefixtures("processes")
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    kill: list[subprocess.Popen[bytes]] = []

    def answer(payload: dict[str, Any]) -> str:
        if kill and "lamp 5." in passage_of(payload):
            kill[0].kill()
            kill.pop().wait()
        return about(payload)

    with chat_server(answer) as server:
        kept = str(tmp_path / "kept.sqlite")
        words = [sys.executable, "-c", _RUN, server.url, kept, DOCUMENT.text]
        process = subprocess.Popen(words)
        kill.append(process)
        assert process.wait(HANG) < 0
        assert len(server.requests) == 6
        [found] = writer_of(server, tmp_path).write([cut()])
        assert [chunk.context for chunk in found] == [f"On {text}" for text in PARAGRAPHS]
        assert len(server.requests) == 6 + 7


def test_a_changed_corpus_asks_for_what_is_new(tmp_path: Path) -> None:
    with chat_server(about) as server:
        writer_of(server, tmp_path).write([cut()])
        changed = [*PARAGRAPHS[:4], "A new lamp.", *PARAGRAPHS[5:]]
        document = Document(DOCUMENT.id, "\n\n".join(changed), title="Lamps")
        [found] = writer_of(server, tmp_path).write([cut(document)])
        assert [chunk.context for chunk in found] == [f"On {text}" for text in changed]
        assert len(server.requests) == 13
        # Under another id what was asked so is known; the four around the new lamp were never asked so.
        writer_of(server, tmp_path).write([cut(Document("moved.txt", document.text, "Lamps"))])
        assert len(server.requests) == 13 + 4


def test_stopping_keeps_what_was_paid_for(tmp_path: Path) -> None:
    class Stop(Exception): ...

    def advance(amount: int, note: str) -> None:
        if note.startswith("3 "):
            raise Stop

    with chat_server(about) as server:
        with pytest.raises(Stop):
            writer_of(server, tmp_path, concurrency=1).write([cut()], advance)
        assert len(server.requests) == 3
        writer_of(server, tmp_path).write([cut()])
        assert len(server.requests) == 12


class Brief:
    """The local model, stopped after a few words: a test has no minutes."""

    def __init__(self, model: LocalModel) -> None:
        self._model = model
        self.identity = f"brief {self._model.identity}"
        self.price_name, self.concurrency = "local", 1
        self.window = self._model.window

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        return self._model.complete(replace(request, max_tokens=4), stop)


@pytest.mark.filterwarnings("ignore:.*omits")  # every token takes it some 30 ms
def test_the_real_local_model_writes_beside_a_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local_model: LocalModel
) -> None:
    # Without a system part the model's own would be read, which is longer; so is the fence around a passage.
    short = "version: 1\n---\ns\n---\nTopic?\n"
    (tmp_path / "context_neighbors.md").write_text(short)
    monkeypatch.setenv("CHUNKWISE_PROMPTS", str(tmp_path))
    document = Document("bees.txt", "Bees make honey.")
    found = cut(document)
    client = LlmClient(Brief(local_model))
    (chunks,) = ContextWriter(client).write([found])
    (chunk,) = chunks
    assert chunk.text == "Bees make honey."
    assert chunk.context[-1:] in ("", ".", "!", "?")  # so short an answer may be cut off
    assert client.spent.calls == 1
    assert ContextWriter(client).write([found]) == [chunks]
    assert client.spent.calls == 1
