"""`tag`, `pin`, `compile_truth`: a memory's audience and topics, protection from fading, an entity's summary."""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.append.append import Fence
from weft.core.clock import to_iso
from weft.core.errors import Conflict, Forbidden, Invalid
from weft.core.kinds import COMPILED_TRUTH, RECORD_KINDS, STRUCTURAL_KINDS, is_thing
from weft.core.types import NodeVersion
from weft.graph.moves import shared_slot
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.runtime.call_context import CallContext
from weft.runtime.fields import GovernanceToken, NodeName, ProducedBy, RequestId, Tags
from weft.runtime.operation import Operation
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.build.compiled_truth import (
    MAX_TRUTH_CHARACTERS,
    StaleTruths,
    TruthSources,
    stale_truths_from,
    summarise,
    truth_sources,
    without_truth,
)
from weft.writing.build.extracted_facts import extracted_from, retracted
from weft.writing.build.references import assertion_of, reference_not_found, resolve_reference
from weft.writing.build.versions import (
    MAX_VERSIONS,
    NodeChange,
    assert_piece,
    change_node,
    new_versions,
    node_fence,
    result_of,
    version_draft,
    version_pieces,
)
from weft.writing.write_contract import Keywords, WriteResult

MAX_TAGS: Final = 64
MAX_KEYWORDS: Final = 32


class Tag(Struct, frozen=True, kw_only=True):
    """Input of `tag`."""

    id: NodeName
    agents: Annotated[Tags, Meta(description="agents that it is also meant for from now on")] = ()
    keywords: Keywords = ()
    remove_agents: Annotated[Tags, Meta(description="agents that it is no longer meant for")] = ()
    remove_keywords: Annotated[Keywords, Meta(description="topics to remove")] = ()
    request_id: RequestId = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


def tag(ctx: CallContext, given: Tag) -> WriteResult:
    """Sets the agents that a memory is meant for and the topics that it belongs to.

    Public agents see only memories tagged for them; agents follow topics. Tags apply to every point in time, the past
    included.
    """
    if not (given.agents or given.keywords or given.remove_agents or given.remove_keywords):
        raise Invalid("no tags were given", hint="give agents or keywords, to add or to remove")
    own = ctx.viewer.agent if ctx.viewer.tagged_only else None
    if own is not None and given.remove_agents:
        raise Forbidden(
            "you see this memory through its tags and may not remove any", hint="ask an internal agent to remove them"
        )

    def decide(node: NodeVersion) -> NodeChange | str:
        _must_be_memory(node, "tag")
        agents = _changed(node.guard.agents, given.agents, given.remove_agents, MAX_TAGS, "agents")
        before = node.props.get("keywords")
        words = tuple(map(str, before)) if isinstance(before, list | tuple) else ()
        keywords = _changed(words, given.keywords, given.remove_keywords, MAX_KEYWORDS, "keywords")
        if agents == node.guard.agents and keywords == words:
            return "it has these tags already: nothing was written"
        props = {key: value for key, value in node.props.items() if key != "keywords"}
        props |= {"keywords": list(keywords)} if keywords else {}
        drafts = _retagged(ctx, node, agents, props)
        if agents == node.guard.agents:
            return NodeChange(drafts=drafts)
        begin = version_pieces(ctx, node)[0].interval.valid_from
        gone = retracted(extracted_from(ctx, node.id, begin), "its source is for others now")
        stale: StaleTruths = stale_truths_from(ctx, node)
        return NodeChange(drafts=(*gone, *drafts, *stale.drafts), notes=stale.notes, slots=stale.slots)

    return change_node(ctx, given.id, decide, request_id=given.request_id)


def _changed(
    before: tuple[str, ...], add: tuple[str, ...], remove: tuple[str, ...], most: int, what: str
) -> tuple[str, ...]:
    """Tags after adding and removing some. Topics are compared without regard to case."""

    def key(word: str) -> str:
        return word if what == "agents" else word.casefold()

    gone = {key(each) for each in remove}
    kept: dict[str, str] = {}
    for each in (*(word for word in before if key(word) not in gone), *add):
        kept.setdefault(key(each), each)
    if len(kept) > most:
        raise Invalid(f"it would have {len(kept)} {what}; the limit is {most}", hint=f"remove some {what} first")
    return tuple(sorted(kept.values())) if what == "agents" else tuple(kept.values())


def _retagged(ctx: CallContext, node: NodeVersion, agents: tuple[str, ...], props: dict[str, Any]) -> tuple[Draft, ...]:
    """A new version. A node in a shared slot moves to the slot of its new audience, unless that one is taken."""
    changes: dict[str, Any] = {"agents": agents, "props": props}
    if agents != node.guard.agents and COMPILED_TRUTH in node.props:
        # The compiled truth of an entity rests on what its former audience could see.
        changes |= without_truth(replace(node, props=props))
    if node.slot == node.id or agents == node.guard.agents:
        return (version_draft(ctx, node, new_versions(ctx, node, **changes)),)
    again = replace(assertion_of(node), **changes)
    assert again.slot is not None
    own = version_pieces(ctx, node)
    begin = own[0].interval.valid_from
    there = shared_slot(again.slot, replace(node.guard, agents=agents))
    here = ctx.store.current_in_slot(ctx.viewer, node.slot, after=begin, limit=MAX_VERSIONS)
    comes_back = any(row.id == node.id and row.event != node.event for row in here)
    if comes_back or ctx.store.current_in_slot(ctx.viewer, there, after=begin, limit=1):
        raise Conflict(
            "this fact cannot be retagged: these agents have another current value, or it changes later itself",
            hint="add the fact again, with the agents it is meant for",
        )
    over = Draft(kind="graph.ended", payload=graph.Ended(nodes=(node.id,), at=to_iso(begin), reason="other rights"))
    return over, version_draft(ctx, node, tuple(assert_piece(again, piece) for piece in own))


