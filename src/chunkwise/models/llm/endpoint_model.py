"""Answers from any server that speaks the `/v1/chat/completions` protocol."""

from __future__ import annotations

import json
from dataclasses import replace
from threading import Event
from typing import Any

from chunkwise.errors import InvalidParameter
from chunkwise.models.endpoint.address import place_and_query, with_path
from chunkwise.models.endpoint.client import Endpoint, JsonClient
from chunkwise.models.endpoint.error import EndpointError, excerpt
from chunkwise.models.endpoint.key_variables import key_variable_for
from chunkwise.models.llm.language_model import Completion, Request

_ADVICE = "is it a chat endpoint, and is the model one that chats?"
_REFUSED = frozenset({400, 415, 422, 501})
_FORMS = ("json_schema", "json_object", "")
"""How JSON is asked for, the strictest first; a server that refuses one is asked with the next from then on."""


class EndpointModel:
    """A model behind an address; its key comes from the environment and goes nowhere else."""

    def __init__(
        self,
        url: str,
        model: str,
        key_variable: str | None = None,
        *,
        concurrency: int = 4,
        timeout: float = 120.0,
        attempts: int = 5,
        backoff: float = 0.5,
        longest_wait: float = 60.0,
        window: int | None = None,
    ) -> None:
        if not model:
            raise InvalidParameter("an endpoint needs the name of a model, as the server calls it")
        if concurrency < 1:
            raise InvalidParameter(f"concurrency is {concurrency}; the least allowed is 1")
        self.model = model
        self.concurrency = concurrency
        self.window = window
        self._form = 0
        self._client = JsonClient(
            Endpoint(
                with_path(url, "/chat/completions", bare="/v1/chat/completions"), model,
                key_variable or key_variable_for(url), timeout=timeout, attempts=attempts,
                backoff=backoff, longest_wait=longest_wait,
            )
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"EndpointModel({self.identity!r})"

    @property
    def identity(self) -> str:
        return f"endpoint:{place_and_query(self._client.endpoint.url)}#{self.model!r}"

    @property
    def price_name(self) -> str:
        return self.model

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        """Asks for JSON as strictly as the server lets us."""
        while True:
            form = _FORMS[self._form] if request.schema is not None else ""
            try:
                return self._client.ask(self._payload(request, form), self._read, stop)
            except EndpointError as error:
                if (
                    not form
                    or error.status not in _REFUSED
                    or "response_format" not in error.reason
                ):
                    raise
                self._form += 1  # remembered: the next request asks rightly at once

    def _payload(self, request: Request, form: str) -> dict[str, Any]:
        if request.schema is not None and form != "json_schema":
            told = json.dumps(request.schema, ensure_ascii=False)
            request = replace(
                request, user=f"{request.user}\n\nAnswer with JSON of this schema alone:\n{told}"
            )
        messages = [{"role": "user", "content": request.user}]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        payload: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
        }
        if form == "json_schema":
            named = {"name": "answer", "schema": request.schema, "strict": True}
            payload["response_format"] = {"type": form, "json_schema": named}
        elif form:
            payload["response_format"] = {"type": form}
        return payload

    def _read(self, answer: Any) -> Completion:
        return read_completion(answer, self._client.endpoint.place)


def read_completion(answer: Any, place: str) -> Completion:
    """The first choice of a chat completion with its usage; a server that counts nothing is taken at 0."""
    try:
        choice = answer["choices"][0]
        text = choice["message"]["content"]
    except (KeyError, IndexError, TypeError):
        text = choice = None
    if not isinstance(text, str) or not isinstance(choice, dict):
        said = excerpt(repr(answer), most=120)
        raise EndpointError(place, f"answered JSON without a message: {said}", _ADVICE)
    usage = answer.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    prompt, output = (counts.get(name) for name in ("prompt_tokens", "completion_tokens"))
    return Completion(
        text,
        prompt if isinstance(prompt, int) else 0,
        output if isinstance(output, int) else 0,
        choice.get("finish_reason") != "length",
    )
