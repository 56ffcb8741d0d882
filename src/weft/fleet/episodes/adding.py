"""`episode_add`: what an agent saw, decided, edited, tested or met, as it happens."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from weft.fleet.episodes.contracts import DECISION, EPISODE, LEARNING, EpisodeType, checked_metadata
from weft.fleet.episodes.edited import after_edit
from weft.fleet.episodes.involved import involved, with_paths
from weft.fleet.episodes.writing import Telling, own_guard, plan_episode
from weft.fleet.fences import every
from weft.fleet.reflecting.reflect import reflect_if_due
from weft.log.kinds.memory import Remembered
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Name, NodeName, RequestId
from weft.runtime.operation import Operation
from weft.text.one_line import flat
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.build.entity_builder import check_text_field
from weft.writing.build.planned_write import earlier_result
from weft.writing.checks.dedup import HASH, NewEntry, SimilarEntry, judge_entry, listed
from weft.writing.checks.provenance import task_named
from weft.writing.checks.scope import write_scope
from weft.writing.decisions import existing_decision

MAX_CONTENT: Final = 20_000
TITLE_CHARACTERS: Final = 110
SETTLED: Final = 0.7  # the confidence of a learning for which none is given

Content = Annotated[str, Meta(min_length=1, max_length=MAX_CONTENT, description="what happened, in plain words")]
Entities = Annotated[
    tuple[Name, ...],
    Meta(max_length=64, description="what it is about: file paths, path::symbol, ids, names of entities"),
]


class EpisodeAdd(Struct, frozen=True, kw_only=True):
    """Input of `episode_add`."""

    type: Annotated[EpisodeType, Meta(description="what kind of episode")]
    content: Content
    entities: Entities = ()
    task_id: Annotated[NodeName | None, Meta(description="the task it belongs to: its id, or its title")] = None
    outcome: Annotated[Literal["success", "failure", "partial"] | None, Meta(description="how it went")] = None
    metadata: Annotated[
        dict[str, Any],
        Meta(
            max_length=64,
            description="DECISION: title, rationale, tradeoffs, affected_files; EDIT: file, diff_summary, lines_before,"
            " lines_after, reason; TEST_RESULT: passed, failed, test_files; ERROR: error_type, stack_summary",
        ),
    ] = field(default_factory=dict)
    sensitive: Annotated[bool, Meta(description="store it encrypted and keep it out of ordinary reads")] = False
    request_id: RequestId = None


class EpisodeAdded(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was recorded: its id, the episode before it, what it is joined to.

    `claims` tells what became of claims on an edited file. A decision that is like another is treated as
    `save_decision` does: for `manual_review`, when nothing was written, `candidates` are the similar ones.
    """

    status: Literal["saved", "duplicate_skip", "superseded", "manual_review"]
    id: str
    type: str
    citation: str = ""
    after: str | None = None
    linked: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    candidates: tuple[SimilarEntry, ...] = ()
    claims: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def episode_add(ctx: CallContext, given: EpisodeAdd) -> EpisodeAdded:
    """Records an episode of your work: what you saw, decided, edited, tested, or an error you met.

    Each type needs its own metadata; an error names what is missing. Episodes of a session form a chain and are joined
    to the code and entities they involve, where `weft episode-recall` and `weft reflect` find them. Your recorded edit
    of a file refreshes your claim on it. A DECISION is the same thing as `weft save-decision` keeps.
    """
    check_text_field(given.content, field="content", most=MAX_CONTENT)
    metadata = with_paths(ctx, checked_metadata(given.type, given.metadata))
    write_scope(ctx)
    task = None if given.task_id is None else task_named(ctx, given.task_id)
    if before := earlier_result(ctx, given.request_id, lambda payload: _wrote(payload, given)):
        return EpisodeAdded(
            status="duplicate_skip", id=before.id, type=given.type, citation=before.citation, notes=before.notes
        )
    ctx = ctx if task is None else replace(ctx, task=task.id)
    node_id = ctx.new_id(given.request_id)
    answer, done = decide_and_commit(
        ctx, lambda pos: _decide(ctx, given, metadata, node_id, pos), request_id=given.request_id
    )
    if done is None:
        return answer
    answer = replace(answer, citation=done.citation, notes=(*answer.notes, *done.notes))
    return _reflected(ctx, answer)


