"""The agent card: who is here, what it can do and how to reach it, in the form that A2A has for it.

What the card claims: the skills (weft's core operations), the two interfaces it really has (MCP and its own HTTP API,
named by the addresses of their specifications), that a bearer token is needed, and that nothing streams or calls back.
What it does not claim: A2A's own methods. weft speaks none of A2A's bindings (JSONRPC, GRPC, HTTP+JSON), so none is
among the interfaces, and a client that looks for one finds that there is none. `protocolVersion` is that of the card's
form, which is all of A2A that is here. Fields of version 0.3 (url, preferredTransport, additionalInterfaces, security)
stand beside those of 1.0 that replaced them, for readers of either.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from weft.surfaces.toolsets import CORE, offer
from weft.version import __version__

CARD_VERSION: Final = "1.0"
OLDER_VERSION: Final = "0.3.0"
MCP_BINDING: Final = "https://modelcontextprotocol.io/specification"
HTTP_BINDING: Final = "https://spec.openapis.org/oas/v3.1.0"
ABOUT: Final = (
    "Long-term memory for agents: keeps what it is told with its source, and answers questions with citations. "
    "Called over MCP or HTTP; it does not take A2A messages."
)


async def serve_card(request: Request) -> Response:
    """GET: the card, with the address under which it was asked for."""
    base = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return Response(
        msgspec.json.encode(card(base)), media_type="application/json", headers={"cache-control": "max-age=300"}
    )


def card(base: str) -> dict[str, Any]:
    """The card of a server at this address, which has no slash at its end."""
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
        # As version 0.3 has it.
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
