"""The OpenAPI description of the API, from the declarations that requests are read by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from chunkwise.studio.api import ApiEndpoint

_REFERENCE = "#/components/schemas/{name}"
_REFUSAL = {
    "type": "object",
    "properties": {"error": {"type": "string", "description": "Error message."}},
    "required": ["error"],
}
_RETRY = {
    "headers": {
        "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
    }
}


def _json(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


_REFUSALS = {
    "400": _json("A value is missing, unknown or out of bounds; the message names it.", _REFUSAL),
    "401": _json("The key is missing or wrong.", _REFUSAL),
    "403": _json("The caller's role does not allow it, or the request names code or a host.", _REFUSAL),
    "404": _json("The named document, question or run does not exist.", _REFUSAL),
    "413": _json("The request is too large.", _REFUSAL),
    "429": _json("The rate limit is exceeded.", _REFUSAL) | _RETRY,
    "503": _json("The index is being built, or too many requests are waiting.", _REFUSAL) | _RETRY,
}  # fmt: skip


def openapi(endpoints: Sequence[ApiEndpoint], version: str, title: str) -> dict[str, Any]:
    """Describe every endpoint: its parameters with their bounds, and its answer."""
    types = [kind for endpoint in endpoints for kind in (endpoint.takes, endpoint.gives)]
    result, schemas = msgspec.json.schema_components(
        types, ref_template=_REFERENCE, schema_hook=lambda kind: {}
    )
    schemas = _without_tuples(schemas)
    paths: dict[str, Any] = {}
    for endpoint, takes, gives in zip(endpoints, result[::2], result[1::2], strict=True):
        declared = schemas[takes["$ref"].rpartition("/")[2]]
        operation: dict[str, Any] = {
            "summary": endpoint.summary,
            "responses": {"200": _json("Success.", gives), **_REFUSALS},
        }
        if endpoint.method == "POST":
            operation["requestBody"] = {"required": True, **_json("Request.", takes)}
        elif declared["properties"]:
            operation["parameters"] = [
                _parameter(name, schema, endpoint, declared.get("required", ()))
                for name, schema in declared["properties"].items()
            ]
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": version,
            "description": "Send the printed token or a key as `Authorization: Bearer TOKEN`; browsers use a cookie.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _without_tuples(schema: Any) -> Any:
    """A named tuple is an object in some answers and a list in others: either is taken."""
    if isinstance(schema, list):
        return [_without_tuples(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "prefixItems" in schema:
        return {}
    return {name: _without_tuples(part) for name, part in schema.items()}


def _parameter(
    name: str, schema: dict[str, Any], endpoint: ApiEndpoint, required: Sequence[str]
) -> dict[str, Any]:
    in_path = f"{{{name}}}" in endpoint.path
    plain = {key: value for key, value in schema.items() if key != "description"}
    return {
        "name": name,
        "in": "path" if in_path else "query",
        "required": in_path or name in required,
        "description": schema.get("description", ""),
        "schema": plain,
    }
