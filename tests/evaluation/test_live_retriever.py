"""A user's own retriever asked live: every form of it, whatever it hands out, and whatever it does instead."""

import asyncio
import itertools
import json
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.base.allow_hosts_and_code_from_files import distrust, named_by_user
from chunkwise.base.errors import ChunkwiseError, InvalidParameter, NotAllowed, UnknownName
from chunkwise.core import Document, Query, Reference
from chunkwise.evaluation.live_answers import ask_live, hit_records
from chunkwise.evaluation.live_retriever import is_live, live_retriever
from chunkwise.evaluation.results import Results
from chunkwise.evaluation.scoring import Listeners
from chunkwise.options import IndexOptions, LiveOptions
from tables import cases

LAMP = Document("kb/lamp.md", "The lamp is lit at dusk. Write to the keeper. Good night.")
FISH = Document("kb/fish.md", "Salt the fish well. Leave it for a day.")
LIT, SALT = "The lamp is lit at dusk.", "Salt the fish well."
QUERIES = [
    Query("q1", "When is the lamp lit?", references=(Reference("kb/lamp.md", 0, len(LIT)),)),
    Query("q2", "What of the fish?", references=(Reference("kb/fish.md", 0, len(SALT)),)),
]
RIGHT = {QUERIES[0].text: LIT, QUERIES[1].text: SALT}


def evaluated(retriever: object, bad: list[str] | None = None, **settings: Any) -> Results:
    return chunkwise.evaluate(
        [LAMP, FISH],
        QUERIES,
        retriever=retriever,
        metrics="recall,mrr,ndcg,precision",
        k=3,
        **{"listeners": Listeners(on_bad=(bad if bad is not None else []).append), **settings},
    )


def texts(query: str) -> list[str]:
    return ["Good night.", RIGHT[query]]


async def awaited(query: str) -> list[str]:
    await asyncio.sleep(0)
    return texts(query)


def one_by_one(query: str) -> Iterator[str]:
    yield from texts(query)


def without_end(query: str) -> Iterator[str]:
    yield from texts(query)
    yield from itertools.repeat("Good night.")


async def async_one_by_one(query: str) -> AsyncIterator[str]:
    for text in texts(query):
        yield text


def in_a_record(query: str) -> dict[str, object]:
    return {
        "answer": "yes",
        "context": [{"page_content": text, "score": 0.5} for text in texts(query)],
    }


def spans(query: str, *, top_k: int = 4) -> list[tuple[str, int, int]]:
    assert top_k == 3
    wanted = LAMP if "lamp" in query else FISH
    return [("kb/lamp.md", 46, 57), (wanted.id, 0, len(RIGHT[query]))]


def scored(query: str) -> list[tuple[str, float]]:
    """By distance: what stands first is nearest, and its number is the smallest."""
    return [("Good night.", 0.1), (RIGHT[query], 0.7)]


class LangChainLike:
    def invoke(self, input: str, config: object = None, **kwargs: object) -> list[object]:
        assert not kwargs
        return [
            SimpleNamespace(page_content=text, metadata={"source": "/x/kb/y"}, id=None, type="Document")
            for text in texts(input)
        ]  # fmt: skip


class LlamaIndexLike:
    def retrieve(self, str_or_query_bundle: str) -> list[object]:
        return [
            SimpleNamespace(score=0.5, node=SimpleNamespace(
                get_content=lambda text=text: text, metadata={"file_path": ""}, start_char_idx=None,
                ref_doc_id="0f-uuid",
            ))
            for text in texts(str_or_query_bundle)
        ]  # fmt: skip


class HaystackLike:
    def run(self, *, query: str, top_k: int | None = None) -> dict[str, object]:
        return {
            "documents": [
                SimpleNamespace(content=text, meta={}, score=1.0) for text in texts(query)
            ]
        }


