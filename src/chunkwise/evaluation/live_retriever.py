"""A user's own retriever, asked question by question: a function, an object of another library, an address, a command.

Whatever it is, it is asked within a time, and what it raises is the failure of one question.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from chunkwise.base import parameters, spec
from chunkwise.base.allow_hosts_and_code_from_files import check_allowed
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.parameters import param
from chunkwise.base.wording import as_set, counted
from chunkwise.core import Query
from chunkwise.evaluation.pipeline import (
    build_pipeline,
    declared_parameters,
    parse_pipeline,
    split_values,
)
from chunkwise.evaluation.run_file import NESTED
from chunkwise.models.http_client import ANY_OTHER, Endpoint, JsonClient
from chunkwise.records.json import parse_json
from chunkwise.retrieval.retrievers import registry

COMMAND = "command:"
"""How a command is told from other names: `command:python mine.py`."""
_ADDRESSES = ("http://", "https://")
MOST_HITS = 10_000
"""Of one question: what hands out more never ends, as a rule."""
_MOST_CHARACTERS = 64 << 20
"""Of one line that a command writes."""
_METHODS = ("retrieve", "invoke", "search", "run", "get_relevant_documents", "aretrieve", "ainvoke")
"""What the retrievers of LlamaIndex, LangChain, Haystack and others are asked by."""
_KS = ("k", "top_k", "limit", "n_results", "num_results", "size")
HIT_LISTS = (
    *NESTED,
    "context",
    "source_nodes",
    "source_documents",
    "matches",
    "passages",
    "items",
    "data",
)


class LiveRetriever(Protocol):
    """Gives the records of a question's hits, best first; what it raises is the question's failure."""

    name: str
    """As results call it; without secrets."""

    def retrieve(self, query: Query, k: int) -> object:
        """What it hands out, as it does."""

    def close(self) -> None:
        """Nothing will be asked any more."""


def is_live(retriever: object) -> bool:
    """Whether it is asked by itself, without an index of ours."""
    if retriever is None:
        return False
    if not isinstance(retriever, str):
        return not _ranks_an_index(retriever)
    if retriever.startswith(COMMAND) or retriever.lower().startswith(_ADDRESSES):
        return True
    name = retriever.partition("(")[0].strip()
    if ".py:" not in name:
        return False
    return not _ranks_an_index(_part(retriever))


def live_retriever(retriever: object, timeout: float = 60.0) -> LiveRetriever:
    """What is named or given, ready to be asked; see `is_live`."""
    if not isinstance(retriever, str):
        return CallableRetriever(retriever, _name_of(retriever), timeout)
    check_allowed(retriever)
    if retriever.startswith(COMMAND):
        return CommandRetriever(retriever.removeprefix(COMMAND).strip(), timeout)
    if retriever.lower().startswith(_ADDRESSES):
        return _http_retriever(retriever, timeout)
    return CallableRetriever(_part(retriever), spec_name(retriever), timeout)


def spec_name(retriever: str) -> str:
    """What results and tables call it."""
    return " ".join(retriever.split())


def _ranks_an_index(part: object) -> bool:
    return hasattr(part, "rank") or hasattr(part, "spans")


_built: dict[tuple[str, int], object] = {}
"""What a class or a function that needs nothing made, by specification and file: made once, looked at more often."""


def _part(text: str) -> object:
    """The function or object that is asked; a class, and a function that needs no question, make it."""
    name, values = parse_pipeline(text)
    part = registry.get(name)
    declared = declared_parameters(name, part)
    if isinstance(part, type):
        if _ranks_an_index(part):
            return part
    elif not callable(part) or _is_asked(part, declared):
        if values:
            raise InvalidParameter(
                f"{name} is an object and takes no parameter {next(iter(values))!r}"
            )
        return part
    of_index, of_query = split_values(declared, values)
    usual = {
        parameter.name: parameter.default
        for parameter in declared.values()
        if parameter.when == "index"
    }
    changed = (
        f"{name} {sorted(of_index.items())!r}", Path(name.rpartition(":")[0]).stat().st_mtime_ns
    )  # fmt: skip
    if changed not in _built:
        _built[changed] = build_pipeline(name, part, {**usual, **of_index})
    made = _built[changed]
    return WithValues(made, of_query) if of_query else made


@dataclass(frozen=True, slots=True)
class WithValues:
    """What is asked with values beside each question."""

    asked: object
    values: Mapping[str, object]


def _is_asked(part: object, declared: Collection[str]) -> bool:
    """Whether it has a method by which it is asked, or needs a question: else it makes what is asked."""
    if any(hasattr(part, method) for method in _METHODS):
        return True
    return any(
        _is_needed(parameter) and parameter.name not in declared for parameter in _parameters(part)
    )


def _is_needed(each: inspect.Parameter) -> bool:
    return each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)


def _parameters(function: object) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())  # type: ignore[arg-type]
    except (TypeError, ValueError):  # of another language: it is asked with the question alone
        return [inspect.Parameter("query", inspect.Parameter.POSITIONAL_ONLY)]


def _name_of(retriever: object) -> str:
    own = getattr(retriever, "__qualname__", None) or type(retriever).__qualname__
    return f"{getattr(retriever, '__module__', '') or type(retriever).__module__}:{own}"


class RetrieverFailed(ChunkwiseError):
    """One question was not answered; the message says why."""


class _TimeUp(BaseException):
    """Raised amid somebody else's code, which may catch every Exception."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Ends what runs in this thread after so many seconds; where no timer can, what came too late counts the same."""
    began = time.monotonic()
    can_interrupt = (
        hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    )
    try:
        if not can_interrupt:
            yield
        else:
            with _timer(seconds):
                yield
    except _TimeUp:
        raise RetrieverFailed(f"no answer within {as_set(seconds)} s") from None
    if not can_interrupt and time.monotonic() - began > seconds:
        raise RetrieverFailed(f"no answer within {as_set(seconds)} s")


