"""Resources: cited sources, the schema of the graph, health, and recent memories.

Memories are read by the same operations as on every other surface, as this caller: guarded and recorded.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from weft.core.errors import Invalid
from weft.surfaces.mcp.asking import is_modern
from weft.surfaces.mcp.dispatch import Context, Dispatcher
from weft.version import __version__

SCHEMA: Final = "weft://schema"
HEALTH: Final = "weft://health"
RECENT: Final = "weft://recent"
NOT_FOUND: Final = -32_002  # up to 2025-11-25; from then on, wrong parameters
GONE: Final = frozenset({"not_found", "invalid", "forbidden"})  # whoever may not see it is not told that it is there
URI_CHARACTERS: Final = 4_096
JSON: Final = "application/json"
TEXT: Final = "text/plain"


class ResourceHandlers:
    """Handlers of resources/list, resources/templates/list and resources/read."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def list_resources(self, context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        """Resources with a fixed address, on one page."""
        listed = [
            Resource(
                uri=SCHEMA,
                name="schema",
                title="Schema",
                description="Kinds of nodes by view, relations, kinds of events",
                mime_type=JSON,
            ),
            Resource(
                uri=HEALTH,
                name="health",
                title="Health",
                description="Whether the memory answers, and what is in it",
                mime_type=JSON,
            ),
        ]
        if "recent" in self._dispatcher.offered(context).callable:
            listed.append(
                Resource(
                    uri=RECENT,
                    name="recent",
                    title="Recent memories",
                    description="What was written last in this project, newest first",
                    mime_type=TEXT,
                )
            )
        return ListResourcesResult(resources=listed)

    async def list_templates(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """Citations, as answers give them."""
        if "cite" not in self._dispatcher.offered(context).callable:
            return ListResourceTemplatesResult(resource_templates=[])
        return ListResourceTemplatesResult(
            resource_templates=[
                ResourceTemplate(
                    uri_template="weft://{session}/events/{seq}{#hash}",
                    name="citation",
                    title="Cited event",
                    description="What a citation points at, and whether it still says what was cited",
                    mime_type=TEXT,
                ),
                ResourceTemplate(
                    uri_template="file://{+path}:{line}",
                    name="file-citation",
                    title="Cited lines",
                    description="Lines of an ingested file, as they were ingested",
                    mime_type=TEXT,
                ),
            ]
        )

    async def read(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        """One resource. An unknown one, and one that this caller may not see, are the same error of the protocol."""
        uri = params.uri
        if uri == SCHEMA:
            return _contents(uri, JSON, _json(schema()))
        if uri == HEALTH:
            return _contents(uri, JSON, await self._health(context))
        if uri == RECENT:
            return await self._used(context, uri, "recent", {})
        if len(uri) > URI_CHARACTERS or not _is_citation(uri):
            raise _not_found(context, uri)
        return await self._used(context, uri, "cite", {"citation": uri})

    async def _used(self, context: Context, uri: str, name: str, given: dict[str, Any]) -> ReadResourceResult:
        if name not in self._dispatcher.offered(context).callable:
            await self._dispatcher.turn_away(context, name)
            raise _not_found(context, uri)
        answer = await self._dispatcher.use(context, name, given)
        if answer.envelope.error_code in GONE:
            raise _not_found(context, uri)
        if not answer.envelope.ok:
            raise MCPError(INTERNAL_ERROR, answer.envelope.summary, {"hint": answer.envelope.hint})
        return _contents(uri, TEXT, answer.text)

    async def _health(self, context: Context) -> str:
        """The result of `doctor` for an operator on this machine; for others, that the store answers."""
        told: dict[str, Any] = {"ok": True, "version": __version__}
        if not self._dispatcher.network:
            told["project"] = await self._dispatcher.project(context)
        able = self._dispatcher.offered(context).callable
        if "doctor" in able:
            found = (await self._dispatcher.use(context, "doctor", {})).envelope
            if found.ok and found.data is not None:
                return _json(told | found.data)
        if "get_statistics" not in able:
            return _json(told)
        counted = (await self._dispatcher.use(context, "get_statistics", {})).envelope
        if not counted.ok or counted.data is None:
            return _json(told | {"ok": False, "error_code": counted.error_code, "problem": counted.summary})
        shown = ("nodes", "edges", "events", "open_proposals", "active_alerts", "waiting_writes")
        return _json(told | {name: counted.data[name] for name in shown if name in counted.data})


def schema() -> dict[str, Any]:
    """Kinds of nodes by view, relations, kinds of events."""
    from weft.core.kinds import RECORD_KINDS, STRUCTURAL_KINDS, VIEWS
    from weft.log.kinds import KINDS
    from weft.writing.checks.predicates import ACROSS, OWN

    return {
        "views": {view: sorted(kinds) for view, kinds in VIEWS.items()},
        "open_kinds": "any other kind may be written, and is in the view semantic",
        "structural_kinds": sorted(STRUCTURAL_KINDS),
        "record_kinds": sorted(RECORD_KINDS),
        "relations": {**OWN, **ACROSS},
        "open_relations": "any other relation may be written, in UPPER_SNAKE",
        "events": {kind.name: kind.summary for kind in KINDS},
    }


def _is_citation(uri: str) -> bool:
    from weft.log.citation import parse_citation

    try:
        parse_citation(uri)
    except Invalid:
        return False
    return True


def _not_found(context: Context, uri: str) -> MCPError:
    code = INVALID_PARAMS if is_modern(context) else NOT_FOUND
    return MCPError(code, "Resource not found", {"uri": uri[:URI_CHARACTERS]})


def _contents(uri: str, mime_type: str, text: str) -> ReadResourceResult:
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=mime_type, text=text)])


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