def object_hits(query: str) -> list[object]:
    index = chunkwise.index([LAMP, FISH], "sentences(max_tokens=10)", vectors="none")
    return [*index.search(query, retriever="bm25", k=1)]


FORMS: list[object] = [
    texts, awaited, one_by_one, without_end, async_one_by_one, in_a_record, spans, scored, LangChainLike(),
    LlamaIndexLike(), HaystackLike(),
]  # fmt: skip


@pytest.mark.usefixtures("large_inputs")
@cases("form", FORMS)
def test_every_form_is_asked_and_located(form: object) -> None:
    found = evaluated(form)
    assert [own.scores["recall@3"] for own in found.questions] == [1.0, 1.0]
    assert [own.scores["mrr@3"] for own in found.questions] == [0.5, 0.5]
    hits = found.questions[0].hits
    assert [(hit.doc_id, hit.rank) for hit in hits[:2]] == [("kb/lamp.md", 1), ("kb/lamp.md", 2)]
    # What needs an index of ours has no score, and says why.
    assert found.summary["ndcg@3"].mean is None
    assert "needs the chunks of an index" in found.questions[0].unscored["ndcg@3"]
    assert {"retriever_median", "retriever_p95", "retriever_slowest"} <= {*found.timing}
    assert found.configuration["retriever"]


def test_our_own_hits_keep_their_places() -> None:
    assert [own.scores["mrr@3"] for own in evaluated(object_hits).questions] == [1.0, 1.0]


def test_a_question_that_fails_has_no_score_and_the_others_go_on() -> None:
    def sometimes(query: str) -> list[str]:
        if "fish" in query:
            raise KeyError("no\nfish")
        return texts(query)

    bad: list[str] = []
    found = evaluated(sometimes, bad)
    assert found.questions[0].scores["recall@3"] == 1.0
    assert found.questions[1].scores["recall@3"] is None
    assert found.questions[1].unscored["recall@3"].startswith("KeyError: ")
    assert found.summary["recall@3"].unscored == {found.questions[1].unscored["recall@3"]: 1}
    assert len(bad) == 1
    assert "'q2'" in bad[0]
    assert "\n" not in bad[0]


@cases(
    "answer, told",
    [
        (None, "it returned None; expected a list of hits, which may be empty"),
        (7, "it returned int; expected a list of hits"),
        (object(), "it returned object; expected a list of hits"),
    ],
)
def test_what_is_no_answer_is_a_failure_of_the_question(answer: object, told: str) -> None:
    bad: list[str] = []
    found = evaluated(lambda query: texts(query) if "lamp" in query else answer, bad)
    assert told in found.questions[1].unscored["recall@3"]
    assert told in bad[0]


def test_a_hit_that_is_none_or_stands_nowhere_keeps_its_rank() -> None:
    bad: list[str] = []
    found = evaluated(lambda query: [3, "Nobody wrote this.", b"x", RIGHT[query]], bad)
    assert [own.scores["mrr@3"] for own in found.questions] == [0.0, 0.0]
    assert len(bad) == 6
    assert "expected a text, a span or a record, got" in bad[0]
    assert "its text isn't in any document" in bad[1]


def test_further_questions_are_asked_of_it_too() -> None:
    asks: list[Any] = []
    evaluated(texts, listeners=chunkwise.options.Listeners(on_search=asks.append))
    (hits,) = asks[0]([Query("new", QUERIES[1].text)])
    assert [hit.text for hit in hits] == ["Good night.", SALT]


def test_no_hits_are_an_answer() -> None:
    bad: list[str] = []
    found = evaluated(lambda query: [], bad)
    assert [own.scores["recall@3"] for own in found.questions] == [0.0, 0.0]
    assert bad == []


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary()
ANSWERS = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4), inner, max_size=4)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


@given(ANSWERS)
def test_whatever_comes_back_becomes_records_that_can_be_kept(answer: object) -> None:
    found: list[Any] = []
    with suppress(ChunkwiseError):
        found = hit_records(answer)
    assert all(isinstance(each, dict | str) for each in found)
    json.dumps(found, allow_nan=False).encode("utf-8")