@contextmanager
def _timer(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise _TimeUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class CallableRetriever:
    """A function of a question, or an object with a method for it; async ones, too."""

    def __init__(self, part: object, name: str, timeout: float) -> None:
        self._values: Mapping[str, object] = {}
        if isinstance(part, WithValues):
            self._values = part.values
            part = part.asked
        method = next((item for item in _METHODS if hasattr(part, item)), "")
        self._ask: Callable[..., Any] = getattr(part, method) if method else part  # type: ignore[assignment]
        if not callable(self._ask):
            raise InvalidParameter(
                f"{name} is {type(part).__name__}; expected a function of a question, or an "
                f"object with {', '.join(_METHODS[:4])}"
            )
        self.name = name
        self._timeout = timeout
        self._question, self._k = _asked_by(self._ask, name, self._values)
        self._runner: asyncio.Runner | None = None

    def retrieve(self, query: Query, k: int) -> object:
        given: dict[str, object] = dict(self._values)
        if self._k is not None:
            given.setdefault(self._k, k)
        if self._question:
            given[self._question] = query.text
        with within(self._timeout):
            result = self._ask(**given) if self._question else self._ask(query.text, **given)
            if inspect.isawaitable(result):
                result = self._awaited(result)
            elif hasattr(result, "__aiter__"):
                result = self._awaited(_collected(result))
            result = hits_in(result)
            if isinstance(result, Iterable) and not isinstance(result, str | Mapping | Sequence):
                result = list(islice(result, MOST_HITS))  # work that is done when it is looked at
            return result

    def _awaited(self, awaitable: Any) -> object:
        """In one loop for all questions: clients belong to the loop they were first used in."""

        async def waited() -> object:
            return await awaitable

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            if self._runner is None:
                self._runner = asyncio.Runner()
            return self._runner.run(waited())
        # Somebody's loop runs here already, as in a notebook.
        result: list[object] = []
        thread = threading.Thread(target=lambda: result.append(asyncio.run(waited())))
        thread.start()
        thread.join()
        return result[0]

    def close(self) -> None:
        if self._runner is not None:
            self._runner.close()
            self._runner = None


async def _collected(found: Any) -> list[object]:
    got: list[object] = []
    async for each in found:
        got.append(each)
        if len(got) >= MOST_HITS:
            break
    return got


def _asked_by(ask: object, name: str, values: Mapping[str, object]) -> tuple[str, str | None]:
    """The name of the question where it must be named, and that of the number of hits where it takes one."""
    every = _parameters(ask)
    if not any(item.kind is item.VAR_KEYWORD for item in every):
        for other in values.keys() - {item.name for item in every}:
            raise InvalidParameter(
                f"{name} takes no {other!r}; question parameters are given with each question"
            )
    every = [item for item in every if item.name not in values]
    number = next((item.name for item in every if item.name in _KS), None)
    others = [item for item in every if item.name != number and item.kind is not item.VAR_KEYWORD]
    if not others:
        raise InvalidParameter(f"{name} takes no question; its first parameter is the question")
    first, *rest = others
    needed = [item.name for item in rest if _is_needed(item)]
    if needed:
        raise InvalidParameter(
            f"{name} needs {', '.join(needed)} in addition to the question; give them "
            f"defaults, or use a factory that returns a function of the question"
        )
    return (first.name if first.kind is first.KEYWORD_ONLY else ""), number


@dataclass(frozen=True, slots=True)
class HttpShape:
    """How a server is asked, and where its answer has what: names of fields, with dots where one is inside another."""

    query: str = "query"
    k: str = "k"
    hits: str = ""
    """Empty: the answer itself, or the first list among the usual names."""
    text: str = ""
    doc_id: str = ""
    start: str = ""
    end: str = ""
    score: str = ""
    timeout: float | None = None
    attempts: int = param(2, "maximum attempts per question", low=1, high=20)
    key: str = ANY_OTHER
    """The environment variable that holds the key, where the server wants one."""

    def __post_init__(self) -> None:
        parameters.check(self)
        if not self.query:
            raise InvalidParameter("query is empty; expected the name of the question field")

    def read(self, answer: object) -> object:
        """The hits of an answer, with the fields that are called otherwise under their usual names."""
        result = _inside(answer, self.hits) if self.hits else answer
        if self.hits and not isinstance(result, list):
            raise RetrieverFailed(f"the response has no list in {self.hits!r}")
        renamed = {
            name: at
            for name in ("text", "doc_id", "start", "end", "score")
            if (at := getattr(self, name))
        }
        if not renamed or not isinstance(result := hits_in(result), list):
            return result
        return [
            {**record, **{name: _inside(record, at) for name, at in renamed.items()}}
            if isinstance(record, Mapping)
            else record
            for record in result
        ]


def _inside(value: object, path: str) -> object:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _http_retriever(text: str, timeout: float) -> HttpRetriever:
    url, values = spec.parse(text, "retriever", "http://localhost:8000/search(hits='data.results')")
    shape = parameters.build(HttpShape, url, values)
    return HttpRetriever(url, shape, timeout)


class HttpRetriever:
    """Posts `{"query": …, "k": …, "query_id": …}` and reads hits from the JSON that comes back."""

    def __init__(self, url: str, shape: HttpShape, timeout: float) -> None:
        self._shape = shape
        self._timeout = shape.timeout or timeout
        endpoint = Endpoint(
            url, key_variable=shape.key, timeout=self._timeout, attempts=shape.attempts, backoff=0.1,
            longest_wait=min(5.0, self._timeout),
        )  # fmt: skip
        self.name = f"{url.partition('://')[0].lower()}://{endpoint.place}"
        self._client = JsonClient(endpoint)

    def retrieve(self, query: Query, k: int) -> object:
        asked: dict[str, object] = {self._shape.query: query.text, "query_id": query.id}
        if self._shape.k:
            asked[self._shape.k] = k
        with within(self._timeout * self._shape.attempts + 10.0):
            return self._client.ask(asked, self._shape.read)

    def close(self) -> None:
        pass


class CommandRetriever:
    """A program that reads a JSON line a question and writes one with its hits; what it says on stderr is shown."""

    def __init__(self, command: str, timeout: float) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise InvalidParameter(f"cannot read the command {command!r}: {error}") from None
        if not self._words:
            raise InvalidParameter(
                f"{COMMAND} has no command; expected for example '{COMMAND}python mine.py'"
            )
        self.name = f"{COMMAND}{command}"
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None

    def retrieve(self, query: Query, k: int) -> object:
        asked = {"query_id": query.id, "query": query.text, "k": k}
        line = json.dumps(asked, ensure_ascii=True).encode() + b"\n"
        try:
            with within(self._timeout):
                answer = self._answer(line)
        except BaseException:
            # What it writes later would be taken for the answer to the next question.
            self.close()
            raise
        try:
            return _said(parse_json(answer.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            self.close()
            shown = " ".join(answer[:200].decode("utf-8", "replace").split())
            raise RetrieverFailed(f"it wrote invalid JSON: {shown[:120]!r}") from None

    def _answer(self, line: bytes) -> bytes:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):  # it ended: reading says so
            process.stdin.write(line)
            process.stdin.flush()
        answer = process.stdout.readline(_MOST_CHARACTERS)
        if not answer.endswith(b"\n"):
            if len(answer) >= _MOST_CHARACTERS:
                raise RetrieverFailed(
                    f"it wrote a line of more than {counted(_MOST_CHARACTERS, 'byte')}"
                )
            status = process.wait()
            raise RetrieverFailed(f"it exited with status {status} before answering this question")
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            try:
                self._process = subprocess.Popen(
                    self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            except OSError as error:
                raise ChunkwiseError(
                    f"cannot start {self._words[0]!r}: {error.strerror or error}"
                ) from None
        return self._process

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        try:
            process.wait(0.5)  # it sees that there is no more to read
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _said(answer: object) -> object:
    if isinstance(answer, Mapping) and isinstance(error := answer.get("error"), str):
        raise RetrieverFailed(error)
    return answer


def hits_in(answer: object) -> object:
    """The list of hits in an answer that holds one, as a field or an attribute; else the answer."""
    if isinstance(answer, str | Sequence):
        return answer
    for name in HIT_LISTS:
        held = answer.get(name) if isinstance(answer, Mapping) else getattr(answer, name, None)
        if isinstance(held, list | tuple):
            return held
    return answer