def _must_be_memory(node: NodeVersion, to: str) -> None:
    if node.kind in RECORD_KINDS:
        raise Invalid(f"weft keeps {node.kind} records itself", hint=f"{to} the memory that the record is about")
    if ("source" in node.props and "line" in node.props) or node.kind in STRUCTURAL_KINDS:
        raise Invalid(
            f"{node.id[:80]!r} is a {node.kind}, which is replaced when its source is read again",
            hint=f"{to} a memory of it"
            + ("; `weft ingest PATH --agents NAME` tags a document with its parts" if to == "tag" else ""),
        )


class Pin(Struct, frozen=True, kw_only=True):
    """Input of `pin`."""

    id: NodeName
    pinned: Annotated[bool, Meta(description="false removes the pin")] = True
    request_id: RequestId = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


def pin(ctx: CallContext, given: Pin) -> WriteResult:
    """Pins a memory: neither age nor feedback lowers its rank. --no-pinned removes the pin."""

    def decide(node: NodeVersion) -> NodeChange | str:
        _must_be_memory(node, "pin")
        if (node.props.get("pinned") is True) == given.pinned:
            return f"it is {'pinned' if given.pinned else 'not pinned'} already"
        props = {key: value for key, value in node.props.items() if key != "pinned"}
        props |= {"pinned": True} if given.pinned else {}
        return NodeChange(drafts=(version_draft(ctx, node, new_versions(ctx, node, props=props)),))

    return change_node(ctx, given.id, decide, request_id=given.request_id)


class CompileTruth(Struct, frozen=True, kw_only=True):
    """Input of `compile_truth`."""

    entity: NodeName
    text: Annotated[
        Annotated[str, Meta(min_length=1, max_length=MAX_TRUTH_CHARACTERS)] | None,
        Meta(description="the summary, if you write it yourself; compiled from facts and memories if unset"),
    ] = None
    request_id: RequestId = None
    governance_token: GovernanceToken = None
    produced_by_task_id: ProducedBy = None


class TruthCompiled(WriteResult, frozen=True, kw_only=True, omit_defaults=True):
    """The summary of an entity and its sources, in order."""

    text: str = ""
    sources: tuple[str, ...] = ()


def compile_truth(ctx: CallContext, given: CompileTruth) -> TruthCompiled:
    """Summarises what is true of an entity today: its current facts and latest memories, with their sources.

    The summary is stored on the entity and found with it. It is made again only if a source changed. A language model,
    if one is set, writes it from these sources only; otherwise the facts are listed.
    """
    node = _entity(ctx, given.entity)
    known = truth_sources(ctx, node)
    if not known.lines:
        raise Invalid(
            f"nothing is known of {node.name or node.id!r} that everybody who sees it may see", hint="add a fact"
        )
    unchanged = given.text is None and node.props.get("compiled_digest") == known.digest
    if unchanged and isinstance(node.props.get("compiled_truth"), str):
        return TruthCompiled(
            status="duplicate_skip",
            id=node.id,
            citation=ctx.store.citations(ctx.viewer, [node.event]).get(node.event, ""),
            text=str(node.props["compiled_truth"]),
            sources=tuple(map(str, node.props.get("compiled_from", ()))),
            notes=("unchanged: its sources are the same as before",),
        )
    text, notes = (given.text.strip(), ()) if given.text else summarise(ctx, node, known)
    result = result_of(
        *decide_and_commit(ctx, lambda pos: _compiled(ctx, node.id, text, known, pos), request_id=given.request_id)
    )
    return TruthCompiled(
        status=result.status,
        id=result.id,
        citation=result.citation,
        text=text,
        sources=known.sources,
        notes=(*notes, *result.notes),
    )


def _compiled(ctx: CallContext, entity: str, text: str, known: TruthSources, pos: int) -> WriteDecision[WriteResult]:
    node = _entity(ctx, entity)
    if truth_sources(ctx, node).digest != known.digest:
        raise Conflict("the sources changed meanwhile; nothing was written", hint="repeat the call")
    props = {
        **node.props,
        "compiled_truth": text,
        "compiled_from": list(known.sources),
        "compiled_digest": known.digest,
    }
    # The entity is searched by its summary: one that somebody wrote is kept.
    summary = text if node.summary in ("", node.props.get("compiled_truth")) else node.summary
    draft = version_draft(ctx, node, new_versions(ctx, node, props=props, summary=summary))
    fence = Fence(pos=pos, slots=(*node_fence(node, pos).slots, *known.slots))
    return WriteDecision(answer=WriteResult(status="saved", id=node.id), drafts=(draft,), fence=fence)


def _entity(ctx: CallContext, written: str) -> NodeVersion:
    node = resolve_reference(ctx, written)
    if node is None:
        raise reference_not_found(written, "entity")
    if not is_thing(node.kind):
        raise Invalid(f"{node.id[:80]!r} is a {node.kind}, not an entity", hint="name a person, a service, a place …")
    return node


OPERATIONS = (
    Operation(
        name="tag",
        summary="set the agents that a memory is meant for and the topics that it belongs to",
        input=Tag,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=tag,
        arguments=("id",),
    ),
    Operation(
        name="pin",
        summary="keep a memory from fading",
        input=Pin,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=pin,
        arguments=("id",),
    ),
    Operation(
        name="compile_truth",
        summary="summarise what is true of an entity today, with its sources",
        input=CompileTruth,
        output=TruthCompiled,
        effect="write",
        toolset="memory",
        run=compile_truth,
        arguments=("entity",),
    ),
)
