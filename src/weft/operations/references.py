"""Which node a caller means: by id, citation, name, alias or its own words. Never by likeness."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from msgspec.structs import asdict, replace

from weft.errors import Invalid, NotFound
from weft.instants import MAX_INSTANT_US, MIN_INSTANT_US, to_iso
from weft.kinds import MENTION, RECORD_KINDS, VIEWS, is_thing
from weft.lexical import name_key, stems
from weft.log.canonical import check_text, decode
from weft.log.kinds.graph import NodeAssertion
from weft.loom import Loom
from weft.names import alias_key
from weft.operations.reading import resolve as resolve_id
from weft.retrieval.derived import without_descriptions
from weft.types import MAX_IDS_PER_READ, MAX_LIMIT, NOW, SCOPES, Find, Guard, NodeVersion, When

MERGES_INTO: Final = "MERGES_INTO"
ALWAYS: Final = to_iso(MIN_INSTANT_US)
CANDIDATES_SHOWN: Final = 5
MAX_MERGES: Final = 8  # from a name to the thing it was merged into
MAX_STEMS: Final = 64  # of a description, by which texts that may equal it are looked up

Projects = tuple[str | None, ...] | None
Fits = Callable[[str], bool]

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ENTITY_ID = re.compile(rf"(?:{'|'.join(sorted(kind.lower() for kind in VIEWS['entity']))})(?:@[^/\s]+/|:)\S")


def entity_id(kind: str, key: str, guard: Guard) -> str:
    """One thing per name and rights: what is kept under other rights neither stands in the way nor shows itself."""
    rights = _rights(guard)
    if rights == "admin":
        return f"{kind.lower()}:{key}"
    return f"{kind.lower()}@{rights}/{key}"  # neither sign is in a kind or a tag


def concept_id(key: str, guard: Guard) -> str:
    """One concept per name and rights of each project, whose words for things are its own."""
    return f"concept@{_rights(guard)};{guard.project or ''}/{key}"


def looks_like_id(written: str) -> bool:
    """Written as weft writes ids and citations: what has this form and is not there is no name of a new thing."""
    if written.startswith(("receipt:", "weft://", "file://")) or _UUID.fullmatch(written):
        return True
    if any(letter.isspace() for letter in written):
        return False
    return "::" in written or "#" in written[1:-1] or _ENTITY_ID.match(written) is not None


def covers(seen: Guard, by: Guard) -> bool:
    """Whether all who may see what has the guard `by` may see this too."""
    open_enough = SCOPES.index(seen.scope) <= SCOPES.index(by.scope)
    return open_enough and (by.sensitive or not seen.sensitive) and set(by.agents) <= set(seen.agents)


def same_rights(one: Guard, other: Guard) -> bool:
    """Whether the same viewers may see both, whatever projects they are of."""
    return replace(one, project=None) == replace(other, project=None)


def resolve_reference(
    loom: Loom, written: str, *, kinds: Collection[str] | None = None, when: When = NOW, projects: Projects = ()
) -> NodeVersion | None:
    """The node that is meant: by id or citation, by name, by alias, or by exactly its words; None if there is none.

    A name means nodes of this project and of none (`projects` says others), and leads on to what the node was merged
    into. What the caller may not see is not there. Raises Invalid where several nodes are meant, naming some, and
    where an id is that of a node of other kinds.
    """
    if (node := by_id(loom, written, when)) is not None:
        if kinds is not None and node.kind not in kinds:
            raise Invalid(
                f"{written[:80]!r} is a {node.kind}", hint=f"give the id or the words of a {' or '.join(sorted(kinds))}"
            )
        return merged_into(loom, [node], when)[0]
    found = named(loom, written, None if kinds is None else kinds.__contains__, when=when, projects=projects)
    found = found or same_words(loom, written, kinds, when=when, projects=projects)
    if not found and when.valid_at is None:  # what lies ahead may be spoken of already
        ahead = When(valid_at=MAX_INSTANT_US, known_at=when.known_at)
        found = same_words(loom, written, kinds, when=ahead, projects=projects)
    if len(found) > 1:
        raise ambiguous(written, found)
    return found[0] if found else None


def by_id(loom: Loom, written: str, when: When = NOW) -> NodeVersion | None:
    """The node of an id or citation; one that does not hold at that moment as it was last known."""
    check_text(written, field="a reference")
    if not written.strip():
        raise Invalid("a reference is blank", hint="give an id, a name or a description")
    node_id = resolve_id(loom, written, when) if written.startswith("weft://") else written
    if found := loom.store.nodes(loom.viewer, when, [node_id]):
        return found[0]
    known = [each for each in loom.store.history(loom.viewer, node_id, limit=MAX_LIMIT) if each.retired_at is None]
    return known[-1] if known else None


def named(
    loom: Loom, written: str, fits: Fits | None, *, when: When = NOW, projects: Projects = (), follow: bool = True
) -> tuple[NodeVersion, ...]:
    """The nodes that have this name, or else go by it, each as what it was merged into unless told otherwise."""
    where = _projects(loom, projects)
    found: Iterable[NodeVersion] = ()
    if name_key(written):
        find = Find(names=(written,), projects=where)
        found = loom.store.find(loom.viewer, when, find, limit=MAX_IDS_PER_READ).nodes
    kept = _fitting(found, fits)
    kept = tuple(node for node in kept if node.kind != MENTION) or kept  # what is told of before what was only named
    if not kept and (key := alias_key(written)):
        leads = [each.node for each in loom.store.named(loom.viewer, when, [key], projects=where)]
        ids = [lead.id for lead in leads if fits is None or fits(lead.kind)]
        kept = _fitting(loom.store.nodes(loom.viewer, when, ids), fits)
    kept = without_descriptions(kept)
    return merged_into(loom, kept, when) if follow else kept


def same_words(
    loom: Loom, words: str, kinds: Collection[str] | None, *, when: When = NOW, projects: Projects = ()
) -> tuple[NodeVersion, ...]:
    """The nodes that say exactly this, but for capitals, spaces and punctuation around it; oldest first."""
    where = _projects(loom, projects)
    phrase = " ".join(stems(words)[:MAX_STEMS])
    more = True
    found: Iterable[NodeVersion] = ()
    if phrase:
        (held,) = loom.store.holding(loom.viewer, when, [phrase], projects=where, limit=MAX_LIMIT)
        ids = [lead.id for lead in held.nodes if kinds is None or lead.kind in kinds]
        found, more = loom.store.nodes(loom.viewer, when, ids), held.more
    if more and kinds is not None:  # words so common, or so empty, that the index does not tell
        find = Find(kinds=tuple(sorted(kinds)), projects=where)
        found = loom.store.find(loom.viewer, when, find, limit=MAX_IDS_PER_READ).nodes
    key = name_key(words)
    kept = [node for node in _fitting(found, None) if key and name_key(node.text) == key]
    return tuple(sorted(kept, key=lambda node: node.row))


def merged_into(loom: Loom, nodes: Sequence[NodeVersion], when: When = NOW) -> tuple[NodeVersion, ...]:
    """Each node as what it was merged into, and that in turn; distinct, in order."""
    settled: dict[str, NodeVersion] = {}
    seen: set[str] = set()
    frontier = {node.id: node for node in nodes if is_thing(node.kind)}
    for _ in range(MAX_MERGES):
        if not frontier:
            break
        seen |= frontier.keys()
        steps = loom.store.neighbours(loom.viewer, when, list(frontier), rels=(MERGES_INTO,), direction="out")
        moved = {step.start for step in steps}
        settled |= {node_id: node for node_id, node in frontier.items() if node_id not in moved}
        frontier = {step.node.id: step.node for step in steps if step.node.id not in seen}
    settled |= frontier
    others = {node.id: node for node in nodes if not is_thing(node.kind)}
    return tuple((others | settled).values()) or tuple(nodes)


def unknown(written: str, what: str) -> NotFound:
    """The error for a reference that has no node."""
    return NotFound(
        f"there is no {what} {written[:80]!r} that you may see",
        hint="`weft recall` finds nodes by their words and gives their ids",
    )


def ambiguous(written: str, found: Sequence[NodeVersion | NodeAssertion]) -> Invalid:
    """The error for a reference that several nodes answer to, with the first of them."""
    shown = [f"{node.id} ({node.kind}: {(node.name or node.text)[:60]})" for node in found[:CANDIDATES_SHOWN]]
    more = f" and {len(found) - CANDIDATES_SHOWN} more" if len(found) > CANDIDATES_SHOWN else ""
    return Invalid(
        f"{written[:80]!r} may mean {len(found)} nodes", hint=f"give the id of one: {', '.join(shown)}{more}"
    )


def assertion_of(node: NodeVersion) -> NodeAssertion:
    """What would assert this version again, as it was asserted: the beginning of a new version of it."""
    interval = node.interval
    return NodeAssertion(
        id=node.id,
        kind=node.kind,
        name=node.name,
        summary=node.summary,
        text=node.text,
        props=dict(node.props),
        focus=node.focus,
        **asdict(node.guard),
        valid_from=to_iso(interval.asserted_from),
        valid_to=None if interval.asserted_to is None else to_iso(interval.asserted_to),
        slot=None if node.slot == node.id else decode(node.slot[1:].encode())[-1],
    )


def _rights(guard: Guard) -> str:
    return ",".join((guard.scope, *guard.agents)) + ("!" if guard.sensitive else "")


def _fitting(found: Iterable[NodeVersion], fits: Fits | None) -> tuple[NodeVersion, ...]:
    kept = {node.id: node for node in found if node.kind not in RECORD_KINDS and (fits is None or fits(node.kind))}
    return tuple(kept.values())


def _projects(loom: Loom, asked: Projects) -> Projects:
    """The caller's project and none, unless others are asked about."""
    return (loom.settings.project, None) if asked == () else asked
