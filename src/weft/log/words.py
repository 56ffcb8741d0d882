"""The words in a payload: what people and agents said, as opposed to ids, slots, hashes, times and guards.

One walk over a payload as JSON for redaction, encryption and decryption. Everything not listed here is structure, and
is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from weft.core.kinds import RECORD_KINDS
from weft.log.citation import is_event_citation

SEPARATOR: Final = "\x1f"
# Fields that hold words, with their names in the node.
FIELDS: Final[Mapping[str, str]] = {
    "name": "name",
    "title": "name",
    "summary": "summary",
    "text": "text",
    "speaker": "speaker",
    "props": "props",
}
# Parts of a payload: whether they inherit the sensitivity of the whole, or state their own.
PARTS: Final[Mapping[str, bool]] = {
    "nodes": False,
    "edges": False,
    "entities": False,
    "messages": True,
    "sections": True,
    "chunks": True,
    "symbols": True,
}
# Properties that weft writes itself and that hold no words: ids of other nodes, offsets, hashes, numbers.
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
# Properties that the projection adds and no payload holds: in a payload, a property of that name is a caller's words.
FOLDED_PROPS: Final[frozenset[str]] = frozenset({"document"})
# weft's own properties that reveal something about the words: encrypted with them.
TELLING_PROPS: Final[frozenset[str]] = frozenset({"sha256", "content_hash", "context_hash", "citation", "hash", "said"})
COMPILED_FROM: Final = "compiled_from"


def stays_clear(kind: str, name: str, value: Any) -> bool:
    """Whether a property stays in clear beside encrypted words: links that an erasure must find without the key.

    A caller may name a property `source` or `subject`, so a name alone is not enough: the property must belong to
    weft's own records, which nobody else writes, or be a list of citations. Similar links of documents, files and
    messages are no properties of a payload, but follow from its structure.
    """
    if kind in RECORD_KINDS:
        return name in OWN_PROPS and name not in TELLING_PROPS
    return name == COMPILED_FROM and isinstance(value, list | tuple) and all(map(is_event_citation, value))


class WordField(NamedTuple):
    """The place of words: the id of the node (or the name of the edge), the field, whether they are sensitive.

    `kind` is that of the node, if the payload states it.
    """

    of: str
    field: str
    sensitive: bool
    kind: str = ""


Change = Callable[[WordField, Any], Any]


def reworded(payload: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """A payload with all its words as `change` returns them: strings, and properties as one mapping.

    `reason` counts as sensitive if anything that the payload asserts is.
    """
    made = _part(payload, change, within=None)
    if made.get("reason"):
        word = WordField(reason_of(payload), "reason", is_sensitive(payload))
        made["reason"] = change(word, made["reason"])
    return made


def reason_of(payload: Mapping[str, Any]) -> str:
    """The id that a reason is bound to: the first node or edge of the payload."""
    for name in ("nodes", "edges"):
        for first in payload.get(name) or ():
            return first if isinstance(first, str) else _named(first, None)
    return str(payload.get("id", ""))


def is_sensitive(payload: Mapping[str, Any]) -> bool:
    """Whether a payload, or anything in it, is marked sensitive."""
    parts = (part for name in PARTS for part in payload.get(name) or () if isinstance(part, Mapping))
    return payload.get("sensitive") is True or any(part.get("sensitive") is True for part in parts)


def _part(part: Mapping[str, Any], change: Change, *, within: WordField | None) -> dict[str, Any]:
    made = dict(part)
    of = _named(part, within)
    kind = str(part.get("node_kind") or part.get("kind") or "")
    sensitive = part.get("sensitive") is True or (within is not None and within.sensitive)
    for name, field in FIELDS.items():
        if made.get(name) and not (name in ("name", "title") and "key" in part):  # a symbol's name is in its id
            made[name] = change(WordField(of, field, sensitive, kind), made[name])
    for name, inherits in PARTS.items():
        if made.get(name):
            whole = WordField(of, "", sensitive) if inherits else None
            made[name] = [
                _part(each, change, within=whole) if isinstance(each, Mapping) else each for each in made[name]
            ]
    return made


def _named(part: Mapping[str, Any], within: WordField | None) -> str:
    if "src" in part:
        return edge_of(part["src"], part.get("rel", ""), part.get("dst", ""))
    if "key" in part and within is not None:
        return f"{within.of}::{part['key']}"
    return str(part.get("id", ""))


def edge_of(src: str, rel: str, dst: str) -> str:
    """The name of an edge."""
    return SEPARATOR.join((src, rel, dst))