def test_one_that_never_works_is_told_at_once() -> None:
    asked: list[str] = []

    def never(query: str) -> list[str]:
        asked.append(query)
        raise RuntimeError("no index")

    many = [Query(f"q{n}", f"question {n}") for n in range(50)]
    with pytest.raises(
        ChunkwiseError, match="failed on all of the first 10 questions: RuntimeError: no index"
    ):
        ask_live(live_retriever(never), many, 3, on_bad=pytest.fail)
    assert len(asked) == 10
    with pytest.raises(ChunkwiseError, match="failed on every question"):
        evaluated(never)


def test_a_reason_is_told_once_with_how_many_it_holds_for() -> None:
    def moody(query: str) -> list[str]:
        if query == "good":
            return []
        raise RuntimeError("no index" if query == "bad" else "asleep")

    asked = ["good", "bad", "bad", "late", "bad"]
    told: list[str] = []
    mine = live_retriever(moody)
    many = [Query(f"q{number}", text) for number, text in enumerate(asked)]
    found = ask_live(mine, many, 3, on_bad=told.append)
    assert told == [
        f"question 'q1' and 2 others: {mine.name} failed: RuntimeError: no index",
        f"question 'q3': {mine.name} failed: RuntimeError: asleep",
    ]
    assert [*found.failed] == ["q1", "q2", "q3", "q4"]


@cases("swallows", [False, True])
def test_a_question_that_hangs_is_ended(swallows: bool) -> None:
    def hangs(query: str) -> list[str]:
        while "fish" in query:
            try:
                threading.Event().wait()
            except Exception:
                if not swallows:
                    raise
        return texts(query)

    found = evaluated(hangs, live=LiveOptions(timeout=0.05))
    assert found.questions[0].scores["recall@3"] == 1.0
    assert found.questions[1].unscored["recall@3"] == "no answer within 0.05 s"


def test_an_async_one_that_hangs_is_ended_too() -> None:
    async def hangs(query: str) -> list[str]:
        if "fish" in query:
            await asyncio.Event().wait()
        return texts(query)

    found = evaluated(hangs, live=LiveOptions(timeout=0.05))
    assert found.questions[1].unscored["recall@3"] == "no answer within 0.05 s"
    assert found.questions[0].scores["recall@3"] == 1.0


def test_what_came_is_kept_and_not_asked_again(tmp_path: Path) -> None:
    asked: list[str] = []
    broken = True

    def counted(query: str, k: int) -> list[str]:
        asked.append(query)
        if broken and "fish" in query:
            raise RuntimeError("down")
        return texts(query)

    file = tmp_path / "out" / "theirs.jsonl"
    live = LiveOptions(retrieved=file)
    evaluated(counted, live=live)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row.get("error", "") for row in rows] == ["", "RuntimeError: down"]
    with file.open("ab") as out:
        out.write(b'{"query_id": "q2", "query": "What of')  # ended amid a line
    broken = False
    found = evaluated(counted, live=live)
    assert asked == [QUERIES[0].text, QUERIES[1].text, QUERIES[1].text]
    assert [own.scores["recall@3"] for own in found.questions] == [1.0, 1.0]
    # Another number of hits, or another retriever, is asked anew.
    chunkwise.evaluate([LAMP, FISH], QUERIES, retriever=counted, metrics="recall", k=2, live=live)
    assert len(asked) == 5
    # The file is one of hits, as any other.
    bad: list[str] = []
    again = chunkwise.evaluate(
        [LAMP, FISH],
        QUERIES,
        hits=file,
        metrics="recall",
        k=3,
        listeners=Listeners(on_bad=bad.append),
    )
    assert again.summary["recall@3"].mean == 1.0
    assert any("RuntimeError: down" in line for line in bad)


