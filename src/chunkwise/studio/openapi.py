"""The OpenAPI description of the API, made from the declarations that requests are read by."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from chunkwise.base import parameters
from chunkwise.studio.read_request import TEXTS, field_kinds, without_none

if TYPE_CHECKING:
    # Schemas are made for assistants, too, who need none of the addresses.
    from chunkwise.studio.api import ApiEndpoint

_COMPONENTS = "#/components/schemas/"
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}
_ERROR = {
    "type": "object",
    "properties": {"error": {"type": "string", "description": "What is wrong, in a sentence."}},
    "required": ["error"],
}


def openapi(
    endpoints: Iterable[ApiEndpoint], version: str, title: str = "chunkwise studio"
) -> dict[str, Any]:
    """Every address with its parameters, their bounds, and what it answers."""
    schemas: dict[str, Any] = {"Refusal": _ERROR}
    paths: dict[str, Any] = {}
    for each in endpoints:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": version,
            "description": "What the pages of the studio show, as JSON. The token that the command prints, or a key, "
            "is sent as `Authorization: Bearer TOKEN`; a browser sends the cookie that the first page sets.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(endpoint: ApiEndpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    refused = {
        "description": "A refusal: what is wrong and what is allowed.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
    }
    declared = zip(
        dataclasses.fields(endpoint.takes), field_kinds(endpoint.takes).values(), strict=True
    )
    own = [
        (_parameter(field, kind, endpoint, schemas), field.name in endpoint.in_path)
        for field, kind in declared
    ]
    asked: dict[str, Any] = {"parameters": [each for each, _ in own]}
    if endpoint.method == "POST":
        inside = [each for each, in_path in own if not in_path]
        body = {
            "type": "object",
            "properties": {
                each["name"]: {**each["schema"], "description": each["description"]}
                for each in inside
            },
            "required": [each["name"] for each in inside if each["required"]],
            "additionalProperties": False,
        }
        content = {"application/json": {"schema": body}}
        asked = {
            "parameters": [each for each, in_path in own if in_path],
            "requestBody": {"required": True, "content": content},
        }
    return {
        "summary": endpoint.summary,
        "description": f"For the role {endpoint.needs} and those above it.",
        **asked,
        "responses": {
            "200": {
                "description": (inspect.getdoc(endpoint.gives) or "").split("\n")[0],
                "content": {"application/json": {"schema": schema_of(endpoint.gives, schemas)}},
            },
            "default": refused,
        },
    }


def _parameter(
    field: dataclasses.Field[Any], kind: Any, endpoint: ApiEndpoint, schemas: dict[str, Any]
) -> dict[str, Any]:
    in_path = field.name in endpoint.in_path
    return {
        "name": field.name,
        "in": "path" if in_path else "query",
        "required": in_path or field.default is dataclasses.MISSING,
        "description": parameters.bounds(field).help,
        "schema": _bounded(field, kind, schemas),
    }


def arguments_schema(takes: type) -> dict[str, Any]:
    """The JSON schema of the fields of a dataclass, for those who hand them over by name."""
    schemas: dict[str, Any] = {}
    declared = dataclasses.fields(takes)
    kinds = field_kinds(takes)
    properties = {
        field.name: {
            **_handed_over(_bounded(field, kinds[field.name], schemas), kinds[field.name]),
            "description": parameters.bounds(field).help,
        }
        for field in declared
    }
    needed = [field.name for field in declared if field.default is dataclasses.MISSING]
    return _with_definitions(
        {
            "type": "object",
            "properties": properties,
            "required": needed,
            "additionalProperties": False,
        },
        schemas,
    )


def _handed_over(schema: dict[str, Any], kind: Any) -> dict[str, Any]:
    """As `read_arguments` takes it: a text stands for a list of one."""
    if kind != TEXTS:
        return schema
    listed = {name: schema.pop(name) for name in ("type", "items")}
    return {"anyOf": [listed, {"type": "string"}], **schema}


def answer_schema(gives: type) -> dict[str, Any]:
    """The JSON schema of an answer that is a dataclass, with all it refers to."""
    schemas: dict[str, Any] = {}
    schema_of(gives, schemas)
    return _with_definitions(schemas.pop(gives.__name__), schemas)


def _with_definitions(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    whole = {**schema, "$defs": schemas} if schemas else schema
    moved: dict[str, Any] = json.loads(json.dumps(whole).replace(_COMPONENTS, "#/$defs/"))
    return moved


def _bounded(field: dataclasses.Field[Any], kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """The schema of a field with its bounds and its default."""
    allowed = parameters.bounds(field)
    schema = schema_of(without_none(kind)[0], schemas)
    if allowed.low is not None:
        schema["minimum"] = allowed.low
    if allowed.high is not None:
        schema["maximum"] = allowed.high
    if allowed.choices:
        schema["enum"] = list(allowed.choices)
    if field.default is not dataclasses.MISSING and field.default is not None:
        schema["default"] = field.default
    return schema


def schema_of(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of what `json_text` makes of a value of this type; those of classes go into `schemas`."""
    plain, optional = without_none(kind)
    if optional and plain is not kind:
        return {"anyOf": [schema_of(plain, schemas), {"type": "null"}]}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is tuple:
        if inner[1:] == (...,):
            return {"type": "array", "items": schema_of(inner[0], schemas)}
        return {"type": "array", "minItems": len(inner), "maxItems": len(inner)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(inner[1], schemas)}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        if kind.__name__ not in schemas:
            schemas[kind.__name__] = {}  # a class may hold values of its own kind
            schemas[kind.__name__] = _record(kind, schemas)
        return {"$ref": f"{_COMPONENTS}{kind.__name__}"}
    return {}  # anything: JSON itself, or a tuple with names, which is an object or a list


def _record(kind: type, schemas: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind)]
    return {
        "type": "object",
        "description": (inspect.getdoc(kind) or "").split("\n")[0],
        "properties": {name: schema_of(hints[name], schemas) for name in names},
        "required": names,
    }
