"""A memory with words in it, and what is still said after an erasure."""

from __future__ import annotations

import weft

FILLER = ("The mill is open.", "Docks are wet on Mondays.", "Boats need paint.", "Nets dry in the sun.", "Fog is late.")


def filled(memory: weft.Memory) -> weft.Memory:
    for text in FILLER:
        memory.remember(text)
    return memory


def everything_said(memory: weft.Memory) -> str:
    """All payloads of the log and all rows of the graph, as text."""
    ctx = memory.ctx
    viewer = ctx.operator("look")
    log = ctx.store.log(viewer, after=0, limit=10_000)
    payloads = [event.payload.decode() for _, page in log for event in page if event.payload]
    return "\n".join([*payloads, *map(str, ctx.store.graph_rows(viewer))])


def sound(memory: weft.Memory) -> None:
    assert memory.call("log_verify").problem is None
    assert memory.call("rebuild").equal


def events(memory: weft.Memory) -> int:
    return memory.ctx.store.head(memory.ctx.viewer).pos