MINE = """
import sqlite3
base = sqlite3.connect(":memory:")
RIGHT = {right!r}
class Search:
    def __init__(self, top=9): self.top = top
    def search(self, query, k): return [RIGHT[query]][: self.top] * k
def build(top=9): return Search(top)
async def build_later(): return Search()
def nothing(): return None
def search(query):
    base.execute("select 1")
    return [RIGHT[query]]
def two(query, other): return []
ready = Search()
value = 7
class Ranked:
    def rank(self, source, questions, depth, only): return source.words(questions.texts, depth, only)
def ranked(): return Ranked()
"""


@pytest.fixture
def mine(tmp_path: Path) -> Callable[[str], str]:
    file = tmp_path / "mine.py"
    file.write_text(MINE.format(right=RIGHT))
    return lambda name: f"{file}:{name}"


@cases(
    "name", ["search", "Search", "Search(top=2)", "build", "build(top=1)", "build_later", "ready"]
)
def test_a_file_names_a_function_an_object_or_what_makes_one(
    mine: Callable[[str], str], name: str
) -> None:
    assert is_live(mine(name))
    found = evaluated(mine(name))
    assert found.summary["mrr@3"].mean == 1.0
    assert found.label == mine(name)


@pytest.mark.parametrize("name", ["Ranked", "ranked"])
def test_one_that_ranks_an_index_is_no_live_one(mine: Callable[[str], str], name: str) -> None:
    assert not is_live(mine(name))
    found = chunkwise.evaluate(
        [LAMP, FISH],
        QUERIES,
        retriever=mine(name),
        metrics="recall,ndcg",
        index=IndexOptions(vectors="none"),
    )
    assert found.summary["ndcg@5"].mean is not None


@cases(
    "name, told",
    [
        ("two", "needs other in addition to the question"),
        ("value", "is int; expected a function"),
        ("search(k=3)", "no parameter 'k'"),
        ("nothing", "returned None; expected a retriever"),
        ("none", "has no 'none'"),
    ],
)
def test_what_cannot_be_asked_is_told_before_anything_is(
    mine: Callable[[str], str], name: str, told: str
) -> None:
    with pytest.raises((InvalidParameter, UnknownName), match=told):
        evaluated(mine(name))


def test_settings_of_an_index_do_not_go_with_it() -> None:
    with pytest.raises(
        InvalidParameter, match="strategy is 'sentences'; doesn't apply to hits of function"
    ):
        evaluated(texts, strategy="sentences")


@cases("name", ["command:rm -rf x", "http://10.0.0.1/search", "./mine.py:search"])
def test_a_name_in_a_file_is_not_followed(name: str) -> None:
    distrust(name, "the file r.toml")
    with named_by_user({}), pytest.raises(NotAllowed, match="allow"):
        evaluated(name)


class Server(BaseHTTPRequestHandler):
    asked: list[dict[str, Any]]
    answer: Callable[[dict[str, Any]], tuple[int, bytes]]

    def do_POST(self) -> None:
        got = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked.append(got)
        status, body = type(self).answer(got)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[
    Callable[[Callable[[dict[str, Any]], tuple[int, bytes]]], tuple[str, list[Any]]]
]:
    servers = []

    def start(answer: Callable[[dict[str, Any]], tuple[int, bytes]]) -> tuple[str, list[Any]]:
        handler = type("Handler", (Server,), {"asked": [], "answer": staticmethod(answer)})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}/search", handler.asked

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_server_is_asked_in_the_documented_shape(serve: Any) -> None:
    url, asked = serve(
        lambda got: (200, json.dumps({"hits": [{"text": RIGHT[got["query"]]}]}).encode())
    )
    found = evaluated(url)
    assert found.summary["mrr@3"].mean == 1.0
    assert asked[0] == {"query": QUERIES[0].text, "k": 3, "query_id": "q1"}
    assert found.label == url


