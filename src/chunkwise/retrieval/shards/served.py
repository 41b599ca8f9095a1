"""A part of an index that `chunkwise serve` answers for: where it is, and whether it is there."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.models.http.client import Endpoint, EndpointError, JsonClient, NoAnswer
from chunkwise.retrieval.stored.address import LOOPBACK

KEY_VARIABLE = "CHUNKWISE_SHARD_KEY"
PATH = "/api/shard"
_SECONDS = 30.0
"""The longest that a shard is waited for."""
_CONNECT_SECONDS = 3.0
"""A machine that is on says at once whether somebody listens."""
_ADDRESS = re.compile(r"shards(?:\+(https?))?://(.+)", re.IGNORECASE)


class ShardDown(ChunkwiseError):
    """Nobody is there, or nobody who can work: asked again later, it may be otherwise."""


class Shard(Protocol):
    """A part of an index, wherever it lies."""

    @property
    def name(self) -> str: ...

    def ask(self, call: str, given: Mapping[str, Any]) -> Any:
        """What `answer_shard` says there; `ShardDown` where nobody answers, another error where it refuses."""

    def close(self) -> None: ...


class ServedShard:
    """What `chunkwise serve` answers for."""

    def __init__(self, address: str) -> None:
        self.name = address
        found = urlsplit(address)
        if (
            os.environ.get(KEY_VARIABLE)
            and found.scheme == "http"
            and found.hostname not in LOOPBACK
        ):
            raise InvalidParameter(
                f"{KEY_VARIABLE} would travel to {found.hostname} unencrypted; write shards+https://…, or unset it"
            )
        # Asked once: whoever searches waits.
        self._client = JsonClient(
            Endpoint(
                f"{address.rstrip('/')}{PATH}", "", KEY_VARIABLE, timeout=_SECONDS, attempts=1,
                connect_timeout=_CONNECT_SECONDS,
            )
        )  # fmt: skip

    def ask(self, call: str, given: Mapping[str, Any]) -> Any:
        payload = {"call": call, "given": json.dumps(given)}
        try:
            return self._client.ask(payload, lambda answer: json.loads(answer["answer"]))
        except NoAnswer as error:
            raise ShardDown(str(error)) from error
        except EndpointError as error:
            if error.status is not None and error.status >= 500:
                raise ShardDown(str(error)) from error
            raise

    def close(self) -> None:
        self._client.close()


def shard_addresses(place: str) -> list[str]:
    """The servers that an address names."""
    found = _ADDRESS.fullmatch(place)
    hosts = [each.strip().rstrip("/") for each in found[2].split(",")] if found else []
    if not found or not all(hosts) or any("/" in each or "@" in each for each in hosts):
        raise InvalidParameter(
            "the place of the shards is written shards://host:8420,other:8420 (shards+https://…), and the key that "
            f"they ask for stands in {KEY_VARIABLE}"
        )
    return [f"{(found[1] or 'http').lower()}://{each}" for each in hosts]
