"""Which parts of a payload are words: what people and agents said, as against ids, slots, hashes, times and guards.

One walk over a payload as JSON, for all who must find every word of it: redaction, sealing, opening. Everything that
this does not name is structure, and is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from weft.kinds import RECORD_KINDS
from weft.log.citation import is_event_citation

SEPARATOR: Final = "\x1f"
# Fields that hold words, as the node that comes of them calls them.
FIELDS: Final[Mapping[str, str]] = {
    "name": "name",
    "title": "name",
    "summary": "summary",
    "text": "text",
    "speaker": "speaker",
    "props": "props",
}
# Parts of a payload: whether they are as sensitive as the whole, or say so themselves.
PARTS: Final[Mapping[str, bool]] = {
    "nodes": False,
    "edges": False,
    "entities": False,
    "messages": True,
    "sections": True,
    "chunks": True,
    "symbols": True,
}
# Properties that weft makes itself, and that are no words: ids of other nodes, places, hashes, figures.
OWN_PROPS: Final[frozenset[str]] = frozenset(
    [
        "id",
        "about",
        "derived_from",
        "subject",
        "slot",
        "part_of",
        "conversation",
        "whole",
        "archived",
        "verdict",
        "record",
        "seq",
        "role",
        "line",
        "end_line",
        "level",
        "spans",
        "source",
        "path",
        "language",
        "outcome",
        "multiplier",
        "old_fact",
        "compiled_from",
        "sha256",
        "content_hash",
        "context_hash",
        "citation",
        "hash",
        "said",
    ]
)
# Properties that the fold gives, and no payload: what a caller calls so in a payload is words like any other.
FOLDED_PROPS: Final[frozenset[str]] = frozenset({"document"})
# Of weft's own, what tells of the words themselves: it is sealed with them.
TELLING_PROPS: Final[frozenset[str]] = frozenset({"sha256", "content_hash", "context_hash", "citation", "hash", "said"})
COMPILED_FROM: Final = "compiled_from"


def stays_clear(kind: str, name: str, value: Any) -> bool:
    """Whether a property stays in clear beside sealed words: links that erasing must find without the key.

    Anybody may call a property `source` or `subject`, so a name alone is not enough: it is of weft's own records, which
    nobody else writes, or a list of citations. What documents, files and messages have of the kind is no property in
    a payload, but follows from its structure.
    """
    if kind in RECORD_KINDS:
        return name in OWN_PROPS and name not in TELLING_PROPS
    return name == COMPILED_FROM and isinstance(value, list | tuple) and all(map(is_event_citation, value))


class Word(NamedTuple):
    """Where words stand: the id of the node (or what names the edge), the field, whether they are sensitive.

    `kind` is that of the node, where the payload says it.
    """

    of: str
    field: str
    sensitive: bool
    kind: str = ""


Change = Callable[[Word, Any], Any]


def reworded(payload: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """A payload with all its words as `change` gives them: strings, and properties as one mapping.

    `reason` counts as sensitive where anything that the payload asserts is.
    """
    made = _part(payload, change, within=None)
    if made.get("reason"):
        word = Word(reason_of(payload), "reason", is_sensitive(payload))
        made["reason"] = change(word, made["reason"])
    return made


def reason_of(payload: Mapping[str, Any]) -> str:
    """What a reason is bound to: the first thing that the payload is about."""
    for name in ("nodes", "edges"):
        for first in payload.get(name) or ():
            return first if isinstance(first, str) else _named(first, None)
    return str(payload.get("id", ""))


def is_sensitive(payload: Mapping[str, Any]) -> bool:
    """Whether a payload, or anything in it, is marked so."""
    parts = (part for name in PARTS for part in payload.get(name) or () if isinstance(part, Mapping))
    return payload.get("sensitive") is True or any(part.get("sensitive") is True for part in parts)


def _part(part: Mapping[str, Any], change: Change, *, within: Word | None) -> dict[str, Any]:
    made = dict(part)
    of = _named(part, within)
    kind = str(part.get("node_kind") or part.get("kind") or "")
    sensitive = part.get("sensitive") is True or (within is not None and within.sensitive)
    for name, field in FIELDS.items():
        if made.get(name) and not (name in ("name", "title") and "key" in part):  # a symbol's name is in its id
            made[name] = change(Word(of, field, sensitive, kind), made[name])
    for name, inherits in PARTS.items():
        if made.get(name):
            whole = Word(of, "", sensitive) if inherits else None
            made[name] = [
                _part(each, change, within=whole) if isinstance(each, Mapping) else each for each in made[name]
            ]
    return made


def _named(part: Mapping[str, Any], within: Word | None) -> str:
    if "src" in part:
        return edge_of(part["src"], part.get("rel", ""), part.get("dst", ""))
    if "key" in part and within is not None:
        return f"{within.of}::{part['key']}"
    return str(part.get("id", ""))


def edge_of(src: str, rel: str, dst: str) -> str:
    """What names an edge."""
    return SEPARATOR.join((src, rel, dst))
