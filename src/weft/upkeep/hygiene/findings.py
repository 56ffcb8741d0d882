"""Hygiene findings and their ids.

The id of a finding contains the check, the nodes, and a stamp of their state: `duplicate/<older>/<newer>/<stamp>`. So a
finding can be checked again by its id alone, and is out of date as soon as one of its nodes changes.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

from msgspec import Struct

from weft.core.errors import Invalid
from weft.core.types import NodeVersion

CheckName = Literal["duplicate", "decision", "pattern", "entity", "write"]
Action = Literal["merge", "end", "invalidate", "confirm", "retry", "drop", "undo"]

CHECKS: Final[tuple[CheckName, ...]] = ("duplicate", "decision", "pattern", "entity", "write")
ACTIONS: Final[dict[CheckName, tuple[Action, ...]]] = {
    "duplicate": ("merge", "undo"),
    "decision": ("end", "confirm", "undo"),
    "pattern": ("invalidate", "confirm", "undo"),
    "entity": ("merge", "undo"),
    "write": ("retry", "drop", "undo"),
}
NODES: Final[dict[CheckName, int]] = {"duplicate": 2, "decision": 1, "pattern": 1, "entity": 2, "write": 1}
COMMAND: Final = "weft hygiene apply"
SHOWN_CHARACTERS: Final = 120
_SAFE: Final = ":@+.-_~"


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finding: the nodes (or the outbox entry), why, and the command that fixes it.

    `instead` are alternative commands. `similarity` is that of a pair, by `measure`: the share of common words, or the
    cosine of the vectors.
    """

    id: str
    ids: tuple[str, ...]
    why: str
    fix: str
    instead: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    similarity: float | None = None
    measure: Literal["words", "meaning", ""] = ""


class FindingKey(Struct, frozen=True, kw_only=True):
    """The parts of a finding's id."""

    check: CheckName
    ids: tuple[str, ...]
    stamp: str


def make(check: CheckName, ids: Sequence[str], stamp: str, why: str, **more: Any) -> Finding:
    """A finding with its id and commands; the first action of a check is its fix."""
    name = "/".join((check, *(quote(each, safe=_SAFE) for each in ids), stamp))
    fix, *instead = (f"{COMMAND} {action} --ids {name}" for action in ACTIONS[check] if action != "undo")
    return Finding(id=name, ids=tuple(ids), why=why, fix=fix, instead=tuple(instead), **more)


def read(name: str) -> FindingKey:
    """Parses an id. Raises Invalid for anything else."""
    check, *rest = name.split("/")
    known = next((each for each in CHECKS if each == check), None)
    if known is None or len(rest) != NODES[known] + 1 or not all(rest):
        raise Invalid(f"{name[:80]!r} is not the id of a finding", hint="`weft hygiene` lists findings with their ids")
    return FindingKey(check=known, ids=tuple(unquote(each) for each in rest[:-1]), stamp=rest[-1])


def quoted(node_id: str) -> str:
    """An id quoted for a shell command."""
    return shlex.quote(node_id)


def undo_of(name: str) -> str:
    """The command that undoes the fix of a finding."""
    return f"{COMMAND} undo --ids {name}"


def stamp_of(*nodes: NodeVersion) -> str:
    """The state of nodes in eight letters, which changes with any of them."""
    told = repr([(node.id, node.event, node.content_hash, node.guard) for node in nodes])
    return hashlib.sha256(told.encode()).hexdigest()[:8]


def words(node: NodeVersion) -> str:
    """The text of a node on one short line."""
    said = f"{node.name}: {node.text}" if node.name and node.text and node.text != node.name else node.name or node.text
    line = " ".join(said[: 4 * SHOWN_CHARACTERS].split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"
