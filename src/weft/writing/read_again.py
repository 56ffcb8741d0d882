"""Extraction after an edit or a correction: names, facts, preferences and causes of the new words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import MIN_INSTANT_US, to_iso
from weft.core.kinds import MENTION
from weft.core.types import MAX_LIMIT, NOW, NodeVersion
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.runtime.call_context import CallContext
from weft.writing.build.extracted_facts import (
    EXTRACTED_RETRACTED,
    LINKED_KINDS,
    STATING_KINDS,
    ExtractionResult,
    SourceText,
    extract_one,
    extracted_from,
    retracted,
)
from weft.writing.build.versions import version_pieces
from weft.writing.checks.current_value import FACT, FactStatement
from weft.writing.claims_of_text import ClaimSource, claims_written
from weft.writing.proposals import CONFLICTS_WITH, PENDING, PROPOSAL
from weft.writing.write_contract import OPTION_PROPS

NAMES: Final = "INVOLVES"
EARLIER_GONE: Final = "what was extracted from its earlier words only was removed"

EdgeKey = tuple[str, str, str]


class ReadAgain(Struct, frozen=True, kw_only=True):
    """Nodes and relations to assert with the new words, the events after that, and what they depend on."""

    nodes: tuple[graph.NodeAssertion, ...] = ()
    edges: tuple[graph.EdgeAssertion, ...] = ()
    after: tuple[Draft, ...] = ()
    claims: tuple[FactStatement, ...] = ()
    notes: tuple[str, ...] = ()


def read_again(ctx: CallContext, node: NodeVersion, text: str, *, reason: str) -> ReadAgain:
    """What changes with the words of a memory: what only the earlier ones state goes, what both state stays.

    Relations that were made by hand stay, whatever the words say.
    """
    first = version_pieces(ctx, node)[0].interval
    out = extracted_from(ctx, node.id, first.asserted_from)
    if node.kind == FACT or node.kind in LINKED_KINDS or node.guard.sensitive:
        return ReadAgain(after=retracted(out, reason), notes=(EXTRACTED_RETRACTED,) if out else ())
    said = SourceText(
        id=node.id,
        stem=f"{node.id}:{node.event}",  # the ids of what was removed are not used again
        text=text,
        guard=node.guard,
        at=first.asserted_from,
        until=first.asserted_to,
        focus=node.focus,
    )
    old, new = (_extracted(ctx, node, replace(said, text=words)) for words in (node.text, text))
    stated = {_stated(each): each.id for each in out}
    same = {each.id: stated[each.kind, each.text] for each in new.nodes if (each.kind, each.text) in stated}
    claims = tuple(each for each in new.claims if _claimed(each) not in stated)
    stays = {*same.values(), *(stated[_claimed(each)] for each in new.claims if _claimed(each) in stated)}
    gone = [each for each in out if each.id not in stays]
    source = ClaimSource(
        id=node.id,
        stem=said.stem,
        props={name: node.props[name] for name in OPTION_PROPS if name in node.props},
        focus=node.focus,
    )
    made = claims_written(ctx, claims, source, gone={each.id for each in gone})
    edges = [replace(each, src=same.get(each.src, each.src), dst=same.get(each.dst, each.dst)) for each in new.edges]
    there = _relations(ctx, [node.id, *same.values()])
    unnamed = {_key(each) for each in old.edges if each.src == node.id} - {_key(each) for each in new.edges}
    undisputed = {(node.id, CONFLICTS_WITH, str(each.props["old_fact"])) for each in gone if _waits(each)}
    return ReadAgain(
        nodes=tuple(each for each in new.nodes if each.id not in same),
        edges=tuple(each for each in edges if _key(each) not in there),
        after=(*retracted(gone, reason), *_ended(there & (unnamed | undisputed), reason), *made.drafts),
        claims=claims,
        notes=((EARLIER_GONE,) if gone else ()) + made.notes,
    )


def _extracted(ctx: CallContext, node: NodeVersion, said: SourceText) -> ExtractionResult:
    """What a text states. Of a kind of memory that is not read for facts only the names count."""
    found = extract_one(ctx, said)
    if node.kind in STATING_KINDS:
        return found
    mentions = tuple(each for each in found.nodes if each.kind == MENTION)
    names = tuple(each for each in found.edges if (each.src, each.rel) == (node.id, NAMES))
    return ExtractionResult(nodes=mentions, edges=names)


def _stated(node: NodeVersion) -> tuple[str, ...]:
    """What an extracted node says, however it is written: a proposal says what its fact would."""
    if node.kind in (FACT, PROPOSAL):
        return tuple(str(node.props.get(name, "")) for name in ("subject", "predicate", "object"))
    return node.kind, node.text


def _claimed(said: FactStatement) -> tuple[str, ...]:
    return said.entity, said.predicate, said.value


def _waits(node: NodeVersion) -> bool:
    return node.kind == PROPOSAL and node.props.get("status") == PENDING


def _relations(ctx: CallContext, ids: Sequence[str]) -> set[EdgeKey]:
    steps = ctx.store.neighbours(ctx.viewer, NOW, ids, direction="out", limit=MAX_LIMIT)
    return {(step.edge.src, step.edge.rel, step.edge.dst) for step in steps}


def _key(edge: graph.EdgeAssertion) -> EdgeKey:
    return edge.src, edge.rel, edge.dst


def _ended(keys: set[EdgeKey], reason: str) -> tuple[Draft, ...]:
    if not keys:
        return ()
    edges = tuple(graph.EdgeName(src=src, rel=rel, dst=dst) for src, rel, dst in sorted(keys))
    ended = graph.Ended(edges=edges, at=to_iso(MIN_INSTANT_US), reason=reason)
    return (Draft(kind="graph.ended", payload=ended),)
