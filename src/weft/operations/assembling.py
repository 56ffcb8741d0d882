"""`assemble_context`: what happened last and what a question recalls, in one block to put before a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.context.arrange import Group, Line, arrange, by_worth, order_of
from weft.context.hits import in_file, lines_of, ties_among
from weft.context.linearise import ORDERS, QUOTED
from weft.context.packing import Section, pack
from weft.context.ties import Ties
from weft.context.wording import plain
from weft.errors import NotFound, StoreError
from weft.loom import Loom
from weft.operations.asking import Asking, asks_of_then, notes_of, read_ask
from weft.operations.checkout_around import cited_by_id
from weft.operations.checkout_asked import BUDGET_TOKENS
from weft.operations.checkout_told import UNSUPPORTED, unsourced
from weft.operations.conversations import LATEST
from weft.operations.fields import Name
from weft.operations.priority import NOT_SAID
from weft.operations.registry import Operation
from weft.operations.stamping import conversation_key, conversation_named
from weft.retrieval import recipes
from weft.retrieval.derived import DERIVED_FROM
from weft.retrieval.pipeline import Answer, run
from weft.retrieval.subscriptions import cited
from weft.types import Find, NodeVersion, When

REPLAY_SHARE: Final = 0.5  # of the budget; the rest is for what is recalled
MAX_REPLAY: Final = 200
SPARE: Final = 3  # times as many are looked at: some were only read out of others


class AssembleContext(Asking, frozen=True, kw_only=True):
    """Input of `assemble_context`."""

    session: Annotated[
        Name | None, Meta(description="replay the last turns of this conversation; of the project if unset")
    ] = None
    replay: Annotated[int, Meta(ge=0, le=MAX_REPLAY, description="how many of the last turns or events")] = 20
    max_tokens: Annotated[int, Meta(ge=50, le=100_000, description="what the block may cost")] = BUDGET_TOKENS


class Assembled(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The block in `context`, how much of it is replayed and recalled, and whether there was more to replay."""

    query: str
    status: str
    context: str
    replayed: int = 0
    recalled: int = 0
    truncated: bool = False
    tokens: int = 0
    sources: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    degraded: str = ""
    notes: tuple[str, ...] = ()


def assemble_context(loom: Loom, given: AssembleContext) -> Assembled:
    """Joins what happened last, newest last, with what a question recalls, in one block of cited lines.

    With --session it replays that conversation, else what was written last in the project. Where the budget is too
    small for all of the replay, the latest of it is kept, and the answer says so.
    """
    answer = run(recipes.DEFAULT, loom, read_ask(loom, given, as_of=given.as_of is not None))
    replay, more, unread = _replay(loom, given, answer)
    ranked = answer.ranked or ()
    citations, uncited = _citations(loom, answer, [each.node for each in ranked])
    recalled, unserved = lines_of(loom, answer, ranked, citations)
    ties, untied = ties_among(loom, answer, ranked)
    where = "all projects" if given.everywhere else f"project {plain(given.project or loom.settings.project)}"
    head = f"Context from memory, {where}. {QUOTED}"
    told, hits = {line.node.id for line in replay}, {line.node.id for line in recalled}
    others = [line for line in recalled if line.node.id not in told]
    sections = _sections(given, answer, ties, replay, others, more=more, elsewhere=False)
    packed = pack(sections, ties, head, given.max_tokens)
    if (told & hits) - {line.id for line in packed.lines["the replay"]}:
        # What answers is not cut with the replay: then it is told among what is recalled, and there only.
        rest = [line for line in replay if line.node.id not in hits]
        sections = _sections(given, answer, ties, rest, recalled, more=more, elsewhere=True)
        packed = pack(sections, ties, head, given.max_tokens)
    replayed, found = (len(packed.lines[each.name]) for each in sections)
    truncated = more or bool(packed.left_out.get("the replay"))
    shown = {line.id for lines in packed.lines.values() for line in lines}
    warnings = unsourced([line for line in (*replay, *recalled) if line.node.id in shown])
    if truncated and not ranked:
        warnings.append(UNSUPPORTED)
    notes = (
        *notes_of(loom, answer, answer.ranked or (), then=asks_of_then(given)),
        *unread,
        *uncited,
        *unserved,
        *untied,
    )
    return Assembled(
        query=given.query,
        status="succeeded" if replayed or found else "empty",
        context=packed.text if replayed or found else "",
        replayed=replayed,
        recalled=found,
        truncated=truncated,
        tokens=packed.tokens,
        sources=packed.sources,
        warnings=tuple(warnings),
        degraded=answer.degraded,
        notes=tuple(dict.fromkeys((*notes, *warnings))),
    )


