"""Every kind of event, one family per file. A kind, once released, keeps its meaning for ever.

Payloads hold resolved outcomes: ids, slots, superseded ids. Nothing about the past is decided again later.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import msgspec
from msgspec import Struct

from weft.core.errors import Corrupt, Invalid
from weft.core.types import Event
from weft.log.kinds import code, conversation, document, graph, memory, rewriting, transaction


class Kind(Struct, frozen=True):
    """A kind of event: its name, its payload type, its meaning."""

    name: str
    payload: type[Struct]
    summary: str


KINDS: Final[tuple[Kind, ...]] = (
    Kind("memory.remembered", memory.Remembered, "free text, stored verbatim as one node"),
    Kind("graph.asserted", graph.Asserted, "nodes and edges, with every reference resolved"),
    Kind("graph.ended", graph.Ended, "nodes or edges stop being true at a moment"),
    Kind("graph.deleted", graph.Deleted, "nodes become invisible at once, at every moment asked about"),
    Kind("graph.restored", graph.Restored, "deleted nodes become visible again"),
    Kind("document.ingested", document.Ingested, "one version of a document with its sections"),
    Kind("conversation.recorded", conversation.Recorded, "turns of a conversation, each a node of its own"),
    Kind("code.indexed", code.Indexed, "one version of a source file with its symbols"),
    Kind("code.linked", code.Linked, "what a source file refers to: imports, calls, bases, tests"),
    Kind("tx.noted", transaction.Noted, "says what this commit was: kind, git commit, files, duration"),
    Kind("tx.opened", transaction.Opened, "a change that spans several commits begins"),
    Kind("tx.continued", transaction.Continued, "this commit belongs to an open change"),
    Kind("tx.closed", transaction.Closed, "an open change is complete, and becomes visible"),
    Kind("log.rewritten", rewriting.Rewritten, "payloads of earlier events were erased or sealed anew"),
)

# msgspec learns a type at its first use, and crashes where two threads do so at once (a write and the audit's own):
# an import does it alone.
for _kind in KINDS:
    msgspec.json.Decoder(_kind.payload)


@functools.cache
def _by_name() -> dict[str, Kind]:
    return {kind.name: kind for kind in KINDS}


def kind_named(name: str) -> Kind:
    """The kind of that name. Raises Invalid for one that this version does not know."""
    found = _by_name().get(name)
    if found is None:
        known = ", ".join(kind.name for kind in KINDS)
        raise Invalid(f"unknown kind of event: {name[:60]!r}", hint=f"known kinds: {known}")
    return found


@functools.cache
def _decoder(name: str) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind_named(name).payload)


def payload_of(event: Event) -> Any:
    """The typed payload of an event, or None if it was erased. Raises Corrupt if it does not fit its kind."""
    if event.payload is None:
        return None
    try:
        return _decoder(event.kind).decode(event.payload)
    except msgspec.MsgspecError as problem:
        raise Corrupt(f"the payload of {event.citation} does not fit {event.kind}: {problem}") from problem
