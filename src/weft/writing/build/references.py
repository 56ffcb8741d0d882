"""References to nodes by id, citation, name, alias or exact text, never by similarity."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from msgspec.structs import asdict, replace

from weft.core.clock import MAX_INSTANT_US, MIN_INSTANT_US, to_iso
from weft.core.errors import Invalid, NotFound
from weft.core.kinds import MENTION, RECORD_KINDS, VIEWS, is_thing
from weft.core.types import MAX_IDS_PER_READ, MAX_LIMIT, NOW, SCOPES, Find, Guard, NodeVersion, When
from weft.log.canonical import check_text, decode
from weft.log.kinds.graph import NodeAssertion
from weft.retrieval.citations.resolve import resolve as resolve_id
from weft.retrieval.judging.derived import without_descriptions
from weft.runtime.call_context import CallContext
from weft.text.lexical import name_key, stems
from weft.text.names import alias_key

MERGES_INTO: Final = "MERGES_INTO"
ALWAYS: Final = to_iso(MIN_INSTANT_US)
CANDIDATES_SHOWN: Final = 5
MAX_MERGES: Final = 8  # from a name to the thing it was merged into
MAX_STEMS: Final = 64  # of a text, by which equal texts are looked up

Projects = tuple[str | None, ...] | None
Fits = Callable[[str], bool]

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ENTITY_ID = re.compile(rf"(?:{'|'.join(sorted(kind.lower() for kind in VIEWS['entity']))})(?:@[^/\s]+/|:)\S")


def entity_id(kind: str, key: str, guard: Guard) -> str:
    """One entity per name and rights: entities under other rights are neither found nor in the way."""
    rights = _rights(guard)
    if rights == "admin":
        return f"{kind.lower()}:{key}"
    return f"{kind.lower()}@{rights}/{key}"  # neither sign occurs in a kind or a tag


def concept_id(key: str, guard: Guard) -> str:
    """One concept per name, rights and project."""
    return f"concept@{_rights(guard)};{guard.project or ''}/{key}"


def looks_like_id(written: str) -> bool:
    """Whether a text has the form of an id or citation, and so is not the name of a new entity."""
    if written.startswith(("receipt:", "weft://", "file://")) or _UUID.fullmatch(written):
        return True
    if any(letter.isspace() for letter in written):
        return False
    return "::" in written or "#" in written[1:-1] or _ENTITY_ID.match(written) is not None


def covers(seen: Guard, by: Guard) -> bool:
    """Whether everybody who may see what has the guard `by` may see this too."""
    open_enough = SCOPES.index(seen.scope) <= SCOPES.index(by.scope)
    return open_enough and (by.sensitive or not seen.sensitive) and set(by.agents) <= set(seen.agents)


def same_rights(one: Guard, other: Guard) -> bool:
    """Whether the same viewers may see both, whatever their projects."""
    return replace(one, project=None) == replace(other, project=None)


def resolve_reference(
    ctx: CallContext, written: str, *, kinds: Collection[str] | None = None, when: When = NOW, projects: Projects = ()
) -> NodeVersion | None:
    """The node of an id or citation, a name, an alias, or exactly its text; None if there is none.

    Names are looked up in this project and among nodes of no project (`projects` overrides this) and follow merges.
    Nodes that the caller may not see are ignored. Raises Invalid if several nodes match, or if an id is of another
    kind.
    """
    if (node := by_id(ctx, written, when)) is not None:
        if kinds is not None and node.kind not in kinds:
            raise Invalid(
                f"{written[:80]!r} is a {node.kind}", hint=f"give the id or the words of a {' or '.join(sorted(kinds))}"
            )
        return merged_into(ctx, [node], when)[0]
    found = named(ctx, written, None if kinds is None else kinds.__contains__, when=when, projects=projects)
    found = merged_into(ctx, found, when)
    found = found or same_words(ctx, written, kinds, when=when, projects=projects)
    if not found and when.valid_at is None:  # nodes whose valid time begins in the future
        ahead = When(valid_at=MAX_INSTANT_US, known_at=when.known_at)
        found = same_words(ctx, written, kinds, when=ahead, projects=projects)
    if len(found) > 1:
        raise ambiguous_reference(written, found)
    return found[0] if found else None


def by_id(ctx: CallContext, written: str, when: When = NOW) -> NodeVersion | None:
    """The node of an id or citation; if it does not hold at that time, as it was last known."""
    check_text(written, field="a reference")
    if not written.strip():
        raise Invalid("a reference is blank", hint="give an id, a name or the exact text of a node")
    node_id = resolve_id(ctx, written, when) if written.startswith("weft://") else written
    if found := ctx.store.nodes(ctx.viewer, when, [node_id]):
        return found[0]
    known = [each for each in ctx.store.history(ctx.viewer, node_id, limit=MAX_LIMIT) if each.retired_at is None]
    return known[-1] if known else None


def named(
    ctx: CallContext, written: str, fits: Fits | None, *, when: When = NOW, projects: Projects = ()
) -> tuple[NodeVersion, ...]:
    """The nodes with this name or, if there are none, with this alias. Merges are not followed."""
    where = _projects(ctx, projects)
    found: Iterable[NodeVersion] = ()
    if name_key(written):
        find = Find(names=(written,), projects=where)
        found = ctx.store.find(ctx.viewer, when, find, limit=MAX_IDS_PER_READ).nodes
    kept = _fitting(found, fits)
    kept = tuple(node for node in kept if node.kind != MENTION) or kept  # described entities before mere mentions
    if not kept and (key := alias_key(written)):
        leads = [each.node for each in ctx.store.by_name(ctx.viewer, when, [key], projects=where)]
        ids = [lead.id for lead in leads if fits is None or fits(lead.kind)]
        kept = _fitting(ctx.store.nodes(ctx.viewer, when, ids), fits)
    return without_descriptions(kept)


def same_words(
    ctx: CallContext, words: str, kinds: Collection[str] | None, *, when: When = NOW, projects: Projects = ()
) -> tuple[NodeVersion, ...]:
    """The nodes with exactly this text, ignoring case, spaces and outer punctuation; oldest first."""
    where = _projects(ctx, projects)
    phrase = " ".join(stems(words)[:MAX_STEMS])
    more = True
    found: Iterable[NodeVersion] = ()
    if phrase:
        (held,) = ctx.store.by_phrase(ctx.viewer, when, [phrase], projects=where, limit=MAX_LIMIT)
        ids = [lead.id for lead in held.nodes if kinds is None or lead.kind in kinds]
        found, more = ctx.store.nodes(ctx.viewer, when, ids), held.more
    if more and kinds is not None:  # the text index is no help for very common or empty words
        find = Find(kinds=tuple(sorted(kinds)), projects=where)
        found = ctx.store.find(ctx.viewer, when, find, limit=MAX_IDS_PER_READ).nodes
    key = name_key(words)
    kept = [node for node in _fitting(found, None) if key and name_key(node.text) == key]
    return tuple(sorted(kept, key=lambda node: node.row))


def merged_into(ctx: CallContext, nodes: Sequence[NodeVersion], when: When = NOW) -> tuple[NodeVersion, ...]:
    """Each node as the one it was merged into, transitively; distinct, in order."""
    settled: dict[str, NodeVersion] = {}
    seen: set[str] = set()
    frontier = {node.id: node for node in nodes if is_thing(node.kind)}
    for _ in range(MAX_MERGES):
        if not frontier:
            break
        seen |= frontier.keys()
        steps = ctx.store.neighbours(ctx.viewer, when, list(frontier), rels=(MERGES_INTO,), direction="out")
        moved = {step.start for step in steps}
        settled |= {node_id: node for node_id, node in frontier.items() if node_id not in moved}
        frontier = {step.node.id: step.node for step in steps if step.node.id not in seen}
    settled |= frontier
    others = {node.id: node for node in nodes if not is_thing(node.kind)}
    return tuple((others | settled).values()) or tuple(nodes)


def reference_not_found(written: str, what: str) -> NotFound:
    """The error for a reference that matches no node."""
    return NotFound(
        f"there is no {what} {written[:80]!r} that you may see",
        hint="`weft recall` finds nodes and gives their ids",
    )


def ambiguous_reference(written: str, found: Sequence[NodeVersion | NodeAssertion]) -> Invalid:
    """The error for a reference that matches several nodes, with the first of them."""
    shown = [f"{node.id} ({node.kind}: {(node.name or node.text)[:60]})" for node in found[:CANDIDATES_SHOWN]]
    more = f" and {len(found) - CANDIDATES_SHOWN} more" if len(found) > CANDIDATES_SHOWN else ""
    return Invalid(f"{written[:80]!r} matches {len(found)} nodes", hint=f"give the id of one: {', '.join(shown)}{more}")


def assertion_of(node: NodeVersion) -> NodeAssertion:
    """The assertion that would repeat a version: the starting point of a new version."""
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


def _projects(ctx: CallContext, asked: Projects) -> Projects:
    """The caller's project and nodes of no project, unless others are given."""
    return (ctx.settings.project, None) if asked == () else asked
