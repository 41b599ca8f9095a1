"""Answers from any server that speaks the `/v1/chat/completions` protocol."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.secrets import mask_keys
from chunkwise.models.http_client import (
    EndpointError,
    model_client,
)
from chunkwise.models.llm.cost import FREE_NAME
from chunkwise.models.llm.language_model import (
    Completion,
    Lost,
    Request,
    read_completion,
    read_usage,
)
from chunkwise.models.llm.prompt import without_special_tokens

_REFUSED = frozenset({400, 415, 422, 501})
_FORMS = ("json_schema", "json_object", "")
"""How JSON is asked for, the strictest first; a server that refuses one is asked with the next from then on."""
_LENGTHS = ("max_tokens", "max_completion_tokens")


@dataclass(slots=True)
class _Dialect:
    """What a server was found to understand; every change is a step further, so threads may race."""

    form: int = 0
    of_schema: dict[str, int] = field(default_factory=dict)
    """Where only one schema is not understood."""
    length: int = 0
    has_temperature: bool = True

    def form_of(self, schema: str) -> int:
        return max(self.form, self.of_schema.get(schema, 0))


class EndpointModel:
    """A model behind an address; its key comes from the environment and goes nowhere else."""

    speed = (2000.0, 50.0)
    """Tokens a second, read and written: a guess for estimates, servers differ by far."""

    def __init__(
        self,
        url: str,
        model: str,
        key_variable: str | None = None,
        *,
        concurrency: int = 4,
        window: int | None = None,
        timeout: float = 120.0,
        **patience: float,
    ) -> None:
        """`patience`: what else an `Endpoint` may have, such as `attempts`."""
        if concurrency < 1:
            raise InvalidParameter(f"concurrency is {concurrency}; the minimum is 1")
        self.model = model
        self.concurrency = concurrency
        self.window = window
        self._dialect = _Dialect()
        self._client = model_client(
            url, model, key_variable, "/chat/completions", "/v1/chat/completions",
            timeout=timeout, **patience,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"EndpointModel({self.identity!r})"

    @property
    def identity(self) -> str:
        return self._client.identity

    @property
    def price_name(self) -> str:
        # Servers have models of this name, too, and take money for them.
        return (
            self.model if self.model != FREE_NAME else f"{self._client.endpoint.place}#{FREE_NAME}"
        )

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        """Asks for JSON as strictly as the server lets us, in the words it knows."""
        return self.complete_told(request, stop)

    def complete_told(
        self, request: Request, stop: Event | None = None, lost: Lost | None = None
    ) -> Completion:
        """The same; `lost` hears of every attempt that may be charged and was not answered."""
        schema = json.dumps(request.schema, sort_keys=True) if request.schema is not None else ""
        while True:
            sent = replace(self._dialect, form=self._dialect.form_of(schema) if schema else 0)
            try:
                return self._client.ask(
                    self._payload(request, sent),
                    lambda answer: self._read(answer, lost),
                    stop,
                    lost and (lambda again: lost(again, None)),
                )
            except EndpointError as error:
                if error.status not in _REFUSED or not self._learn(error.reason, sent, schema):
                    raise

    def _learn(self, said: str, sent: _Dialect, schema: str) -> bool:
        """Whether the refusal was of our words, and others are left to try; they are used from then on."""
        dialect, said = self._dialect, said.lower()
        if schema and _FORMS[sent.form] and ("response_format" in said or "json_schema" in said):
            if "invalid schema" in said:
                dialect.of_schema[schema] = sent.form + 1
            else:
                dialect.form = max(dialect.form, sent.form + 1)
        elif (
            not sent.length
            and _LENGTHS[0] in said
            and ("unsupported" in said or _LENGTHS[1] in said)
        ):
            dialect.length = 1
        elif sent.has_temperature and "temperature" in said:
            dialect.has_temperature = False
        else:
            return False
        return True

    def _payload(self, request: Request, dialect: _Dialect) -> dict[str, Any]:
        form = _FORMS[dialect.form] if request.schema is not None else ""
        user = without_special_tokens(request.user)
        if request.schema is not None and form != "json_schema":
            message = json.dumps(request.schema, ensure_ascii=False)
            user = f"{user}\n\nAnswer with JSON of this schema alone:\n{message}"
        messages = [{"role": "user", "content": user}]
        if request.system:
            messages.insert(
                0, {"role": "system", "content": without_special_tokens(request.system)}
            )
        payload: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            _LENGTHS[dialect.length]: request.max_tokens,
        }
        if dialect.has_temperature:
            payload["temperature"] = request.temperature
        if form == "json_schema":
            named = {"name": "answer", "schema": request.schema, "strict": True}
            payload["response_format"] = {"type": form, "json_schema": named}
        elif form:
            payload["response_format"] = {"type": form}
        return payload

    def _read(self, answer: Any, lost: Lost | None) -> Completion:
        """A server that repeats what it was sent must not bring the key into the cache."""
        endpoint = self._client.endpoint
        try:
            read = read_completion(answer, endpoint.place)
        except EndpointError:
            if lost:
                lost(False, read_usage(answer))
            raise
        key = endpoint.key()
        return read._replace(text=mask_keys(read.text, key), refusal=mask_keys(read.refusal, key))
