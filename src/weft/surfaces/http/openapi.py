"""The OpenAPI 3.1 document of the HTTP surface: made from the registry, so that it cannot say anything else."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from weft.operations.registry import Operation
from weft.surfaces.http.answers import Problem
from weft.surfaces.http.api import Index
from weft.surfaces.toolsets import ALL, offer
from weft.version import __version__

_SCHEMAS: Final = "#/components/schemas/"
_JSON: Final = "application/json"
_ABOUT: Final = (
    "Every operation of weft that may be called over the network. Arguments are sent as a JSON object; the answer is "
    "the operation's output, as the command line prints it with --json. Who is asking is settled by the token alone."
)
# What may come back instead of an answer, on any call.
_REFUSALS: Final = {
    "400": "The arguments are wrong; nothing was written.",
    "401": "No token, or none that is admitted.",
    "403": "The caller may not do this, or the operator has to approve it first.",
    "404": "There is no such thing, as far as the caller may know, or no such operation for this caller.",
    "409": "The log moved, or a request id was used for something else; nothing was written.",
    "413": "The request, or something in it, is larger than the bound.",
    "415": "The body is not application/json.",
    "421": "The server does not go by the name in the Host header.",
    "429": "Too many requests; Retry-After says when to come back.",
    "500": "weft failed inside.",
    "503": "The store or a model cannot serve, too many calls wait, or the server is shutting down.",
}
_WAITS: Final = ("429", "503")
_EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "remember": {"text": "We chose Redis for sessions because Postgres locks were slow."},
    "recall": {"query": "why redis?", "limit": 5},
    "cite": {"citation": "weft://event/default/operator/1"},
}

Schema = dict[str, Any]


class Published(Struct, frozen=True, kw_only=True):
    """The document as it is sent, and its tag."""

    body: bytes
    etag: str


@cache
def document() -> Published:
    """The document, made once."""
    body = msgspec.json.encode(describe(operations()))
    return Published(body=body, etag=f'"{hashlib.sha256(body).hexdigest()[:32]}"')


async def serve_document(request: Request) -> Response:
    """GET: the document, or 304 to who has it already."""
    made = document()
    headers = {"etag": made.etag, "cache-control": "no-cache"}
    if made.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(made.body, media_type=_JSON, headers=headers)


def operations() -> tuple[Operation, ...]:
    """Everything that some caller over the network may call."""
    return tuple(offer((ALL,), network=True).callable.values())


def describe(served: Iterable[Operation]) -> Schema:
    """The whole document."""
    served = tuple(served)
    types: dict[type[Struct], None] = dict.fromkeys(
        [Problem, Index, *(each for one in served for each in (one.input, one.output))]
    )
    references, schemas = msgspec.json.schema_components(list(types), ref_template=_SCHEMAS + "{name}")
    named = dict(zip(types, references, strict=True))
    schemas["Problem"]["properties"]["ok"] = {"const": False}
    for one in served:
        # `read_input` refuses what it does not know.
        schemas[named[one.input]["$ref"].removeprefix(_SCHEMAS)]["additionalProperties"] = False
    return {
        "openapi": "3.1.0",
        "info": {"title": "weft", "version": __version__, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "paths": _fixed_paths(named[Index]) | {f"/api/{one.name}": _path(one, named) for one in served},
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "description": "made by `weft token`"}},
            "schemas": schemas,
            "responses": {status: _refusal(status, said, named[Problem]) for status, said in _REFUSALS.items()},
        },
    }


def _path(operation: Operation, named: dict[type[Struct], Schema]) -> Schema:
    content: Schema = {"schema": named[operation.input]}
    if operation.name in _EXAMPLES:
        content["example"] = _EXAMPLES[operation.name]
    about = inspect.cleandoc(operation.output.__doc__ or "The answer.").partition("\n\n")[0]
    return {
        "post": {
            "operationId": operation.name,
            "summary": operation.summary,
            "description": inspect.cleandoc(operation.description),
            "tags": [operation.toolset],
            "x-weft-effect": operation.effect,
            "requestBody": {"required": True, "content": {_JSON: content}},
            "responses": {"200": _answer(about, named[operation.output]), **_refusals(*_REFUSALS)},
        }
    }


def _fixed_paths(index: Schema) -> Schema:
    """What is no operation."""
    lines: Schema = {"text/plain": {"schema": {"type": "string"}}}
    ready = {"200": {"description": "Yes.", "content": lines}, "503": {"description": "No.", "content": lines}}
    return {
        "/api": {
            "get": {
                "operationId": "list_operations",
                "summary": "The operations that this caller may call.",
                "responses": {"200": _answer("Their names.", index), **_refusals("401", "421", "429", "500", "503")},
            }
        },
        "/health": {
            "get": {
                "operationId": "health",
                "summary": "Whether the process answers.",
                "security": [],
                "responses": {"200": {"description": "It does.", "content": lines}, **_refusals("421")},
            }
        },
        "/ready": {
            "get": {
                "operationId": "ready",
                "summary": "Whether calls can be served, with a line for each part.",
                "security": [],
                "responses": ready | _refusals("421"),
            }
        },
    }


def _answer(about: str, schema: Schema) -> Schema:
    return {"description": about, "content": {_JSON: {"schema": schema}}}


def _refusals(*statuses: str) -> Schema:
    return {status: {"$ref": f"#/components/responses/{status}"} for status in statuses}


def _refusal(status: str, said: str, problem: Schema) -> Schema:
    made: Schema = {"description": said, "content": {_JSON: {"schema": problem}}}
    if status in _WAITS:
        made["headers"] = {"Retry-After": {"description": "seconds", "schema": {"type": "integer"}}}
    return made