def _decide(
    ctx: CallContext, given: EpisodeAdd, metadata: dict[str, Any], node_id: str, pos: int
) -> WriteDecision[EpisodeAdded]:
    guard = own_guard(ctx, sensitive=given.sensitive)
    files = [each for each in (metadata.get("file"), *metadata.get("affected_files", ())) if each]
    about = involved(ctx, guard, given.entities, (*files, *metadata.get("test_files", ())), pos)
    edit = after_edit(ctx, metadata["file"]) if given.type == "EDIT" else None
    telling = Telling(
        id=node_id,
        type=given.type,
        kind={"DECISION": DECISION, "LEARNING": LEARNING}.get(given.type, EPISODE),
        name=title_of(given.type, given.content, metadata),
        content=given.content,
        guard=guard,
        props={**metadata, **({"claims": list(edit.told)} if edit and edit.told else {})},
        involves=about.ids,
        entities=about.entities,
        outcome=given.outcome,
    )
    older: tuple[str, ...] = ()
    if given.type == "DECISION":
        settled = _settled(ctx, telling)
        if isinstance(settled, EpisodeAdded):
            return WriteDecision(answer=settled)
        telling, older = settled, settled.supersedes
    elif given.type == "LEARNING":
        telling = replace(telling, props={"confidence": SETTLED, "status": "current", **metadata})
    plan = plan_episode(ctx, telling)
    answer = EpisodeAdded(
        status="superseded" if older else "saved",
        id=node_id,
        type=given.type,
        after=plan.before,
        linked=about.ids,
        supersedes=older,
        claims=edit.told if edit else (),
        notes=about.notes,
    )
    return WriteDecision(
        answer=answer,
        drafts=(*plan.drafts, *(edit.drafts if edit else ())),
        fence=every(about.fence, plan.fence(pos), edit.fence(pos) if edit else None),
    )


def title_of(kind: EpisodeType, content: str, metadata: dict[str, Any]) -> str:
    """A title of one line: what was decided, which file was edited, how tests went, which error."""
    match kind:
        case "DECISION":
            return str(metadata["title"])
        case "EDIT":
            return f"Edit of {metadata['file']}: {flat(metadata['diff_summary'])}"[:TITLE_CHARACTERS]
        case "TEST_RESULT":
            return f"Tests: {metadata['passed']} passed, {metadata['failed']} failed"
        case "ERROR":
            return f"{metadata['error_type']}: {flat(metadata['stack_summary'])}"[:TITLE_CHARACTERS]
        case _:
            return flat(content)[:TITLE_CHARACTERS]


def _settled(ctx: CallContext, telling: Telling) -> EpisodeAdded | Telling:
    """The decision as it is kept: compared with others by the rules of `save_decision`, under which it may be known."""
    props = telling.props
    entry = NewEntry(
        kind=DECISION, title=telling.name, words=str(props["rationale"]), guard=telling.guard, focus=telling.focus
    )
    settled = "supersedes" in props or "decision" in props
    verdict = judge_entry(ctx, entry, by_title=not settled)
    if verdict.outcome == "review":
        note = (
            "nothing was written: there are similar decisions. Repeat the call with supersedes in the metadata (such as"
            f" {verdict.alike[0].id}) if it replaces one of them, or with decision new if it is another decision"
        )
        return EpisodeAdded(status="manual_review", id="", type="DECISION", candidates=verdict.alike, notes=(note,))
    if verdict.outcome == "duplicate" and not (settled and verdict.newer is not None):
        (node,) = verdict.nodes
        cited = ctx.store.citations(ctx.viewer, [node.event]).get(node.event, "")
        note = "nothing was written: this decision is kept already"
        return EpisodeAdded(status="duplicate_skip", id=node.id, type="DECISION", citation=cited, notes=(note,))
    parts = [str(props["rationale"]), listed("Tradeoffs", tuple(props["tradeoffs"]))]
    older = (existing_decision(ctx, props["supersedes"]),) if "supersedes" in props else ()
    own = {name: value for name, value in props.items() if name not in ("supersedes", "decision", "title", "rationale")}
    return replace(
        telling,
        summary=telling.content,
        content="\n\n".join(part for part in parts if part),
        props={"status": "accepted", HASH: entry.content_hash, **own},
        supersedes=older or ((verdict.nodes[0].id,) if verdict.outcome == "supersede" else ()),
    )


def _wrote(payload: Any, given: EpisodeAdd) -> str | None:
    if not isinstance(payload, Remembered) or payload.props.get("type") != given.type:
        return None
    return payload.id if given.content in (payload.text, payload.summary) else None


def _reflected(ctx: CallContext, answer: EpisodeAdded) -> EpisodeAdded:
    """With learnings, where the setting `reflect_minutes` has it that the agent's episodes are due to be read."""
    made = reflect_if_due(ctx) if ctx.settings.reflect_minutes else None
    if made is None:
        return answer
    return replace(answer, learnings=tuple(each.id for each in made.learnings), notes=(*answer.notes, *made.notes))


OPERATIONS = (
    Operation(
        name="episode_add",
        summary="record what you saw, decided, edited, tested, or an error you met",
        input=EpisodeAdd,
        output=EpisodeAdded,
        effect="write",
        toolset="fleet",
        run=episode_add,
        arguments=("type", "content"),
        priorities={"claims": "required", "linked": "low"},
    ),
)