def test_a_server_of_another_shape_is_described(serve: Any) -> None:
    def answer(got: dict[str, Any]) -> tuple[int, bytes]:
        hit = {"payload": {"body": RIGHT[got["q"]]}, "distance": 0.1}
        return 200, json.dumps({"data": {"results": [hit]}}).encode()

    url, asked = serve(answer)
    found = evaluated(f"{url}(query='q', k='', hits='data.results', text='payload.body')")
    assert found.summary["mrr@3"].mean == 1.0
    assert asked[0] == {"q": QUERIES[0].text, "query_id": "q1"}
    with pytest.raises(InvalidParameter, match="has no parameter 'body'"):
        evaluated(f"{url}(body='x')")


@cases(
    "status, body, told",
    [
        (404, b"no such page", "answered 404"),
        (200, b"<html>", "returned invalid JSON"),
        (200, b'{"data": 3}', "the response has no list in 'data'"),
        (500, b"", "answered 500"),
    ],
)
def test_a_server_that_fails_on_a_question_is_told(
    serve: Any, status: int, body: bytes, told: str
) -> None:
    def answer(got: dict[str, Any]) -> tuple[int, bytes]:
        if "lamp" in got["query"]:
            return 200, json.dumps({"data": [RIGHT[got["query"]]]}).encode()
        return status, body

    url, _ = serve(answer)
    found = evaluated(f"{url}(hits=data, attempts=1)")
    assert found.questions[0].scores["recall@3"] == 1.0
    assert told in found.questions[1].unscored["recall@3"]


PROGRAM = """
import json, sys
right = json.loads({right!r})
for line in sys.stdin:
    asked = json.loads(line)
    if "fish" in asked["query"]:
        {fish}
    print(json.dumps({{"hits": [right[asked["query"]]] * asked["k"]}}), flush=True)
"""


@pytest.mark.usefixtures("processes")
@cases(
    "fish, told",
    [
        ("pass", ""),
        ("sys.exit(3)", "it exited with status 3 before answering this question"),
        ("print('oops', flush=True); continue", "it wrote invalid JSON: 'oops'"),
        ("print(json.dumps({'error': 'no fish'}), flush=True); continue", "no fish"),
        ("sys.stdin.readline()", "no answer within 2 s"),
    ],
)
def test_a_command_reads_and_writes_lines(tmp_path: Path, fish: str, told: str) -> None:
    program = tmp_path / "a program.py"
    program.write_text(PROGRAM.format(right=json.dumps(RIGHT), fish=fish))
    live = LiveOptions(timeout=2 if "within" in told else 60)
    found = evaluated(f"command:{sys.executable} '{program}'", live=live)
    assert found.questions[0].scores["mrr@3"] == 1.0
    if told:
        assert told in found.questions[1].unscored["recall@3"]
    else:
        assert found.questions[1].scores["mrr@3"] == 1.0


@pytest.mark.usefixtures("processes")
def test_no_shell_reads_a_command(tmp_path: Path) -> None:
    program, hacked = tmp_path / "program.py", tmp_path / "hacked"
    given = f"$(touch {hacked}) `touch {hacked}` ; touch {hacked} | touch {hacked} && touch {hacked} > {hacked}"
    told = f"assert sys.argv[1:] == {given.split()!r}, sys.argv"
    program.write_text(PROGRAM.format(right=json.dumps(RIGHT), fish=told))
    found = evaluated(f"command:{sys.executable} {program} {given}")
    assert found.questions[1].scores["mrr@3"] == 1.0
    assert not hacked.exists()


@pytest.mark.usefixtures("processes")
@cases(
    "command, told",
    [("command:", "has no command"), ("command:'x", "cannot read the command"), ("command:/no/such", "cannot start")],
)  # fmt: skip
def test_a_command_that_is_none_is_told(command: str, told: str) -> None:
    with pytest.raises(ChunkwiseError, match=told):
        evaluated(command)
