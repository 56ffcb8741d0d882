"""The server's descriptions of itself: the OpenAPI 3.1 document and the A2A agent card, both from the registry.

The agent card lists the core operations as skills, the two interfaces (MCP and the HTTP API, named by the addresses of
their specifications), and that a bearer token is needed. weft implements none of A2A's own bindings (JSONRPC, GRPC,
HTTP+JSON), so none is listed. Fields of version 0.3 stand beside those of 1.0 that replaced them.
"""

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

from weft.runtime.operation import Operation
from weft.surfaces.http.answers import ErrorBody
from weft.surfaces.http.api import OperationList
from weft.surfaces.toolsets import ALL, CORE, offer
from weft.version import __version__

_SCHEMAS: Final = "#/components/schemas/"
_JSON: Final = "application/json"
_ABOUT: Final = (
    "Every operation of weft that may be called over the network. Arguments are sent as a JSON object; the answer is "
    "the operation's output, as the command line prints it with --json. The token alone identifies the caller."
)
# Error responses of every call.
_REFUSALS: Final = {
    "400": "The arguments are wrong; nothing was written.",
    "401": "A token is missing or not valid.",
    "403": "The caller may not do this, or the operator has to approve it first.",
    "404": "The thing, or the operation, does not exist for this caller.",
    "409": "The log has moved on, or the request id was used for another write; nothing was written.",
    "413": "The request, or a value in it, is too large.",
    "415": "The body is not application/json.",
    "421": "The Host header names another server.",
    "429": "Too many requests; retry after the seconds in Retry-After.",
    "500": "Internal error.",
    "503": "The store or a model is unavailable, too many calls wait, or the server is shutting down.",
}
_WAITS: Final = ("429", "503")
_EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "remember": {"text": "We chose Redis for sessions because Postgres locks were slow."},
    "recall": {"query": "why redis?", "limit": 5},
    "cite": {"citation": "weft://event/default/operator/1"},
}

Schema = dict[str, Any]


class PublishedDocument(Struct, frozen=True, kw_only=True):
    """The encoded document and its ETag."""

    body: bytes
    etag: str


@cache
def document() -> PublishedDocument:
    """The document, built once."""
    body = msgspec.json.encode(describe(operations()))
    return PublishedDocument(body=body, etag=f'"{hashlib.sha256(body).hexdigest()[:32]}"')


async def serve_document(request: Request) -> Response:
    """GET: the document, or 304 if the client has it."""
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
        [ErrorBody, OperationList, *(each for one in served for each in (one.input, one.output))]
    )
    references, schemas = msgspec.json.schema_components(list(types), ref_template=_SCHEMAS + "{name}")
    named = dict(zip(types, references, strict=True))
    schemas["ErrorBody"]["properties"]["ok"] = {"const": False}
    for one in served:
        # `read_input` refuses what it does not know.
        schemas[named[one.input]["$ref"].removeprefix(_SCHEMAS)]["additionalProperties"] = False
    return {
        "openapi": "3.1.0",
        "info": {"title": "weft", "version": __version__, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "paths": _fixed_paths(named[OperationList]) | {f"/api/{one.name}": _path(one, named) for one in served},
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "description": "made by `weft token`"}},
            "schemas": schemas,
            "responses": {status: _refusal(status, said, named[ErrorBody]) for status, said in _REFUSALS.items()},
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
    """The paths that are not operations."""
    lines: Schema = {"text/plain": {"schema": {"type": "string"}}}
    ready = {"200": {"description": "Ready.", "content": lines}, "503": {"description": "Not ready.", "content": lines}}
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
                "summary": "Liveness of the process.",
                "security": [],
                "responses": {"200": {"description": "The process answers.", "content": lines}, **_refusals("421")},
            }
        },
        "/ready": {
            "get": {
                "operationId": "ready",
                "summary": "Readiness to serve calls, with a line for each part.",
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


CARD_VERSION: Final = "1.0"
OLDER_VERSION: Final = "0.3.0"
MCP_BINDING: Final = "https://modelcontextprotocol.io/specification"
HTTP_BINDING: Final = "https://spec.openapis.org/oas/v3.1.0"
ABOUT: Final = (
    "Long-term memory for agents: stores statements with their source and answers questions with citations. "
    "Use it over MCP or HTTP; it does not accept A2A messages."
)


async def serve_card(request: Request) -> Response:
    """GET: the agent card, with the address of the request."""
    base = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return Response(
        msgspec.json.encode(card(base)), media_type="application/json", headers={"cache-control": "max-age=300"}
    )


def card(base: str) -> dict[str, Any]:
    """The agent card of a server at this address, without a trailing slash."""
    mcp, http = f"{base}/mcp", f"{base}/api"
    return {
        "name": "weft",
        "description": ABOUT,
        "version": __version__,
        "supportedInterfaces": [
            {"url": mcp, "protocolBinding": MCP_BINDING, "protocolVersion": CARD_VERSION},
            {"url": http, "protocolBinding": HTTP_BINDING, "protocolVersion": CARD_VERSION},
        ],
        "capabilities": {"streaming": False, "pushNotifications": False, "extendedAgentCard": False},
        "defaultInputModes": ["application/json"],
        "defaultOutputModes": ["application/json"],
        "skills": _skills(),
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer", "httpAuthSecurityScheme": {"scheme": "Bearer"}}
        },
        "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
        "documentationUrl": f"{base}/openapi.json",
        # Fields of version 0.3.
        "protocolVersion": OLDER_VERSION,
        "url": mcp,
        "preferredTransport": MCP_BINDING,
        "additionalInterfaces": [{"url": http, "transport": HTTP_BINDING}],
        "security": [{"bearer": []}],
    }


def _skills() -> list[dict[str, Any]]:
    return [
        {
            "id": each.name,
            "name": each.name.replace("_", " "),
            "description": each.summary,
            "tags": [CORE, "memory", each.effect],
        }
        for each in offer((CORE,), network=True).listed.values()
    ]
