"""A claim: one agent's announcement that it works on a target, so that no other begins the same.

Each target has one claim node, whose id is made from the target's: two claims of one target meet in one slot. Who held
it before is in the versions of that node.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from weft.core.clock import parse_instant
from weft.core.errors import Invalid
from weft.core.kinds import CLAIM
from weft.core.types import NodeVersion

PREFIX: Final = "claim:"
TARGETS: Final = "TARGETS"
MAX_TARGET_CHARACTERS: Final = 1_900  # of an id that a claim's id repeats; longer ones are hashed
TASK_KINDS: Final = frozenset({"Task", "Feature"})
INSIDE: Final = ("::", "#")  # between a source file and its symbols, a document and its sections

ClaimType = Literal["task", "feature", "file", "function", "document", "other"]
_TYPES: Final[Mapping[str, ClaimType]] = {
    "Task": "task",
    "Feature": "feature",
    "File": "file",
    "Class": "function",
    "Function": "function",
    "Test": "function",
    "Document": "document",
    "Section": "document",
    "Chunk": "document",
}


class ClaimHolder(Struct, frozen=True):
    """Who holds a claim: an agent, in one session. Two sessions of one name may be two running programs."""

    agent: str
    session: str


class Claim(Struct, frozen=True, kw_only=True):
    """A claim as stored in its node. `version` is that of the target when it was claimed or last refreshed.

    With `awaits_change` the holder recorded an edit that the graph had not seen: the target's next version is its own.
    `overtaken` is set once another recorded an edit of the target: it says who and when.
    """

    id: str
    target: str
    type: ClaimType
    holder: ClaimHolder
    intent: str
    label: str
    since: int
    version: str
    task: str | None
    lease_until: int | None
    awaits_change: bool
    overtaken: str
    node: NodeVersion


def claim_id(target: str) -> str:
    """The id of the claim of a target."""
    if len(target) <= MAX_TARGET_CHARACTERS:
        return f"{PREFIX}{target}"
    return f"{PREFIX}~{hashlib.sha256(target.encode()).hexdigest()}"


def type_of(target: NodeVersion) -> ClaimType:
    """The type of claim that fits a target."""
    return _TYPES.get(target.kind, "other")


def version_of(target: NodeVersion) -> str:
    """A short name of a target's content; of a task its state, not its notes."""
    if target.kind in TASK_KINDS:
        said = f"{target.content_hash.hex()}/{target.props.get('status') or 'open'}"
        return hashlib.sha256(said.encode()).hexdigest()[:16]
    sha = target.props.get("sha256")
    return sha[:16] if isinstance(sha, str) and sha else target.content_hash.hex()[:16]


def around(target: str) -> list[str]:
    """The ids of what a target lies inside, the innermost last: a symbol's file, then its class."""
    found = []
    for mark in INSIDE:
        head, *parts = target.split(mark)
        found += [mark.join((head, *parts[:count])) for count in range(len(parts))]
    return [each for each in dict.fromkeys(found) if each and each != target]


def overlap(one: str, other: str) -> bool:
    """Whether two targets are the same, or one lies inside the other."""
    return one == other or one in around(other) or other in around(one)


def claim_of(node: NodeVersion) -> Claim | None:
    """The claim stored in a node; None if weft did not write it."""
    props = node.props
    target, agent, session = (props.get(name) for name in ("target", "holder", "session"))
    if node.kind != CLAIM or not (isinstance(target, str) and isinstance(agent, str) and isinstance(session, str)):
        return None
    if node.id != claim_id(target):
        return None
    lease = props.get("lease_until")
    task = props.get("task")
    return Claim(
        id=node.id,
        target=target,
        type=_known_type(props),
        holder=ClaimHolder(agent, session),
        intent=str(props.get("intent") or ""),
        label=str(props.get("label") or target),
        since=_instant(props.get("since")) or node.interval.valid_from,
        version=str(props.get("target_version", "")),
        task=task if isinstance(task, str) else None,
        lease_until=_instant(lease),
        awaits_change=props.get("awaits_change") is True,
        overtaken=str(props.get("overtaken") or ""),
        node=node,
    )


def _known_type(props: Mapping[str, Any]) -> ClaimType:
    said = props.get("claim_type")
    return next((each for each in _TYPES.values() if each == said), "other")


def _instant(written: Any) -> int | None:
    if not isinstance(written, str):
        return None
    try:
        return parse_instant(written)
    except Invalid:
        return None
