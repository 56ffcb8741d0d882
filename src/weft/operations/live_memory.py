"""What an agent without live memory may still have run: see the setting `live_memory` and docs/agents.md."""

from __future__ import annotations

from typing import Final

from weft.errors import Forbidden
from weft.loom import Loom
from weft.operations.registry import Operation

# What was baked for it, what is set, and its host's own record of what was said.
WITHOUT_MEMORY: Final = frozenset({"agent_knowledge", "config", "context", "ingest_transcript", "record_turns"})


def check_live(loom: Loom, operation: Operation) -> None:
    """Raises Forbidden for what reads or writes memory where the caller has none."""
    if loom.settings.live_memory or operation.name in WITHOUT_MEMORY:
        return
    raise Forbidden(
        f"{operation.name} is not for the agent {loom.settings.agent}: it works without live memory",
        hint="`weft agent-knowledge` tells what was baked for it; `weft config` shows where live_memory is set",
    )
