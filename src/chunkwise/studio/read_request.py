"""Requests as typed values: each is declared once as a struct, which reads, checks and describes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

import msgspec

from chunkwise.base.allow_hosts_and_code_from_files import PARTS, check_allowed
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.schema import Options, schema

T = TypeVar("T", bound=Options)
_SOURCE = "the address of a request"
"""Who named a host or code that may not be followed."""


class ApiRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all requests: what the path, and the query or the body, may hold."""

    def part(self, kind: type[T]) -> T:
        """The declared options of one kind that this request has."""
        names = {field.name for field in schema(kind)}
        given = {name: getattr(self, name) for name in self.__struct_fields__ if name in names}
        return kind.read(given)


def declared(name: str, kinds: Mapping[type[Options], Sequence[str]]) -> Any:
    """Make the base of a request out of declared options, with their bounds and help."""
    fields = [
        (field.name, Annotated[field.type, msgspec.Meta(description=field.help)], field.default)
        for kind, names in kinds.items()
        for field in schema(kind)
        if field.name in names
    ]
    return msgspec.defstruct(name, fields, bases=(ApiRequest,), frozen=True, kw_only=True)


class NoParameters(ApiRequest, frozen=True):
    """A request without parameters."""


R = TypeVar("R", bound=ApiRequest)

Position = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
"""A number that counts from 0: of a document, a character, a row."""


class NotFound(ChunkwiseError):
    """The named thing does not exist."""


class TooMuch(ChunkwiseError):
    """More than is allowed: asked too often, or too many at once."""


class NotReady(ChunkwiseError):
    """It is still being made; a later request finds it."""


class Conflict(ChunkwiseError):
    """Somebody else changed it meanwhile; nothing was written."""


def read_body(takes: type[R], body: bytes) -> R:
    """Read a JSON object; names in it are data, never followed."""
    try:
        request = msgspec.json.decode(body or b"{}", type=takes)
    except msgspec.ValidationError as error:
        raise _invalid(error) from None
    except (ValueError, RecursionError):  # also text that is not UTF-8
        raise InvalidParameter('the body is not JSON; send an object: {"text": "…"}') from None
    return _checked(request)


def read_query(takes: type[R], path: Mapping[str, str], query: Sequence[tuple[str, str]]) -> R:
    """Read the texts of a path and its query; names in them are data, never followed."""
    lists = {
        field.encode_name
        for field in msgspec.structs.fields(takes)
        if field.type == tuple[str, ...] or tuple[str, ...] in getattr(field.type, "__args__", ())
    }
    given: dict[str, Any] = {}
    for name, text in query:
        if name in lists:
            given.setdefault(name, []).append(text)
        elif name in given or name in path:
            raise InvalidParameter(f"{name!r:.80} is set more than once")
        else:
            given[name] = text
    try:
        return _checked(msgspec.convert({**given, **path}, takes, strict=False))
    except msgspec.ValidationError as error:
        raise _invalid(error) from None


def _invalid(error: msgspec.ValidationError) -> InvalidParameter:
    """The field first: `count: expected int <= 500`."""
    reason, _, field = str(error).replace("`", "").partition(" - at $.")
    reason = reason[:1].lower() + reason[1:]
    return InvalidParameter(f"{field}: {reason}" if field else reason)


def _checked(request: R) -> R:
    names = [getattr(request, name, None) for name in PARTS]
    check_allowed(names, _SOURCE)
    return request