def _sections(
    given: AssembleContext,
    answer: Answer,
    ties: Ties,
    replay: Sequence[Line],
    recalled: Sequence[Line],
    *,
    more: bool,
    elsewhere: bool,
) -> tuple[Section, Section]:
    """`more` says that there is more to replay, `elsewhere` that some of it stands among what is recalled."""
    return (
        Section(
            name="the replay",
            lines=replay[::-1],
            share=REPLAY_SHARE,
            groups=lambda lines: [
                Group(
                    heading=_replayed(given, truncated=more or len(lines) < len(replay), elsewhere=elsewhere),
                    lines=tuple(lines[::-1]),
                )
            ],
        ),
        Section(
            name="what was recalled",
            lines=by_worth(recalled, answer.intent, ties),
            share=1.0 - REPLAY_SHARE,
            groups=lambda lines: _recalled(lines, answer, ties),
        ),
    )


def _replayed(given: AssembleContext, *, truncated: bool, elsewhere: bool) -> str:
    what = "What was said last" if given.session else "What was written last"
    but = ", without what is recalled below" if elsewhere else ""
    return f"{what}, newest last{but}{' (earlier is left out)' if truncated else ''}"


def _recalled(lines: Sequence[Line], answer: Answer, ties: Ties) -> list[Group]:
    groups = arrange(lines, answer.intent, ties)
    named = f"What is recalled ({ORDERS[order_of(answer.intent, ties)]})"
    return [
        Group(heading=group.heading or (named if not at else ""), lines=group.lines, entity=group.entity)
        for at, group in enumerate(groups)
    ]


def _replay(loom: Loom, given: AssembleContext, answer: Answer) -> tuple[list[Line], bool, tuple[str, ...]]:
    """The last turns or events, oldest first, whether there are more, and a note where they cannot be read.

    Raises NotFound for a conversation that the caller does not see.
    """
    if not given.replay or answer.degraded:
        return [], False, ("nothing is replayed: the graph is away",) if given.replay else ()
    if given.session and conversation_named(loom, given.session) is None:
        raise NotFound(
            f"there is no conversation {given.session[:80]!r} that you may see",
            hint="name it as record_turns does; without a session the project is replayed",
        )
    try:
        nodes = _last(loom, given, answer.ask.when)
        citations = cited_by_id(loom, nodes[: given.replay])
    except StoreError as problem:
        return [], False, (f"what happened last cannot be told: {problem.message}",)
    lines = [
        Line(node=node, score=0.0, citation=citations.get(node.id, "")) for node in reversed(nodes[: given.replay])
    ]
    return lines, len(nodes) > given.replay, ()


def _last(loom: Loom, given: AssembleContext, when: When) -> tuple[NodeVersion, ...]:
    """Newest first, one more than is asked for."""
    if given.session:
        find = Find(kinds=("Message",), id_prefix=f"{conversation_key(loom, given.session)}#")
        when = LATEST if given.as_of is None and given.known_at is None else when
    else:
        projects = None if given.everywhere else (given.project or loom.settings.project, None)
        unsaid = tuple(each for each in NOT_SAID if each != "Message")
        find = Find(projects=projects, kinds=given.kinds, without_kinds=unsaid)
    found = loom.store.find(loom.viewer, when, find, limit=SPARE * given.replay + 1).nodes
    # What was read out of a memory says nothing that the memory does not.
    return tuple(node for node in found if DERIVED_FROM not in node.props)[: given.replay + 1]


def _citations(loom: Loom, answer: Answer, nodes: Sequence[NodeVersion]) -> tuple[dict[str, str], tuple[str, ...]]:
    try:
        found = answer.citations if answer.degraded else cited(loom, nodes, followed=answer.followed)
    except StoreError as problem:
        return {}, (f"the store could not serve citations: {problem.message}",)
    return {node.id: in_file(node) or found.get(node.event, "") for node in nodes}, ()


OPERATIONS = (
    Operation(
        name="assemble_context",
        summary="join what happened last and what a question recalls in one cited block",
        input=AssembleContext,
        output=Assembled,
        effect="read",
        toolset="memory",
        run=assemble_context,
        arguments=("query",),
        rare=("asked_at", "min_score"),
        budget="max_tokens",
        told=("sources",),
    ),
)
